//! A protection scheme: facts that hold on every chip that has it, and the words for them.

use super::place::{PLACES, TablePlace};

/// Facts of a protection scheme that hold on every chip that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// True if memory comes in pieces, wherever they lie, and each piece is mapped by itself.
    /// Otherwise it comes in one piece.
    pub scatters: bool,
    /// True if domains share what keeps their checks, so that independence is kept in part only.
    pub shares_checks: bool,
    /// True if each mapping has tables of its own. A request to map then has to say where they lie.
    /// Otherwise a domain has one table.
    pub tables_by_mapping: bool,
    /// Places in which tables can lie, nearest first.
    pub table_places: &'static [TablePlace],
}

impl Scheme {
    /// Returns true if a request to map has to say that the tables in this place keep the check on
    /// the chip.
    pub const fn near(&self, place: TablePlace) -> bool {
        self.tables_by_mapping && !matches!(place, TablePlace::OffChip)
    }
}

/// How a check is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// As a phrase.
    pub text: &'static str,
    /// In a word or two.
    pub short: &'static str,
}

impl Phrase {
    /// There are no tables in the place.
    pub(super) const NONE: Phrase = Phrase { text: "", short: "" };
}

/// The words for a protection scheme: for reports. They are apart from [`Scheme`], so that no image holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wording {
    /// A check that is pinned.
    pub pinned: Phrase,
    /// A check that has its tables in a place, in the order of [`TablePlace::ALL`].
    pub paged: [Phrase; PLACES],
    /// A slot that always holds the check of an area, singular and plural.
    pub slot: [&'static str; 2],
    /// A part of an area that is checked at once, singular and plural.
    pub part: [&'static str; 2],
    /// A domain's own table, and its tables behind that one; the second is empty where there is one table.
    pub tables: [&'static str; 2],
}

impl Wording {
    /// How a check is kept that is pinned, or has its tables in a place.
    pub const fn kept(&self, pinned: bool, place: TablePlace) -> Phrase {
        if pinned { self.pinned } else { self.paged[place as usize] }
    }
}
