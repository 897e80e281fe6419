//! Hashes of files and directories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The hash of names within the package and of contents, so that a copy of a checkout elsewhere has the same. A file that is not there has none.
pub(super) fn hash_of(package: &Path, files: &BTreeSet<PathBuf>) -> String {
    let mut hasher = Sha256::new();
    files.iter().for_each(|file| add(&mut hasher, package, file));
    format!("{:x}", hasher.finalize())
}

/// Adds a file, or all of a directory that a build script watches.
fn add(hasher: &mut Sha256, package: &Path, path: &Path) {
    let name = path.strip_prefix(package).ok().filter(|_| package.is_absolute());
    let name = name.map_or_else(|| path.file_name(), |name| Some(name.as_os_str()));
    hasher.update(name.unwrap_or_default().as_encoded_bytes());
    hasher.update([0]);
    if !path.is_dir() {
        return hasher.update(Sha256::digest(std::fs::read(path).unwrap_or_default()));
    }
    let hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let entries: BTreeSet<PathBuf> = entries.filter(|path| !hidden(path) && !path.ends_with("target")).collect();
    entries.iter().for_each(|entry| add(hasher, package, entry));
}
