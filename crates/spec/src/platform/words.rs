//! A platform as words, for the hand-over from host to target.

use super::{Costs, Hardware, Linear, Method, Pages, Platform, Regions, Work};

/// Kind and classes, and what the kind has.
pub(crate) const PLATFORM_WORDS: usize = 16;

const REGIONS: u8 = 1;
const PAGES: u8 = 2;

impl Platform {
    /// As the ledger is handed over with it.
    pub(crate) fn words(&self) -> [u32; PLATFORM_WORDS] {
        words(self)
    }

    /// Reads what [`Platform::words`] wrote; `None` for words that no platform has.
    pub(crate) fn from_words(words: &[u32; PLATFORM_WORDS]) -> Option<Platform> {
        platform(words)
    }
}

fn words(platform: &Platform) -> [u32; PLATFORM_WORDS] {
    let mut words = [0; PLATFORM_WORDS];
    let kind = match &platform.hardware {
        Hardware::Regions(regions) => {
            let Regions { registers, slots_for_data, slots_for_code, node_bytes, tcm_cycles, on_chip_cycles } =
                *regions;
            let has_tcm = u8::from(tcm_cycles.is_some());
            words[1] = u32::from_le_bytes([registers, slots_for_data, slots_for_code, has_tcm]);
            words[2..5].copy_from_slice(&[u32::from(node_bytes), tcm_cycles.unwrap_or(0), on_chip_cycles]);
            REGIONS
        }
        Hardware::Pages(pages) => {
            let Pages { costs, work, way_bytes, root_bytes, table_bytes, constant_descriptors, window_base, .. } =
                *pages;
            words[1] = u32::from_le_bytes([pages.lock_slots, pages.ways, pages.window_log2, work.method as u8]);
            words[2..].copy_from_slice(&[
                costs.main_tlb,
                costs.walk_on_chip,
                costs.walk_locked_ways,
                work.map.base,
                work.map.each,
                work.release.base,
                work.release.each,
                way_bytes,
                root_bytes,
                table_bytes,
                constant_descriptors,
                window_base,
                pages.uniform as u32,
                0,
            ]);
            PAGES
        }
    };
    words[0] = u32::from_le_bytes([kind, platform.data_classes, 0, 0]);
    words
}

fn platform(words: &[u32; PLATFORM_WORDS]) -> Option<Platform> {
    let [kind, data_classes, 0, 0] = words[0].to_le_bytes() else { return None };
    let hardware = match kind {
        REGIONS => Hardware::Regions(regions(words)?),
        PAGES => Hardware::Pages(pages(words)?),
        _ => return None,
    };
    Some(Platform { hardware, data_classes })
}

fn regions(words: &[u32; PLATFORM_WORDS]) -> Option<Regions> {
    let [registers, slots_for_data, slots_for_code, has_tcm] = words[1].to_le_bytes();
    let node_bytes = u16::try_from(words[2]).ok().filter(|bytes| *bytes > 0)?;
    let on_chip_cycles = words[4];
    let tcm_cycles = match (has_tcm, words[3]) {
        (0, 0) => None,
        (1, cycles) => Some(cycles),
        _ => return None,
    };
    slots_for_data.checked_add(slots_for_code)?;
    let regions = Regions { registers, slots_for_data, slots_for_code, node_bytes, tcm_cycles, on_chip_cycles };
    words[5..].iter().all(|word| *word == 0).then_some(regions)
}

fn pages(words: &[u32; PLATFORM_WORDS]) -> Option<Pages> {
    let [lock_slots, ways, window_log2, method] = words[1].to_le_bytes();
    let [
        main_tlb,
        walk_on_chip,
        walk_locked_ways,
        map_base,
        map_each,
        release_base,
        release_each,
        way_bytes,
        root_bytes,
        table_bytes,
        constant_descriptors,
        window_base,
        uniform @ (0 | 1),
        0,
    ] = words[2..]
    else {
        return None;
    };
    let work = Work {
        method: Method::from_number(u32::from(method))?,
        map: Linear { base: map_base, each: map_each },
        release: Linear { base: release_base, each: release_each },
    };
    let costs = Costs { main_tlb, walk_on_chip, walk_locked_ways };
    let sizes = way_bytes > 0 && root_bytes > 0 && table_bytes > 0 && (22..=25).contains(&window_log2);
    let uniform = uniform == 1;
    (sizes && !(uniform && lock_slots > 0)).then_some(Pages {
        costs,
        work,
        lock_slots,
        ways,
        way_bytes,
        root_bytes,
        table_bytes,
        constant_descriptors,
        window_base,
        window_log2,
        uniform,
    })
}
