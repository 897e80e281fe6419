//! The systems that perform the attacks, one for each scheme of protection.

use std::fs;

use serde::Deserialize;

use crate::root;

/// A processor's protection of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Region registers.
    #[default]
    Regions,
    /// Page tables.
    Pages,
}

/// A system that performs attacks.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The processor's protection.
    pub scheme: Scheme,
    /// Its manifest, from the root.
    pub manifest: &'static str,
    /// Its name.
    pub system: &'static str,
    /// The attacks of a run, one a line, from the root.
    pub order: &'static str,
}

/// All of them.
pub const SUITES: [Suite; 2] = [
    Suite {
        scheme: Scheme::Regions,
        manifest: "tests/attacks/system.toml",
        system: "attacks",
        order: "tests/attacks/order.txt",
    },
    Suite {
        scheme: Scheme::Pages,
        manifest: "tests/attacks/a9.toml",
        system: "attacks-a9",
        order: "tests/attacks/order-a9.txt",
    },
];

impl Suite {
    /// That of a scheme.
    pub fn of(scheme: Scheme) -> &'static Suite {
        &SUITES[scheme as usize]
    }

    /// The attacks of a run, in order.
    ///
    /// # Panics
    /// When the file cannot be read.
    pub fn attacks(&self) -> Vec<String> {
        let text = fs::read_to_string(root().join(self.order));
        text.unwrap_or_else(|error| panic!("{}: {error}", self.order)).lines().map(str::to_owned).collect()
    }
}
