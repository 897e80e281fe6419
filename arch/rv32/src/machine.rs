//! The processor: time, interrupts, contexts, RTMMU and the trace port.

use kernel::arch::{Arch, Physical, Request, Start};
use kernel::rtmmu::{Loaded, Mmu, RtmmuArch, Spaces, TableMemory};
use kernel::virtual_processor::Absent;
use system::rtmmu::{Mmu as Number, Space};
use units::{Bytes, Instant, PhysAddr};

use crate::context::{Context, Entry};
use crate::csr;
use crate::registers::Registers;
use crate::timer::Timer;

/// The facts and operations that a board adds to the processor.
pub trait Board: 'static {
    /// Registers of the timer.
    const TIMER: u32;
    /// The MMU.
    type Mmu: Mmu;
    /// Its registers.
    const MMU: u32;
    /// Its table memories.
    const TABLES: TableMemory;
    /// Shortest time for which the timer is armed, in ticks; not 0.
    const SHORTEST_TICKS: u32;

    /// Returns true if there is memory at a physical address, and no register.
    fn is_memory(physical: PhysAddr<u32>) -> bool;

    /// Ends the run with a status.
    fn end(&mut self, status: u32);
}

/// Offsets of the MMU's registers (`rtl/mmu/mmu_regs.sv`).
pub(crate) struct MmuOffsets {
    pub control: u32,
    pub first: u32,
    pub pages_log2: u32,
    /// Empties the TLBs. A store to any other register does so, too, so a switch needs no store
    /// here.
    flush: u32,
    kind: u32,
}

pub(crate) const MMU: MmuOffsets = MmuOffsets { control: 0x00, first: 0x04, pages_log2: 0x08, flush: 0x0c, kind: 0x10 };

/// Bits of `mip` and `mie`: software interrupt, timer; lines have those of their numbers.
const SOFTWARE: u32 = 1 << 3;
const TIMER: u32 = 1 << 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The time that was asked for has come.
    Timer,
    /// An interrupt line, which is still up.
    Line(u32),
    /// The interrupt was withdrawn before it was looked at.
    Nothing,
}

/// An RV32 processor on a board.
#[repr(C)]
pub struct Rv32<B: Board> {
    /// The trace port: payload and header; see `abi::trace`.
    port: [u32; 2],
    timer: Timer,
    mmu: Registers,
    board: B,
    /// The word that a thread has reserved (LR): its context, and the address. An interrupt ends
    /// the reservation, and so does the next atomic instruction of any thread.
    pub(crate) reserved: Option<(u32, u32)>,
}

unsafe extern "C" {
    fn cofferdam_idle();
}

impl<B: Board> Rv32<B> {
    /// Sets time and interrupts up. `None`: the MMU is another one than the kernel was built for.
    pub fn new(board: B) -> Option<Self> {
        // SAFETY: the board says where they are.
        let (timer, mmu) = unsafe { (Timer(Registers::new(B::TIMER)), Registers::new(B::MMU)) };
        // KIND: bits 2:0 are the MMU; bits 23:16 are log2 of the entries of a table. Another MMU
        // would read the tables that this kernel writes otherwise.
        let kind = mmu.read(MMU.kind);
        if kind & 7 != B::Mmu::NUMBER as u32 || kind >> 16 & 0xff != B::TABLES.entries_log2 {
            return None;
        }
        timer.settle();
        csr::enable(SOFTWARE | TIMER);
        Some(Rv32 { port: [0; 2], timer, mmu, board, reserved: None })
    }

    /// Offset of the trace port in it.
    pub const PORT_OFFSET: usize = core::mem::offset_of!(Self, port);

    /// Asks the processor why a thread was interrupted. The timer's interrupt is over with this.
    #[inline(always)]
    pub(crate) fn cause(&mut self) -> Cause {
        let pending = csr::pending();
        if pending & (SOFTWARE | TIMER) != 0 {
            self.timer.settle();
            return Cause::Timer;
        }
        if pending == 0 { Cause::Nothing } else { Cause::Line(pending.trailing_zeros()) }
    }
}

// SAFETY: the kernel is not translated, and user mode has the upper half alone.
unsafe impl<B: Board> Physical for Rv32<B> {
    type Width = u32;

    unsafe fn object_memory(&mut self, base: PhysAddr<u32>, _bytes: Bytes<u32>) -> *mut u8 {
        base.0 as *mut u8
    }
}

// SAFETY: user mode accesses what the MMU translates, whose registers are those of `load_space` alone; a context returns to user mode, but for the idle
// loop's, which is the kernel's own.
unsafe impl<B: Board> Arch for Rv32<B> {
    type Context = Context;
    type Entry = Entry;
    type Virtual = Absent;
    type Protection = Spaces<Self>;
    const EMPTY: Context = Context::EMPTY;
    const NO_ENTRY: Entry = Entry::NOWHERE;

    fn idle(&mut self) -> Context {
        Context::waiting(cofferdam_idle as *const () as u32)
    }

    fn now(&mut self) -> u64 {
        self.timer.now()
    }

    #[inline(always)]
    fn ticks(&mut self) -> Instant {
        Instant::shown(self.timer.ticks())
    }

    const SHORT_WAYS: bool = true;

    const SHORT: u32 = B::SHORTEST_TICKS - 1;

    #[inline(always)]
    fn arm_timer_in(&mut self, delay: u32) {
        self.timer.arm_in(delay);
    }

    fn timer_again(&mut self) {
        self.timer.again();
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
        csr::enable(1 << (line & 31));
    }

    #[inline(always)]
    fn mask(&mut self, line: u32) {
        csr::disable(1 << (line & 31));
    }

    unsafe fn copy(&mut self, dst: PhysAddr<u32>, src: PhysAddr<u32>, bytes: Bytes<u32>) {
        // SAFETY: the caller's duty.
        unsafe { core::ptr::copy_nonoverlapping(src.0 as *const u8, dst.0 as *mut u8, bytes.0 as usize) };
    }

    unsafe fn zero(&mut self, dst: PhysAddr<u32>, bytes: Bytes<u32>) {
        // SAFETY: the caller's duty.
        unsafe { core::ptr::write_bytes(dst.0 as *mut u8, 0, bytes.0 as usize) };
    }

    #[inline(always)]
    fn virtual_processor(&self) -> &Absent {
        &Absent
    }

    fn end(&mut self, status: u32) {
        self.board.end(status);
    }
}

// SAFETY: the MMU reads its tables at each access and keeps nothing of them; each word is written in one store.
unsafe impl<B: Board> RtmmuArch for Rv32<B> {
    type Tables = <B::Mmu as Mmu>::Tables<Self>;
    const MMU: Number = B::Mmu::NUMBER;

    unsafe fn tables(own: &Space) -> (Self::Tables, Loaded) {
        // SAFETY: the caller's duty.
        unsafe { B::Mmu::tables(B::TABLES, own) }
    }

    #[inline(always)]
    unsafe fn table_word(at: PhysAddr<u32>) -> u32 {
        // SAFETY: the caller's duty.
        unsafe { (at.0 as *const u32).read_volatile() }
    }

    #[inline(always)]
    unsafe fn set_table_word(at: PhysAddr<u32>, value: u32) {
        // SAFETY: the caller's duty.
        unsafe { (at.0 as *mut u32).write_volatile(value) };
    }

    #[inline(always)]
    fn forget_entries() {
        if matches!(B::Mmu::NUMBER, Number::Sv32) {
            // SAFETY: the board says where the registers are; a store to this one empties the TLBs and does nothing else.
            unsafe { Registers::new(B::MMU) }.write(MMU.flush, 1);
        }
    }

    fn is_memory(at: PhysAddr<u32>) -> bool {
        B::is_memory(at)
    }

    /// Each store to a register empties the TLBs, so nothing of the former domain is left in them.
    #[inline(always)]
    fn load_space(&mut self, space: Option<Loaded>) {
        if let Some(Loaded { first, pages_log2 }) = space {
            self.mmu.write(MMU.first, first);
            self.mmu.write(MMU.pages_log2, pages_log2);
        }
        self.mmu.write(MMU.control, u32::from(space.is_some()));
    }
}
