//! Checks of the repository that the compiler does not make.
//!
//! Each check takes plain data (a package list, the text of a file) and returns findings, so that every rule has a test
//! that feeds it a violation. `main.rs` reads the repository and prints.
#![forbid(unsafe_code)]

pub mod dependencies;
pub mod files;
pub mod layers;
pub mod modules;
pub mod mutants;
pub mod names;
pub mod owners;
pub mod portable;
pub mod workspace;

use std::fmt;

/// One violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Stable name of the rule, for example `layer-edge`.
    pub rule: &'static str,
    /// Path relative to the repository's root, with a line where there is one.
    pub place: String,
    /// The error, and the correct form.
    pub text: String,
}

impl Finding {
    /// A finding of `rule` at `place`.
    pub fn new(rule: &'static str, place: impl Into<String>, text: impl Into<String>) -> Self {
        Self { rule, place: place.into(), text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "error[{}] {}: {}", self.rule, self.place, self.text)
    }
}

#[cfg(test)]
mod tests;
