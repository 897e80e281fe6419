//! The part `figures` of a board's file: which experiments are repeated there, with which applications.

use serde::Deserialize;

use super::{database, paging, places, synthetic, timed, translation};

/// The experiments. One that is absent is not made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// Applications over paged regions against pinned ones.
    pub paged: Option<paging::Paged>,
    /// A database done in other ways.
    pub database: Option<database::Database>,
    /// Replacement policies, and interference after every n accesses.
    pub synthetic: Option<synthetic::Synthetic>,
    /// Applications over paged regions under interference at fixed times.
    pub timed: Option<timed::Timed>,
    /// Accesses by where translation is kept.
    pub places: Option<places::Places>,
    /// Applications with ways of the second-level cache locked.
    pub locked_ways: Option<translation::LockedWays>,
    /// Applications under interference by where translation is kept.
    pub interference: Option<translation::Interference>,
}

impl Plan {
    /// Refuses an experiment that needs page tables where there are none, or region registers, and names that name nothing.
    pub(crate) fn check(&self, has_tables: bool) -> Result<(), String> {
        let of_regions =
            self.paged.is_some() || self.database.is_some() || self.synthetic.is_some() || self.timed.is_some();
        let of_tables = self.places.is_some() || self.locked_ways.is_some() || self.interference.is_some();
        if (of_regions && has_tables) || (of_tables && !has_tables) {
            return Err("`figures` holds an experiment that needs another scheme of protection".to_owned());
        }
        self.interference.as_ref().map_or(Ok(()), translation::Interference::check)
    }
}
