//! Handlers that interrupts reach without the kernel, in Non-secure state. Everything else is Secure.
//!
//! * [`open`]: which memory, devices and lines they have, set up once.
//! * `owner`: their domain, its lines, and what is noted about them; `lines`: what the kernel does with lines.
//! * `judge`: an exception that came while a handler ran, or that a handler has caused: who is to blame, and how the handlers that are active end.
//! * `sampler`: the timer that looks at random times whether handlers run, and for how long.
//! * `wake`: a handler's way into the kernel, and what the kernel then does.
//!
//! Nothing that a handler can set is relied upon: its stack, its registers, the Non-secure system registers. Above handlers stand HardFault and the
//! sampler; they touch no object of the kernel, which they may have interrupted.

mod code;
mod judge;
mod lines;
mod open;
mod owner;
mod sampler;
mod wake;

pub(crate) use lines::{acknowledge, stopped};
pub use open::{Facts, open};
pub use wake::wake;
