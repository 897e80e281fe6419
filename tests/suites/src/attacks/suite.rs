//! The systems that perform the attacks, one for each scheme of protection.

use std::fs;

use serde::Deserialize;

use crate::root;

/// A processor's protection of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Region registers of PMSAv7; of what is tried "only" with these, any region registers.
    #[default]
    Regions,
    /// Page tables.
    Pages,
    /// Region registers of PMSAv8, and two security states.
    Pmsav8,
    /// Regions of pages, on the soft core.
    Rtmmu,
}

impl Scheme {
    /// Whether what is tried only with `self` is tried with another.
    pub fn covers(self, other: Scheme) -> bool {
        self == other || (self, other) == (Scheme::Regions, Scheme::Pmsav8)
    }
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
pub const SUITES: [Suite; 4] = [
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
    Suite {
        scheme: Scheme::Pmsav8,
        manifest: "tests/attacks/m33.toml",
        system: "attacks-m33",
        order: "tests/attacks/order-m33.txt",
    },
    Suite {
        scheme: Scheme::Rtmmu,
        manifest: "tests/attacks/rv32.toml",
        system: "attacks-rv32",
        order: "tests/attacks/order-rv32.txt",
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
