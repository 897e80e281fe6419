//! The errors of measuring.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The sources of the peers were not found.
    #[error("the sources of the peers were not found: {0}")]
    Sources(String),
    /// An image could not be built; the text is the builder's.
    #[error("building failed: {0}")]
    Build(String),
    /// A file could not be read or written.
    #[error("{path}: {reason}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A label is in none of the images.
    #[error("the label {name} is in none of {files:?}")]
    Symbol {
        /// The label.
        name: String,
        /// The files in which it was looked for.
        files: Vec<PathBuf>,
    },
    /// The file of a board is wrong, or there is none.
    #[error("{0}")]
    Data(Box<manifest::Diagnostic>),
    /// A run did not end as it should; the text says which and how.
    #[error("{0}")]
    Run(String),
    /// [`crate::Options::only`] names no row.
    #[error("no row's id begins with {0}")]
    NoSuchRow(String),
}

impl From<manifest::Diagnostic> for Error {
    fn from(refusal: manifest::Diagnostic) -> Self {
        Self::Data(Box::new(refusal))
    }
}

impl Error {
    /// A file that could not be read or written.
    pub fn file(path: &Path, reason: &dyn fmt::Display) -> Self {
        Self::File { path: path.to_owned(), reason: reason.to_string() }
    }
}
