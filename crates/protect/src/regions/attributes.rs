//! Memory attributes, as the registers of every scheme amount to them.

/// Type of memory, with the inner cache policy, which governs the caches of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Policy {
    /// Strongly ordered; Device-nGnRnE.
    StronglyOrdered,
    /// Device of every other kind.
    Device,
    /// Normal, not cacheable.
    NonCacheable,
    /// Normal, write-through.
    WriteThrough,
    /// Normal, write-back, no write allocation.
    WriteBack,
    /// Normal, write-back, read and write allocation.
    WriteBackAllocate,
    /// An encoding to which the architecture gives no meaning.
    Reserved,
}

/// Type and shareability of memory, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes(u8);

const POLICY: u8 = 7;
const SHAREABLE: u8 = 1 << 3;

impl Attributes {
    /// [`Attributes::bits`] is below it.
    pub const COUNT: usize = 16;

    /// Memory of this type.
    pub const fn new(policy: Policy, shareable: bool) -> Self {
        Self(policy as u8 | if shareable { SHAREABLE } else { 0 })
    }

    /// The byte.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The attributes whose byte it is; other bits are left out.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & (POLICY | SHAREABLE))
    }

    /// The type.
    pub const fn policy(self) -> Policy {
        match self.0 & POLICY {
            0 => Policy::StronglyOrdered,
            1 => Policy::Device,
            2 => Policy::NonCacheable,
            3 => Policy::WriteThrough,
            4 => Policy::WriteBack,
            5 => Policy::WriteBackAllocate,
            _ => Policy::Reserved,
        }
    }

    /// Returns true if it is shared with other observers.
    pub const fn is_shareable(self) -> bool {
        self.0 & SHAREABLE != 0
    }

    /// Device or strongly ordered: neither cached nor speculated.
    pub const fn is_device(self) -> bool {
        self.0 & POLICY <= Policy::Device as u8
    }

    /// Returns true if a core that caches nothing shared may hold the line in its data cache.
    pub const fn is_cacheable(self) -> bool {
        use Policy::{WriteBack, WriteBackAllocate, WriteThrough};
        !self.is_shareable() && matches!(self.policy(), WriteThrough | WriteBack | WriteBackAllocate)
    }

    /// Returns true if a store may stay in the cache (write-back), as opposed to write-through.
    pub const fn is_write_back(self) -> bool {
        self.is_cacheable() && !matches!(self.policy(), Policy::WriteThrough)
    }
}
