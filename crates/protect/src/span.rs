//! Ranges of addresses as registers have them.

/// A range of bytes, `base .. base + len`; may reach the end of the 32-bit space, so the length is 64 bits wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub base: u32,
    /// Length in bytes.
    pub len: u64,
}

impl Span {
    /// A range; not checked.
    pub const fn new(base: u32, len: u64) -> Self {
        Self { base, len }
    }

    /// One past the last byte, at most 2^32 for a legal range.
    pub const fn end(self) -> u64 {
        (self.base as u64).saturating_add(self.len)
    }

    /// Returns true if `addr` lies in the range.
    pub const fn contains(self, addr: u32) -> bool {
        addr >= self.base && (addr as u64) < self.end()
    }
}
