//! Writes to the system control coprocessor: from the instruction to what it does to translation and caches.
//!
//! Pure: whoever executes the program sees an MCR and the value of its register, and is told the operation. Encodings:
//! DDI 0406, MCR in A8.8, registers in B4.1, operations in B4.2; TLB lockdown is DDI 0388I 4.3.15.

/// A move to the system control coprocessor, MCR p15, as the instruction says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mcr {
    /// Opcode 1.
    pub opc1: u8,
    /// Primary register.
    pub crn: u8,
    /// Secondary register.
    pub crm: u8,
    /// Opcode 2.
    pub opc2: u8,
    /// The core register whose value is written.
    pub rt: u8,
}

/// A TLB maintenance operation. On the Cortex-A9 the main TLB is unified: the forms for one side do the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlbOperation {
    /// TLBIALL: every entry that is not locked.
    All,
    /// TLBIMVA: this page in this space, and a global entry of this page; locked or not.
    Address {
        /// An address in the page.
        addr: u32,
        /// The address space.
        asid: u8,
    },
    /// TLBIASID: what belongs to this space and is not global; locked or not.
    Asid(u8),
    /// TLBIMVAA: this page in every space, unless locked.
    AddressAllSpaces(u32),
}

/// A level-1 cache maintenance operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheOperation {
    /// ICIALLU.
    InstructionAll,
    /// ICIMVAU, by virtual address.
    InstructionLine(u32),
    /// A data line by virtual address.
    DataLine {
        /// Address in the line.
        addr: u32,
        /// Write it back if it is changed.
        clean: bool,
        /// Drop it.
        invalidate: bool,
    },
    /// A data line by set and way.
    DataSetWay {
        /// The register's value.
        set_way: u32,
        /// Write it back if it is changed.
        clean: bool,
        /// Drop it.
        invalidate: bool,
    },
}

/// The effect of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// SCTLR.
    Control(u32),
    /// ACTLR.
    AuxiliaryControl(u32),
    /// TTBR0.
    Table0(u32),
    /// TTBR1.
    Table1(u32),
    /// TTBCR.
    TableControl(u32),
    /// CONTEXTIDR.
    ContextId(u32),
    /// PRRR.
    PrimaryRemap(u32),
    /// NMRR.
    NormalRemap(u32),
    /// TLB lockdown: where the walks that follow put their entries.
    TlbLockdown {
        /// P: into lock entry `victim`, otherwise into the associative part.
        preserve: bool,
        /// The lock entry.
        victim: u8,
    },
    /// TLB maintenance.
    Tlb(TlbOperation),
    /// Cache maintenance.
    Cache(CacheOperation),
    /// BPIALL and BPIMVA.
    Predictor,
    /// ISB.
    InstructionBarrier,
    /// DSB.
    SyncBarrier,
    /// DMB.
    MemoryBarrier,
}

impl Mcr {
    /// Decodes an A32 instruction word; `None` when it is no MCR p15.
    pub fn decode_a32(word: u32) -> Option<Self> {
        if word >> 28 == 15 { None } else { Self::decode(word) }
    }

    /// Decodes a 32-bit T32 instruction, first halfword in the upper half.
    pub fn decode_t32(word: u32) -> Option<Self> {
        if word >> 28 == 14 { Self::decode(word) } else { None }
    }

    fn decode(word: u32) -> Option<Self> {
        // xxxx 1110 opc1 0 CRn Rt 1111 opc2 1 CRm
        if word & 0x0F10_0F10 != 0x0E00_0F10 {
            return None;
        }
        let field = |at: u32, mask: u32| (word >> at & mask) as u8;
        Some(Self { opc1: field(21, 7), crn: field(16, 15), crm: field(0, 15), opc2: field(5, 7), rt: field(12, 15) })
    }

    /// Its effect when its register holds `value`; `None` for registers that this model has nothing to do with.
    pub fn operation(self, value: u32) -> Option<Operation> {
        if self.opc1 != 0 {
            return None;
        }
        match (self.crn, self.crm, self.opc2) {
            (1, 0, 0) => Some(Operation::Control(value)),
            (1, 0, 1) => Some(Operation::AuxiliaryControl(value)),
            (2, 0, 0) => Some(Operation::Table0(value)),
            (2, 0, 1) => Some(Operation::Table1(value)),
            (2, 0, 2) => Some(Operation::TableControl(value)),
            (7, crm, opc2) => cache(crm, opc2, value),
            (8, 3 | 5 | 6 | 7, opc2) => tlb(opc2, value).map(Operation::Tlb),
            (10, 0, 0) => Some(Operation::TlbLockdown { preserve: value & 1 != 0, victim: (value >> 28 & 3) as u8 }),
            (10, 2, 0) => Some(Operation::PrimaryRemap(value)),
            (10, 2, 1) => Some(Operation::NormalRemap(value)),
            (13, 0, 1) => Some(Operation::ContextId(value)),
            _ => None,
        }
    }
}

/// The barrier that an instruction word is: DSB, DMB or ISB, in A32 or in T32 with the first
/// halfword in the upper half.
pub const fn barrier(word: u32) -> Option<Operation> {
    Some(match word & 0xFFFF_FFF0 {
        0xF57F_F040 | 0xF3BF_8F40 => Operation::SyncBarrier,
        0xF57F_F050 | 0xF3BF_8F50 => Operation::MemoryBarrier,
        0xF57F_F060 | 0xF3BF_8F60 => Operation::InstructionBarrier,
        _ => return None,
    })
}

fn tlb(opc2: u8, value: u32) -> Option<TlbOperation> {
    Some(match opc2 {
        0 => TlbOperation::All,
        1 => TlbOperation::Address { addr: value & !0xFFF, asid: value as u8 },
        2 => TlbOperation::Asid(value as u8),
        3 => TlbOperation::AddressAllSpaces(value & !0xFFF),
        _ => return None,
    })
}

fn cache(crm: u8, opc2: u8, value: u32) -> Option<Operation> {
    let line = |clean, invalidate| CacheOperation::DataLine { addr: value, clean, invalidate };
    let place = |clean, invalidate| CacheOperation::DataSetWay { set_way: value, clean, invalidate };
    Some(Operation::Cache(match (crm, opc2) {
        (1 | 5, 0) => CacheOperation::InstructionAll,
        (5, 1) => CacheOperation::InstructionLine(value),
        (5, 4) => return Some(Operation::InstructionBarrier),
        (1, 6) | (5, 6 | 7) => return Some(Operation::Predictor),
        (6, 1) => line(false, true),
        (6, 2) => place(false, true),
        (10, 1) | (11, 1) => line(true, false),
        (10, 2) => place(true, false),
        (10, 4) => return Some(Operation::SyncBarrier),
        (10, 5) => return Some(Operation::MemoryBarrier),
        (14, 1) => line(true, true),
        (14, 2) => place(true, true),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests;
