//! The processor: region registers, priorities, the timer, and the trace port.

use core::arch::asm;

use abi::trace::Fault;
use kernel::arch::{Arch, Physical, Request, Start};

use kernel::regions::{RegionArch, Regions};
use kernel::virtual_processor::VirtualProcessor;
use protect::regions::Unit;
use protect::regions::slots::RegionImage;
use system::regions::RegionScheme;
use units::{Bytes, Instant, PhysAddr};

use crate::context::{Context, Entry};
use crate::regs::{self, ENABLE_WITH_DEFAULT_MAP, Reg};

/// The facts and operations that a board adds to the processor.
pub trait Board: 'static {
    /// Ticks in a second.
    const TICKS_PER_SECOND: u32;
    /// Shortest time for which the timer can be armed, in ticks; it is the granularity of enforcement.
    const SHORTEST_TICKS: u32;

    /// Ticks that pass between arming SysTick and the start of its count. Arming subtracts them, so
    /// that the interrupt is not late by them.
    const RELOAD_TICKS: u32;

    /// Starts the counter that [`Board::counter`] reads.
    fn start(&mut self);

    /// A free-running 32-bit up-counter of ticks.
    fn counter(&mut self) -> u32;
}

/// The architecture's part: its region registers, and whatever else its processors differ in.
///
/// # Safety
/// An implementation promises that unprivileged code can access exactly what was loaded last.
pub unsafe trait Port: 'static {
    /// The scheme of its registers.
    type Unit: RegionScheme;

    /// Priority of faults. Those of the kernel itself are fatal.
    const FAULT_PRIORITY: u32;
    /// Priority of everything else in the kernel. Bus faults have it, too: a thread's store may
    /// fail late, when the kernel already runs, and must not interrupt the kernel. It is then seen
    /// at the next kernel entry. (A bus fault of the kernel itself escalates.)
    const KERNEL_PRIORITY: u32;

    /// SHCSR: faults that wait to be taken, of the kinds that only this architecture has.
    const OWN_PENDED: u32;

    /// State that interrupts reach without the kernel ([`Arch::Virtual`]).
    type Virtual: VirtualProcessor;

    /// The virtual processor of every such machine: there is one, and its state is not in the kernel.
    const VIRTUAL: Self::Virtual;

    /// Sets up what only this architecture has.
    fn set_up();

    /// Returns a fault of a kind that only this architecture has, with its address, and clears it.
    fn own_fault() -> Option<(Fault, u32)>;

    /// Loads all region registers. The caller's barrier follows, so none is needed here.
    fn load_image(image: &RegionImage<Regs<Self>>);

    /// Loads one region register, of the slot that the region remembers. Barriers follow.
    fn load_slot(region: Regs<Self>);

    /// Lets the kernel write memory that the loaded regions make read-only, as long as `write`
    /// runs. The kernel writes for domains that are not loaded, too, and the one that is may only
    /// read what they may write.
    fn unchecked(write: impl FnOnce());
}

/// The registers of a region of a port.
pub type Regs<P> = <<P as Port>::Unit as Unit>::Regs;

/// A processor of an architecture on a board.
#[repr(C)]
pub struct Machine<B: Board, P: Port> {
    /// The trace port: payload and header; see `abi::trace`.
    port: [u32; 2],
    board: B,
    /// Counter when it was last looked at, and how often it had wrapped: the board counts 32 bits
    /// only.
    last: u32,
    wraps: u32,
    idle: Context,
    virtual_processor: P::Virtual,
}

/// SYST_RVR: the largest delay.
const LONGEST_TICKS: u32 = 0x00ff_ffff;

/// Region registers of this processor: 0 to 255.
pub fn region_registers() -> u32 {
    regs::MPU_TYPE.read() >> 8 & 0xff
}

impl<B: Board, P: Port> Machine<B, P> {
    /// Sets the processor up: faults enabled, priorities, floating point for threads, region registers on with the
    /// privileged default map behind them.
    pub fn new(mut board: B, idle: Start<u32>) -> Self {
        const MEM_BUS_USAGE: u32 = 7 << 16;
        const DIV_0_TRAP: u32 = 1 << 4;
        const ENABLE_INTERRUPT_CPU_CLOCK: u32 = 0b111;
        const {
            assert!(
                B::TICKS_PER_SECOND / 2 <= LONGEST_TICKS,
                "half a second is the longest that the timer is asked for"
            )
        };
        regs::SHCSR.write(regs::SHCSR.read() | MEM_BUS_USAGE);
        regs::CCR.write(regs::CCR.read() | DIV_0_TRAP);
        regs::SHPR1.write(P::FAULT_PRIORITY * 0x0101_0001 | P::KERNEL_PRIORITY << 8);
        regs::SHPR2.write(P::KERNEL_PRIORITY << 24);
        regs::SHPR3.write(P::KERNEL_PRIORITY << 24 | P::KERNEL_PRIORITY << 16);
        for word in 0..60 {
            regs::nvic_ipr(word).write(P::KERNEL_PRIORITY * 0x0101_0101);
        }
        regs::CPACR.write(0xf << 20);
        close_trace_ports();
        P::set_up();
        regs::MPU_CTRL.write(ENABLE_WITH_DEFAULT_MAP);
        // The timer counts from now on, so that arming it is two stores.
        regs::SYST_RVR.write(LONGEST_TICKS);
        regs::SYST_CVR.write(0);
        regs::SYST_CSR.write(ENABLE_INTERRUPT_CPU_CLOCK);
        barrier();
        board.start();
        let mut machine =
            Machine { port: [0; 2], board, last: 0, wraps: 0, idle: Context::EMPTY, virtual_processor: P::VIRTUAL };
        // SAFETY: the idle stack belongs to the idle loop only.
        unsafe { machine.idle.prepare(idle) };
        machine
    }

    /// Offset of the trace port in it.
    pub const PORT_OFFSET: usize = core::mem::offset_of!(Self, port);
}

/// Closes the trace ports to unprivileged code. Where a debugger has trace on, a domain could
/// otherwise write there and tell another one something (DDI 0403 C1.7). Trace itself is on or off
/// as before.
fn close_trace_ports() {
    const TRCENA: u32 = 1 << 24;
    const UNLOCK: u32 = 0xc5ac_ce55;
    const ALL_PORTS: u32 = 0xf;
    let before = regs::DEMCR.read();
    regs::DEMCR.write(before | TRCENA);
    regs::ITM_LAR.write(UNLOCK);
    regs::ITM_TPR.write(ALL_PORTS);
    barrier();
    regs::DEMCR.write(before);
}

/// Number of the active exception.
#[inline]
pub fn exception_number() -> u32 {
    let number: u32;
    // SAFETY: reads a register.
    unsafe { asm!("mrs {}, ipsr", out(reg) number, options(nomem, nostack, preserves_flags)) };
    number & 0x1ff
}

/// Stops for good: nothing interrupts it but a reset. It does not ask a simulator to end the run,
/// because a domain could perhaps ask in the same way.
pub fn park() -> ! {
    // SAFETY: nothing goes on.
    unsafe { asm!("cpsid f", "b 2f", "2: wfi", "b 2b", options(noreturn)) }
}

/// Waits for everything before, and for it to be in force.
#[inline]
pub fn barrier() {
    // SAFETY: barriers only.
    unsafe { asm!("dsb", "isb", options(nostack, preserves_flags)) };
}

// SAFETY: it hands out what the tables type as kernel memory.
unsafe impl<B: Board, P: Port> Physical for Machine<B, P> {
    type Width = u32;

    unsafe fn object_memory(&mut self, base: PhysAddr<u32>, _bytes: Bytes<u32>) -> *mut u8 {
        base.0 as *mut u8
    }
}

// The interrupt sets the timer anew. Until then it is as far away as possible, because a second
// interrupt would come in vain.
unsafe impl<B: Board, P: Port> Arch for Machine<B, P> {
    type Context = Context;
    type Entry = Entry;
    type Virtual = P::Virtual;
    type Protection = Regions<Self>;
    const EMPTY: Context = Context::EMPTY;
    const NO_ENTRY: Entry = Entry::NOWHERE;

    fn idle(&mut self) -> Context {
        self.idle
    }

    fn entry(&self, context: &mut Context, start: Start<u32>) -> Entry {
        let entry = Entry::new(start);
        context.fresh(&entry);
        entry
    }

    #[inline(always)]
    fn introduce(entry: &mut Entry, badge: u32) {
        entry.introduce(badge);
    }

    #[inline(always)]
    unsafe fn enter(&mut self, context: &mut Context, entry: &Entry, args: [u32; 4]) {
        // SAFETY: the caller's duty is the same.
        unsafe { entry.enter(args) };
        context.fresh(entry);
    }

    #[inline]
    fn now(&mut self) -> u64 {
        let counter = self.board.counter();
        if counter < self.last {
            self.wraps += 1;
        }
        self.last = counter;
        u64::from(self.wraps) << 32 | u64::from(counter)
    }

    #[inline]
    fn ticks(&mut self) -> Instant {
        Instant::shown(self.board.counter())
    }

    const SHORT_WAYS: bool = true;

    const SHORT: u32 = B::SHORTEST_TICKS + B::RELOAD_TICKS - 1;

    #[inline(always)]
    fn arm_timer_in(&mut self, delay: u32) {
        regs::SYST_RVR.write(delay - B::RELOAD_TICKS - 1);
        regs::SYST_CVR.write(0);
    }

    fn timer_again(&mut self) {
        const PENDSTSET: u32 = 1 << 26;
        // The interrupt arms the timer anew. If the old delay ran out before that, a second interrupt would come in vain.
        regs::SYST_RVR.write(LONGEST_TICKS);
        regs::SYST_CVR.write(0);
        regs::ICSR.write(PENDSTSET);
    }

    #[inline]
    unsafe fn prepare(&mut self, context: &mut Context, start: Start<u32>) {
        // SAFETY: the caller's duty is the same.
        unsafe { context.prepare(start) }
    }

    #[inline]
    fn request(&self, context: &Context) -> Request {
        context.request()
    }

    #[inline]
    fn respond<const N: usize>(&mut self, context: &mut Context, status: u32, values: [u32; N]) {
        context.respond(status, values);
    }

    fn repeat(&mut self, context: &mut Context) {
        context.repeat();
    }

    #[inline]
    fn trace(&mut self, header: u32, payload: u32) {
        let [first, second] = &mut self.port;
        // SAFETY: these are words of our own. An observer of them does not change them.
        unsafe {
            (first as *mut u32).write_volatile(payload);
            (second as *mut u32).write_volatile(header);
        }
    }

    fn unmask(&mut self, line: u32) {
        // A line that was still up when its handler returned was latched as pending. A request that
        // the device has withdrawn since must not be delivered; one that it still makes becomes
        // pending again by its level (DDI 0403 B3.4.1).
        let (register, bit): (Reg, u32) = regs::nvic_icpr(line);
        register.write(bit);
        let (register, bit): (Reg, u32) = regs::nvic_iser(line);
        register.write(bit);
    }

    #[inline]
    fn mask(&mut self, line: u32) {
        let (register, bit): (Reg, u32) = regs::nvic_icer(line);
        register.write(bit);
        // Before the return, which synchronizes the rest.
        // SAFETY: a barrier only.
        unsafe { asm!("dsb", options(nostack, preserves_flags)) };
    }

    unsafe fn copy(&mut self, dst: PhysAddr<u32>, src: PhysAddr<u32>, bytes: Bytes<u32>) {
        let (PhysAddr(dst), PhysAddr(src), Bytes(bytes)) = (dst, src, bytes);
        P::unchecked(|| {
            if (dst | src | bytes).is_multiple_of(4) {
                for offset in (0..bytes).step_by(4) {
                    // SAFETY: the caller has checked both ranges; they do not overlap. Volatile, so that this stays a loop of
                    // words in ITCM: the library's routine would be a call.
                    unsafe {
                        ((dst + offset) as *mut u32).write_volatile(((src + offset) as *const u32).read_volatile())
                    };
                }
                return;
            }
            // SAFETY: as above.
            unsafe { core::ptr::copy_nonoverlapping(src as *const u8, dst as *mut u8, bytes as usize) };
        });
    }

    unsafe fn zero(&mut self, dst: PhysAddr<u32>, bytes: Bytes<u32>) {
        let (PhysAddr(dst), Bytes(bytes)) = (dst, bytes);
        P::unchecked(|| {
            for offset in (0..bytes).step_by(4) {
                // SAFETY: the caller has checked the range. Volatile for the same reason as in `copy`.
                unsafe { ((dst + offset) as *mut u32).write_volatile(0) };
            }
        });
    }

    #[inline(always)]
    fn virtual_processor(&self) -> &P::Virtual {
        &self.virtual_processor
    }

    fn end(&mut self, _: u32) {
        park()
    }
}

// SAFETY: the region registers are written in full by `load_image`, and one of them by `load_slot`.
unsafe impl<B: Board, P: Port> RegionArch for Machine<B, P> {
    type Unit = P::Unit;

    /// Loads the registers at once: stores of the domain that is left are complete, because every
    /// kernel entry begins with a barrier.
    #[inline]
    fn load_image(&mut self, image: &RegionImage<Regs<P>>) {
        P::load_image(image);
        barrier();
    }

    #[inline]
    fn load_slot(&mut self, region: Regs<P>) {
        P::load_slot(region);
        barrier();
    }

    #[inline(always)]
    unsafe fn kernel_memory(at: PhysAddr<u32>) -> *mut u8 {
        at.0 as *mut u8
    }
}
