//! A handler that never returns and sets its counter back, so that it counts a part of what it uses; a larger one in each life. Looks charge it, and stop it.
//!
//! Names: device `timer1`, interrupt `fired` (handler `fired`). Exit codes: 0 after the last life; 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::hostile::undefined;
use cofferdam::{Interrupt, Start, now, sys};
use direct_leaves::{get, put};

const CYCCNT: u32 = 0xe000_1004;
/// A turn is short: a look that comes later in it than the next one finds that the count has gone back. Cycles that are counted in one, in each life more.
const STEP: u32 = 2;
const LIVES: u32 = 5;

static TIMER: AtomicU32 = AtomicU32::new(0);
static COUNTS: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn serve() {
    put(TIMER.load(Relaxed) + 0xc, 1);
    let (mut count, step) = (get(CYCCNT), COUNTS.load(Relaxed));
    loop {
        // SAFETY: nothing happens.
        unsafe { asm!(".rept 16", "nop", ".endr", options(nomem, nostack)) }
        count = count.wrapping_add(step);
        put(CYCCNT, count);
    }
}

fn main(start: Start) -> u32 {
    let life = u32::from(start.restarts);
    if life == LIVES {
        return 0;
    }
    let (Some(timer), Some(fired)) = (start.info.area("timer1"), Interrupt::named(start.info, "fired")) else {
        return 1;
    };
    TIMER.store(timer.base, Relaxed);
    COUNTS.store(STEP * life + 1, Relaxed);
    put(timer.base, 0);
    put(timer.base + 0xc, 1);
    if fired.ack().is_err() {
        return 2;
    }
    put(timer.base + 8, 70_713);
    put(timer.base + 4, 70_713);
    put(timer.base, 9);
    // Until it is stopped, or has not been.
    let _ = sys::sleep_until(now() + 2_000_000);
    undefined()
}
