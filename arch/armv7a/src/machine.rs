//! The processor: time, interrupts, contexts and the trace port.

use core::marker::PhantomData;

use kernel::arch::{Arch, Physical, Request, Start};
use kernel::pages::PageArch;
use kernel::pages::Pages;
use kernel::virtual_processor::Absent;
use protect::vmsav7::{Asid, Maintenance, Placement, Split};
use units::{Bytes, Instant, PhysAddr, VirtAddr};

use crate::block::Block;
use crate::cache;
use crate::context::{Context, Entry};
use crate::gic::{Gic, Taken};
use crate::mmu::{self, Space, Tlb};
use crate::start::park;
use crate::timer::Timers;

/// The facts and operations that a board adds to the processor.
pub trait Board: 'static {
    /// The CPUs' private devices (`PERIPHBASE`, ARM DDI 0407, 1.5), as the kernel has them mapped: timers, interrupt controller, snoop control unit.
    const PRIVATE: u32;
    /// Ticks in a second.
    const TICKS_PER_SECOND: u32;
    /// Cycles of the private devices' clock in a tick, 1 to 256.
    const TICK_CYCLES: u32;
    /// Shortest time for which the timer is armed, in ticks; not 0.
    const SHORTEST_TICKS: u32;
    /// Most ticks by which a tick of the private timer begins later than one of the counter. They
    /// are added to each delay, because the interrupt must not come early.
    const START_TICKS: u32;
    /// The timer's interrupt line.
    const TIMER_LINE: u32;

    /// The kernel's virtual address of a physical address of memory. It is the same in every
    /// domain's space, so that the kernel needs no switch to reach it.
    fn window(physical: PhysAddr<u32>) -> VirtAddr<u32>;

    /// Placement of the memory at a physical address, on the chip or off it.
    fn placement(physical: PhysAddr<u32>) -> Placement;
}

/// The cause of an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The time that was asked for has come.
    Timer,
    /// An interrupt line, which is still up: mask it before [`Armv7a::finish`], or it interrupts
    /// again.
    Line(u32),
    /// The interrupt was withdrawn before it was acknowledged.
    Nothing,
}

/// An Armv7-A processor on a board.
#[repr(C)]
pub struct Armv7a<B: Board> {
    /// The trace port: payload and header; see `abi::trace`.
    port: [u32; 2],
    board: PhantomData<B>,
    gic: Gic,
    timers: Timers,
    /// The space of the idle loop. Only the kernel is mapped, so that no domain's memory is open
    /// meanwhile.
    nobody: Space,
}

unsafe extern "C" {
    fn cofferdam_idle();
}

impl<B: Board> Armv7a<B> {
    /// Sets time and interrupts up. The MMU is on: see [`mmu::start`], which tells the space in which nothing is mapped but the kernel.
    pub fn new(nobody: Space) -> Self {
        // SAFETY: the board says where they are (DDI 0407, table 1-3).
        let block = |offset| unsafe { Block::new(B::PRIVATE + offset) };
        let gic = Gic::new(block(0x1000), block(0x100));
        let timers = Timers::new(block(0x200), block(0x600), B::TICK_CYCLES);
        gic.unmask(B::TIMER_LINE);
        Armv7a { port: [0; 2], board: PhantomData, gic, timers, nobody }
    }

    /// Offset of the trace port in it.
    pub const PORT_OFFSET: usize = core::mem::offset_of!(Self, port);

    /// Makes code that was written to a range of physical memory visible to instruction fetches.
    ///
    /// # Time complexity
    /// One operation for each line of 32 bytes, and the instruction cache is empty afterwards.
    pub fn publish_code(&mut self, base: PhysAddr<u32>, bytes: Bytes<u32>) {
        cache::clean_to_unification(B::window(base), bytes);
        cache::invalidate_instructions();
    }

    /// Asks the controller why a thread was interrupted. The timer's interrupt is over with this. A
    /// line's is over with [`Armv7a::finish`], when the kernel has masked it.
    #[inline(always)]
    pub fn cause(&mut self) -> (Cause, Option<Taken>) {
        let Some(taken) = self.gic.acknowledge() else { return (Cause::Nothing, None) };
        if taken.line() == B::TIMER_LINE {
            self.timers.settle();
            self.gic.end(taken);
            return (Cause::Timer, None);
        }
        (Cause::Line(taken.line()), Some(taken))
    }

    /// Ends a line's interrupt.
    #[inline(always)]
    pub fn finish(&mut self, taken: Option<Taken>) {
        if let Some(taken) = taken {
            self.gic.end(taken);
        }
    }
}

// SAFETY: it is where the board has the memory mapped for the kernel alone.
unsafe impl<B: Board> Physical for Armv7a<B> {
    type Width = u32;

    unsafe fn object_memory(&mut self, base: PhysAddr<u32>, _bytes: Bytes<u32>) -> *mut u8 {
        B::window(base).0 as *mut u8
    }
}

// SAFETY: spaces change with their identifiers (`Space::load`);
// a context returns to user mode, but for the idle loop's, which is the kernel's own.
unsafe impl<B: Board> Arch for Armv7a<B> {
    type Context = Context;
    type Entry = Entry;
    type Virtual = Absent;
    type Protection = Pages<Self>;
    const EMPTY: Context = Context::EMPTY;
    const NO_ENTRY: Entry = Entry::NOWHERE;

    fn idle(&mut self) -> Context {
        Context::waiting(cofferdam_idle as *const () as u32)
    }

    fn now(&mut self) -> u64 {
        self.timers.now()
    }

    #[inline(always)]
    fn ticks(&mut self) -> Instant {
        Instant::shown(self.timers.ticks())
    }

    const SHORT_WAYS: bool = true;

    const SHORT: u32 = B::SHORTEST_TICKS - 1;

    #[inline(always)]
    fn arm_timer_in(&mut self, delay: u32) {
        // The two timers' ticks do not begin together, and the interrupt must not come early.
        self.timers.arm(delay + B::START_TICKS);
    }

    fn timer_again(&mut self) {
        self.gic.pend(B::TIMER_LINE);
    }

    #[inline]
    unsafe fn prepare(&mut self, context: &mut Context, start: Start<u32>) {
        context.prepare(start);
    }

    fn entry(&self, context: &mut Context, start: Start<u32>) -> Entry {
        context.prepare(start);
        Entry::new(start)
    }

    #[inline(always)]
    fn introduce(entry: &mut Entry, badge: u32) {
        entry.introduce(badge);
    }

    #[inline]
    unsafe fn enter(&mut self, context: &mut Context, entry: &Entry, args: [u32; 4]) {
        context.enter(entry, args);
    }

    #[inline]
    fn request(&self, context: &Context) -> Request {
        context.request()
    }

    #[inline(always)]
    fn respond<const N: usize>(&mut self, context: &mut Context, status: u32, values: [u32; N]) {
        context.respond(status, values);
    }

    fn repeat(&mut self, context: &mut Context) {
        context.repeat();
    }

    #[inline(always)]
    fn trace(&mut self, header: u32, payload: u32) {
        let [first, second] = &mut self.port;
        // SAFETY: these are words of our own. An observer of them does not change them.
        unsafe {
            (first as *mut u32).write_volatile(payload);
            (second as *mut u32).write_volatile(header);
        }
    }

    fn unmask(&mut self, line: u32) {
        self.gic.unmask(line);
    }

    #[inline(always)]
    fn mask(&mut self, line: u32) {
        self.gic.mask(line);
    }

    unsafe fn copy(&mut self, dst: PhysAddr<u32>, src: PhysAddr<u32>, bytes: Bytes<u32>) {
        let (to, from) = (B::window(dst).0, B::window(src).0);
        // SAFETY: the caller's duty.
        unsafe { core::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes.0 as usize) };
    }

    unsafe fn zero(&mut self, dst: PhysAddr<u32>, bytes: Bytes<u32>) {
        // SAFETY: the caller's duty.
        unsafe { core::ptr::write_bytes(B::window(dst).0 as *mut u8, 0, bytes.0 as usize) };
    }

    #[inline(always)]
    fn virtual_processor(&self) -> &Absent {
        &Absent
    }

    fn end(&mut self, _: u32) {
        park()
    }
}

// SAFETY: descriptors are written in one store and published (`publish_word`); spaces as above.
unsafe impl<B: Board> PageArch for Armv7a<B> {
    const SPLIT: Split = mmu::SPLIT;

    #[inline]
    unsafe fn table_word(at: PhysAddr<u32>) -> u32 {
        // SAFETY: the caller's duty.
        unsafe { (B::window(at).0 as *const u32).read_volatile() }
    }

    #[inline]
    unsafe fn set_table_word(at: PhysAddr<u32>, value: u32) {
        // SAFETY: the caller's duty.
        unsafe { mmu::publish_word(B::window(at), value) };
    }

    fn placement(at: PhysAddr<u32>) -> Placement {
        B::placement(at)
    }

    #[inline]
    fn load_space(&mut self, space: Option<(PhysAddr<u32>, Asid)>) {
        let space = space.map_or(self.nobody, |(root, asid)| Space::new(root, asid));
        if !space.is_loaded() {
            space.load();
        }
    }

    fn lock_entry(&mut self, slot: usize, root: PhysAddr<u32>, asid: Asid, address: VirtAddr<u32>) {
        let before = Space::loaded();
        Space::new(root, asid).load();
        crate::cp15::isb();
        if let Some(steps) = protect::vmsav7::lockdown::lock_entry(slot, asid, address) {
            // SAFETY: the space is loaded and everything is masked; the caller has mapped the address.
            let _ = unsafe { crate::lockdown::lock_entry(&steps) };
        }
        before.load();
        crate::cp15::isb();
    }
}

impl<B: Board> Maintenance for Armv7a<B> {
    fn publish(&mut self) {
        Tlb.publish();
    }

    fn invalidate_page(&mut self, asid: Asid, address: VirtAddr<u32>) {
        Tlb.invalidate_page(asid, address);
    }

    fn invalidate_space(&mut self, asid: Asid) {
        Tlb.invalidate_space(asid);
    }

    fn complete(&mut self) {
        Tlb.complete();
    }
}
