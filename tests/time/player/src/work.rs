//! Computation that takes as long as it says, whatever the caches hold: a loop of a few instructions that take long each, so that the
//! emulator has little to do for a cycle.

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering};

use cofferdam::info;
use paces::Pace;

/// Cycles of a round of the loop, on a core with such a pace.
const fn round(pace: Pace) -> u32 {
    if cfg!(target_feature = "mclass") { 8 * pace.quotient + pace.turn } else { 16 * pace.product }
}

/// Rounds in a tick, in 2^-32; 0 before they are known. A division for each call would be work, too.
static RATE: AtomicU32 = AtomicU32::new(0);

/// Cycles of a round on the soft core, which has no pace in a file: its cycles are those of its description. Eight divisions of 37 cycles
/// each, and what the branch back takes.
#[cfg(target_arch = "riscv32")]
const SOFT_CORE_ROUND: Option<u32> = Some(8 * 37 + 7);
#[cfg(not(target_arch = "riscv32"))]
const SOFT_CORE_ROUND: Option<u32> = None;

/// [`RATE`], from the board's pace; 0 on a board that is not known, where a program then seems to have no work.
#[cold]
fn rate() -> u32 {
    let known = |info: cofferdam::Info| SOFT_CORE_ROUND.or_else(|| paces::pace(info.board()).map(round));
    let Some((info, round)) = info().and_then(|info| Some((info, known(info)?))) else { return 0 };
    let rate = (u64::from(info.cpu_hz()) << 32) / (u64::from(info.ticks_per_second()) * u64::from(round));
    RATE.store(rate as u32, Ordering::Relaxed);
    rate as u32
}

/// Computes for so many ticks, but for a round.
#[inline(never)]
pub fn work(ticks: u32) {
    let known = RATE.load(Ordering::Relaxed);
    let rate = if known == 0 { rate() } else { known };
    let rounds = (u64::from(ticks) * u64::from(rate) >> 32) as u32;
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
#[cfg(target_arch = "riscv32")]
unsafe fn turn(rounds: u32) {
    // SAFETY: as the caller promises.
    unsafe {
        asm!(
            ".balign 4",
            "2:",
            "divu {x}, {x}, {one}", "divu {x}, {x}, {one}", "divu {x}, {x}, {one}", "divu {x}, {x}, {one}",
            "divu {x}, {x}, {one}", "divu {x}, {x}, {one}", "divu {x}, {x}, {one}", "divu {x}, {x}, {one}",
            "addi {rounds}, {rounds}, -1",
            "bnez {rounds}, 2b",
            x = inout(reg) 7_u32 => _, one = in(reg) 1_u32, rounds = inout(reg) rounds => _,
            options(nomem, nostack)
        );
    }
}

/// # Safety
/// `rounds` is not 0.
#[cfg(not(any(target_feature = "mclass", target_arch = "riscv32")))]
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
