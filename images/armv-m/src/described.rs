//! The board, as its file describes it.

use core::arch::asm;

use kernel::Kernel;
use port::regs::Reg;
use port::{Board, Chip};

use crate::{board, clock};

/// The board, as its file describes it.
pub struct Described;

impl Board for Described {
    const TICKS_PER_SECOND: u32 = board::TICKS_PER_SECOND;
    const SHORTEST_TICKS: u32 = board::SHORTEST_TICKS;
    const RELOAD_TICKS: u32 = board::START_TICKS;

    fn start(&mut self) {
        clock::start();
        for [register, bit] in board::UNPRIVILEGED {
            // SAFETY: a register of the board's file; its other bits stay.
            let register = unsafe { Reg::new(register) };
            register.write(register.read() | 1 << bit);
        }
    }

    #[inline]
    fn counter(&mut self) -> u32 {
        clock::counter()
    }

    fn end(&mut self, status: u32) {
        semihosting_exit(status);
    }
}

/// The state of the only CPU.
pub type Machine = Kernel<Chip<Described>>;

/// Ends a run under a simulator (semihosting SYS_EXIT_EXTENDED, ADP_Stopped_ApplicationExit); on silicon without a debugger the
/// breakpoint escalates until the core locks up, which stops it.
pub fn semihosting_exit(status: u32) {
    let block: [u32; 2] = [0x20026, status];
    // SAFETY: the block outlives the call.
    unsafe { asm!("bkpt 0xab", inout("r0") 0x20 => _, in("r1") &raw const block) };
}
