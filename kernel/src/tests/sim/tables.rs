//! The memory of tables and trees, and the MMUs that read it. Look-ups are written from `rtl/mmu`, and memory holds at first whatever deceives a kernel that
//! relies on a word that it has not written.

use std::boxed::Box;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::vec::Vec;

use system::rtmmu::{BASE, Mmu, PAGE};

use crate::rtmmu::Loaded;

/// The three table memories: `c` and `sp`, `h` and `s`, `d` or the entries of another MMU.
pub const WINDOWS: [u32; 3] = [0x7000_0000, 0x7100_0000, 0x7200_0000];
pub const WINDOW_BYTES: u32 = 0x100_0000;
pub const ENTRIES_LOG2: u32 = 19;
/// Base-two logarithm of the pages of a domain with an even number; the others have twice as many.
pub const PAGES_LOG2: u32 = 13;
/// Bits of the number of a page, and of a frame.
const PAGE_MASK: u32 = (1 << 19) - 1;
const WORDS: u32 = 1024;
const SV32_ENTRIES: u32 = 1024;

/// A page that is mapped, and by which right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub page: u32,
    pub frame: u32,
    pub rights: u32,
}

impl Entry {
    pub fn address(self) -> u32 {
        BASE + self.page * PAGE
    }

    pub fn physical(self) -> u32 {
        self.frame * PAGE
    }
}

/// Everything that a part of the tables translates, and what it lies in.
struct Units {
    config: Loaded,
    first: u32,
    mapped: Rc<Vec<Entry>>,
}

/// The memory of tables and trees: blocks in which something was written.
pub struct Memory {
    mmu: Mmu,
    blocks: BTreeMap<u32, Box<[u32; WORDS as usize]>>,
    /// Changes with every word, so that what is translated is computed once for each version.
    pub version: u64,
    units: Vec<Units>,
    /// An entry was replaced, and TLBs may hold a copy of it.
    pub copied: bool,
}

thread_local! {
    pub static MEMORY: RefCell<Memory> = RefCell::new(Memory::new(Mmu::Rtmmu));
}

/// The tables of the system before are gone; the next ones are another MMU's.
pub fn forget_spaces(mmu: Mmu) {
    MEMORY.with_borrow_mut(|memory| *memory = Memory::new(mmu));
}

/// Everything that is translated with a part of the tables in force.
pub fn mapped(config: Option<Loaded>) -> Rc<Vec<Entry>> {
    config.map(|config| MEMORY.with_borrow_mut(|memory| memory.units(config))).unwrap_or_default()
}

/// A word that depends on its place alone: garbage that is the same each time.
fn hash(at: u32) -> u32 {
    let mixed = (at ^ at >> 15).wrapping_mul(0x2c1b_3c6d);
    (mixed ^ mixed >> 12).wrapping_mul(0x297a_2d39)
}

impl Memory {
    fn new(mmu: Mmu) -> Self {
        Memory { mmu, blocks: BTreeMap::new(), version: 0, units: Vec::new(), copied: false }
    }

    /// A word that nobody has written yet. Each page was mapped once, to a frame of the kernel. With RTMMU it was so in a region of its own or in one with
    /// others, and all that a look-up lacks to find it again is `sp`. Bits that the hardware has no use for are set or not.
    fn garbage(&self, at: u32) -> u32 {
        let window = WINDOWS.iter().position(|base| at.wrapping_sub(*base) < WINDOW_BYTES);
        let Some(window) = window else { return hash(at) };
        let index = (at - WINDOWS[window]) / 4;
        let (second, page) = (index >> ENTRIES_LOG2 & 1, index & ((1 << PAGES_LOG2) - 1));
        let (mood, waste) = (hash(index & PAGE_MASK) >> 8, hash(at) & !PAGE_MASK);
        let frame = 0x2000_0000 / PAGE;
        match (self.mmu, window, second) {
            (Mmu::Sv32, ..) => frame << 10 | 0xdf,
            (_, 0, 1) => u32::MAX,
            (_, 2, _) => frame | waste,
            _ if mood.is_multiple_of(4) => hash(at),
            // On the stack of a region that begins there, below its limit: only `s` says that it is not this page's place.
            _ if mood.is_multiple_of(3) && second == 0 => page & !63 | waste,
            _ => page | waste,
        }
    }

    pub fn word(&self, at: u32) -> u32 {
        assert!(at.is_multiple_of(4), "{at:#x}");
        let (block, index) = (at / 4 / WORDS, at / 4 % WORDS);
        self.blocks.get(&block).map_or_else(|| self.garbage(at), |words| words[index as usize])
    }

    pub fn set(&mut self, at: u32, value: u32) {
        assert!(at.is_multiple_of(4), "{at:#x}");
        let (block, index) = (at / 4 / WORDS, at / 4 % WORDS);
        if !self.blocks.contains_key(&block) {
            let fresh = core::array::from_fn(|index| self.garbage((block * WORDS + index as u32) * 4));
            self.blocks.insert(block, Box::new(fresh));
        }
        let old = core::mem::replace(&mut self.blocks.get_mut(&block).unwrap()[index as usize], value);
        self.copied |= old != value && old & 1 != 0 && self.is_leaf(at);
        self.version += 1;
        if let Some(window) = WINDOWS.iter().find(|base| at.wrapping_sub(**base) < WINDOW_BYTES) {
            self.noted((at - window) / 4 % (1 << ENTRIES_LOG2));
        }
    }

    /// Returns true if it is a leaf of Sv32.
    fn is_leaf(&self, at: u32) -> bool {
        let entry = at.wrapping_sub(WINDOWS[2]) / 4;
        let within = |units: &Units| entry.wrapping_sub(units.first) < 1 << units.config.pages_log2;
        self.mmu == Mmu::Sv32 && self.units.iter().any(within)
    }

    fn noted(&mut self, entry: u32) {
        let all = core::mem::take(&mut self.units);
        let whole = |units: &Units| self.mmu.entries_log2(units.config.pages_log2);
        let (mut hit, missed): (Vec<Units>, Vec<Units>) =
            all.into_iter().partition(|units| entry.wrapping_sub(units.first) >> whole(units) == 0);
        self.units = missed;
        // An entry of a page says of that page alone whether it is mapped.
        hit.retain(|units| self.mmu != Mmu::Rtmmu && entry - units.first < 2 << units.config.pages_log2);
        for mut units in hit {
            let page = entry - units.first;
            if page >> units.config.pages_log2 == 0 {
                let found = self.look_up(units.config, page);
                let mapped = Rc::make_mut(&mut units.mapped);
                match mapped.binary_search_by_key(&page, |entry| entry.page) {
                    Ok(place) => drop(mapped.splice(place..=place, found)),
                    Err(place) => drop(mapped.splice(place..place, found)),
                }
            }
            self.units.push(units);
        }
    }

    /// Frame and rights of a page, as the hardware finds them.
    pub fn look_up(&self, config: Loaded, page: u32) -> Option<Entry> {
        match self.mmu {
            Mmu::Rtmmu => self.rtmmu(config, page),
            Mmu::Direct => self.direct(config, page),
            Mmu::Sv32 => self.sv32(config, page),
        }
    }

    /// `mmu_rtmmu.sv`. Every index is confined to the domain's own entries.
    fn rtmmu(&self, config: Loaded, page: u32) -> Option<Entry> {
        let mask = (1 << config.pages_log2) - 1;
        let base = config.first & !mask;
        let [a, b, d] = WINDOWS;
        let read = |window: u32, second: u32, index: u32| {
            let index = (base | index & mask) & ((1 << ENTRIES_LOG2) - 1);
            self.word(window + 4 * (second << ENTRIES_LOG2 | index))
        };
        let (c, h) = (read(a, 0, page) & PAGE_MASK, read(b, 0, page) & PAGE_MASK);
        let frame = read(d, 0, page) & PAGE_MASK;
        let (header, s) = (read(a, 1, c), read(b, 1, h) & PAGE_MASK);
        let (rights, sp) = (header >> 28 & 7, header & ((1 << 20) - 1));
        let hit = page & !mask == 0 && c <= page && c <= h && h < sp && s == page;
        (hit && rights != 0).then_some(Entry { page, frame, rights })
    }

    /// `mmu_direct.sv`.
    fn direct(&self, config: Loaded, page: u32) -> Option<Entry> {
        let mask = (1 << config.pages_log2) - 1;
        let entry = self.word(WINDOWS[2] + 4 * (config.first & !mask | page & mask));
        let (valid, rights, frame) = (entry >> 31 == 1, entry >> 28 & 7, entry & PAGE_MASK);
        (page & !mask == 0 && valid && rights != 0).then_some(Entry { page, frame, rights })
    }

    /// `mmu_sv32.sv`.
    fn sv32(&self, config: Loaded, page: u32) -> Option<Entry> {
        let address = BASE / PAGE + page;
        let bit = |entry: u32, bit: u32| entry >> bit & 1 == 1;
        let first = self.word(config.first * PAGE + 4 * (address / SV32_ENTRIES));
        let [v, r, w, x, u, a, d] = [0, 1, 2, 3, 4, 6, 7];
        let table = first >> 10;
        let in_memory = table * PAGE / WINDOW_BYTES == WINDOWS[2] / WINDOW_BYTES;
        let is_pointer = bit(first, v) && ![r, w, x, u, a, d].into_iter().any(|number| bit(first, number)) && in_memory;
        let leaf = if is_pointer { self.word(table * PAGE + 4 * (address % SV32_ENTRIES)) } else { first };
        let is_leaf = bit(leaf, r) || bit(leaf, x);
        let ok = bit(leaf, v) && (bit(leaf, r) || !bit(leaf, w)) && bit(leaf, u) && bit(leaf, a) && leaf >> 29 == 0;
        if !is_leaf || !ok || (!is_pointer && leaf >> 10 & 0x3ff != 0) {
            return None;
        }
        let frame = leaf >> 10 | if is_pointer { 0 } else { address % SV32_ENTRIES };
        let write = bit(leaf, w) && bit(leaf, r) && bit(leaf, d);
        let rights = u32::from(bit(leaf, r)) | u32::from(write) << 1 | u32::from(bit(leaf, x)) << 2;
        Some(Entry { page, frame, rights })
    }

    /// Everything that is translated with this part of the tables in force.
    fn units(&mut self, config: Loaded) -> Rc<Vec<Entry>> {
        if let Some(units) = self.units.iter().find(|units| units.config == config) {
            return Rc::clone(&units.mapped);
        }
        let pages = 0..1 << config.pages_log2;
        let mapped: Rc<Vec<Entry>> = Rc::new(pages.filter_map(|page| self.look_up(config, page)).collect());
        let first = match self.mmu {
            Mmu::Rtmmu | Mmu::Direct => config.first,
            // Behind the entries and the headers (`system::rtmmu::Mmu::root`).
            Mmu::Sv32 => (config.first * PAGE - WINDOWS[2]) / 4 - (2 << config.pages_log2),
        };
        self.units.push(Units { config, first, mapped: Rc::clone(&mapped) });
        mapped
    }
}
