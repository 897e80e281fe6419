//! Placement as protection schemes differ in it: which addresses and sizes an area may have, where tables of domains lie, and what is asked of
//! the ledger. The order in which things are placed is the same for all (`crate::plan::Plan::with`).

use manager::PoolAt;
use manifest::resolved::{Domain, Item, System};
use spec::TemporalSpec;
use system::build::SchemeTables;

use crate::allocate::Space;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::handlers::{Handlers, HandlersSpot};
use crate::ledger::Book;
use crate::placed::PlacedWays;
use crate::spot::{DomainSpot, Range};

/// A system that is to be placed, and the memory that is left for it.
pub(crate) struct Site<'a> {
    pub system: &'a System,
    pub programs: &'a [Program],
    /// Contents of the constant files.
    pub files: &'a [Vec<u8>],
    /// Handlers of domains, with all that they reach.
    pub handlers: &'a [Handlers<'a>],
    /// By number of the system's memories.
    pub spaces: Vec<Space>,
    /// The memory that nobody writes.
    pub rom: usize,
}

/// Results of a scheme beside the areas.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// Memory that could be written, and that nobody writes.
    pub read_only: Vec<Range>,
    /// The range on the chip in which tables lie.
    pub near_tables: Range,
    /// Ways that are locked in the second-level cache.
    pub locked: PlacedWays,
    /// The section of the system's tables that it owns.
    pub scheme: SchemeTables,
    /// All that handlers execute, of each domain that has any.
    pub handlers: Vec<HandlersSpot>,
}

/// A protection scheme's part of placement.
pub(crate) trait Scheme {
    /// Alignment of the system's tables.
    const TABLES_ALIGN: u64;
    /// The system's tables are placed before everything else; otherwise last, where areas leave a gap.
    const TABLES_FIRST: bool;

    /// Takes what the kernel's image has.
    fn begin(&mut self, site: &mut Site, kernel: &Kernel) -> Result<(), PlaceError>;

    /// Domains are placed in the order of this.
    fn order(&self, domain: &Domain, program: &Program) -> (bool, u32);

    /// Places what is a domain's own.
    fn domain(&mut self, site: &mut Site, index: usize) -> Result<DomainSpot, PlaceError>;

    /// Places a file or shared memory, which domains have with these specifications.
    fn common(
        &self,
        space: &mut Space,
        what: &Item,
        bytes: u32,
        specs: &mut dyn Iterator<Item = TemporalSpec>,
        at: Option<u32>,
    ) -> Result<Range, PlaceError>;

    /// Places an untyped range.
    fn frames(&self, space: &mut Space, what: &Item, bytes: u32) -> Result<Range, PlaceError>;

    /// Places the area in which the ledger is handed over.
    fn ledger(&self, space: &mut Space, bytes: u64) -> Result<Range, PlaceError>;

    /// Nobody writes this range.
    fn constant(&mut self, _range: Range) {}

    /// All areas of a domain are there.
    fn complete(&mut self, _site: &Site, _spot: &mut DomainSpot, _program: &Program) {}

    /// Places tables of domains, and asks the ledger for everything; `frames` are the placed ranges of the manifest.
    fn admit(
        &mut self,
        site: &mut Site,
        domains: &mut [DomainSpot],
        frames: &[Range],
    ) -> Result<(Book, Vec<PoolAt>), PlaceError>;

    /// Sets for each area of a domain how its check is kept: the place of tables, the weakest one counts, and the slots that it takes.
    fn checked(&self, spot: &mut DomainSpot);

    /// Results beside the areas, when all is placed.
    fn extras(self, system: &System, domains: &[DomainSpot]) -> Extras;
}
