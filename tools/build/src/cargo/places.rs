//! What stands where in a directory of cargo's.

use std::path::{Path, PathBuf};

/// The profile, by whose name cargo calls the directory of what runs on the host.
pub(super) const PROFILE: &str = "bare";
/// Held by whoever builds in a directory.
pub(super) const LOCK: &str = "lock";
/// The file in which a directory's results for a target are noted.
pub(super) fn notes(directory: &Path, target: &str) -> PathBuf {
    directory.join(format!("{target}.built"))
}
