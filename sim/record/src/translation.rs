//! Address translation: what it cost, and what was wrong with it.

use serde::{Deserialize, Serialize};
use units::CoreId;

use crate::ViolationKind;

/// Walks of the tables by what answered the slowest of their descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walks {
    /// The level-1 data cache.
    pub level1: u64,
    /// A locked way of the level-2 cache.
    pub locked_way: u64,
    /// On-chip RAM.
    pub on_chip: u64,
    /// Another way of the level-2 cache, from which anybody may evict the line.
    pub level2: u64,
    /// Memory behind the caches.
    pub memory: u64,
}

impl Walks {
    /// All of them.
    pub const fn all(&self) -> u64 {
        self.level1 + self.locked_way + self.on_chip + self.beyond()
    }

    /// Those that went beyond on-chip RAM and locked ways.
    pub const fn beyond(&self) -> u64 {
        self.level2 + self.memory
    }

    fn each(&mut self) -> [&mut u64; 5] {
        [&mut self.level1, &mut self.locked_way, &mut self.on_chip, &mut self.level2, &mut self.memory]
    }
}

/// What translation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranslationCounts {
    /// Accesses and fetches that the micro-TLBs did not serve.
    pub micro_misses: u64,
    /// Of these, served by a locked entry of the main TLB.
    pub locked_hits: u64,
    /// Of these, served by another entry of the main TLB.
    pub main_hits: u64,
    /// Of these, walks for data.
    pub data_walks: Walks,
    /// Of these, walks for instructions.
    pub fetch_walks: Walks,
    /// Cycles that data accesses waited for translation.
    pub data_stall_cycles: u64,
    /// Cycles that fetches waited for it.
    pub fetch_stall_cycles: u64,
}

impl TranslationCounts {
    /// Whether nothing is counted.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Walks that went beyond on-chip RAM and locked ways.
    pub const fn beyond(&self) -> u64 {
        self.data_walks.beyond() + self.fetch_walks.beyond()
    }

    /// Adds what has passed between `then` and `now`, both counted from the same start.
    pub fn add(&mut self, mut now: Self, mut then: Self) {
        for ((sum, now), then) in self.each().into_iter().zip(now.each()).zip(then.each()) {
            *sum += *now - *then;
        }
    }

    fn each(&mut self) -> [&mut u64; 15] {
        let [a, b, c, d, e] = self.data_walks.each();
        let [f, g, h, i, j] = self.fetch_walks.each();
        let (misses, locked, main) = (&mut self.micro_misses, &mut self.locked_hits, &mut self.main_hits);
        let (data, fetch) = (&mut self.data_stall_cycles, &mut self.fetch_stall_cycles);
        [misses, locked, main, a, b, c, d, e, f, g, h, i, j, data, fetch]
    }
}

/// Translation of a domain's accesses to a part of its address space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreaCounts {
    /// The core.
    pub core: CoreId,
    /// Name of the request.
    pub name: String,
    /// The domain.
    pub domain: u8,
    /// What was counted.
    pub translation: TranslationCounts,
}

/// Two opinions on where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disagreement {
    /// The address-space identifier.
    pub space: u8,
    /// Physical address by the translation that was used or may be; for `UncleanTable` that of the descriptor.
    pub held: u32,
    /// Physical address by the tables as they stand; `None`: they have no translation.
    pub tables: Option<u32>,
}

impl ViolationKind {
    /// The rule that was broken, where it is one about translation.
    pub const fn rule(self) -> Option<&'static str> {
        Some(match self {
            Self::StaleTranslation => {
                "a translation that the tables no longer say is gone from every TLB before it can be used"
            }
            Self::StaleLocked => "a locked entry goes before its mapping does: TLBIALL and TLBIMVAA leave it",
            Self::StaleSpace => "an address-space identifier leads to other tables only after TLBIASID",
            Self::StaleBarrier => "an invalidation counts only when a DSB has completed it",
            Self::UncleanTable => "a descriptor is where walks look before a walk needs it",
            Self::Elsewhere => "the observer's copy of the tables is the one that the emulator walks",
            _ => return None,
        })
    }

    /// What helps, where the violation is one about translation.
    pub const fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::StaleTranslation => "TLBIMVA for the page after its descriptor changed, then DSB",
            Self::StaleLocked => {
                "TLBIMVA with the address and the identifier of the locked entry, or TLBIASID, then DSB"
            }
            Self::StaleSpace => "TLBIASID and DSB before the identifier is given to other tables",
            Self::StaleBarrier => "DSB after the invalidation, before anything that depends on it",
            Self::UncleanTable => {
                "DCCMVAU of the descriptor's line, then DSB, or walks that look into the data cache (TTBR.IRGN)"
            }
            Self::Elsewhere => "this is a defect of the observer or of the emulator, not of the program",
            _ => return None,
        })
    }
}
