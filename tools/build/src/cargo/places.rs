//! What stands where in a directory of cargo's.

use std::path::{Path, PathBuf};

/// The profile, by whose name cargo calls the directory of what runs on the host.
pub(super) const PROFILE: &str = "bare";
/// Held by whoever builds in a directory.
pub(super) const LOCK: &str = "lock";
/// The file in which a directory's results are noted, for all targets: what runs on the host belongs to each.
pub(super) fn notes(directory: &Path) -> PathBuf {
    directory.join("built")
}
