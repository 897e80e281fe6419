//! Translation in parts of domains' address spaces.

use record::{AreaCounts, AreaWatch, CoreId, TranslationCounts, Watch};

use super::Armv7a;
use crate::family::Family;
use crate::observer::CoreObserver;

/// The parts, and what was counted of each.
pub struct Areas {
    areas: Vec<(AreaWatch, TranslationCounts)>,
    /// All that was counted when a micro-TLB last did not serve an access.
    seen: TranslationCounts,
}

impl Areas {
    /// As requested, nothing counted.
    pub fn new(watch: &Watch) -> Self {
        let areas = watch.areas.iter().map(|area| (area.clone(), TranslationCounts::default()));
        Self { areas: areas.collect(), seen: TranslationCounts::default() }
    }

    /// For the summary.
    pub fn counts(&self, core: CoreId) -> Vec<AreaCounts> {
        let counts = |(area, translation): &(AreaWatch, TranslationCounts)| AreaCounts {
            core,
            name: area.name.clone(),
            domain: area.domain,
            translation: *translation,
        };
        self.areas.iter().map(counts).collect()
    }

    /// Micro-TLB misses so far, as far as they have been looked at.
    #[inline]
    pub(super) const fn misses(&self) -> u64 {
        self.seen.micro_misses
    }
}

impl CoreObserver<Armv7a> {
    /// An access or a fetch at `address` missed in a micro-TLB.
    #[cold]
    pub(super) fn count_miss(&mut self, address: u32) {
        let now = self.family.translation();
        let then = std::mem::replace(&mut self.family.areas.seen, now);
        let (domain, in_kernel) = (self.domain, self.kernel != 0);
        let concerns = |area: &AreaWatch| !in_kernel && area.domain == domain && area.range.holds(address, 1);
        for (_, counts) in self.family.areas.areas.iter_mut().filter(|(area, _)| concerns(area)) {
            counts.add(now, then);
        }
    }
}
