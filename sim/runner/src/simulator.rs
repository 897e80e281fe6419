//! A program that executes images: an emulator, or the simulation of a chip's logic.

use std::path::Path;
use std::process::Command;

use record::{CounterWatch, Mode};

use crate::error::RunError;

/// A board as its simulator knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The simulator's name of it.
    pub name: String,
    /// The simulator's option for the size of its memory, where its own choice is less than the chip reaches.
    pub memory: Option<String>,
}

impl Machine {
    /// A board with as much memory as its simulator gives it.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), memory: None }
    }

    /// The board in a form that can write waveforms, which is slower: another model.
    #[must_use]
    pub fn with_waves(self) -> Self {
        Self { name: format!("{}-waves", self.name), ..self }
    }
}

/// The arguments of a simulator.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The board.
    pub machine: &'a Machine,
    /// The image, an ELF file for the board.
    pub image: &'a Path,
    /// The request to its observer: a [`crate::Watch`] in JSON. It names the files that the observer writes.
    pub watch: &'a Path,
    /// How time is advanced.
    pub mode: Mode,
    /// The file of the guest's output to its first UART.
    pub uart: &'a Path,
    /// A counter of cycles that the simulator does not have: the memory and the receiver that the observer needs for it.
    pub counter: Option<&'a CounterWatch>,
    /// Wait for a debugger on this TCP port of the local host before the first instruction.
    pub debugger_port: Option<u16>,
}

/// A program that executes images, with an observer in it.
pub trait Simulator: std::fmt::Debug + Send {
    /// The program.
    fn program(&self) -> &Path;

    /// Whether there is an observer, which writes the summary. Otherwise only the end of a run is known, and looked for: the program is then a QEMU with its
    /// monitor on its standard streams.
    fn observes(&self) -> bool;

    /// Whether a debugger can be attached.
    fn debugs(&self) -> bool {
        true
    }

    /// Whether it has signals, of which it can write waveforms.
    fn has_signals(&self) -> bool {
        false
    }

    /// Whether its observer can leave caches, TLBs and their kin as bad as others could.
    fn can_be_adverse(&self) -> bool {
        true
    }

    /// Whether it has this board.
    ///
    /// # Errors
    /// What is missing.
    fn has(&self, _machine: &Machine) -> Result<(), RunError> {
        Ok(())
    }

    /// The command that executes an image until the guest or its observer ends the run. Its standard streams are the caller's.
    fn command(&self, start: &Start<'_>) -> Command;
}
