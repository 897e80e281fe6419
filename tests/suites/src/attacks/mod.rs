//! The attack suite: what is tried, what must come of it, and what shows that each check sees (`tests/attacks`).

mod evidence;
pub mod fuzz;
mod mutants;
mod store;
mod suite;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

pub use evidence::{Evidence, Segment};
pub use mutants::{Bench, Breach};
pub(crate) use mutants::{Change, cargo};
pub use suite::{SUITES, Scheme, Suite};
pub use table::render;

use crate::root;

/// `tests/attacks/attacks.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Checks that stop attacks, by name.
    pub check: BTreeMap<String, Check>,
    /// Classes of attack, in the order of the catalogue.
    pub row: Vec<Row>,
}

/// Something in our sources that stops an attack.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its effect, in a few words.
    pub does: String,
    /// The file that it is in.
    pub file: String,
    /// The check that does the same where there are page tables.
    pub pages: Option<String>,
    /// The check that does the same where there are region registers of PMSAv8.
    pub pmsav8: Option<String>,
    /// The check that does the same on the soft core.
    pub rtmmu: Option<String>,
}

impl Check {
    /// The check that does the same with another scheme, if it is another.
    fn instead(&self, scheme: Scheme) -> Option<&str> {
        match scheme {
            Scheme::Regions => None,
            Scheme::Pages => self.pages.as_deref(),
            Scheme::Pmsav8 => self.pmsav8.as_deref(),
            Scheme::Rtmmu => self.rtmmu.as_deref(),
        }
    }
}

/// A class of attack.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The class.
    pub class: String,
    /// Public references that describe it.
    pub seen: String,
    /// Why nothing, or not all of it, can be tried on this platform.
    pub reason: Option<String>,
    /// The attacks.
    #[serde(default)]
    pub attack: Vec<Attack>,
}

/// An attack and what must come of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// Its name: a line of the order file, or a test on the host.
    pub name: String,
    /// The check that stops it.
    pub check: String,
    /// Package whose test performs it on the host; without, a hostile domain performs it on the chip.
    pub host: Option<String>,
    /// System that performs it, if not `tests/attacks/system.toml`.
    pub system: Option<String>,
    /// The scheme of protection with which alone it is tried; without, with every.
    pub only: Option<Scheme>,
    /// One of these with which it is not tried.
    pub except: Option<Scheme>,
    /// Why it is not tried with the others.
    pub reason: Option<String>,
    /// A scheme with which it is tried, beside that of `only`.
    pub also: Option<Scheme>,
    /// Why it is not tried on the soft core, if it is not.
    pub not_on_rtmmu: Option<String>,
    /// The attack that has to come right before it.
    pub needs: Option<String>,
    /// The kind of fault in which it must end, or one of several.
    #[serde(default)]
    pub fault: Vec<String>,
    /// The same where there are page tables, if it differs.
    #[serde(default)]
    pub pages: Vec<String>,
    /// The same with PMSAv8, if it differs.
    #[serde(default)]
    pub pmsav8: Vec<String>,
    /// The same on the soft core, if it differs from that with page tables.
    #[serde(default)]
    pub rtmmu: Vec<String>,
    /// Refusals that the kernel must give: error and at least how many.
    #[serde(default)]
    pub refused: BTreeMap<String, u64>,
    /// The same on the soft core, where loops are shorter, if it differs.
    #[serde(default)]
    pub rtmmu_refused: BTreeMap<String, u64>,
    /// Errors that the kernel must give to somebody whose gate call the attack breaks.
    #[serde(default)]
    pub unwound: BTreeMap<String, u64>,
    /// It looks for values of others; each marker must say that there were none.
    #[serde(default)]
    pub finds_nothing: bool,
}

impl Attack {
    /// Whether the suite's own system performs it.
    pub fn in_suite(&self) -> bool {
        self.host.is_none() && self.system.is_none()
    }

    /// Whether a suite performs it.
    pub fn is_tried(&self, scheme: Scheme) -> bool {
        self.in_suite()
            && self.except != Some(scheme)
            && (self.also == Some(scheme) || self.only.is_none_or(|only| only.covers(scheme)))
            && (scheme != Scheme::Rtmmu || self.not_on_rtmmu.is_none())
    }

    /// Refusals that the kernel must give.
    pub fn refused(&self, scheme: Scheme) -> &BTreeMap<String, u64> {
        let is_other = scheme == Scheme::Rtmmu && !self.rtmmu_refused.is_empty();
        if is_other { &self.rtmmu_refused } else { &self.refused }
    }

    /// The kinds of fault in which it must end.
    pub fn faults(&self, scheme: Scheme) -> &[String] {
        match scheme {
            Scheme::Rtmmu if !self.rtmmu.is_empty() => &self.rtmmu,
            // An exception stores nothing on a thread's stack there either.
            Scheme::Pages | Scheme::Rtmmu if !self.pages.is_empty() => &self.pages,
            Scheme::Pmsav8 if !self.pmsav8.is_empty() => &self.pmsav8,
            _ => &self.fault,
        }
    }
}

/// `tests/attacks/mutants.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutants {
    /// All of them.
    pub mutant: Vec<Mutant>,
}

/// A change to the sources after which an attack succeeds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The check that it takes away.
    pub check: String,
    /// The file that it changes.
    pub file: String,
    /// The text there, which occurs exactly once.
    pub find: String,
    /// The text in its place.
    pub replace: String,
    /// The attack that succeeds.
    pub attack: String,
    /// How long the system runs, as in its manifest; without, 120 ms.
    pub limit: Option<String>,
    /// The scheme with which it succeeds, for attacks on a chip.
    #[serde(default)]
    pub on: Scheme,
    /// The run fails so without the attack already, because the plug-in blames what the kernel does for itself.
    #[serde(default)]
    pub blamed: bool,
    /// How that shows: `no-fault`, `no-refusal`, `no-unwinding`, `leak`, `machine-stops`, `test-fails`, or a failure of the verdict. Any of these.
    pub sign: Vec<String>,
    /// Failures of the verdict that the change causes even without the attack.
    #[serde(default)]
    pub always: Vec<String>,
    /// Only `make test-long` tries it: `make test` has another mutant of this file.
    #[serde(default)]
    pub long: bool,
}

fn read<T: for<'a> Deserialize<'a>>(file: &str) -> T {
    let path = root().join("tests/attacks").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Catalogue {
    /// Reads it.
    ///
    /// # Panics
    /// When it is not as it should be.
    pub fn read() -> Catalogue {
        read("attacks.toml")
    }

    /// Every attack.
    pub fn attacks(&self) -> impl Iterator<Item = &Attack> {
        self.row.iter().flat_map(|row| &row.attack)
    }

    /// The attack of that name.
    ///
    /// # Panics
    /// When there is none.
    pub fn attack(&self, name: &str) -> &Attack {
        self.attacks().find(|attack| attack.name == name).unwrap_or_else(|| panic!("there is no attack `{name}`"))
    }

    /// The check that stops an attack there.
    pub fn stops<'a>(&'a self, attack: &'a Attack, scheme: Scheme) -> &'a str {
        let check = self.check.get(&attack.check);
        let other = check.and_then(|check| check.instead(scheme));
        other.unwrap_or(&attack.check)
    }

    /// Gaps of catalogue and mutants taken together.
    pub fn gaps(&self, mutants: &Mutants) -> Vec<String> {
        let mut gaps = Vec::new();
        for row in &self.row {
            let is_spared = |attack: &&Attack| attack.only == Some(Scheme::Regions) || attack.except.is_some();
            for attack in row.attack.iter().filter(is_spared) {
                if attack.reason.is_none() {
                    gaps.push(format!("`{}` does not say why it is not tried everywhere", attack.name));
                }
            }
            if row.attack.is_empty() && row.reason.is_none() {
                gaps.push(format!("row `{}` has neither an attack nor a reason", row.class));
            }
            if row.seen.is_empty() {
                gaps.push(format!("row `{}` does not say where it was seen", row.class));
            }
        }
        let mut used: BTreeSet<&str> = self.attacks().map(|attack| attack.check.as_str()).collect();
        let checks: Vec<&Check> = used.iter().filter_map(|name| self.check.get(*name)).collect();
        used.extend(
            checks.iter().flat_map(|check| [&check.pages, &check.pmsav8, &check.rtmmu]).filter_map(Option::as_deref),
        );
        gaps.extend(
            used.iter().filter(|name| !self.check.contains_key(**name)).map(|name| format!("no check `{name}`")),
        );
        for (name, check) in &self.check {
            if !used.contains(name.as_str()) {
                gaps.push(format!("check `{name}` stops nothing"));
            }
            if !mutants.mutant.iter().any(|mutant| mutant.check == *name) {
                gaps.push(format!("check `{name}` has no mutant"));
            }
            if !root().join(&check.file).is_file() {
                gaps.push(format!("check `{name}` is in {}, which is no file", check.file));
            }
        }
        // A domain of the suite takes longer to build than ten kernels, and the soft core longer to run than ten others.
        let usual = |mutant: &&Mutant| !mutant.file.starts_with("tests/") && mutant.on != Scheme::Rtmmu;
        let package =
            |mutant: &Mutant| mutant.file.split_once("/src/").map_or(String::new(), |(package, _)| package.into());
        let tried: BTreeSet<String> = mutants.mutant.iter().filter(|mutant| !mutant.long).map(package).collect();
        for package in mutants.mutant.iter().filter(usual).map(package).filter(|package| !tried.contains(package)) {
            gaps.push(format!("`make test` tries no mutant of {package}"));
        }
        for mutant in &mutants.mutant {
            match self.attacks().find(|attack| attack.name == mutant.attack) {
                None => gaps.push(format!("there is no attack `{}`", mutant.attack)),
                Some(attack) if self.stops(attack, mutant.on) != mutant.check => {
                    gaps.push(format!("`{}` is stopped by `{}`, not by `{}`", attack.name, attack.check, mutant.check));
                }
                Some(attack) if attack.host.is_none() && !attack.is_tried(mutant.on) => {
                    gaps.push(format!("`{}` is not tried where its mutant is", attack.name));
                }
                Some(_) => {}
            }
        }
        gaps
    }
}

impl Mutants {
    /// Reads them.
    ///
    /// # Panics
    /// When they are not as they should be.
    pub fn read() -> Mutants {
        read("mutants.toml")
    }
}

impl Mutant {
    /// The file with the change.
    ///
    /// # Errors
    /// Says so when the text does not stand there exactly once.
    pub fn apply(&self, text: &str) -> Result<String, String> {
        exchange(text, &self.find, &self.replace).map_err(|times| {
            format!(
                "mutant of `{}`: the text to replace stands {times} times in {}, not once; align tests/attacks/mutants.toml:\n{}",
                self.check, self.file, self.find
            )
        })
    }
}

/// A text with a change of what stands there exactly once.
///
/// # Errors
/// How often it stands there.
pub(crate) fn exchange(text: &str, find: &str, replace: &str) -> Result<String, usize> {
    match text.matches(find).count() {
        1 => Ok(text.replacen(find, replace, 1)),
        times => Err(times),
    }
}
