//! Descriptors of the first and second level (ARM DDI 0406C B3.5.1).

use super::attributes::{Attributes, Fields};
use super::{DOMAIN, TABLE_BYTES};

/// An address that is a multiple of `2^LOG2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base<const LOG2: u32>(u32);

impl<const LOG2: u32> Base<LOG2> {
    /// The address, if it is such a multiple.
    pub const fn new(address: u32) -> Option<Self> {
        if address & ((1 << LOG2) - 1) == 0 { Some(Self(address)) } else { None }
    }

    /// The largest multiple that is not above the address.
    pub const fn of(address: u32) -> Self {
        Self(address >> LOG2 << LOG2)
    }

    /// The address.
    pub const fn address(self) -> u32 {
        self.0
    }
}

/// A word that no encoder here makes: reserved, in another access domain, not secure, writable and executable, or of a memory type
/// that is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub u32);

/// A descriptor of the first level: 1 MiB of virtual addresses each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Nothing is mapped.
    Fault,
    /// A second-level table decides.
    Table(Base<10>),
    /// 1 MiB.
    Section(Base<20>, Attributes),
    /// 16 MiB below 4 GiB of physical memory; the word stands in sixteen consecutive entries.
    Supersection(Base<24>, Attributes),
}

/// A descriptor of the second level: 4 KiB of virtual addresses each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// Nothing is mapped.
    Fault,
    /// 64 KiB; the word stands in sixteen consecutive entries.
    Large(Base<16>, Attributes),
    /// 4 KiB.
    Small(Base<12>, Attributes),
}

const fn bit(value: bool, at: u32) -> u32 {
    (value as u32) << at
}

/// Sections: XN 4, AP\[1:0\] 11..10, TEX 14..12, AP\[2\] 15, S 16, nG 17.
const fn section(attributes: Attributes) -> u32 {
    let Fields { ap, xn, tex, cb, s, ng } = attributes.fields();
    0b10 | cb << 2 | bit(xn, 4) | (ap & 3) << 10 | tex << 12 | ap >> 2 << 15 | bit(s, 16) | bit(ng, 17)
}

/// Second level: AP\[1:0\] 5..4, AP\[2\] 9, S 10, nG 11; TEX and XN have a place of their own in large pages.
const fn second(attributes: Attributes) -> u32 {
    let Fields { ap, cb, s, ng, .. } = attributes.fields();
    cb << 2 | (ap & 3) << 4 | ap >> 2 << 9 | bit(s, 10) | bit(ng, 11)
}

/// Bits of a word that are the same in all words of an encoder, and their values: reserved ones, the access domain, not secure, the kind.
/// All others are of the base or of [`Fields`].
#[derive(Clone, Copy)]
struct Fixed {
    mask: u32,
    bits: u32,
}

impl Fixed {
    const TABLE: Fixed = Fixed { mask: TABLE_BYTES - 1, bits: DOMAIN << 5 | 0b01 };
    const SECTION: Fixed = Fixed { mask: 0b11 << 18 | 1 << 9 | 0xf << 5 | 0b11, bits: DOMAIN << 5 | 0b10 };
    const SUPERSECTION: Fixed = Fixed { mask: 0xf << 20 | Self::SECTION.mask, bits: 1 << 18 | 0b10 };
    const LARGE: Fixed = Fixed { mask: 0b111 << 6 | 0b11, bits: 0b01 };
    const SMALL: Fixed = Fixed { mask: 0b10, bits: 0b10 };

    const fn are_in(self, word: u32) -> bool {
        word & self.mask == self.bits
    }
}

impl First {
    /// The word.
    pub const fn encode(self) -> u32 {
        match self {
            Self::Fault => 0,
            Self::Table(table) => table.0 | DOMAIN << 5 | 0b01,
            Self::Section(base, attributes) => base.0 | DOMAIN << 5 | section(attributes),
            // Bits 8..5 and 23..20 would be bits 39..32 of the physical address.
            Self::Supersection(base, attributes) => base.0 | 1 << 18 | section(attributes),
        }
    }

    /// Decodes a word. A descriptor of a fault may hold anything above its two low bits.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn decode(word: u32) -> Result<First, Malformed> {
        let fields = Fields {
            ap: word >> 13 & 0b100 | word >> 10 & 0b11,
            xn: word >> 4 & 1 != 0,
            tex: word >> 12 & 0b111,
            cb: word >> 2 & 0b11,
            s: word >> 16 & 1 != 0,
            ng: word >> 17 & 1 != 0,
        };
        let (found, fixed) = match (word & 0b11, word >> 18 & 1) {
            (0b00, _) => return Ok(Self::Fault),
            (0b01, _) => (Some(Self::Table(Base::of(word))), Fixed::TABLE),
            (0b10, 0) => {
                (Attributes::from_fields(fields).map(|with| Self::Section(Base::of(word), with)), Fixed::SECTION)
            }
            (0b10, _) => (
                Attributes::from_fields(fields).map(|with| Self::Supersection(Base::of(word), with)),
                Fixed::SUPERSECTION,
            ),
            _ => return Err(Malformed(word)),
        };
        found.filter(|_| fixed.are_in(word)).ok_or(Malformed(word))
    }
}

impl Second {
    /// The word.
    pub const fn encode(self) -> u32 {
        match self {
            Self::Fault => 0,
            Self::Large(base, attributes) => {
                let Fields { tex, xn, .. } = attributes.fields();
                base.0 | 0b01 | second(attributes) | tex << 12 | bit(xn, 15)
            }
            Self::Small(base, attributes) => {
                let Fields { tex, xn, .. } = attributes.fields();
                base.0 | 0b10 | bit(xn, 0) | second(attributes) | tex << 6
            }
        }
    }

    /// Decodes a word. A descriptor of a fault may hold anything above its two low bits.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn decode(word: u32) -> Result<Second, Malformed> {
        let large = word & 0b11 == 0b01;
        let fields = Fields {
            ap: word >> 7 & 0b100 | word >> 4 & 0b11,
            xn: word >> if large { 15 } else { 0 } & 1 != 0,
            tex: word >> if large { 12 } else { 6 } & 0b111,
            cb: word >> 2 & 0b11,
            s: word >> 10 & 1 != 0,
            ng: word >> 11 & 1 != 0,
        };
        let (found, fixed) = match word & 0b11 {
            0b00 => return Ok(Self::Fault),
            0b01 => (Attributes::from_fields(fields).map(|with| Self::Large(Base::of(word), with)), Fixed::LARGE),
            _ => (Attributes::from_fields(fields).map(|with| Self::Small(Base::of(word), with)), Fixed::SMALL),
        };
        found.filter(|_| fixed.are_in(word)).ok_or(Malformed(word))
    }
}
