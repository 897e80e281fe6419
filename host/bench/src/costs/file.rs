//! Writes what was measured into the board's file.

use std::path::Path;

use toml_edit::{DocumentMut, Item, value};

use super::Cost;
use crate::Error;

/// Table of the board's file.
const TABLE: &str = "kernel";

/// Replaces the values of the board's file by what the table proposes, and the comments above them by what was seen and where. The rest of the
/// file stays as it is.
///
/// # Errors
/// [`Error::File`] when the file cannot be read, is no board's, or cannot be written.
pub fn write(path: &Path, costs: &[Cost]) -> Result<(), Error> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
    let new = rewritten(&text, costs).map_err(|reason| Error::file(path, &reason))?;
    std::fs::write(path, new).map_err(|error| Error::file(path, &error))
}

/// The text of a board's file with new values.
pub(super) fn rewritten(text: &str, costs: &[Cost]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let table = document.get_mut(TABLE).and_then(Item::as_table_mut).ok_or("it has no table [kernel]")?;
    for cost in costs {
        let mut key = table.key_mut(cost.key).ok_or_else(|| format!("[kernel] has no {}", cost.key))?;
        key.leaf_decor_mut().set_prefix(comment(cost));
        let new = i64::try_from(cost.proposed).map_err(|error| error.to_string())?;
        if let Some(item) = table.get_mut(cost.key) {
            *item = value(new);
        }
    }
    Ok(document.to_string())
}

fn comment(cost: &Cost) -> String {
    let super::Found { cycles, system, path, .. } = &cost.seen;
    format!("# {}: {cycles} at most ({system}, {path}).\n", cost.about)
}
