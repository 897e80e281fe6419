//! Chips that check accesses with region registers, and find what is in none of them through a table in software.

use super::bound::{Bound, Independence, Meaning, Method, Reason};
use super::place::TablePlace;
use super::scheme::{Phrase, Scheme, Wording};
use crate::temporal::AccessLevel;

/// Bytes of a PCTrie node (`protect::regions::pctrie` asserts it).
pub const NODE_BYTES: u16 = 288;

/// A chip with region registers. Each domain has an image of them and a table of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regions {
    /// Region registers of a domain.
    pub registers: u8,
    /// Registers that must serve paged memory once data is paged: an access can straddle regions.
    pub slots_for_data: u8,
    /// Registers beyond these once code is paged: a fetch can straddle regions, too.
    pub slots_for_code: u8,
    /// Bytes of a node of a domain's table, not 0.
    pub node_bytes: u16,
    /// Largest observed cycles from a faulting access to the restarted one, with the table in tightly coupled memory. `None` where there is
    /// no such memory.
    pub tcm_cycles: Option<u32>,
    /// The same with the table in other memory on the chip.
    pub on_chip_cycles: u32,
}

/// Nodes by which a table grows at least.
const GROWTH_NODES: u32 = 7;

const TCM: &[TablePlace] = &[TablePlace::Tcm];
const CHIP: &[TablePlace] = &[TablePlace::Tcm, TablePlace::OnChip];
const WITHOUT_TCM: &[TablePlace] = &[TablePlace::OnChip];

impl Regions {
    /// A domain has an image of the registers and one table; its memory comes in one piece.
    pub const SCHEME: Scheme =
        Scheme { scatters: false, shares_checks: false, tables_by_mapping: false, table_places: CHIP };

    /// The words for it.
    pub const WORDING: Wording = Wording {
        pinned: Phrase { text: "region registers of its own", short: "registers" },
        paged: [
            Phrase {
                text: "paged over the other region registers, tables in tightly coupled memory",
                short: "paged, TCM",
            },
            Phrase { text: "paged over the other region registers, tables in on-chip memory", short: "paged, on chip" },
            Phrase::NONE,
            Phrase::NONE,
        ],
        slot: ["register pinned", "registers pinned"],
        part: ["region", "regions"],
        tables: ["table", ""],
    };

    /// Everything is independent: a switch loads the domain's image whole.
    pub(super) const INDEPENDENCE: Independence =
        Independence { kept: "registers and table are each domain's own", not_kept: None };

    /// A PMSAv7 unit with so many registers. `tcm_cycles` and `on_chip_cycles` as in the type.
    pub const fn new(registers: u8, tcm_cycles: Option<u32>, on_chip_cycles: u32) -> Regions {
        Regions { registers, slots_for_data: 2, slots_for_code: 2, node_bytes: NODE_BYTES, tcm_cycles, on_chip_cycles }
    }

    /// Registers that must be left to paged memory: none if nothing is paged. Code holds constants, which are read as data.
    pub const fn paged_slots(&self, code_paged: bool, data_paged: bool) -> u8 {
        match (code_paged, data_paged) {
            (false, false) => 0,
            (false, true) => self.slots_for_data,
            (true, _) => self.slots_for_data + self.slots_for_code,
        }
    }

    /// See [`super::Platform::growth`]: as many nodes as an extent of 2 KiB holds, at least.
    pub(super) const fn growth(&self, lacking: u32) -> Option<u32> {
        lacking.checked_next_multiple_of(GROWTH_NODES * self.node_bytes as u32)
    }

    /// How a level is kept: there is no third level, and a first one only with tightly coupled memory.
    pub(super) const fn keeps(&self, level: AccessLevel) -> Result<Meaning, Reason> {
        Ok(match (level, self.tcm_cycles) {
            (AccessLevel::Deterministic, _) => Meaning::Pinned(self.pinned()),
            (AccessLevel::L1, Some(_)) => Meaning::Tables(TCM),
            (AccessLevel::L1, None) => return Err(Reason::NoFirstLevel),
            (AccessLevel::L2 | AccessLevel::BestEffort, Some(_)) => Meaning::Tables(CHIP),
            (AccessLevel::L2 | AccessLevel::BestEffort, None) => Meaning::Tables(WITHOUT_TCM),
            (AccessLevel::L3, _) => return Err(Reason::NoThirdLevel),
        })
    }

    /// The bound that registers of its own promise.
    pub(super) const fn pinned(&self) -> Bound {
        Bound { level: AccessLevel::Deterministic, cycles: 0, method: Method::Derived }
    }

    /// The bound that a table in a place promises; `None` when it promises nothing.
    pub(super) const fn bound_of(&self, place: TablePlace) -> Option<Bound> {
        let cycles = match (place, self.tcm_cycles) {
            (TablePlace::Tcm, Some(cycles)) => cycles,
            (TablePlace::OnChip, _) => self.on_chip_cycles,
            (TablePlace::Tcm | TablePlace::LockedWays | TablePlace::OffChip, _) => return None,
        };
        Some(Bound { level: place.level(), cycles, method: Method::Observed })
    }
}
