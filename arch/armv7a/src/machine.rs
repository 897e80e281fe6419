//! The processor: time, interrupts, contexts and the trace port.

use kernel::arch::{Request, Start};

use crate::block::Block;
use crate::cache;
use crate::context::{Context, Entry};
use crate::gic::{Gic, Taken};
use crate::mmu::Space;
use crate::timer::{self, GlobalTimer};

/// What a board adds to the processor.
pub trait Board: 'static {
    /// Address of the CPUs' private devices (`PERIPHBASE`, ARM DDI 0407, 1.5): timers, interrupt controller, snoop control unit.
    const PRIVATE: u32;
    /// Ticks in a second.
    const TICKS_PER_SECOND: u32;
    /// Cycles of the private devices' clock in a tick, 1 to 256.
    const TICK_CYCLES: u32;

    /// Where the kernel has a physical address of memory mapped, whichever domain runs.
    fn window(physical: u32) -> u32;

    /// Ends the run with a status.
    fn end(&mut self, status: u32);
}

/// The snoop control unit of a board's CPUs.
pub const fn scu<B: Board>() -> Block {
    // SAFETY: the board says where it is.
    unsafe { Block::new(B::PRIVATE) }
}

/// What interrupted a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The time that was asked for has come.
    Timer,
    /// An interrupt line, which is still up: mask it before [`Armv7a::finish`].
    Line(u32),
    /// What interrupted was withdrawn.
    Nothing,
}

/// An Armv7-A processor on a board.
#[repr(C)]
pub struct Armv7a<B: Board> {
    /// The trace port: payload and header; see `abi::trace`.
    port: [u32; 2],
    board: B,
    gic: Gic,
    timer: GlobalTimer,
    idle: Context,
}

impl<B: Board> Armv7a<B> {
    /// Sets time and interrupts up. The MMU is on: see [`mmu::start`](crate::mmu::start).
    pub fn new(board: B, idle: Start) -> Self {
        // SAFETY: the board says where they are (DDI 0407, table 1-3).
        let (cpu, timer, dist) = unsafe {
            (Block::new(B::PRIVATE + 0x100), Block::new(B::PRIVATE + 0x200), Block::new(B::PRIVATE + 0x1000))
        };
        let gic = Gic::new(dist, cpu);
        let timer = GlobalTimer::new(timer, B::TICK_CYCLES);
        gic.unmask(timer::LINE);
        let mut context = Context::EMPTY;
        context.prepare(idle);
        Armv7a { port: [0; 2], board, gic, timer, idle: context }
    }

    /// Where the trace port is in it.
    pub const PORT_OFFSET: usize = core::mem::offset_of!(Self, port);

    /// The registers of the idle loop.
    pub fn idle(&mut self) -> Context {
        self.idle
    }

    /// Ticks since boot.
    #[inline]
    pub fn now(&mut self) -> u64 {
        self.timer.now()
    }

    /// The low word of the ticks since boot.
    #[inline]
    pub fn ticks(&mut self) -> u32 {
        self.timer.ticks()
    }

    /// Asks for one timer interrupt at `at` (ticks); a time in the past fires at once.
    pub fn arm_timer(&mut self, at: u64) {
        self.timer.arm(at);
    }

    /// Prepares a context so that resuming it starts `start`.
    #[inline]
    pub fn prepare(&mut self, context: &mut Context, start: Start) {
        context.prepare(start);
    }

    /// What is kept of a gate's start; its arguments mean nothing.
    pub fn entry(&self, start: Start) -> Entry {
        Entry::new(start)
    }

    /// Starts a gate's callee.
    #[inline]
    pub fn enter(&mut self, context: &mut Context, entry: &Entry, args: [u32; 4]) {
        let mut entry = *entry;
        entry.give(args);
        context.fresh(&entry);
    }

    /// Reads the request of a context that has just performed a system call.
    #[inline]
    pub fn request(&self, context: &Context) -> Request {
        context.request()
    }

    /// Stores the result of a system call where the resumed thread will find it.
    #[inline]
    pub fn respond<const N: usize>(&mut self, context: &mut Context, status: u32, values: [u32; N]) {
        context.respond(status, values);
    }

    /// Makes a context perform its system call again when it is resumed.
    pub fn repeat(&mut self, context: &mut Context) {
        context.repeat();
    }

    /// The domain that runs after the return from the kernel runs in this space. Its accesses so far are complete: every entry to the
    /// kernel begins with a barrier.
    #[inline]
    pub fn load(&mut self, space: Space) {
        space.load();
    }

    /// Copies bytes between two ranges of physical memory that do not overlap: what a domain calls them does not matter.
    ///
    /// # Safety
    /// The kernel has both ranges mapped, the first one to write; the caller has checked whose they are.
    pub unsafe fn copy(&mut self, dst: u32, src: u32, bytes: u32) {
        let (to, from) = (B::window(dst), B::window(src));
        // SAFETY: the caller's duty.
        unsafe { core::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes as usize) };
    }

    /// Sets bytes of physical memory to zero.
    ///
    /// # Safety
    /// As for [`Armv7a::copy`].
    pub unsafe fn zero(&mut self, dst: u32, bytes: u32) {
        // SAFETY: the caller's duty.
        unsafe { core::ptr::write_bytes(B::window(dst) as *mut u8, 0, bytes as usize) };
    }

    /// What was written to a range of physical memory can be executed from now on.
    ///
    /// # Time complexity
    /// One operation for each line of 32 bytes, and the instruction cache is empty afterwards.
    pub fn publish_code(&mut self, base: u32, bytes: u32) {
        cache::clean_to_unification(B::window(base), bytes);
        cache::invalidate_instructions();
    }

    /// Writes one record to the trace port.
    #[inline]
    pub fn trace(&mut self, header: u32, payload: u32) {
        let [first, second] = &mut self.port;
        // SAFETY: these are words of our own; whoever observes them does not change them.
        unsafe {
            (first as *mut u32).write_volatile(payload);
            (second as *mut u32).write_volatile(header);
        }
    }

    /// Asks the controller why a thread was interrupted. The timer's interrupt is over with this; a line's is over with
    /// [`Armv7a::finish`].
    #[inline]
    pub fn cause(&mut self) -> (Cause, Option<Taken>) {
        let Some(taken) = self.gic.acknowledge() else { return (Cause::Nothing, None) };
        if taken.line() == timer::LINE {
            self.timer.disarm();
            self.gic.end(taken);
            return (Cause::Timer, None);
        }
        (Cause::Line(taken.line()), Some(taken))
    }

    /// Ends a line's interrupt.
    #[inline]
    pub fn finish(&mut self, taken: Option<Taken>) {
        if let Some(taken) = taken {
            self.gic.end(taken);
        }
    }

    /// Allows an interrupt line to interrupt.
    pub fn unmask(&mut self, line: u32) {
        self.gic.unmask(line);
    }

    /// Keeps an interrupt line from interrupting.
    #[inline]
    pub fn mask(&mut self, line: u32) {
        self.gic.mask(line);
    }

    /// Ends the run: a simulator exits, silicon stops. `status` 0 means success.
    pub fn end(&mut self, status: u32) {
        self.board.end(status);
    }
}
