//! Starts an image under QEMU with the observer (`cofferdam-plugin`), guards it, and brings back its results.
//!
//! QEMU runs in a process group of its own and is killed when the run is over, when the caller gives up, when the caller
//! itself dies, and on Ctrl-C after [`stop_on_interrupt`]. Nothing of a run outlives it but its files.
//!
//! ```no_run
//! let simulator = runner::find("qemu")?;
//! let facts = runner::ImageFacts::read("image.elf".as_ref())?;
//! let watch = runner::Watch { trace_port: facts.trace_port, vectors: facts.vectors, ..Default::default() };
//! let machine = runner::Machine::named("board");
//! let outcome = runner::Run::new(machine, "image.elf", "target/run", watch).start(&*simulator, &mut |_| runner::Go::On)?;
//! println!("{} cycles", outcome.summary.cycles);
//! # Ok::<(), runner::RunError>(())
//! ```

mod error;
mod find;
mod guard;
mod image;
mod monitor;
mod qemu;
mod run;
mod simulator;
mod verilator;
mod version;

pub use error::RunError;
pub use find::{check_name, find, find_fallback};
pub use guard::{is_interrupted, stop_on_interrupt};
pub use image::ImageFacts;
pub use qemu::Qemu;
pub use record::{EventsReader, Mode, ProfileSource, Progress, RunEvent, Summary, Watch};
pub use run::{Go, Outcome, Run};
pub use simulator::{Machine, Simulator, Start};
pub use verilator::Verilator;
pub use version::{QEMU_VERSION, Version};

#[cfg(test)]
mod tests;
