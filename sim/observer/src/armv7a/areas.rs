//! Translation in parts of domains' address spaces.

use record::{AreaCounts, AreaWatch, CoreId, TranslationCounts, Watch};

/// The parts, and the counts of each.
pub struct Areas {
    areas: Vec<(AreaWatch, TranslationCounts)>,
    /// The counts when a micro-TLB last did not serve an access.
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
    pub const fn misses(&self) -> u64 {
        self.seen.micro_misses
    }

    /// An access of this domain's own at `address` missed in a micro-TLB, or one of the kernel's; `now` was counted by then.
    pub fn count_miss(&mut self, now: TranslationCounts, domain: Option<u8>, address: u32) {
        let then = std::mem::replace(&mut self.seen, now);
        let concerns = |area: &AreaWatch| domain == Some(area.domain) && area.range.holds(address, 1);
        for (_, counts) in self.areas.iter_mut().filter(|(area, _)| concerns(area)) {
            counts.add(now, then);
        }
    }
}
