//! What can go wrong before and while an image runs.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::qemu::{QEMU_VERSION, Version};

/// Why there is no outcome. Every text says what to do about it.
#[derive(Debug)]
pub enum RunError {
    /// QEMU is not installed (or not where it was said to be).
    ProgramMissing(PathBuf),
    /// QEMU is there, of a version whose clock cannot be driven.
    ProgramVersion {
        /// The executable.
        path: PathBuf,
        /// What it says it is.
        found: Version,
    },
    /// QEMU is there and does not say its version; the text is what it says.
    ProgramUnknown(PathBuf, String),
    /// The plug-in is not where it was looked for.
    PluginMissing(Vec<PathBuf>),
    /// The image is no ELF file for Arm, or cannot be read.
    Image(PathBuf, String),
    /// A file of the run cannot be written or read.
    File(PathBuf, io::Error),
    /// QEMU could not be started.
    Start(PathBuf, io::Error),
    /// QEMU ended without leaving a summary; how it ended and what it said.
    NoSummary {
        /// How it ended.
        ended: String,
        /// The last lines of its output.
        output: String,
    },
    /// The summary cannot be understood.
    Summary(String),
}

/// What can be done without the model.
const FALLBACK: &str = "or run without modelled time (`--fallback`): QEMU then counts instructions, nothing is checked";

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = QEMU_VERSION;
        match self {
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
            Self::Image(path, why) => write!(f, "`{}` cannot run: {why}", path.display()),
            Self::File(path, error) => write!(f, "`{}`: {error}", path.display()),
            Self::Start(path, error) => write!(f, "starting `{}`: {error}", path.display()),
            Self::NoSummary { ended, output } => write!(f, "the run left no summary: QEMU {ended}. It said: {output}"),
            Self::Summary(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for RunError {}
