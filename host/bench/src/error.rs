//! What can go wrong.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why there is no table.
#[derive(Debug)]
pub enum Error {
    /// The sources of the peers were not found.
    Sources(String),
    /// An image could not be built; the text is the compiler's.
    Build(String),
    /// A file could not be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A label is in none of the images.
    Symbol {
        /// The label.
        name: String,
        /// Where it was looked for.
        files: Vec<PathBuf>,
    },
    /// `targets.toml` does not follow its schema.
    Targets(String),
    /// A run did not end as it should; the text says which and how.
    Run(String),
    /// `only` names no row.
    NoSuchRow(String),
}

impl Error {
    /// A file that could not be read or written.
    pub fn file(path: &Path, reason: &dyn fmt::Display) -> Self {
        Self::File { path: path.to_owned(), reason: reason.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sources(reason) => write!(f, "the sources of the peers were not found: {reason}"),
            Self::Build(reason) => write!(f, "building failed: {reason}"),
            Self::File { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Symbol { name, files } => {
                let files = files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
                write!(f, "the label {name} is in none of {}", files.join(", "))
            }
            Self::Targets(reason) => write!(f, "targets.toml: {reason}"),
            Self::Run(reason) => write!(f, "{reason}"),
            Self::NoSuchRow(only) => write!(f, "no row's id begins with {only}"),
        }
    }
}

impl std::error::Error for Error {}
