//! Handlers that interrupts reach without the kernel, in Non-secure state. Everything else is Secure.
//!
//! * [`open`]: set up once; `access`: which memory and devices they have; `occupy`: the change of the domain whose they are, `left`: what one could leave to the next; `registers`: of lines and devices.
//! * `state`: registers of Non-secure state; `code`: entry code.
//! * `owner`: their domain, its lines, and what is noted about them; `lines`: what the kernel does with lines.
//! * `judge`: an exception that came while a handler ran, or that a handler has caused: who is to blame, and how the handlers that are active end; `strays`: a
//!   thread that went to Non-secure code, the usual case of it; `inside`: handlers in the way into the kernel.
//! * `instrument`, `meter`: their time, and what happens when it is used up; `servers`: what is left of it; `looks`: the timer that looks at random times whether they run, `quick`: a look
//!   that finds nothing; `counter`: the counter of
//!   their cycles; `displaced`: what of it the kernel takes off its accounts.
//! * `wake`: a handler's way into the kernel, and what the kernel then does.
//!
//! Nothing that a handler can set is relied upon: its stack, its registers, the Non-secure system registers. Above handlers stand HardFault and the
//! meter; they touch no object of the kernel, which they may have interrupted.

mod access;
mod code;
mod counter;
mod displaced;
mod frames;
mod inside;
mod instrument;
mod judge;
mod left;
mod lines;
mod looks;
mod meter;
mod occupy;
mod open;
mod owner;
mod quick;
mod registers;
mod servers;
mod state;
mod strays;
mod tails;
mod wake;

use core::sync::atomic::AtomicU16;

use kernel::virtual_processor::VirtualProcessor;

pub use access::Facts;
pub(crate) use code::entry_macros;
pub use open::open;
pub use wake::wake;

/// Non-secure state as a virtual processor. Its words are [`owner::COFFERDAM_OWNER`], where the entry code finds them.
#[derive(Clone, Copy, Debug)]
pub struct NonSecure;

impl VirtualProcessor for NonSecure {
    const PRESENT: bool = true;

    fn acknowledge(&self, line: u32) -> bool {
        lines::acknowledge(line)
    }

    fn occupy(&self, domain: u8) -> bool {
        occupy::occupy(domain)
    }

    #[inline]
    fn stopped(&self, domain: u8) {
        lines::stopped(domain);
    }

    #[inline(always)]
    fn is_displaced(&self) -> bool {
        displaced::is_displaced()
    }

    fn displaced(&self) -> u32 {
        displaced::displaced()
    }

    #[inline(always)]
    fn server(&self, place: usize) -> Option<&'static AtomicU16> {
        owner::server(place)
    }

    #[inline(always)]
    fn server_left(&self, place: usize) -> (u32, u32) {
        servers::server_left(place)
    }
}

/// Opens what handlers use that interrupts reach without the kernel, as the tables and the board's file say.
#[macro_export]
macro_rules! open {
    ($tables:expr, $board:ident) => {
        $crate::direct::open(
            $tables,
            &$crate::direct::Facts {
                gates: &$board::GATES,
                open: &$board::OPEN,
                callable: $board::CALLABLE,
                sampler: ($board::SAMPLER, $board::SAMPLER_LINE),
                counter: $board::COUNTER,
                met_cycles: $board::MET_CYCLES,
                way_in_cycles: $board::WAY_IN_CYCLES,
            },
        )
    };
}
