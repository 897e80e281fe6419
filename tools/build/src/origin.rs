//! Origin of the results in a directory.

use std::path::Path;

use manifest::{Diagnostic, Document};
use serde_json::{Value, json};

use crate::files::write_file;

const FILE: &str = "origin.json";

/// The manifest from which a system was built: its file, and the text that this had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(Value);

impl Origin {
    /// Of what is built from this document.
    pub fn of(document: &Document) -> Origin {
        let path = document.path.canonicalize().unwrap_or_else(|_| document.path.clone());
        Origin(json!({ "manifest": path.to_string_lossy(), "text": document.text() }))
    }

    /// Of the results in a directory; `None` where nothing was built, or not to the end.
    pub fn read(directory: &Path) -> Option<Origin> {
        let text = std::fs::read(directory.join(FILE)).ok()?;
        serde_json::from_slice(&text).ok().map(Origin)
    }

    /// The manifest's file.
    pub fn manifest(&self) -> &str {
        self.0["manifest"].as_str().unwrap_or_default()
    }

    /// Takes results away from whom they belong to, before others replace them: a run of what stood there is none of the new image.
    pub(crate) fn clear(directory: &Path) {
        for file in [FILE, "run/summary.json"] {
            // It may not be there; a directory that cannot be written is noticed by who writes next.
            let _ = std::fs::remove_file(directory.join(file));
        }
    }

    /// Says whose the results are.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), Diagnostic> {
        write_file(&directory.join(FILE), format!("{:#}\n", self.0).as_bytes())
    }
}
