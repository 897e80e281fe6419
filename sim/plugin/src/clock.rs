//! How QEMU is made to believe in modelled time.
//!
//! The object is preloaded into QEMU and loaded again as its plug-in; the loader keeps one copy. Preloaded, it stands in
//! front of `clock_gettime`, `ppoll` and the condition variables. The virtual processor's thread reads the modelled time;
//! every other thread reads a time that stands still at the last moment when the guest slept, so that no timer expires on
//! a thread whose progress depends on the host. While the guest sleeps, the main loop's own computation of the next
//! deadline says how far time leaps.
//!
//! While the guest runs, the processor's thread stops at every deadline and after every store to a device and has the
//! main loop run what has expired ([`Shim::meet_main_loop`]); the main loop's answer is the next deadline. Timers are late
//! by the rest of a block at most, and by nothing in the exact mode, whose blocks have one instruction.
//!
//! A device model may compute an interval that is rounded to nothing and arm its timer for now, again and again, in the belief that time
//! goes on (the Zynq's triple timer counter does). After many reads in a row the main loop is therefore shown a nanosecond more, which stays.
//!
//! Under a debugger, which holds the main loop up, [`Shim::advance`] asks QEMU once a quantum to bring its virtual clock to one
//! nanosecond ahead of now. QEMU does so on the same thread at the end of the block, in a loop that runs timers until its
//! clock has arrived. The clock therefore must not have arrived when the loop starts: while the request is open, the first
//! reads stay below it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

use observer::Clock;
use units::{NS_PER_SECOND, Rate};

use crate::api::api;

/// Reads of the clock that are answered below the requested time. QEMU reads a few times between the request and its
/// loop, and timer callbacks read as well.
const READS_BELOW: u32 = 12;
/// Reads of the main loop between two waits after which it is stuck in a timer that is due for ever.
const READS_STUCK: u32 = 1000;
/// Time of the guest's start; QEMU mistrusts clocks that are close to zero.
const BASE_NS: i64 = NS_PER_SECOND as i64;

/// State that the two threads share. The virtual processor's thread writes while the guest runs, the main thread while
/// it sleeps; QEMU's big lock separates the two.
pub struct Shim {
    /// Modelled time.
    pub time: Clock,
    cpu_hz: AtomicU64,
    sleep_limit: AtomicU64,
    debugger: AtomicBool,
    armed: AtomicBool,
    frozen_ns: AtomicI64,
    /// Reads by the main loop since it last waited.
    main_reads: AtomicU32,
    /// Nothing may be answered below this.
    floor_ns: AtomicI64,
    request: AtomicU32,
    reads: AtomicU32,
    target_ns: AtomicI64,
    control: AtomicU64,
    pub(crate) sleeping: AtomicBool,
    pub(crate) generation: AtomicU64,
    pub(crate) seen: AtomicU64,
    pub(crate) wake_fd: AtomicI32,
    asked: AtomicBool,
    answer_fd: AtomicI32,
    deadline: AtomicU64,
}

/// The one of the process, as there is one QEMU in it.
pub static SHIM: Shim = Shim {
    time: Clock::new(),
    cpu_hz: AtomicU64::new(1),
    sleep_limit: AtomicU64::new(u64::MAX),
    debugger: AtomicBool::new(false),
    armed: AtomicBool::new(false),
    frozen_ns: AtomicI64::new(0),
    main_reads: AtomicU32::new(0),
    floor_ns: AtomicI64::new(0),
    request: AtomicU32::new(IDLE),
    reads: AtomicU32::new(0),
    target_ns: AtomicI64::new(0),
    control: AtomicU64::new(0),
    sleeping: AtomicBool::new(false),
    generation: AtomicU64::new(0),
    seen: AtomicU64::new(0),
    wake_fd: AtomicI32::new(-1),
    asked: AtomicBool::new(false),
    answer_fd: AtomicI32::new(-1),
    deadline: AtomicU64::new(0),
};

/// States of the request.
const IDLE: u32 = 0;
const OPEN: u32 = 1;
const SERVED: u32 = 2;

thread_local! {
    static IS_PROCESSOR: Cell<bool> = const { Cell::new(false) };
}

/// Marks the calling thread as the virtual processor's.
pub fn enter_processor_thread() {
    IS_PROCESSOR.set(true);
}

/// Whether this is the virtual processor's thread.
#[inline]
pub fn on_processor_thread() -> bool {
    IS_PROCESSOR.get()
}

/// Adds one to an event counter.
fn signal(descriptor: i32) {
    let one = 1u64.to_ne_bytes();
    // SAFETY: the descriptor is an event counter that lives as long as the process; eight bytes are its unit.
    unsafe { libc::write(descriptor, one.as_ptr().cast(), one.len()) };
}

/// The main loop's task when it would wait.
pub enum Wait {
    /// Compute the deadline again: the guest has fallen asleep since.
    Recompute,
    /// Time has leapt: run the timers.
    Leapt,
    /// The guest runs (or a debugger holds it): wait for descriptors.
    ForDescriptors,
    /// The guest sleeps and nothing will wake it.
    Forever,
}

impl Shim {
    /// Takes control of QEMU's clock. The two event counters let the processor's thread rouse the main loop and be answered.
    pub fn arm(&self, cpu_hz: u64, sleep_limit: u64, debugger: bool, wake_fd: i32, answer_fd: i32) {
        self.cpu_hz.store(cpu_hz, Ordering::Relaxed);
        self.sleep_limit.store(sleep_limit, Ordering::Relaxed);
        self.debugger.store(debugger, Ordering::Relaxed);
        self.wake_fd.store(wake_fd, Ordering::Relaxed);
        self.answer_fd.store(answer_fd, Ordering::Relaxed);
        self.armed.store(true, Ordering::SeqCst);
        // SAFETY: called once, during installation.
        let control = unsafe { (api().qemu_plugin_request_time_control)() };
        self.control.store(control as u64, Ordering::Relaxed);
    }

    /// Whether the clock is under control.
    #[inline]
    pub fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    /// Whether a debugger may stop the guest, or end it.
    pub fn is_debugged(&self) -> bool {
        self.debugger.load(Ordering::Relaxed)
    }

    fn now(&self) -> u64 {
        self.time.now()
    }

    fn rate(&self) -> Rate {
        Rate::hz(self.cpu_hz.load(Ordering::Relaxed))
    }

    fn ns(&self, cycles: u64) -> i64 {
        self.rate().ns_in(cycles).floor() as i64
    }

    /// Fewest cycles whose time is at least `ns`.
    fn cycles_at(&self, ns: i64) -> u64 {
        self.rate().counts_in(ns as u64).ceil()
    }

    /// Asks QEMU to run what has expired by now at the end of this block. `false` when the last request is still open.
    pub fn advance(&self) -> bool {
        match self.request.load(Ordering::Relaxed) {
            OPEN => return false,
            SERVED => self.request.store(IDLE, Ordering::Relaxed),
            _ => {}
        }
        let target = self.ns(self.now()) + 1;
        self.target_ns.store(target, Ordering::Relaxed);
        self.reads.store(0, Ordering::Relaxed);
        self.request.store(OPEN, Ordering::Relaxed);
        let control = self.control.load(Ordering::Relaxed) as *const _;
        // SAFETY: the handle is what QEMU gave to this plug-in; called in a callback on the processor's thread.
        unsafe { (api().qemu_plugin_update_ns)(control, target) };
        true
    }

    /// Has the main loop run the timers that have expired by now, and waits until it has. The cycle of the next deadline,
    /// `u64::MAX` when no timer is armed; `None` when the main loop does not answer.
    pub fn meet_main_loop(&self) -> Option<u64> {
        const PATIENCE_MS: i32 = 20_000;
        let answer = self.answer_fd.load(Ordering::Relaxed);
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.asked.store(true, Ordering::SeqCst);
        self.rouse_main_loop();
        let mut waiting = libc::pollfd { fd: answer, events: libc::POLLIN, revents: 0 };
        let mut counter = [0u8; 8];
        // SAFETY: one descriptor of our own; eight bytes are the unit of an event counter.
        let answered = unsafe {
            let mut patience = libc::timespec { tv_sec: i64::from(PATIENCE_MS / 1000), tv_nsec: 0 };
            let none = std::ptr::null::<libc::sigset_t>();
            libc::syscall(libc::SYS_ppoll, &raw mut waiting, 1, &raw mut patience, none, 8) == 1
                && libc::read(answer, counter.as_mut_ptr().cast(), counter.len()) == 8
        };
        answered.then(|| self.deadline.load(Ordering::SeqCst))
    }

    fn rouse_main_loop(&self) {
        signal(self.wake_fd.load(Ordering::Relaxed));
    }

    /// A device was accessed: its reads of the clock belong to the block, not to QEMU's loop.
    #[inline]
    pub fn forget_reads(&self) {
        self.reads.store(0, Ordering::Relaxed);
    }

    /// The time that the calling thread sees, in nanoseconds.
    pub fn read_ns(&self) -> i64 {
        let ns = if on_processor_thread() { self.read_on_processor() } else { self.read_on_main() };
        BASE_NS + ns.max(self.floor_ns.load(Ordering::Relaxed))
    }

    /// The time that the main loop sees.
    fn shown_ns(&self) -> i64 {
        self.frozen_ns.load(Ordering::Relaxed).max(self.floor_ns.load(Ordering::Relaxed))
    }

    fn read_on_main(&self) -> i64 {
        let shown = self.shown_ns();
        let reads = self.main_reads.load(Ordering::Relaxed) + 1;
        self.main_reads.store(reads, Ordering::Relaxed);
        if reads >= READS_STUCK {
            self.main_reads.store(0, Ordering::Relaxed);
            self.floor_ns.store(shown + 1, Ordering::Relaxed);
        }
        shown
    }

    fn read_on_processor(&self) -> i64 {
        let target = self.target_ns.load(Ordering::Relaxed);
        match self.request.load(Ordering::Relaxed) {
            IDLE => self.ns(self.now()),
            SERVED => target.max(self.ns(self.now())),
            _ => {
                let reads = self.reads.load(Ordering::Relaxed) + 1;
                self.reads.store(reads, Ordering::Relaxed);
                if reads > READS_BELOW {
                    self.request.store(SERVED, Ordering::Relaxed);
                    target
                } else {
                    target - 1
                }
            }
        }
    }

    /// The processor's thread is about to wait. Called with QEMU's big lock held.
    pub fn fall_asleep(&self) {
        self.request.store(IDLE, Ordering::Relaxed);
        self.generation.fetch_add(1, Ordering::Relaxed);
        self.sleeping.store(true, Ordering::SeqCst);
        self.rouse_main_loop();
    }

    /// The processor's thread is being woken.
    pub fn wake(&self) {
        self.sleeping.store(false, Ordering::SeqCst);
    }

    /// Decides what the main loop does instead of waiting for `timeout_ns` (`None`: no timer is armed).
    pub fn main_would_wait(&self, timeout_ns: Option<u64>) -> Wait {
        self.main_reads.store(0, Ordering::Relaxed);
        let is_asked = self.asked.load(Ordering::SeqCst);
        if !is_asked && !self.sleeping.load(Ordering::SeqCst) {
            return Wait::ForDescriptors;
        }
        let generation = self.generation.load(Ordering::SeqCst);
        if self.seen.swap(generation, Ordering::SeqCst) != generation {
            self.frozen_ns.store(self.ns(self.now()), Ordering::Relaxed);
            return Wait::Recompute;
        }
        if is_asked {
            let at = |ns: u64| self.cycles_at(self.shown_ns() + ns as i64);
            self.deadline.store(timeout_ns.map_or(u64::MAX, at), Ordering::SeqCst);
            self.asked.store(false, Ordering::SeqCst);
            signal(self.answer_fd.load(Ordering::Relaxed));
            return Wait::ForDescriptors;
        }
        match timeout_ns {
            _ if self.debugger.load(Ordering::Relaxed) && timeout_ns.is_none() => Wait::ForDescriptors,
            None => Wait::Forever,
            Some(ns) => self.leap(ns),
        }
    }

    fn leap(&self, ns: u64) -> Wait {
        let before = self.now();
        let target = self.cycles_at(self.shown_ns() + ns as i64).max(before);
        let asleep = self.time.streak() + (target - before);
        if asleep > self.sleep_limit.load(Ordering::Relaxed) && !self.debugger.load(Ordering::Relaxed) {
            return Wait::Forever;
        }
        self.time.sleep(target - before);
        self.frozen_ns.store(self.ns(target), Ordering::Relaxed);
        Wait::Leapt
    }
}
