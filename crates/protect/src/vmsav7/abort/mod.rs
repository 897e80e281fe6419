//! Why an Armv7-A processor aborted an access: DFSR and IFSR with short descriptors (ARM DDI 0406C B3.13.3, table B3-23).

/// The reason in a fault status register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The address is not aligned as the access wants.
    Alignment,
    /// A breakpoint, watchpoint or vector catch, or `BKPT` where no debugger wants it.
    Debug,
    /// Maintenance of the instruction cache by address.
    Maintenance,
    /// Nothing is mapped there.
    Translation,
    /// The access flag is clear.
    AccessFlag,
    /// The mapping is in an access domain without access.
    Domain,
    /// The mapping does not permit the access.
    Permission,
    /// The bus refused the access or the walk that it needed, or memory had lost a bit, and the processor waited for it.
    External,
    /// The same, noticed only after later instructions.
    Late,
    /// Two TLB entries match.
    Conflict,
    /// Any other code.
    Other,
}

/// The contents of DFSR or IFSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(u32);

impl Status {
    /// The status in a register's word.
    pub const fn new(word: u32) -> Status {
        Status(word)
    }

    /// The word.
    pub const fn word(self) -> u32 {
        self.0
    }

    /// Bits 10 and 3 to 0 as one number.
    const fn code(self) -> u32 {
        self.0 >> 6 & 0x10 | self.0 & 0xf
    }

    /// The reason.
    pub const fn reason(self) -> Reason {
        match self.code() {
            0b00001 => Reason::Alignment,
            0b00010 => Reason::Debug,
            0b00100 => Reason::Maintenance,
            0b00101 | 0b00111 => Reason::Translation,
            0b00011 | 0b00110 => Reason::AccessFlag,
            0b01001 | 0b01011 => Reason::Domain,
            0b01101 | 0b01111 => Reason::Permission,
            0b01000 | 0b01100 | 0b01110 | 0b11001 | 0b11100 | 0b11110 => Reason::External,
            0b10110 | 0b11000 => Reason::Late,
            0b10000 => Reason::Conflict,
            _ => Reason::Other,
        }
    }

    /// Returns true if a data abort came of a write or of a cache operation (`WnR`).
    pub const fn is_write(self) -> bool {
        self.0 >> 11 & 1 != 0
    }

    /// Returns true if the fault address register holds the address. It does not after debug
    /// events, nor for what was noticed late (B3.13.1).
    pub const fn has_address(self) -> bool {
        !matches!(self.reason(), Reason::Late | Reason::Debug | Reason::Other)
    }

    /// Returns true if the tables denied the access; false if the bus or the memory refused it.
    pub const fn is_protection(self) -> bool {
        matches!(
            self.reason(),
            Reason::Translation | Reason::AccessFlag | Reason::Domain | Reason::Permission | Reason::Maintenance
        )
    }
}

#[cfg(test)]
mod tests;
