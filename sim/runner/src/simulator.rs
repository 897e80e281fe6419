//! What executes an image: an emulator, or the simulation of a chip's logic.

use std::path::Path;
use std::process::Command;

use record::Mode;

use crate::qemu::Qemu;
use crate::{Machine, RunError};

/// What a simulator is started with.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The board.
    pub machine: &'a Machine,
    /// The image, an ELF file for the board.
    pub image: &'a Path,
    /// What its observer is asked to watch: a [`crate::Watch`] in JSON. It names the files that the observer writes.
    pub watch: &'a Path,
    /// How time is advanced.
    pub mode: Mode,
    /// The file that gets what the guest writes to its first UART.
    pub uart: &'a Path,
    /// Wait for a debugger on this TCP port of the local host before the first instruction.
    pub debugger_port: Option<u16>,
}

/// A program that executes images, with an observer in it.
pub trait Simulator: std::fmt::Debug + Send {
    /// The program.
    fn program(&self) -> &Path;

    /// Whether there is an observer, which writes the summary; otherwise only the end of a run is known.
    fn observes(&self) -> bool;

    /// The command that executes an image until the guest or its observer ends the run. Its standard streams are the caller's.
    fn command(&self, start: &Start<'_>) -> Command;
}

/// The simulator of the boards.
///
/// # Errors
/// What is missing or of the wrong version.
pub fn find() -> Result<Box<dyn Simulator>, RunError> {
    Ok(Box::new(Qemu::find()?))
}

/// The same without an observer: time is then an instruction count, and the summary says so.
///
/// # Errors
/// When there is no simulator at all.
pub fn find_fallback() -> Result<Box<dyn Simulator>, RunError> {
    Ok(Box::new(Qemu::find_fallback()?))
}
