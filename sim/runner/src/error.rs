//! Errors before and while an image runs.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::version::{QEMU_VERSION, Version};

/// The reason for which there is no outcome. Every text names the remedy.
#[derive(Debug)]
pub enum RunError {
    /// The board's file states a simulator that does not exist.
    SimulatorUnknown {
        /// The name that it states.
        name: String,
        /// The names that exist.
        known: Vec<&'static str>,
    },
    /// QEMU is not installed (or not where it was said to be).
    ProgramMissing(PathBuf),
    /// QEMU is there, of a version whose clock cannot be driven.
    ProgramVersion {
        /// The executable.
        path: PathBuf,
        /// The version that it states.
        found: Version,
    },
    /// QEMU is there and does not say its version; the text is its answer.
    ProgramUnknown(PathBuf, String),
    /// The plug-in is not where it was looked for.
    PluginMissing(Vec<PathBuf>),
    /// The observer of the soft core is not where it was looked for.
    ObserverMissing(Vec<PathBuf>),
    /// The model of a soft core has not been built.
    ModelMissing {
        /// Its name.
        name: String,
        /// The executable that is not there.
        model: PathBuf,
    },
    /// This simulator does not run without its observer.
    NoFallback(&'static str),
    /// The board's simulator has no signals.
    NoSignals,
    /// The observer of the board's simulator cannot make a run adverse.
    NotAdverse,
    /// The image is no ELF file for a known processor, or cannot be read.
    Image(PathBuf, String),
    /// A file of the run cannot be written or read.
    File(PathBuf, io::Error),
    /// QEMU could not be started.
    Start(PathBuf, io::Error),
    /// The simulator ended without leaving a summary; how it ended and its output.
    NoSummary {
        /// How it ended.
        ended: String,
        /// The last lines of its output.
        output: String,
    },
    /// The summary cannot be understood.
    Summary(String),
}

/// The remedy without the model.
const FALLBACK: &str = "or run without modelled time (`--fallback`): QEMU then counts instructions, nothing is checked";

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = QEMU_VERSION;
        match self {
            Self::SimulatorUnknown { name, known } => {
                write!(f, "there is no simulator `{name}`; the board's file can state: {}", known.join(", "))
            }
            Self::ProgramMissing(path) => write!(
                f,
                "QEMU is missing: no `{}`. Install QEMU {major}.{minor} (`scripts/setup.sh` does)",
                path.display()
            ),
            Self::ProgramVersion { path, found } => write!(
                f,
                "`{}` is QEMU {found}; modelled time needs {major}.{minor}. Install it (`scripts/setup.sh` does), {FALLBACK}",
                path.display()
            ),
            Self::ProgramUnknown(path, said) => {
                write!(f, "`{}` does not say which QEMU it is, but: {said}", path.display())
            }
            Self::PluginMissing(places) => {
                write!(f, "the plug-in is missing; looked for")?;
                for place in places {
                    write!(f, " `{}`", place.display())?;
                }
                write!(f, ". Build it (`cargo build --release -p cofferdam-plugin`), {FALLBACK}")
            }
            Self::ObserverMissing(places) => {
                write!(f, "the soft core's observer is missing; looked for")?;
                for place in places {
                    write!(f, " `{}`", place.display())?;
                }
                write!(f, ". Build it (`cargo build --release -p cofferdam-soft-core`)")
            }
            Self::ModelMissing { name, model } => write!(
                f,
                "the model `{name}` of the soft core is not built: no `{}`. Build it (`make -C rtl models MODELS={name}`, which installs what it needs)",
                model.display()
            ),
            Self::NoSignals => {
                f.write_str("there is no waveform: the simulator of the board models instructions, not signals")
            }
            Self::NotAdverse => {
                f.write_str("a run cannot be adverse here: the soft core has no cache, predictor or flash buffer")
            }
            Self::NoFallback(name) => write!(f, "`{name}` has no fall-back: its cycles are never modelled"),
            Self::Image(path, why) => write!(f, "`{}` cannot run: {why}", path.display()),
            Self::File(path, error) => write!(f, "`{}`: {error}", path.display()),
            Self::Start(path, error) => write!(f, "starting `{}`: {error}", path.display()),
            Self::NoSummary { ended, output } => {
                write!(f, "the run left no summary: the simulator {ended}. It said: {output}")
            }
            Self::Summary(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for RunError {}
