//! The board, as its file describes it.

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
}

/// The state of the only CPU.
pub type Machine = Kernel<Chip<Described>>;
