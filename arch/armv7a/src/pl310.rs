//! The second-level cache controller PL310 (ARM DDI 0246, r3p2 on the Zynq-7000).

use crate::block::Block;
use crate::cp15::dsb;

const CONTROL: u32 = 0x100;
const AUXILIARY: u32 = 0x104;
const TAG_LATENCY: u32 = 0x108;
const DATA_LATENCY: u32 = 0x10c;
const INTERRUPT_MASK: u32 = 0x214;
const INTERRUPT_CLEAR: u32 = 0x220;
const SYNC: u32 = 0x730;
const INVALIDATE_WAYS: u32 = 0x77c;
const CLEAN_INVALIDATE_LINE: u32 = 0x7f0;
const DATA_LOCKDOWN: u32 = 0x900;
const INSTRUCTION_LOCKDOWN: u32 = 0x904;

/// Masters that have lockdown registers of their own (DDI 0246, 3.3.13).
const MASTERS: u32 = 8;

/// How a chip has built its controller in.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Auxiliary control: way size, associativity, replacement, prefetching (DDI 0246, 3.3.4).
    pub auxiliary: u32,
    /// Latencies of the tag RAM (3.3.5).
    pub tag_latency: u32,
    /// Latencies of the data RAM (3.3.5).
    pub data_latency: u32,
    /// Ways, at most 16.
    pub ways: u32,
}

/// Ways of the cache, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways(pub u32);

/// The controller.
#[derive(Clone, Copy, Debug)]
pub struct Pl310 {
    registers: Block,
    all: u32,
}

impl Pl310 {
    /// Turns the cache on with nothing in it and nothing locked (DDI 0246, 3.1.1: everything but the enable bit while it is off;
    /// invalidation by way is a background operation that ends when its bits read as 0).
    ///
    /// # Errors
    /// `None` when the invalidation does not end: the board is not what its description says.
    ///
    /// # Safety
    /// The first-level data cache is off; nothing in the second level is wanted.
    #[must_use]
    pub unsafe fn start(registers: Block, setup: Setup) -> Option<Pl310> {
        // An invalidation visits every line once; this is many times as long.
        const POLLS: u32 = 1 << 20;
        let all = (1 << setup.ways) - 1;
        registers.write(CONTROL, 0);
        dsb();
        registers.write(AUXILIARY, setup.auxiliary);
        registers.write(TAG_LATENCY, setup.tag_latency);
        registers.write(DATA_LATENCY, setup.data_latency);
        let cache = Pl310 { registers, all };
        cache.lock(Ways(0));
        registers.write(INVALIDATE_WAYS, all);
        let done = (0..POLLS).any(|_| registers.read(INVALIDATE_WAYS) & all == 0);
        cache.sync();
        registers.write(INTERRUPT_MASK, 0);
        registers.write(INTERRUPT_CLEAR, 0x1ff);
        registers.write(CONTROL, 1);
        dsb();
        done.then_some(cache)
    }

    /// Keeps every master from allocating in these ways; what is in them stays (DDI 0246, 2.3.9 and 3.3.13).
    pub fn lock(&self, ways: Ways) {
        for master in 0..MASTERS {
            self.registers.write(DATA_LOCKDOWN + 8 * master, ways.0 & self.all);
            self.registers.write(INSTRUCTION_LOCKDOWN + 8 * master, ways.0 & self.all);
        }
        dsb();
    }

    /// Writes a line back to memory and forgets it; `physical` is any address in it.
    pub fn clean_and_invalidate(&self, physical: u32) {
        self.registers.write(CLEAN_INVALIDATE_LINE, physical & !(crate::cache::LINE_BYTES - 1));
        self.sync();
    }

    /// Waits until the controller's buffers are drained (DDI 0246, 3.3.10). Operations by line are atomic: nothing is polled.
    pub fn sync(&self) {
        self.registers.write(SYNC, 0);
        dsb();
    }
}
