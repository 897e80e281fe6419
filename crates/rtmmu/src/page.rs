//! Pages, and the rights to them.

/// A page: a virtual address less 2^31, divided by 4096.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Page(pub u32);

/// The accesses that a region admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights(u8);

impl Rights {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Loads.
    pub const R: Self = Self(1);
    /// Loads and stores.
    pub const RW: Self = Self(3);
    /// Loads and fetches.
    pub const RX: Self = Self(5);

    /// Bits of [`Access`].
    pub(crate) const fn bits(self) -> u32 {
        self.0 as u32
    }

    /// The lowest three bits of a word.
    pub(crate) const fn from_bits(word: u32) -> Self {
        Self((word & 7) as u8)
    }

    /// Returns true if an access is among them.
    pub const fn admit(self, access: Access) -> bool {
        self.0 >> access as u8 & 1 == 1
    }
}

/// A use of a page by an instruction. Values are the bits of [`Rights`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads data.
    Load = 0,
    /// It writes data.
    Store = 1,
    /// It is read itself.
    Fetch = 2,
}
