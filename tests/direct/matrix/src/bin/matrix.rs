//! Loads from what belongs to the kernel, to handlers and to threads, by a handler, by a handler as unprivileged Non-secure code would (LDRT), and by a thread. Each
//! that is denied ends a life; in the last one are those that are permitted.
//!
//! Marks: 1: a life, its number; 2: a load that was to be denied has succeeded, with the life; 3: one that is permitted has, with its place in `PERMITTED`.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::hostile::undefined;
use cofferdam::{Interrupt, Start, now, sys};

/// The one that loads.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Handler,
    /// A handler, by an instruction that loads as unprivileged code does.
    Unprivileged,
    Thread,
}

/// The owner of what is loaded.
#[derive(Clone, Copy)]
enum From {
    Kernel,
    /// The domain's statics, which its handlers have, too.
    Handlers,
    /// The stack of the domain's thread.
    OwnThread,
    /// A stack of another domain.
    OtherThread,
}

/// In the order of tests/suites/tests/direct.rs.
const DENIED: [(By, From); 9] = [
    (By::Handler, From::Kernel),
    (By::Handler, From::OwnThread),
    (By::Handler, From::OtherThread),
    (By::Unprivileged, From::Kernel),
    (By::Unprivileged, From::Handlers),
    (By::Unprivileged, From::OwnThread),
    (By::Unprivileged, From::OtherThread),
    (By::Thread, From::Kernel),
    (By::Thread, From::OtherThread),
];
const PERMITTED: [(By, From); 3] =
    [(By::Handler, From::Handlers), (By::Thread, From::Handlers), (By::Thread, From::OwnThread)];

/// The kernel's data, and those of the domain `beside` (tests/direct/matrix.toml).
const KERNEL: u32 = 0x3800_0800;
const OTHER: u32 = 0x3803_0000;

static TIMER: AtomicU32 = AtomicU32::new(0);
static ADDRESS: AtomicU32 = AtomicU32::new(0);
static UNPRIVILEGED: AtomicU32 = AtomicU32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn put(offset: u32, value: u32) {
    // SAFETY: the timer is the domain's.
    unsafe { ((TIMER.load(Relaxed) + offset) as *mut u32).write_volatile(value) }
}

/// The handler: once.
fn serve() {
    put(0x0, 0);
    put(0xc, 1);
    let address = ADDRESS.load(Relaxed);
    // SAFETY: a load, which is permitted or ends in a fault.
    unsafe {
        match UNPRIVILEGED.load(Relaxed) {
            0 => asm!("ldr {0}, [{1}]", out(reg) _, in(reg) address, options(nostack, readonly)),
            _ => asm!("ldrt {0}, [{1}]", out(reg) _, in(reg) address, options(nostack, readonly)),
        }
    }
    COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
}

/// Has it done; only what is permitted comes back.
fn load(by: By, from: From) {
    let on_stack = 0_u32;
    let address = match from {
        From::Kernel => KERNEL,
        From::Handlers => (&raw const COUNT) as u32,
        From::OwnThread => (&raw const on_stack) as u32,
        From::OtherThread => OTHER,
    };
    if by == By::Thread {
        // SAFETY: as above.
        unsafe { asm!("ldr {0}, [{1}]", out(reg) _, in(reg) address, options(nostack, readonly)) };
        return;
    }
    ADDRESS.store(address, Relaxed);
    UNPRIVILEGED.store(u32::from(by == By::Unprivileged), Relaxed);
    let (before, end) = (COUNT.load(Relaxed), now() + 20_000);
    put(0x8, 2_000);
    put(0x4, 2_000);
    put(0x0, 9);
    while COUNT.load(Relaxed) == before && now() < end {}
    if COUNT.load(Relaxed) == before {
        undefined();
    }
}

fn main(start: Start) -> u32 {
    let life = u32::from(start.restarts);
    let (Some(timer), Some(line)) = (start.info.area("timer1"), Interrupt::named(start.info, "fired")) else {
        return 1;
    };
    TIMER.store(timer.base, Relaxed);
    put(0x0, 0);
    put(0xc, 1);
    if line.ack().is_err() {
        return 2;
    }
    let _ = sys::mark(1, life);
    if let Some((by, from)) = DENIED.get(life as usize) {
        load(*by, *from);
        let _ = sys::mark(2, life);
        undefined();
    }
    for (place, (by, from)) in (0..).zip(PERMITTED) {
        load(by, from);
        let _ = sys::mark(3, place);
    }
    0
}
