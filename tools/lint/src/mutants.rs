//! Each mutant of the suites names a text that stands exactly once in its file. One that no longer does would be found by its suite only, many minutes later.

use serde::Deserialize;

use crate::Finding;

/// The suites' lists, relative to the root.
pub const LISTS: [&str; 3] =
    ["tests/attacks/mutants.toml", "tests/conformance/mutants.toml", "tests/direct/mutants.toml"];

#[derive(Deserialize)]
struct Mutants {
    mutant: Vec<Mutant>,
}

#[derive(Deserialize)]
struct Mutant {
    file: String,
    find: String,
}

/// Compares a list with the files that it changes, of which `read` returns the text.
///
/// # Errors
/// What is wrong with the list itself.
pub fn check(path: &str, list: &str, read: impl Fn(&str) -> Option<String>) -> Result<Vec<Finding>, String> {
    let Mutants { mutant } = toml::from_str(list).map_err(|error| format!("{path}: {error}"))?;
    let finding = |Mutant { file, find }: Mutant| {
        let first = find.trim().lines().next().unwrap_or_default().to_owned();
        let wrong = match read(&file) {
            None => format!("there is no {file}"),
            Some(text) => match text.matches(&find).count() {
                1 => return None,
                count => format!("the text to find stands {count} times in {file}; it must stand once: `{first}`"),
            },
        };
        Some(Finding::new("mutant-applies", path, wrong))
    };
    Ok(mutant.into_iter().filter_map(finding).collect())
}
