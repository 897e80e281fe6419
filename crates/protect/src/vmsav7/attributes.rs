//! Rights of a mapping, and the type of its memory.

use crate::{Access, AccessKind, Data, MemType};

/// Privilege of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// PL0: domains.
    User,
    /// PL1: the kernel.
    Kernel,
}

/// The rights that a mapping can give, with their `AP[2:0]` and `XN` (ARM DDI 0406C B3.7.1, table
/// B3-8). None of them lets the same memory be written and executed, at either privilege.
///
/// The Cortex-A9 has no `PXN`: the kernel can execute what domains can, and read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// The kernel reads (`101`, XN).
    KernelConst,
    /// The kernel reads and writes (`001`, XN).
    KernelData,
    /// The kernel reads and executes (`101`).
    KernelCode,
    /// Kernel and domain read (`111`, XN).
    UserConst,
    /// Kernel and domain read and write (`011`, XN).
    UserData,
    /// Kernel and domain read and execute (`111`).
    UserCode,
}

impl Rights {
    /// All of them.
    pub const ALL: [Rights; 6] =
        [Self::KernelConst, Self::KernelData, Self::KernelCode, Self::UserConst, Self::UserData, Self::UserCode];

    /// Returns the rights of a domain for an access as all schemes name it. `None` for memory that
    /// would be written and executed, or executed but not read.
    pub const fn of(access: Access) -> Option<Rights> {
        match (access.data, access.exec) {
            (Data::None, false) => Some(Self::KernelData),
            (Data::Ro, false) => Some(Self::UserConst),
            (Data::Rw, false) => Some(Self::UserData),
            (Data::Ro, true) => Some(Self::UserCode),
            (Data::Rw | Data::None, true) => None,
        }
    }

    /// Returns true if a domain may do this.
    pub const fn is_user(self) -> bool {
        matches!(self, Self::UserConst | Self::UserData | Self::UserCode)
    }

    /// Returns true if instructions may be fetched.
    pub const fn is_code(self) -> bool {
        matches!(self, Self::KernelCode | Self::UserCode)
    }

    /// Returns true if an access is permitted.
    pub const fn permits(self, by: Privilege, kind: AccessKind) -> bool {
        if matches!(by, Privilege::User) && !self.is_user() {
            return false;
        }
        match kind {
            AccessKind::Read => true,
            AccessKind::Write => matches!(self, Self::KernelData | Self::UserData),
            AccessKind::Exec => self.is_code(),
        }
    }

    /// `AP[2:0]`.
    pub(super) const fn ap(self) -> u32 {
        match self {
            Self::KernelConst | Self::KernelCode => 0b101,
            Self::KernelData => 0b001,
            Self::UserConst | Self::UserCode => 0b111,
            Self::UserData => 0b011,
        }
    }

    /// Decodes by a look into a table, without a search, because the kernel's longest paths decode
    /// every descriptor that they meet.
    pub(super) fn decode(ap: u32, xn: bool) -> Option<Rights> {
        /// By `AP[2:0]` and `XN`.
        const BY_FIELDS: [Option<Rights>; 16] = {
            let (mut table, mut index) = ([None; 16], 0);
            while index < Rights::ALL.len() {
                let rights = Rights::ALL[index];
                table[rights.ap() as usize * 2 + !rights.is_code() as usize] = Some(rights);
                index += 1;
            }
            table
        };
        BY_FIELDS[((ap & 0b111) << 1 | u32::from(xn)) as usize]
    }
}

/// Rights and memory type of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    rights: Rights,
    memory: MemType,
    shared: bool,
    global: bool,
}

const MEMORY: [MemType; 5] =
    [MemType::WriteBack, MemType::WriteThrough, MemType::NonCacheable, MemType::Device, MemType::StronglyOrdered];

impl Attributes {
    /// Attributes of memory that belongs to one address space (`nG = 1`) or, `global`, to all. `None` for a device that would be
    /// executed (B3.7.2: a fetch from it is unpredictable).
    pub const fn new(rights: Rights, memory: MemType, shared: bool, global: bool) -> Option<Attributes> {
        if memory.is_device() && rights.is_code() {
            return None;
        }
        Some(Attributes { rights, memory, shared, global })
    }

    /// The rights.
    pub const fn rights(self) -> Rights {
        self.rights
    }

    /// The type of the memory.
    pub const fn memory(self) -> MemType {
        self.memory
    }

    /// Returns true if the memory is shareable (`S`).
    pub const fn is_shared(self) -> bool {
        self.shared
    }

    /// Returns true if the mapping is in every address space.
    pub const fn is_global(self) -> bool {
        self.global
    }

    /// The fields of a descriptor.
    pub(super) const fn fields(self) -> Fields {
        let (tex, cb) = type_fields(self.memory);
        Fields { ap: self.rights.ap(), xn: !self.rights.is_code(), tex, cb, s: self.shared, ng: !self.global }
    }

    pub(super) fn from_fields(fields: Fields) -> Option<Attributes> {
        /// By `TEX` and `C`, `B`.
        const BY_FIELDS: [Option<MemType>; 32] = {
            let (mut table, mut index) = ([None; 32], 0);
            while index < MEMORY.len() {
                let (tex, cb) = type_fields(MEMORY[index]);
                table[(tex << 2 | cb) as usize] = Some(MEMORY[index]);
                index += 1;
            }
            table
        };
        let rights = Rights::decode(fields.ap, fields.xn)?;
        let memory = BY_FIELDS[((fields.tex & 0b111) << 2 | fields.cb & 0b11) as usize]?;
        Self::new(rights, memory, fields.s, !fields.ng)
    }
}

/// `TEX` and `C`, `B` of a type. PMSAv7 and VMSAv7 encode the same types in the same fields; they lie elsewhere in a word.
const fn type_fields(memory: MemType) -> (u32, u32) {
    let bits = memory.bits();
    (bits >> 19 & 0b111, bits >> 16 & 0b11)
}

/// The fields that first-level and second-level descriptors have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub ap: u32,
    pub xn: bool,
    pub tex: u32,
    pub cb: u32,
    pub s: bool,
    pub ng: bool,
}
