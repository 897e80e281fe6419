//! What a build has read and what has come of it, so that cargo is not asked for the same again: that takes it half a second of a processor, and
//! most builds of a system change one program or none.
//!
//! A note is named by the command, its environment and the compilers. It is believed only if every file that it names has the bytes that were
//! noted, if what was missing is missing still, and if the results are what was built. In doubt cargo is asked.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};

use manifest::Diagnostic;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::contents::hash_of;
use super::places::directory;
use crate::files::{short, write_file};
use crate::linked::twin;

/// Variables that say where and for whom somebody works, and change nothing that is built.
const OTHERWISE: [&str; 8] = ["PWD", "OLDPWD", "SHLVL", "_", "TERM", "COLUMNS", "LINES", "COFFERDAM_RUNS"];
/// Files that cargo reads if it finds them in the directory of a package or in one above.
const SEARCHED: [&str; 6] =
    ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml"];
/// Directories of a package whose names cargo reads: a file that comes there can be a further program, or a build script.
const LISTED: [&str; 4] = ["", "src", "src/bin", "examples"];

/// The note of a build.
pub(super) struct Kept {
    path: PathBuf,
}

impl Kept {
    /// The note in a directory of cargo's for a command, which compilers run that are told from others by `compilers`.
    pub(super) fn of(directory: &Path, command: &Command, compilers: &str) -> Kept {
        let mut key = Sha256::new();
        let mut add = |text: &OsStr| {
            key.update(text.as_encoded_bytes());
            key.update([0]);
        };
        add(compilers.as_ref());
        add(command.get_program());
        command.get_args().for_each(&mut add);
        add(std::env::current_dir().unwrap_or_default().as_os_str());
        let mut inherited: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        inherited.retain(|(name, _)| !OTHERWISE.iter().any(|other| name == *other));
        inherited.sort();
        for (name, value) in inherited.iter().map(|(name, value)| (name.as_os_str(), Some(value.as_os_str()))) {
            add(name);
            add(value.unwrap_or_default());
        }
        for (name, value) in command.get_envs() {
            add(name);
            add(value.unwrap_or(OsStr::new("(none)")));
        }
        Kept { path: directory.join("kept").join(short(&key.finalize())) }
    }

    /// What cargo said when it built this, if it would say the same now.
    pub(super) fn replay(&self) -> Option<Output> {
        let note: Value = serde_json::from_slice(&fs::read(&self.path).ok()?).ok()?;
        let files = note["files"].as_object()?;
        let same = |(path, noted): (&String, &Value)| noted.as_str() == Some(&state(Path::new(path)));
        let said = |name: &str| Some(note[name].as_str()?.as_bytes().to_vec());
        let output = Output { status: ExitStatus::from_raw(0), stdout: said("stdout")?, stderr: said("stderr")? };
        files.iter().all(same).then_some(output)
    }

    /// Notes a build that is over, unless a name is no text. `sources` are the files that its programs were made from.
    pub(super) fn note(&self, output: &Output, sources: &BTreeSet<PathBuf>) -> Result<(), Diagnostic> {
        let stdout = String::from_utf8_lossy(&output.stdout);
        let (mut lines, mut files) = (Vec::new(), sources.clone());
        for line in stdout.lines() {
            let Ok(mut message) = serde_json::from_str::<Value>(line) else { continue };
            if let Some(program) = message["executable"].as_str().map(PathBuf::from) {
                // Its own name, because the one for users is given to each variant of the package in turn.
                let own = fs::read(&program).ok().and_then(|bytes| twin(&program, &bytes, "")).unwrap_or(program);
                message["executable"] = json!(own);
                files.insert(own);
            } else if is_library(&message) {
                files.extend(
                    message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into),
                );
            }
            if let Some(package) = directory(&message) {
                files.extend(read_by_cargo(&package, &message));
            }
            lines.push(message.to_string());
        }
        files.extend(searched(&std::env::current_dir().unwrap_or_default()));
        files.extend(std::env::var_os("CARGO_HOME").map(|home| PathBuf::from(home).join("config.toml")));
        files.extend(std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo/config.toml")));
        if files.iter().any(|path| path.to_str().is_none()) {
            return Ok(());
        }
        let files: serde_json::Map<String, Value> =
            files.iter().map(|path| (path.display().to_string(), json!(state(path)))).collect();
        let note =
            json!({ "files": files, "stdout": lines.join("\n"), "stderr": String::from_utf8_lossy(&output.stderr) });
        write_file(&self.path, note.to_string().as_bytes())
    }
}

/// A library that something else than cargo reads: one for C.
fn is_library(message: &Value) -> bool {
    message["target"]["crate_types"].as_array().is_some_and(|types| types.iter().any(|kind| kind == "staticlib"))
}

/// What cargo reads for a package beside its sources.
fn read_by_cargo(package: &Path, message: &Value) -> impl Iterator<Item = PathBuf> {
    let has_script =
        message["target"]["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "custom-build"));
    // A build script that does not say what it reads is run again when anything in its package changes.
    let whole = has_script.then(|| package.to_owned());
    let listed = LISTED.map(|directory| package.join(directory).join(NAMES));
    searched(package).into_iter().chain(listed).chain(whole)
}

/// The files that are read in a directory and those above, if they are there.
fn searched(directory: &Path) -> Vec<PathBuf> {
    directory.ancestors().flat_map(|above| SEARCHED.map(|name| above.join(name))).collect()
}

/// Stands in a note for the names in a directory.
const NAMES: &str = "*";

/// How a file or directory is now.
fn state(path: &Path) -> String {
    if path.ends_with(NAMES) {
        let entries = path.parent().and_then(|directory| fs::read_dir(directory).ok());
        let names: BTreeSet<OsString> =
            entries.into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
        let hidden = |name: &&OsString| name.as_encoded_bytes().starts_with(b".") || *name == "target";
        let names: Vec<String> =
            names.iter().filter(|name| !hidden(name)).map(|name| name.display().to_string()).collect();
        return short(names.join("/").as_bytes());
    }
    if !path.exists() { "missing".to_owned() } else { hash_of(path, &BTreeSet::from([path.to_owned()])) }
}
