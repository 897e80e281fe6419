//! What a mapping permits, and the type of its memory.

use crate::pmsav7::{Access, AccessKind, Data, MemType};

/// Who accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// PL0: domains.
    User,
    /// PL1: the kernel.
    Kernel,
}

/// The rights that a mapping can give, with their `AP[2:0]` and `XN` (ARM DDI 0406C B3.7.1, table B3-8). There is none to write and
/// to execute the same memory, at whichever privilege.
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
    /// Everybody reads (`111`, XN).
    UserConst,
    /// Everybody reads and writes (`011`, XN).
    UserData,
    /// Everybody reads and executes (`111`).
    UserCode,
}

impl Rights {
    /// All of them.
    pub const ALL: [Rights; 6] =
        [Self::KernelConst, Self::KernelData, Self::KernelCode, Self::UserConst, Self::UserData, Self::UserCode];

    /// The rights of a domain as the rest of the system asks for them; `None` for what is written and executed, and for
    /// what is executed but not read.
    pub const fn of(access: Access) -> Option<Rights> {
        match (access.data, access.exec) {
            (Data::None, false) => Some(Self::KernelData),
            (Data::Ro, false) => Some(Self::UserConst),
            (Data::Rw, false) => Some(Self::UserData),
            (Data::Ro, true) => Some(Self::UserCode),
            (Data::Rw | Data::None, true) => None,
        }
    }

    /// Whether a domain may do this.
    pub const fn is_user(self) -> bool {
        matches!(self, Self::UserConst | Self::UserData | Self::UserCode)
    }

    /// Whether instructions may be fetched.
    pub const fn is_code(self) -> bool {
        matches!(self, Self::KernelCode | Self::UserCode)
    }

    /// Whether an access is permitted.
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

    pub(super) fn decode(ap: u32, xn: bool) -> Option<Rights> {
        Self::ALL.into_iter().find(|rights| rights.ap() == ap && rights.is_code() != xn)
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

    /// What may be done.
    pub const fn rights(self) -> Rights {
        self.rights
    }

    /// The type of the memory.
    pub const fn memory(self) -> MemType {
        self.memory
    }

    /// Whether the memory is shareable (`S`).
    pub const fn is_shared(self) -> bool {
        self.shared
    }

    /// Whether the mapping is in every address space.
    pub const fn is_global(self) -> bool {
        self.global
    }

    /// The fields of a descriptor.
    pub(super) const fn fields(self) -> Fields {
        // PMSAv7 and VMSAv7 encode the same types in the same fields; they lie elsewhere in a word.
        let bits = self.memory.bits();
        Fields {
            ap: self.rights.ap(),
            xn: !self.rights.is_code(),
            tex: bits >> 19 & 0b111,
            cb: bits >> 16 & 0b11,
            s: self.shared,
            ng: !self.global,
        }
    }

    pub(super) fn from_fields(fields: Fields) -> Option<Attributes> {
        let rights = Rights::decode(fields.ap, fields.xn)?;
        let mut all = MEMORY.into_iter().filter_map(|memory| Self::new(rights, memory, fields.s, !fields.ng));
        all.find(|attributes| attributes.fields() == fields)
    }
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
