//! docs/dependencies.md lists every crate that a member of the workspace depends on directly, and no other.

use std::collections::BTreeSet;

use crate::Finding;
use crate::workspace::Member;

/// The document, relative to the root.
pub const DOCUMENT: &str = "docs/dependencies.md";
/// The heading of the part that lists crates; the other parts list what is not a crate.
pub const HEADING: &str = "## Rust crates";

/// Compares the direct registry dependencies of `members` with the crates that `document` lists.
pub fn check(members: &[Member], document: &str) -> Vec<Finding> {
    let listed = listed(document);
    let mut used = BTreeSet::new();
    let mut found = Vec::new();
    for member in members {
        for edge in member.edges.iter().filter(|edge| edge.directory.is_none()) {
            used.insert(edge.name.clone());
            if !listed.contains(&edge.name) {
                let text = format!("`{}` of {} is not listed under \"{HEADING}\"", edge.name, member.directory);
                found.push(Finding::new("dependency-unlisted", DOCUMENT, text));
            }
        }
    }
    for name in listed.difference(&used) {
        let text = format!("`{name}` is listed but no member depends on it");
        found.push(Finding::new("dependency-unused", DOCUMENT, text));
    }
    found
}

/// The names in the first column of the table below [`HEADING`], up to the next heading.
fn listed(document: &str) -> BTreeSet<String> {
    document
        .lines()
        .skip_while(|line| line.trim() != HEADING)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_owned))
        .collect()
}
