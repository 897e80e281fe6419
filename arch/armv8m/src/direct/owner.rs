//! The domain whose handlers interrupts reach, its lines, and what is noted about them. For the
//! other domains with handlers it has what is noted until they occupy.
//!
//! The kernel writes some of the words, and exceptions above it write the others. Each word is read
//! and written whole, and those of the kernel are not written above it, so nothing here needs a
//! lock.

use core::arch::asm;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering::Relaxed};

use armv_m::barrier;
use armv_m::regs;
pub(super) use system::direct::MAX_LINE;
use system::direct::{Direct, MAX_DIRECT, MAX_OWNERS};

use super::counter::Counter;
use super::frames::PENDSTSET;
use super::looks::Looks;
use super::registers::{set_priority, write_bit};
use super::state::{CFSR_NS, ICSR_NS, SCR_NS, SHCSR_NS, VTOR_NS};

/// All active bits of SHCSR.
pub(super) const ACTIVE_NS: u32 = 0xdbf;

/// Requests of the kernel to the meter. The meter's interrupt is above handlers and above the
/// kernel, so that no handler runs while half of a request is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Request {
    Open = 1,
    Stop = 2,
    /// Another domain occupies Non-secure state.
    Change = 3,
}

/// A line of a handler: number, level, and whose it is.
pub(super) struct Line {
    pub line: AtomicU8,
    pub level: AtomicU8,
    pub seat: AtomicU8,
}

/// A domain with handlers. All zero: there is none.
pub(super) struct Seat {
    /// The domain's number plus one, so that 0 stands for no domain.
    pub domain: AtomicU32,
    /// Not 0: the domain was stopped or is about to be, and no handler runs until it acknowledges a line anew.
    pub stopped: AtomicU32,
    /// Vectors while handlers may run, and while they may not. The quiet ones lead to a stub,
    /// because an exception of theirs that is pending still comes.
    vectors: AtomicU32,
    quiet: AtomicU32,
    /// The memory that its handlers may write and in which their stack is, from its first address
    /// to the top of that stack. A look reads frames only there.
    stack_base: AtomicU32,
    stack_top: AtomicU32,
    /// Generation of capabilities to its server. Only the kernel writes it.
    generation: AtomicU16,
    /// The code of handlers: looks read instructions only there and in their own memory.
    text_base: AtomicU32,
    text_bytes: AtomicU32,
    /// The doubt about its counter, kept while it does not occupy.
    pub doubt: AtomicU32,
    /// What its handlers have done, for the kernel: a number of `abi::trace::Fault`, or 0, and the address. Several domains can be blamed before the kernel comes.
    pub fault: AtomicU32,
    pub address: AtomicU32,
    /// Ticks that its server is to pay for having woken supervisors. The kernel adds, the meter takes.
    pub price: AtomicU32,
}

/// The domain that occupies Non-secure state. All zero: there is none.
pub(super) struct Owner {
    /// The occupant's number plus one, as its seat has it: the entry code reads this word first.
    domain: AtomicU32,
    /// Its place among those with handlers, and the place of the one that is to occupy.
    pub seat: AtomicU32,
    pub next: AtomicU32,
    pub seats: [Seat; MAX_OWNERS],
    /// The lines of all of them.
    pub all: [Line; MAX_DIRECT],
    pub count: AtomicU32,
    /// A bit for each line that its thread has acknowledged once, so that its handler may run. Only
    /// the kernel writes it.
    pub enabled: AtomicU32,
    /// Exceptions that a cut-off ends, the outermost first, in the order in which the entry code
    /// makes their frames.
    pub chain: [AtomicU8; MAX_DIRECT],
    /// The kernel's request, a [`Request`] or 0.
    pub request: AtomicU32,
    /// Not 0: the capacity is used up. Only the meter writes this word and those that follow.
    pub exhausted: AtomicU32,
    /// Not 0: SysTick of Non-secure state still has what a former occupant or life has written, until the stub in that state clears it.
    pub timed: AtomicU32,
    /// Not 0: a HardFault of handlers came above another fault before that was judged, whose status is lost.
    pub lost: AtomicU32,
    pub looks: Looks,
    pub counter: Counter,
}

/// There is one, because there is one Non-secure state. The entry code reads its first word.
#[unsafe(no_mangle)]
pub(super) static COFFERDAM_OWNER: Owner = Owner {
    domain: AtomicU32::new(0),
    seat: AtomicU32::new(0),
    next: AtomicU32::new(0),
    seats: [const { Seat::NONE }; MAX_OWNERS],
    all: [const { Line { line: AtomicU8::new(0), level: AtomicU8::new(0), seat: AtomicU8::new(0) } }; MAX_DIRECT],
    count: AtomicU32::new(0),
    enabled: AtomicU32::new(0),
    chain: [const { AtomicU8::new(0) }; MAX_DIRECT],
    request: AtomicU32::new(0),
    exhausted: AtomicU32::new(0),
    timed: AtomicU32::new(0),
    lost: AtomicU32::new(0),
    looks: Looks::NEW,
    counter: Counter::NEW,
};

/// A byte for each line: its handler has asked for the thread. The way in writes them, the kernel reads them.
#[unsafe(no_mangle)]
pub(super) static COFFERDAM_WAKES: [AtomicU8; MAX_LINE as usize] = [const { AtomicU8::new(0) }; MAX_LINE as usize];

/// A byte for each line: its next wake is paid for. The kernel writes them, the way in reads them.
#[unsafe(no_mangle)]
pub(super) static COFFERDAM_ARMED: [AtomicU8; MAX_LINE as usize] = [const { AtomicU8::new(0) }; MAX_LINE as usize];

impl Seat {
    const NONE: Self = Self {
        domain: AtomicU32::new(0),
        stopped: AtomicU32::new(0),
        vectors: AtomicU32::new(0),
        quiet: AtomicU32::new(0),
        stack_base: AtomicU32::new(0),
        stack_top: AtomicU32::new(0),
        generation: AtomicU16::new(0),
        text_base: AtomicU32::new(0),
        text_bytes: AtomicU32::new(0),
        doubt: AtomicU32::new(0),
        fault: AtomicU32::new(0),
        address: AtomicU32::new(0),
        price: AtomicU32::new(0),
    };

    /// Gives the seat to a domain, at boot. `stack_base` is the first address of the memory that
    /// has its handlers' stack.
    pub(super) fn take(&self, own: &Direct, stack_base: u32) {
        self.domain.store(own.domain, Relaxed);
        self.stopped.store(1, Relaxed);
        self.vectors.store(own.vectors, Relaxed);
        self.quiet.store(own.quiet, Relaxed);
        self.stack_base.store(stack_base, Relaxed);
        self.stack_top.store(own.stack_top, Relaxed);
        self.text_base.store(own.text_base, Relaxed);
        self.text_bytes.store(own.text_bytes, Relaxed);
    }
}

impl Owner {
    /// The lines of all domains, each with its bit in `enabled`.
    pub(super) fn every_line(&self) -> impl Iterator<Item = (&Line, u32)> + '_ {
        let count = self.count.load(Relaxed) as usize;
        self.all.iter().take(count).enumerate().map(|(index, line)| (line, 1 << index))
    }

    /// The lines of the domain that occupies, each with its bit.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let seat = self.seat.load(Relaxed);
        let own = self.every_line().filter(move |(line, _)| u32::from(line.seat.load(Relaxed)) == seat);
        own.map(|(line, bit)| (u32::from(line.line.load(Relaxed)), bit))
    }

    pub(super) fn seat_of(&self, domain: u8) -> Option<usize> {
        self.seats.iter().position(|seat| seat.domain.load(Relaxed) == u32::from(domain) + 1)
    }

    pub(super) fn occupant(&self) -> &Seat {
        &self.seats[self.seat.load(Relaxed) as usize % MAX_OWNERS]
    }

    /// Lets the domain of another seat occupy. None of its handlers runs before [`Owner::reopen`].
    pub(super) fn occupy(&self, seat: u32) {
        self.seat.store(seat, Relaxed);
        self.domain.store(self.occupant().domain.load(Relaxed), Relaxed);
        self.reset_stack();
    }

    pub(super) fn is_code(&self, address: u32) -> bool {
        let own = self.occupant();
        address.wrapping_sub(own.text_base.load(Relaxed)) < own.text_bytes.load(Relaxed)
    }

    /// Returns true if a frame of so many bytes at an address is on the handlers' stack, or below
    /// it in the same memory. Handlers set their stack pointer, so no frame of theirs is read
    /// elsewhere.
    pub(super) fn is_stack(&self, address: u32, bytes: u32) -> bool {
        address.is_multiple_of(8) && self.is_open(address, bytes)
    }

    /// Returns true if so many bytes at an address are in the memory that handlers write.
    pub(super) fn is_open(&self, address: u32, bytes: u32) -> bool {
        let own = self.occupant();
        let (base, top) = (own.stack_base.load(Relaxed), own.stack_top.load(Relaxed));
        address >= base && address <= top.wrapping_sub(bytes)
    }

    /// Empties the handlers' stack. None of them is active, but threads that strayed into their
    /// state have moved its stack pointer.
    #[inline(always)]
    pub(super) fn reset_stack(&self) {
        // SAFETY: no code uses that stack now.
        unsafe {
            asm!(
                "msr msplim_ns, {0}", "msr msp_ns, {1}",
                in(reg) 0, in(reg) self.occupant().stack_top.load(Relaxed), options(nostack, preserves_flags),
            );
        }
    }

    pub(super) fn is_meter(&self, line: u32) -> bool {
        [self.looks.line.load(Relaxed), self.counter.line.load(Relaxed)].contains(&line)
    }

    /// Has something done at once: the interrupt that this makes is above all others.
    pub(super) fn ask(&self, request: Request) {
        self.request.store(request as u32, Relaxed);
        write_bit(regs::nvic_ispr(self.looks.line.load(Relaxed)));
        barrier();
    }

    /// Lets lines and system exceptions of Non-secure state do nothing from now on. Those that are
    /// active stay so, and are ended by their callers.
    pub(super) fn close(&self) {
        for (line, bit) in self.lines() {
            write_bit(regs::nvic_icer(line));
            write_bit(regs::nvic_icpr(line));
            // Handlers may have lowered the priority. Until an active one is ended, nothing of the
            // kernel may come, so it is set again.
            let level = self.all.get(bit.trailing_zeros() as usize).map_or(0, |own| own.level.load(Relaxed));
            set_priority(line, level);
        }
        // The domain's SysTick may go on: the quiet vectors lead to code that stops it.
        VTOR_NS.write(self.occupant().quiet.load(Relaxed));
        const CLEAR_PENDSV_AND_SYSTICK: u32 = 1 << 27 | 1 << 25;
        ICSR_NS.write(CLEAR_PENDSV_AND_SYSTICK);
        unmask();
        barrier();
    }

    /// Lets handlers of the enabled lines run again, if their domain was not stopped and has
    /// capacity left. None of them is active, so their stack can begin anew.
    pub(super) fn reopen(&self) {
        let own = self.occupant();
        if own.stopped.load(Relaxed) != 0 || self.exhausted.load(Relaxed) != 0 {
            return;
        }
        VTOR_NS.write(own.vectors.load(Relaxed));
        self.reset_stack();
        if self.timed.swap(0, Relaxed) != 0 {
            // The handler of SysTick clears its registers, because Secure code does not reach them
            // in a simulator. It goes before every line, so no handler finds what was there.
            ICSR_NS.write(PENDSTSET);
        }
        let enabled = self.enabled.load(Relaxed);
        for (line, bit) in self.lines() {
            if enabled & bit != 0 {
                write_bit(regs::nvic_iser(line));
            }
        }
        barrier();
    }
}

/// Generation of capabilities to the server of a domain with handlers, if there is one. REVOKE
/// counts it up.
pub(crate) fn server(place: usize) -> Option<&'static AtomicU16> {
    let seat = COFFERDAM_OWNER.seats.get(place).filter(|seat| seat.domain.load(Relaxed) != 0)?;
    Some(&seat.generation)
}

/// Takes back what handlers have left set and what would hold off the kernel: masks, and system
/// exceptions of their state that they have marked as active. SLEEPONEXIT goes, too, because with
/// it each of their returns would put a thread to sleep; and the status of a fault, because it
/// would be taken for the next one's.
#[inline(always)]
pub(super) fn unmask() {
    CFSR_NS.write(u32::MAX);
    SHCSR_NS.write(0);
    SCR_NS.write(0);
    // SAFETY: Non-secure state is nobody's while Secure code runs; Thread mode there is unprivileged.
    unsafe {
        asm!(
            "msr primask_ns, {0}", "msr basepri_ns, {0}", "msr faultmask_ns, {0}", "msr control_ns, {1}",
            in(reg) 0, in(reg) 1, options(nostack, preserves_flags),
        );
    }
}

/// Returns true if a handler has left a mask set, or a system exception of its state active, while
/// none is active.
pub(super) fn is_masked() -> bool {
    are_masks_set()
}

/// Returns true if the processor would sleep when a handler returns to a thread (Armv8-M,
/// SCR.SLEEPONEXIT, which each state has).
#[inline(always)]
pub(super) fn sleeps_on_exit() -> bool {
    const SLEEPONEXIT: u32 = 1 << 1;
    SCR_NS.read() & SLEEPONEXIT != 0
}

/// As [`is_masked`], inlined: the looks that find nothing are in memory without wait states and
/// call nothing in flash.
#[inline(always)]
pub(super) fn are_masks_set() -> bool {
    let (primask, basepri, faultmask): (u32, u32, u32);
    // SAFETY: reads registers.
    unsafe {
        asm!(
            "mrs {0}, primask_ns", "mrs {1}, basepri_ns", "mrs {2}, faultmask_ns",
            out(reg) primask, out(reg) basepri, out(reg) faultmask, options(nomem, nostack, preserves_flags),
        );
    }
    primask | basepri | faultmask | SHCSR_NS.read() & ACTIVE_NS != 0
}
