//! Handlers that interrupts reach without the kernel, in Non-secure state. Everything else is Secure.
//!
//! * [`open`]: which memory, devices and lines they have, set up once.
//! * `state`: their lines as the kernel opens, masks and closes them, and what is noted about them.
//! * `judge`: an exception that came while a handler ran, or that a handler has caused: who is to blame, and how the handlers that are active end.
//! * `sampler`: the timer that looks at random times whether handlers run, and for how long.
//! * `wake`: a handler's way into the kernel, and what the kernel then does.
//!
//! Nothing that a handler can set is relied upon: its stack, its registers, the Non-secure system registers. Above handlers stand HardFault and the
//! sampler; they touch no object of the kernel, which they may have interrupted.

mod code;
mod judge;
mod open;
mod sampler;
mod state;
mod wake;

pub use open::{Facts, open};
pub(crate) use state::{acknowledge, stopped};
pub use wake::wake;

armv_m::registers! {
    SHCSR_NS = 0xe002_ed24, "System handler control and state of Non-secure state.";
    ICSR_NS = 0xe002_ed04, "Interrupt control and state of Non-secure state.";
    VTOR_NS = 0xe002_ed08, "Address of the vectors of Non-secure state.";
    MPU_CTRL_NS = 0xe002_ed94, "Control of the region registers of Non-secure state.";
    MPU_TYPE_NS = 0xe002_ed90, "Number of these.";
    MPU_RNR_NS = 0xe002_ed98, "Number of the one that the next is of.";
    MPU_RLAR_NS = 0xe002_eda0, "Its second word.";
}
