//! The second-level cache controller PL310 (ARM DDI 0246, r3p2 on the Zynq-7000).

use units::PhysAddr;

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
const CLEAN_INVALIDATE_WAYS: u32 = 0x7fc;
const DATA_LOCKDOWN: u32 = 0x900;
const INSTRUCTION_LOCKDOWN: u32 = 0x904;

/// Masters that have lockdown registers of their own (DDI 0246, 3.3.13).
const MASTERS: u32 = 8;

/// Most polls of an operation on ways, so that boot ends even if the controller is not there. The
/// operation visits every line once, and so many polls take many times as long.
pub const POLLS: u32 = 1 << 20;

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
        let all = (1 << setup.ways) - 1;
        registers.write(CONTROL, 0);
        dsb();
        registers.write(AUXILIARY, setup.auxiliary);
        registers.write(TAG_LATENCY, setup.tag_latency);
        registers.write(DATA_LATENCY, setup.data_latency);
        let cache = Pl310 { registers, all };
        (0..MASTERS).for_each(|master| {
            cache.write_lock(DATA_LOCKDOWN + 8 * master, 0);
            cache.write_lock(INSTRUCTION_LOCKDOWN + 8 * master, 0);
        });
        let done = cache.on_ways(INVALIDATE_WAYS, all);
        cache.sync();
        registers.write(INTERRUPT_MASK, 0);
        registers.write(INTERRUPT_CLEAR, 0x1ff);
        registers.write(CONTROL, 1);
        dsb();
        done.then_some(cache)
    }

    /// The controller that [`Pl310::start`] has turned on.
    ///
    /// # Safety
    /// It has.
    pub unsafe fn running(registers: Block, setup: Setup) -> Pl310 {
        Pl310 { registers, all: (1 << setup.ways) - 1 }
    }

    /// Starts an operation on ways, which the controller performs in the background, and polls for
    /// its end. Returns false if it does not end within [`POLLS`] polls.
    fn on_ways(&self, operation: u32, ways: u32) -> bool {
        self.registers.write(operation, ways);
        (0..POLLS).any(|_| self.registers.read(operation) & ways == 0)
    }

    /// Writes ways back to memory and forgets them. Returns false if that does not end within
    /// [`POLLS`] polls.
    #[must_use]
    pub fn clean_ways(&self, ways: u32) -> bool {
        self.on_ways(CLEAN_INVALIDATE_WAYS, ways & self.all)
    }

    /// Writes a register of lockdown by way (DDI 0246, 3.3.11). Its master allocates nothing in
    /// these ways from then on, and what is in them stays.
    pub fn write_lock(&self, offset: u32, ways: u32) {
        self.registers.write(offset, ways & self.all);
    }

    /// Writes a line back to memory and forgets it; `physical` is any address in it.
    pub fn clean_and_invalidate(&self, PhysAddr(physical): PhysAddr<u32>) {
        self.registers.write(CLEAN_INVALIDATE_LINE, physical & !(crate::cache::LINE_BYTES - 1));
        self.sync();
    }

    /// Waits until the controller's buffers are drained (DDI 0246, 3.3.10). Operations by line are atomic: nothing is polled.
    pub fn sync(&self) {
        self.registers.write(SYNC, 0);
        dsb();
    }
}
