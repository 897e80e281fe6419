//! The part `figures` of a board's file: the experiments that are repeated there, with their applications.

use serde::Deserialize;

/// The experiments. One that is absent is not made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// Applications over paged regions against pinned ones.
    pub paged: Option<Paged>,
    /// A database done in other ways.
    pub database: Option<Database>,
    /// Replacement policies, and interference after every n accesses.
    pub synthetic: Option<Synthetic>,
    /// Applications over paged regions under interference at fixed times.
    pub timed: Option<Timed>,
    /// Accesses by where translation is kept.
    pub places: Option<Places>,
    /// Applications with ways of the second-level cache locked.
    pub locked_ways: Option<LockedWays>,
    /// Applications under interference by where translation is kept.
    pub interference: Option<Interference>,
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
        self.interference.as_ref().map_or(Ok(()), Interference::check)
    }
}

/// How the heap's memory is cut into regions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Geometry {
    /// As the manifest says.
    Written,
    /// As in the paper: 64 KiB pages, two to a region.
    Paper,
    /// In regions of this size.
    Regions(String),
    /// In one piece, and the planner chooses.
    Planner,
    /// Every second 64 KiB belongs to another domain, and the planner chooses.
    Hostile,
}

impl Geometry {
    /// In ids.
    pub fn name(&self) -> &str {
        match self {
            Self::Written => "written",
            Self::Paper => "paper",
            Self::Regions(size) => size,
            Self::Planner => "planner",
            Self::Hostile => "hostile",
        }
    }
}

/// Applications over paged regions against pinned ones.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paged {
    /// Most overhead where every second frame is another domain's, percent.
    pub most_hostile: f64,
    /// The applications.
    pub app: Vec<PagedApp>,
}

/// An application.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PagedApp {
    /// In ids.
    pub name: String,
    /// Its work, in a few words.
    pub about: String,
    /// Its manifest in `eval/systems/mxu`.
    pub system: String,
    /// Argument of the workload.
    #[serde(default)]
    pub argument: u32,
    /// Whether what a script has measured has a row of its own.
    #[serde(default)]
    pub call: bool,
    /// About half of what it has allocated at most, where the paper has half of the memory pinned.
    #[serde(default)]
    pub half: Option<String>,
    /// How its memory is cut.
    pub geometries: Vec<Geometry>,
    /// Numbers of paged regions; the first is the paper's three, or the fewest that are admitted where code is paged.
    pub slots: Vec<u32>,
    /// Areas that are paged beside the heap.
    #[serde(default)]
    pub paged_too: Vec<String>,
    /// Overhead with three paged regions in the paper.
    pub paper: String,
    /// The paper's value with one paged region.
    #[serde(default)]
    pub paper_one_slot: Option<String>,
    /// Most overhead in the paper's geometry, percent: half of the paper's, or what it calls negligible.
    pub most: f64,
}

/// SQLite done in other ways than in [`super::paging`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Database {
    /// Its manifest in `eval/systems/mxu`.
    pub system: String,
    /// Rows of its table, at most 65535.
    pub rows: u16,
    /// Overhead in the paper.
    pub paper: String,
    /// The ways.
    pub way: Vec<Way>,
}

/// One of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Way {
    /// In ids.
    pub name: String,
    /// The difference, in a few words.
    pub about: String,
    /// The same for the workload.
    pub how: Vec<How>,
    /// Paged regions.
    pub slots: u32,
    /// Size of the regions; the paper's, unless it is given.
    #[serde(default)]
    pub regions: Option<String>,
    /// Areas that are paged beside the heap.
    #[serde(default)]
    pub paged_too: Vec<String>,
}

/// A difference in the workload.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum How {
    /// Each phase is one transaction.
    Grouped,
    /// Each statement is text of its own.
    Text,
    /// The key has an index of its own.
    Indexed,
    /// Rows are visited out of order.
    Scattered,
    /// SQLite's own allocator has the heap.
    Buddies,
}

impl How {
    /// Bit of the workload's argument: `eval/systems/mxu/sqlite/src/workload.c`.
    pub const fn bit(self) -> u32 {
        1 << match self {
            Self::Grouped => 16,
            Self::Text => 17,
            Self::Indexed => 18,
            Self::Scattered => 19,
            Self::Buddies => 20,
        }
    }
}

/// Replacement policies, and interference after every n accesses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Synthetic {
    /// The manifest in `eval/systems/mxu`.
    pub system: String,
}

/// Applications under interference at fixed times.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Timed {
    /// Most overhead within a domain where interference is not more frequent than every 100 us, percent.
    pub most: f64,
    /// The applications.
    pub app: Vec<TimedApp>,
}

/// An application.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimedApp {
    /// In ids.
    pub name: String,
    /// Its work, in a few words.
    pub about: String,
    /// Its manifest in `eval/systems/mxu`.
    pub system: String,
    /// Argument of the workload.
    pub argument: u32,
    /// Whether only what a script has measured counts.
    #[serde(default)]
    pub call: bool,
    /// Whether all times are measured, and not only two.
    #[serde(default)]
    pub has_all: bool,
}

/// Accesses by where translation is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Places {
    /// The manifest in `eval/systems/mxu`.
    pub system: String,
    /// Ways that are locked where tables lie in them.
    pub table_ways: u32,
}

/// Times between two interferences: in ids, and microseconds.
pub(crate) const TIMES: [(&str, u64); 4] = [("10us", 10), ("100us", 100), ("1ms", 1000), ("10ms", 10_000)];

/// Applications with ways of the second-level cache locked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockedWays {
    /// Applications are slowed down by at most so much, percent,
    pub most: f64,
    /// by at most so many locked ways.
    pub up_to: u32,
    /// The applications; `only` names numbers of ways, `paper` is the paper's value with all of them.
    pub app: Vec<TableApp<u32>>,
}

/// Applications under interference by where translation is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Interference {
    /// Ways that are locked where tables lie in them.
    pub table_ways: u32,
    /// The applications; `only` names times as in ids, `paper` is the paper's value with locked entries and the shortest time.
    pub app: Vec<TableApp<String>>,
}

/// An application, and how much it has to do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableApp<T> {
    /// In ids.
    pub name: String,
    /// Its work, in a few words.
    pub about: String,
    /// Its manifest in `eval/systems/mxu`.
    pub system: String,
    /// Argument of the workload.
    #[serde(default)]
    pub argument: u32,
    /// Size of its heap; otherwise as its manifest says.
    #[serde(default)]
    pub heap: Option<String>,
    /// Those of which rows are measured unless its own are asked for: it has much to do. Otherwise all.
    #[serde(default)]
    pub only: Option<Vec<T>>,
    /// A value of the paper.
    #[serde(default)]
    pub paper: Option<String>,
}

impl Interference {
    /// Refuses a time that nothing is measured at.
    fn check(&self) -> Result<(), String> {
        let mut named = self.app.iter().filter_map(|app| app.only.as_ref()).flatten();
        let unknown = named.find(|time| !TIMES.iter().any(|(name, _)| name == time));
        unknown.map_or(Ok(()), |time| Err(format!("`{time}` is no time of `figures.interference`")))
    }
}
