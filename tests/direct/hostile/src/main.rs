//! A domain whose handlers attack whatever they can reach: one attack in each of its lives. Each life ends in a fault, the handler's or, if that was
//! without effect, the thread's own.
//!
//! Marks: 1: a life, its number; 2: the thread found itself in order after its handler had run, with how often that was; 4: handlers were cut
//! off and run again, with the ticks in between; 5: code of Non-secure Thread mode has run, so often.
#![no_std]
#![no_main]

mod lives;

use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::abi::Call;
use cofferdam::hostile::undefined;
use cofferdam::{Info, Interrupt, Notification, Start, now, sys};
use lives::{LIVES, Life, Thread};

global_asm!(include_str!("handlers.s"), include_str!("goes.s"), options(raw));

unsafe extern "C" {
    fn fired();
    fn second();
    fn keeps(rounds: u32) -> u32;
    fn goes(code: u32);
    fn goes_often(code: u32, times: u32);
    fn calls_on(stack: u32, times: u32, number: u32);
    fn own_gate();
}

/// Address of the timer.
#[unsafe(no_mangle)]
static TIMER: AtomicU32 = AtomicU32::new(0);
/// The action, its operand, a value, and whether it is to be done over the kernel only.
#[unsafe(no_mangle)]
static WHAT: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];
/// How often handlers have run, and the address of the first one.
#[unsafe(no_mangle)]
static COUNT: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
/// Vectors of the handlers' own.
#[unsafe(no_mangle)]
static TABLE: Vectors = Vectors([const { AtomicU32::new(0) }; 64]);
#[unsafe(no_mangle)]
static STOLEN: AtomicU32 = AtomicU32::new(0);

#[repr(C, align(256))]
struct Vectors([AtomicU32; 64]);

/// A frame without floating-point state, and its program counter.
const FRAME_BYTES: u32 = 32;
const PC_IN_FRAME: u32 = 24;
/// Bit of an address that says Secure.
const SECURE: u32 = 0x1000_0000;

cofferdam::entry!(main);

/// The top of a stack in memory that handlers write.
fn open_stack() -> u32 {
    (&raw const TABLE) as u32 + size_of::<Vectors>() as u32
}

fn put(offset: u32, value: u32) {
    // SAFETY: the timer is the domain's.
    unsafe { ((TIMER.load(Relaxed) + offset) as *mut u32).write_volatile(value) }
}

/// Waits so many ticks, by calls or without.
fn wait(ticks: u64, calls: bool) {
    let end = now() + ticks;
    if calls {
        while now() < end {}
        return;
    }
    for _ in 0..ticks * 2 {
        // SAFETY: does nothing.
        unsafe { asm!("nop", options(nomem, nostack)) };
    }
}

fn main(start: Start) -> u32 {
    let life = u32::from(start.restarts);
    let _ = sys::mark(1, life);
    let Some(Life { action, operand, value, over_kernel, thread }) = LIVES.get(life as usize).copied() else {
        return 0;
    };
    let (Some(timer), Some(line), Some(other)) =
        (start.info.area("timer1"), Interrupt::named(start.info, "fired"), Interrupt::named(start.info, "second"))
    else {
        return 1;
    };
    TIMER.store(timer.base, Relaxed);
    let way_in = cofferdam::handlers::way_in();
    let operand = match operand {
        lives::WAKE => way_in,
        lives::BEHIND => way_in + 4,
        lives::OWN_GATE => own_gate as *const () as u32,
        lives::FRAME => (&raw const start) as u32 - FRAME_BYTES,
        lives::OPEN_FRAME => open_stack() - FRAME_BYTES + PC_IN_FRAME,
        lives::OPEN_STACK => open_stack(),
        lives::OPEN_ALIAS => open_stack() | SECURE,
        other => other,
    };
    for (word, value) in WHAT.iter().zip([action, operand, value, u32::from(over_kernel)]) {
        word.store(value, Relaxed);
    }
    // Every 97 us: no multiple of anything that the kernel does. A thread that fails is restarted in more than 40 us.
    if let Thread::Fails | Thread::Sleeps = thread {
        put(0x0, 0);
        put(0xc, 1);
    }
    let ticks = if let Thread::Fails = thread { 800 } else { 1940 };
    put(0x8, ticks);
    put(0x4, ticks);
    if line.ack().is_err() || other.ack().is_err() {
        return 2;
    }
    put(0x0, 9);
    perform(start.info, thread, over_kernel);
    let _ = sys::mark(2, COUNT[0].load(Relaxed));
    if STOLEN.load(Relaxed) != 0 {
        let _ = sys::mark(5, STOLEN.load(Relaxed));
    }
    undefined()
}

fn perform(info: Info, thread: Thread, calls: bool) {
    match thread {
        Thread::Fails => {}
        // A wake for each round, as often as handlers come: many of them find this thread, not another one.
        Thread::Keeps => {
            let line = Interrupt::named(info, "fired");
            for _ in 0..40 {
                let _ = line.map(|line| line.ack());
                // SAFETY: a function of `handlers.s`. Nothing is at the address: that ends this life otherwise.
                unsafe {
                    if keeps(5_000) != 0 {
                        (4 as *const u32).read_volatile();
                    }
                }
            }
        }
        Thread::Naps => {
            for _ in 0..400 {
                let _ = sys::sleep_until(now() + 2_200);
            }
        }
        Thread::Sleeps => {
            if let Some(events) = Notification::named(info, "events") {
                let _ = (events.poll(1), events.wait(1));
            }
        }
        Thread::Waits | Thread::WaitsBriefly => {
            // Lines are closed while the budget of handlers is empty, as lives before have left it.
            for _ in 0..1000 {
                if COUNT[0].load(Relaxed) > 0 {
                    break;
                }
                wait(2_000, calls);
            }
            wait(if thread == Thread::WaitsBriefly { 8_000 } else { 40_000 }, calls);
        }
        // Handlers are cut off, and run again in another period.
        Thread::Returns => {
            let begin = now();
            while COUNT[0].load(Relaxed) == 0 {
                wait(2_000, true);
            }
            wait(6_000, true);
            let (before, _) = (COUNT[0].load(Relaxed), WHAT[0].store(0, Relaxed));
            while COUNT[0].load(Relaxed) == before && now() < begin + 2_000_000 {
                put(0x0, 9);
            }
            let _ = sys::mark(4, (now() - begin) as u32);
        }
        Thread::Goes(signed) => {
            while COUNT[1].load(Relaxed) == 0 {
                wait(2_000, true);
            }
            go(COUNT[1].load(Relaxed), signed);
        }
        Thread::Calls => {
            begin();
            // SAFETY: the stack is its own memory, and nobody else's.
            unsafe { calls_on(open_stack(), 20_000, Call::TimeNow as u32) };
        }
        // Above its stack: the processor has no limit there. A handler comes after 13 us, mostly before a look does.
        Thread::Strays => {
            put(0x8, 260);
            begin();
            // SAFETY: its stack pointer is put back; what an exception does with it is the kernel's business.
            unsafe {
                asm!("mov {0}, sp", "mov sp, {1}", "2: subs {2}, #1", "bne 2b", "mov sp, {0}",
                    out(reg) _, in(reg) open_stack() | SECURE, inout(reg) 40_000 => _, options(nomem));
            }
        }
    }
}

/// Lets a handler do nothing once, so that its line is known to be open; the next one does what it is to do.
fn begin() {
    let action = WHAT[0].swap(0, Relaxed);
    while COUNT[0].load(Relaxed) == 0 {
        wait(2_000, true);
    }
    WHAT[0].store(action, Relaxed);
    put(0x4, 260);
    put(0x0, 9);
}

/// Goes to the handlers' code by itself, once with nothing on its stack; or often, each time with a frame as if a handler had interrupted it, so that its way
/// there meets whatever else comes.
fn go(address: u32, signed: bool) {
    // SAFETY: both are called with the code that handlers began with; one does not come back, and the other keeps to the calling convention.
    unsafe { if signed { goes_often(address & !1, 3_000) } else { goes(address & !1) } }
    let _ = (fired as *const (), second as *const ());
}
