//! Builds by cargo, whose results are those of the files that are there.
//!
//! Cargo goes by the times of files, and by names that packages in different directories share: it takes another project's program for this one's, and
//! an older source for the one that it has compiled. It knows neither the linker nor what that reads. So each result is noted here by the hash of its
//! bytes, with hashes of all that it was built from. What cargo calls fresh, and was built from anything else, is built again. What was built
//! from the same as before is not asked for at all (`kept`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use manifest::Diagnostic;
use serde_json::Value;

use crate::command;
use crate::files::{create_dir, hash, unwritable, write_file};
use contents::hash_of;
use kept::Kept;
use places::{LOCK, OF_COMPILER, PROFILE, directory, notes};

mod contents;
mod inherit;
mod kept;
mod places;

/// Notes that are kept: the latest.
const MOST_NOTES: usize = 8000;

/// A build by cargo in a directory that others use, too.
pub(crate) struct Build {
    /// `cargo build`, whose messages are JSON.
    pub command: Command,
    /// `cargo clean` for the same, but for the packages: for the target, and for the host, on which build scripts run.
    pub clean: [Command; 2],
    /// Cargo's directory.
    pub directory: PathBuf,
    /// The target, which has a directory of its own in that.
    pub target: String,
    /// What programs are linked with and cargo does not know.
    pub with: String,
    /// What tells its compilers from others.
    pub compilers: String,
    /// Directories from which results are copied if nothing was built in this one yet.
    pub others: Vec<PathBuf>,
    /// Results for the target are copied, too, because they were built with the same options. Otherwise only those for the host are.
    pub of_target: bool,
}

/// A build that is over. Nobody builds anything else in that directory while it is kept.
pub(crate) struct Finished {
    /// Cargo's messages and warnings.
    pub output: Output,
    _lock: File,
}

impl Build {
    /// Builds, and builds again what was not built from the files that are there.
    ///
    /// # Errors
    /// CF0506 when it does not build, CF0604 for a directory that cannot be written, CF0605 when cargo keeps what it should not.
    pub fn run(&mut self, what: &str) -> Result<Finished, Diagnostic> {
        create_dir(&self.directory)?;
        let (lock, notes) = (self.directory.join(LOCK), notes(&self.directory));
        let file = File::options().create(true).append(true).open(&lock).and_then(|file| file.lock().map(|()| file));
        let lock = file.map_err(|error| unwritable(&lock, &error))?;
        let kept = Kept::of(&self.directory, &self.command, &format!("{}\n{}", self.compilers, self.with));
        if let Some(output) = kept.replay() {
            return Ok(Finished { output, _lock: lock });
        }
        inherit::inherit(&self.directory, &self.target, &self.others, self.of_target);
        let mut known = Notes::read(&notes);
        for round in 0..3 {
            let output = command::run(what, &mut self.command)?;
            let results = Results::of(&output.stdout, &self.with);
            let stale = results.stale(&known);
            // Of what was built just now the files are known, though something else is stale: in the next round cargo calls it fresh.
            known.add(results.made.iter().filter(|made| !made.fresh || stale.is_empty()));
            if stale.is_empty() {
                known.write(&notes)?;
                kept.note(&output, &results.sources)?;
                return Ok(Finished { output, _lock: lock });
            }
            if round > 0 {
                self.forget();
                continue;
            }
            for clean in &mut self.clean {
                stale.iter().for_each(|id| {
                    clean.args(["-p", id]);
                });
                command::run(what, clean)?;
            }
        }
        Err(Diagnostic::new("CF0605", format!("cargo does not build {what} again"))
            .rule("what runs was built from the files that are there")
            .remedy(format!("remove the directory `{}`, and build again", self.directory.display())))
    }

    /// Removes all that was built, for the target and for the host: what cargo has kept although it was told to clean it.
    fn forget(&self) {
        for kept in [self.target.as_str(), PROFILE] {
            // What is not there need not be removed, and the next build tells what cannot be.
            let _ = std::fs::remove_dir_all(self.directory.join(kept));
        }
    }
}

/// A library or program that cargo names.
struct Made {
    package: String,
    fresh: bool,
    /// Hash of its bytes.
    hash: String,
    /// Hashes of the files of its package, and for a program of all others.
    from: [String; 2],
}

/// The results of a build that come from directories: packages of registries never change.
struct Results {
    made: Vec<Made>,
    /// The files that they were built from, as far as compilers have read them.
    sources: BTreeSet<PathBuf>,
}

impl Results {
    fn of(messages: &[u8], with: &str) -> Results {
        let text = String::from_utf8_lossy(messages);
        let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let own = |message: &Value| directory(message).is_some() && message["filenames"].is_array();
        let messages: Vec<Value> = messages.filter(own).collect();
        let packages: BTreeSet<PathBuf> = messages.iter().filter_map(directory).collect();
        let first = |message: &Value| message["filenames"][0].as_str().map(PathBuf::from);
        let mut files: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
        for file in messages.iter().filter_map(first).flat_map(|result| sources(&result)) {
            let within = packages.iter().filter(|package| file.starts_with(package));
            let nearest = within.max_by_key(|package| package.components().count());
            files.entry(nearest.cloned().unwrap_or_default()).or_default().insert(file);
        }
        let hashes: BTreeMap<&PathBuf, String> =
            files.iter().map(|(package, files)| (package, hash_of(package, files))).collect();
        // Only a program is linked. A library for the host is the same whatever it is built for.
        let all = hashes.values().map(String::as_str).chain([with]).flat_map(str::bytes).collect::<Vec<u8>>();
        let all = hash(&all);
        let made = messages.iter().filter_map(|message| {
            let (result, package) = (first(message)?, directory(message)?);
            let is_program = result.with_extension("d").is_file();
            Some(Made {
                package: message["package_id"].as_str()?.to_owned(),
                fresh: message["fresh"] == true,
                hash: hash(&std::fs::read(&result).ok()?),
                from: [
                    hashes.get(&package).cloned().unwrap_or_default(),
                    if is_program { all.clone() } else { String::new() },
                ],
            })
        });
        Results { made: made.collect(), sources: files.into_values().flatten().collect() }
    }

    /// Packages to be built again. A program that is of the same package's files and of other ones elsewhere makes all of them so: cargo does not say
    /// which reads what.
    fn stale(&self, known: &Notes) -> BTreeSet<String> {
        let all = || self.made.iter().map(|made| made.package.clone());
        let mut stale = BTreeSet::new();
        for made in self.made.iter().filter(|made| made.fresh && !known.holds(made)) {
            stale.insert(made.package.clone());
            if known.others_differ(made) {
                stale.extend(all());
            }
        }
        stale
    }
}

/// The sources of a program or a library for others than cargo, as cargo lists them beside it: `RESULT: FILE FILE`, with `\ ` for spaces.
fn sources(result: &Path) -> Vec<PathBuf> {
    let list = std::fs::read_to_string(result.with_extension("d")).unwrap_or_default();
    let Some((_, files)) = list.lines().next().and_then(|line| line.split_once(": ")) else { return Vec::new() };
    let files = files.replace("\\ ", "\0");
    let files = files.split(' ').filter(|file| !file.is_empty()).map(|file| PathBuf::from(file.replace('\0', " ")));
    files.filter(|file| !file.to_string_lossy().contains(OF_COMPILER)).collect()
}

/// What results were built from: a line for each, hash and hashes.
struct Notes(Vec<String>);

impl Notes {
    fn read(path: &Path) -> Notes {
        Notes(std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect())
    }

    fn line(made: &Made) -> String {
        format!("{} {} {}", made.hash, made.from[0], made.from[1])
    }

    fn holds(&self, made: &Made) -> bool {
        self.0.contains(&Notes::line(made))
    }

    /// The same result was built from the same files of its package, and other ones.
    fn others_differ(&self, made: &Made) -> bool {
        let own = format!("{} {} ", made.hash, made.from[0]);
        self.0.iter().any(|line| line.starts_with(&own))
    }

    fn add<'r>(&mut self, made: impl Iterator<Item = &'r Made>) {
        let lines: Vec<String> = made.map(Notes::line).collect();
        self.0.retain(|line| !lines.contains(line));
        self.0.extend(lines);
        self.0.drain(..self.0.len().saturating_sub(MOST_NOTES));
    }

    fn write(&self, path: &Path) -> Result<(), Diagnostic> {
        write_file(path, (self.0.join("\n") + "\n").as_bytes())
    }
}

#[cfg(test)]
mod tests;
