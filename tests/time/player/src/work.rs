//! Computation that takes as long as it says, whatever the caches hold: a loop of a few instructions that take long each, so that the
//! emulator has little to do for a cycle.

use core::arch::asm;

/// Cycles of a tick of 40 ns, and of a round of the loop, in hundredths: two runs with
/// different `work` alone show them.
#[cfg(target_feature = "mclass")]
const TICK: u64 = 864;
#[cfg(target_feature = "mclass")]
const ROUND: u64 = 5700;
#[cfg(not(target_feature = "mclass"))]
const TICK: u64 = 3068;
#[cfg(not(target_feature = "mclass"))]
const ROUND: u64 = 6400;

/// Computes for so many ticks, but for a round.
#[inline(never)]
pub fn work(ticks: u32) {
    let rounds = (u64::from(ticks) * TICK / ROUND) as u32;
    if rounds > 0 {
        // SAFETY: nothing but registers changes.
        unsafe { turn(rounds) };
    }
}

/// # Safety
/// `rounds` is not 0.
#[cfg(target_feature = "mclass")]
unsafe fn turn(rounds: u32) {
    // SAFETY: as the caller promises.
    unsafe {
        asm!(
            ".balign 16",
            "2:",
            "udiv {x}, {x}, {one}", "udiv {x}, {x}, {one}", "udiv {x}, {x}, {one}", "udiv {x}, {x}, {one}",
            "udiv {x}, {x}, {one}", "udiv {x}, {x}, {one}", "udiv {x}, {x}, {one}", "udiv {x}, {x}, {one}",
            "subs {rounds}, {rounds}, #1",
            "bne 2b",
            x = inout(reg) 7_u32 => _, one = in(reg) 1_u32, rounds = inout(reg) rounds => _,
            options(nomem, nostack)
        );
    }
}

/// # Safety
/// `rounds` is not 0.
#[cfg(not(target_feature = "mclass"))]
unsafe fn turn(rounds: u32) {
    // SAFETY: as the caller promises.
    unsafe {
        asm!(
            ".balign 32",
            "2:",
            "mul {x}, {x}, {one}", "mul {x}, {x}, {one}", "mul {x}, {x}, {one}", "mul {x}, {x}, {one}",
            "mul {x}, {x}, {one}", "mul {x}, {x}, {one}", "mul {x}, {x}, {one}", "mul {x}, {x}, {one}",
            "mul {x}, {x}, {one}", "mul {x}, {x}, {one}", "mul {x}, {x}, {one}", "mul {x}, {x}, {one}",
            "mul {x}, {x}, {one}", "mul {x}, {x}, {one}", "mul {x}, {x}, {one}", "mul {x}, {x}, {one}",
            "subs {rounds}, {rounds}, #1",
            "bne 2b",
            x = inout(reg) 7_u32 => _, one = in(reg) 1_u32, rounds = inout(reg) rounds => _,
            options(nomem, nostack)
        );
    }
}
