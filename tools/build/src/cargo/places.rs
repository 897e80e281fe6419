//! What stands where in a directory of cargo's, and where packages are.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The profile, by whose name cargo calls the directory of what runs on the host.
pub(super) const PROFILE: &str = "bare";
/// Held by whoever builds in a directory.
pub(super) const LOCK: &str = "lock";
/// The file in which a directory's results are noted, for all targets: what runs on the host belongs to each.
pub(super) fn notes(directory: &Path) -> PathBuf {
    directory.join("built")
}

/// Sources of the compiler's own library: they come with it, and cargo knows its version.
pub(super) const OF_COMPILER: &str = "/rustlib/src/rust/";

/// The directory of the package that a message is about. Packages of registries never change, and the compiler's own come with it.
pub(super) fn directory(message: &Value) -> Option<PathBuf> {
    message["package_id"].as_str().filter(|id| id.starts_with("path+") && !id.contains(OF_COMPILER))?;
    Some(Path::new(message["manifest_path"].as_str()?).parent()?.to_owned())
}
