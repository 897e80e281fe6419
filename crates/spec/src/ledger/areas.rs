//! The areas that a domain has from the beginning.

use super::{Grant, Ledger, NoFrames, Opening, Request};
use crate::platform::TablePlace;
use crate::refusal::Refusal;
use crate::temporal::{AccessLevel, TemporalSpec};

impl TablePlace {
    /// Location of a domain's table: as the strictest of these that tables keep asks.
    pub fn of_strictest(specs: impl Iterator<Item = TemporalSpec>) -> TablePlace {
        let kept = specs.map(|spec| spec.access).filter(|level| *level != AccessLevel::Deterministic);
        if kept.max() == Some(AccessLevel::L1) { TablePlace::Tcm } else { TablePlace::OnChip }
    }
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// Opens the account of the next domain, whose threads declare so many misses in a period, and asks for its areas in this order, with what
    /// each takes; their memory is there already. `answered` is told each answer; one that is refused takes nothing.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    ///
    /// # Time complexity
    /// That of [`Ledger::admit`] for each area.
    pub fn admit_domain(
        &mut self,
        opening: &Opening,
        misses: u32,
        areas: impl Iterator<Item = Request>,
        mut answered: impl FnMut(Result<Grant, Refusal>),
    ) -> Result<(), Refusal> {
        let domain = self.open(opening)?;
        // They belong to the threads, not to one area: the first one asks for all of them.
        let mut misses = Some(misses);
        for area in areas {
            let request = Request { domain, misses: misses.take().unwrap_or(0), frames: None, ..area };
            answered(self.admit(&request, &mut NoFrames));
        }
        Ok(())
    }
}
