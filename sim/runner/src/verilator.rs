//! A model of the soft core, made by Verilator of its hardware description (`rtl/`), with the program that observes it: finding both, and how they are
//! started.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::RunError;
use crate::simulator::{Machine, Simulator, Start};

const OBSERVER: &str = "cofferdam-soft-core";
/// The executable of a model, in the directory of its name.
const MODEL: &str = "soc_sim";

/// The observer's program, and where models are.
#[derive(Clone, Debug)]
pub struct Verilator {
    /// The program, which starts a model.
    program: PathBuf,
    /// The directory with one of each model.
    models: PathBuf,
}

impl Verilator {
    /// Its name in the files of boards.
    pub const NAME: &str = "verilator";

    /// Finds the observer (`COFFERDAM_SOFT_CORE`, else beside this program or in the directories above it), and the directory of models
    /// (`COFFERDAM_RTL`, else `target/rtl` of the checkout).
    ///
    /// # Errors
    /// The observer is missing.
    pub fn find() -> Result<Self, RunError> {
        let models = env::var_os("COFFERDAM_RTL").map_or_else(|| root().join("target/rtl"), PathBuf::from);
        let places = observer_places();
        match places.iter().find(|place| place.is_file()) {
            Some(program) => Ok(Self { program: program.clone(), models }),
            None => Err(RunError::ObserverMissing(places)),
        }
    }

    fn model(&self, machine: &Machine) -> PathBuf {
        self.models.join(&machine.name).join(MODEL)
    }
}

impl Simulator for Verilator {
    fn program(&self) -> &Path {
        &self.program
    }

    fn observes(&self) -> bool {
        true
    }

    /// The core's debug port is not connected to anything.
    fn debugs(&self) -> bool {
        false
    }

    fn has_signals(&self) -> bool {
        true
    }

    /// No board has more than TLBs, which the bench leaves alone.
    fn can_be_adverse(&self) -> bool {
        false
    }

    fn has(&self, machine: &Machine) -> Result<(), RunError> {
        let model = self.model(machine);
        if model.is_file() { Ok(()) } else { Err(RunError::ModelMissing { name: machine.name.clone(), model }) }
    }

    fn command(&self, start: &Start<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(self.model(start.machine)).arg("--image").arg(start.image);
        command.arg("--watch").arg(start.watch).arg("--console").arg(start.uart);
        command
    }
}

/// The checkout.
fn root() -> PathBuf {
    env::var_os("COFFERDAM_ROOT").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), PathBuf::from)
}

/// Beside the command or one above it; for a command that `cargo install` has put elsewhere, where the checkout's builds are.
fn observer_places() -> Vec<PathBuf> {
    if let Some(place) = env::var_os("COFFERDAM_SOFT_CORE") {
        return vec![PathBuf::from(place)];
    }
    let program = env::current_exe().unwrap_or_default();
    let above = program.ancestors().skip(1).take(2).map(Path::to_path_buf);
    let built = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from).join("release");
    above.chain([built]).map(|directory| directory.join(OBSERVER)).collect()
}
