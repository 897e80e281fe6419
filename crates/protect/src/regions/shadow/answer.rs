//! Answers to accesses and to stores.

use super::super::attributes::Attributes;

/// Memory attributes in force at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr {
    /// Type and shareability.
    pub memory: Attributes,
    /// The region that decided; `None` for the default memory map.
    pub region: Option<u8>,
}

/// Why an access is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// No region contains the byte, and the background map does not serve this privilege.
    NoRegion,
    /// The region that contains it does not grant this.
    Permission {
        /// The deciding region.
        region: u8,
    },
    /// Several regions contain it, in a scheme in which then none decides.
    Overlap {
        /// The lowest of them.
        lower: u8,
        /// The next one.
        higher: u8,
    },
    /// The default memory map does not grant this: execute-never space, or the private peripheral bus unprivileged.
    DefaultMap,
    /// The access runs past the end of the address space.
    Wraps,
}

/// The first denied byte of an access, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Address of the first byte that is denied.
    pub addr: u32,
    /// The reason.
    pub denial: Denial,
}

/// A register write whose effect the architecture leaves UNPREDICTABLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unpredictable {
    /// Offset of the register from the unit's first one.
    pub offset: u32,
    /// The value written.
    pub value: u32,
}
