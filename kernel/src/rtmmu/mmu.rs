//! The MMUs of `rtl/mmu`: how a domain's tables lie in table memory.

use core::marker::PhantomData;

use rtmmu::{Tables, Translation, Words, flat};
use system::rtmmu::{Mmu as Number, PAGE, Space};
use units::PhysAddr;

use super::{Loaded, RtmmuArch, TableWords};

/// Table memories.
#[derive(Clone, Copy, Debug)]
pub struct TableMemory {
    /// Their first addresses: of the first with `c`, then `sp`; of the second with `h`, then `s`; of the third with `d`, or with the entries of other MMUs.
    pub windows: [u32; 3],
    /// Base-two logarithm of the words of each half.
    pub entries_log2: u32,
}

impl TableMemory {
    /// `count` words from an entry on.
    fn words<A>(self, window: usize, entry: u32, count: u32) -> TableWords<A> {
        TableWords::new(PhysAddr(self.address(window, entry)), count)
    }

    const fn address(self, window: usize, entry: u32) -> u32 {
        self.windows[window] + 4 * entry
    }
}

/// An MMU.
pub trait Mmu: 'static {
    /// Its number, which its register KIND has, too.
    const NUMBER: Number;

    /// Tables of a domain.
    type Tables<A: RtmmuArch>: Translation;

    /// The tables of a domain: [`RtmmuArch::tables`].
    ///
    /// # Safety
    /// As there.
    unsafe fn tables<A: RtmmuArch>(memory: TableMemory, own: &Space) -> (Self::Tables<A>, Loaded);
}

/// Real-time MMU (`mmu_rtmmu.sv`).
#[derive(Clone, Copy, Debug)]
pub struct Rtmmu;

impl Mmu for Rtmmu {
    const NUMBER: Number = Number::Rtmmu;
    type Tables<A: RtmmuArch> = Tables<TableWords<A>>;

    unsafe fn tables<A: RtmmuArch>(memory: TableMemory, own: &Space) -> (Self::Tables<A>, Loaded) {
        let &Space { first, pages_log2, .. } = own;
        let word =
            |window: usize, half: u32| memory.words(window, first + (half << memory.entries_log2), 1 << pages_log2);
        let tables = Tables { c: word(0, 0), sp: word(0, 1), h: word(1, 0), s: word(1, 1), d: word(2, 0) };
        (tables, Loaded { first, pages_log2 })
    }
}

/// One level (`mmu_direct.sv`).
#[derive(Clone, Copy, Debug)]
pub struct Direct;

impl Mmu for Direct {
    const NUMBER: Number = Number::Direct;
    type Tables<A: RtmmuArch> = flat::Flat<TableWords<A>, flat::Direct>;

    unsafe fn tables<A: RtmmuArch>(memory: TableMemory, own: &Space) -> (Self::Tables<A>, Loaded) {
        let &Space { first, pages_log2, .. } = own;
        (flat(memory, own), Loaded { first, pages_log2 })
    }
}

/// Two levels, with a TLB or without (`mmu_sv32.sv`).
#[derive(Clone, Copy, Debug)]
pub struct Sv32;

impl Mmu for Sv32 {
    const NUMBER: Number = Number::Sv32;
    type Tables<A: RtmmuArch> = flat::Flat<TableWords<A>, flat::Sv32>;

    unsafe fn tables<A: RtmmuArch>(memory: TableMemory, own: &Space) -> (Self::Tables<A>, Loaded) {
        const ENTRIES: u32 = flat::Sv32::ENTRIES;
        let &Space { first, pages_log2, .. } = own;
        // Its upper half names the tables of the second level.
        let mut words: TableWords<A> = memory.words(2, Number::root(own), ENTRIES);
        let tables = memory.address(2, first) / PAGE;
        for index in 0..ENTRIES {
            let table = index.wrapping_sub(ENTRIES / 2);
            let is_there = table < (1 << pages_log2) / ENTRIES;
            words.set(index as usize, if is_there { flat::Sv32::table(tables + table) } else { 0 });
        }
        (flat(memory, own), Loaded { first: Number::Sv32.base(memory.windows[2], own), pages_log2 })
    }
}

/// Entries of the pages, and behind them headers.
fn flat<A, E>(memory: TableMemory, own: &Space) -> flat::Flat<TableWords<A>, E> {
    let pages = 1 << own.pages_log2;
    let words = |entry: u32| memory.words(2, entry, pages);
    flat::Flat { entries: words(own.first), headers: words(own.first + pages), entry: PhantomData }
}
