//! The workspace as the checks see it, read once from `cargo metadata`.

use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

/// When a dependency is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// By the package itself.
    Normal,
    /// By its build script, which runs on the host.
    Build,
    /// Only by its tests, examples and benches.
    Development,
}

/// One dependency that a member declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The package's name in its registry.
    pub name: String,
    /// Directory relative to the root when the dependency is a path; `None` when it comes from a registry.
    pub directory: Option<String>,
    /// When it is used.
    pub kind: EdgeKind,
}

/// One package of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Directory relative to the workspace's root, with `/` between components.
    pub directory: String,
    /// Dependencies that it declares.
    pub edges: Vec<Edge>,
}

/// Reads the members of the workspace at `root`; needs no network because dependencies are not resolved.
///
/// # Errors
/// The text that cargo printed, when a manifest is missing or invalid.
pub fn read(root: &Path) -> Result<Vec<Member>, String> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let root = metadata.workspace_root.as_std_path();
    let mut members: Vec<Member> = metadata.workspace_packages().into_iter().map(|p| member(root, p)).collect();
    members.sort_by(|a, b| a.directory.cmp(&b.directory));
    Ok(members)
}

fn member(root: &Path, package: &Package) -> Member {
    let directory = package.manifest_path.parent().map_or_else(String::new, |d| relative(root, d.as_std_path()));
    let edges = package.dependencies.iter().map(|dependency| Edge {
        name: dependency.name.clone(),
        directory: dependency.path.as_ref().map(|path| relative(root, path.as_std_path())),
        kind: match dependency.kind {
            DependencyKind::Development => EdgeKind::Development,
            DependencyKind::Build => EdgeKind::Build,
            _ => EdgeKind::Normal,
        },
    });
    Member { directory, edges: edges.collect() }
}

/// `path` relative to `root` with `/` between components; a path outside the root stays as it is.
pub fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}
