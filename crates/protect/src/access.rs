//! Kinds of access, rights, and types of memory: the same for every scheme.

/// Kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Data read.
    Read,
    /// Data write.
    Write,
    /// Instruction fetch.
    Exec,
}

/// Data rights of unprivileged accesses. Privileged code may always read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Nothing.
    None,
    /// Read.
    Ro,
    /// Read and write.
    Rw,
}

/// Data rights and the right to execute. Executing is never implied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Unprivileged data rights.
    pub data: Data,
    /// True if instructions may be fetched.
    pub exec: bool,
}

impl Access {
    /// Privileged only, never executed.
    pub const NONE: Self = Self { data: Data::None, exec: false };
    /// Read-only data.
    pub const RO: Self = Self { data: Data::Ro, exec: false };
    /// Read-write data.
    pub const RW: Self = Self { data: Data::Rw, exec: false };
    /// Code and its constants.
    pub const RX: Self = Self { data: Data::Ro, exec: true };
    /// Writable code; for loaders, never a default.
    pub const RWX: Self = Self { data: Data::Rw, exec: true };
}

/// Memory type and cache policy; never shareable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemType {
    /// Normal, write-back, read and write allocate.
    WriteBack,
    /// Normal, write-through, no write allocate.
    WriteThrough,
    /// Normal, non-cacheable.
    NonCacheable,
    /// Device, shared.
    Device,
    /// Strongly ordered.
    StronglyOrdered,
}

impl MemType {
    pub(crate) const fn is_device(self) -> bool {
        matches!(self, Self::Device | Self::StronglyOrdered)
    }
}
