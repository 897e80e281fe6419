//! The two registers of a region, as slots and the trie ask for them.

use core::fmt::Debug;

use crate::{AccessKind, Span};

/// The registers of one region in a scheme, as plain data.
///
/// A region remembers the slot in which it was loaded last ([`Registers::at_slot`]), in bits that
/// the scheme has no other use for. So a fault at an address whose region is loaded is told from a
/// miss ([`slots`](super::slots)). Each scheme says whether hardware is given these bits
/// ([`Registers::stored`]).
pub trait Registers: Copy + Debug + Eq + 'static {
    /// A region that is switched off.
    const DISABLED: Self;

    /// A region that is switched off. [`Registers::contains`] is false for every address.
    const NOWHERE: Self;

    /// The same region, which remembers a slot below 8.
    #[must_use]
    fn at_slot(self, slot: u32) -> Self;

    /// The slot that it remembers; 0 if it remembers none.
    fn slot(self) -> u32;

    /// As the image holds it: the words that are stored to the registers.
    #[must_use]
    fn stored(self) -> Self;

    /// The region alone, as the compiler returns it.
    #[must_use]
    fn plain(self) -> Self;

    /// Returns true if the region is switched on.
    fn is_enabled(self) -> bool;

    /// Returns true if it obeys the scheme's rules.
    fn is_well_formed(self) -> bool;

    /// Returns true if an enabled, well-formed region can be paged: it has no part below
    /// 2^[`LEAST_PAGED_LOG2`](super::LEAST_PAGED_LOG2) bytes, or an eighth of that, that stands
    /// alone.
    fn can_be_paged(self) -> bool;

    /// Returns true if an enabled, well-formed region contains `addr`.
    fn contains(self, addr: u32) -> bool;

    /// Returns true if unprivileged code may access what the region contains so.
    fn grants(self, kind: AccessKind) -> bool;

    /// Returns true if the region is normal memory, not device or strongly-ordered.
    fn is_normal(self) -> bool;

    /// Returns the last byte up to which the region certainly goes on without a gap from `addr`,
    /// which it contains. It can go on further: the answer may be the end of the part in which the
    /// byte lies.
    fn last_from(self, addr: u32) -> u32;

    /// The ranges of bytes that an enabled, well-formed region contains, ascending.
    fn runs(self) -> impl Iterator<Item = Span>;

    /// Returns true if two enabled, well-formed regions have a byte in common.
    fn meets(self, other: Self) -> bool {
        share_a_byte(self, other)
    }

    /// Its parts as the trie enters them, ascending.
    fn keys(self) -> impl Iterator<Item = Key>;

    /// A word of a list of free leaves.
    fn link(next: u32) -> Self;

    /// The word that [`Registers::link`] was given.
    fn next(self) -> u32;
}

/// A part of a region: a run of whole entries of one node of the trie, at the highest level at which it is that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// First byte.
    pub base: u32,
    /// Last byte.
    pub last: u32,
}

impl Key {
    /// log2 of the largest blocks, aligned to their size, that it is made of.
    pub const fn block_log2(self) -> u32 {
        (self.base | self.last.wrapping_add(1)).trailing_zeros()
    }

    /// Returns true if it has a byte in `first..=last`.
    pub const fn meets(self, first: u32, last: u32) -> bool {
        self.base <= last && first <= self.last
    }
}

/// [`Registers::meets`], by all of their runs.
pub(crate) fn share_a_byte<R: Registers>(one: R, other: R) -> bool {
    let apart = |a: Span, b: Span| a.end() <= u64::from(b.base) || b.end() <= u64::from(a.base);
    one.runs().any(|own| other.runs().any(|theirs| !apart(own, theirs)))
}
