//! ELF files: domains' programs and the kernel's.

mod header;
mod kernel;
pub(crate) mod program;
mod read;
mod sound;
mod version;

pub use header::suits;
pub(crate) use kernel::{Kernel, Loaded};
pub use program::Program;
pub(crate) use program::{Local, Relocation, Section, Symbol};
