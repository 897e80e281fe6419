//! Programs built from changed sources, kept under a hash of all their sources: a second build of the same would be the same.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Directories at the root of which nothing is built into a program of these suites...
const NOT_BUILT: &[&str] = &["cli", "docs", "eval", "examples", "fuzz", "scripts", "sim", "target", "tests", "tools"];
/// ...but for these: the tool that builds programs, what makes constants of boards' files, and the suites,
const BUILT_TOO: &[&str] = &["tools/build", "tools/board-facts", "tests/attacks", "tests/conformance", "tests/direct"];
/// of which these only list the trials.
const TRIED: &[&str] =
    &["attacks.toml", "mutants.toml", "order.txt", "order-a9.txt", "order-m33.txt", "order-rv32.txt"];

/// Built files by the hash of their origin. Their contents are kept once, under the hash of the contents.
pub struct Store {
    directory: PathBuf,
    origin: u64,
    used: RefCell<BTreeSet<String>>,
}

impl Store {
    /// Opens or makes a store for what comes from these sources, as they are before any change, and from these compilers.
    ///
    /// # Panics
    /// When sources cannot be read or the directory cannot be made.
    pub fn new(directory: PathBuf, sources: &Path, compilers: &[(&Path, &str)]) -> Store {
        fs::create_dir_all(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        let mut hasher = DefaultHasher::new();
        for (compiler, version) in compilers {
            let said = Command::new(compiler).arg(version).output();
            let said = said.unwrap_or_else(|error| panic!("{}: {error}", compiler.display()));
            // gcc says its version where others complain.
            (said.stdout, said.stderr).hash(&mut hasher);
        }
        add(sources, &|name| !name.starts_with('.') && !NOT_BUILT.contains(&name), &mut hasher);
        for directory in BUILT_TOO {
            add(&sources.join(directory), &|name| !TRIED.contains(&name), &mut hasher);
        }
        Store { directory, origin: hasher.finish(), used: RefCell::default() }
    }

    /// The name for what is built after the change that the parts describe.
    fn name(&self, parts: &[&str]) -> String {
        let mut hasher = DefaultHasher::new();
        (self.origin, parts).hash(&mut hasher);
        let name = format!("{:016x}", hasher.finish());
        self.used.borrow_mut().insert(name.clone());
        name
    }

    /// The file that is made from sources changed as the parts say; it is taken from where `make` says it has put it.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn file(&self, parts: &[&str], make: impl FnOnce() -> Result<PathBuf, String>) -> Result<PathBuf, String> {
        let kept = self.directory.join(self.name(parts));
        if !kept.is_file() {
            let made = make()?;
            fs::rename(&made, &kept).map_err(|error| format!("{}: {error}", made.display()))?;
        }
        Ok(kept)
    }

    /// The contents of several files that are made so.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn contents(
        &self,
        parts: &[&str],
        make: impl FnOnce() -> Result<Vec<Vec<u8>>, String>,
    ) -> Result<Vec<Vec<u8>>, String> {
        let list = self.directory.join(self.name(parts));
        if let Some(kept) = fs::read_to_string(&list).ok().and_then(|names| self.read(&names)) {
            return Ok(kept);
        }
        let made = make()?;
        let names: Vec<String> = made.iter().map(|bytes| self.write(bytes)).collect::<Result<_, _>>()?;
        self.put(&list, names.join("\n").as_bytes())?;
        self.used.borrow_mut().extend(names);
        Ok(made)
    }

    /// All contents of a list, unless one is missing or damaged.
    fn read(&self, names: &str) -> Option<Vec<Vec<u8>>> {
        let contents =
            names.lines().map(|name| fs::read(self.directory.join(name)).ok().filter(|b| content(b) == name));
        let contents = contents.collect::<Option<Vec<_>>>()?;
        self.used.borrow_mut().extend(names.lines().map(str::to_owned));
        Some(contents)
    }

    fn write(&self, bytes: &[u8]) -> Result<String, String> {
        let name = content(bytes);
        self.put(&self.directory.join(&name), bytes)?;
        Ok(name)
    }

    /// Writes aside and renames, so that a file is there whole or not at all.
    fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), String> {
        let aside = path.with_extension("partial");
        let written = fs::write(&aside, bytes).and_then(|()| fs::rename(&aside, path));
        written.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Removes what was not asked for since the store was opened.
    pub fn forget_the_rest(&self) {
        let used = self.used.borrow();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            if !used.contains(entry.file_name().to_string_lossy().as_ref()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn content(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("c-{:016x}", hasher.finish())
}

/// Hashes names and contents of the files below a directory, in a fixed order; `keep` chooses among its own entries. Files that only
/// people read do not count.
fn add(directory: &Path, keep: &dyn Fn(&str) -> bool, hasher: &mut DefaultHasher) {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !keep(&name) || path.extension().is_some_and(|kind| kind == "md") {
            continue;
        }
        name.hash(hasher);
        if path.is_dir() {
            add(&path, &|_| true, hasher);
        } else {
            fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).hash(hasher);
        }
    }
}

#[cfg(test)]
mod tests;
