//! Writes what was measured into the board's file.

use std::path::Path;

use manifest::{Renewal, renewed};

use super::Cost;
use crate::Error;

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
    let renewals: Vec<Renewal> = costs.iter().map(renewal).collect();
    renewed(text, &renewals)
}

fn renewal(cost: &Cost) -> Renewal {
    let super::Found { cycles, system, path, .. } = &cost.seen;
    let comment = format!("{}: {cycles} at most ({system}, {path}).", cost.about);
    Renewal { key: cost.key, value: cost.proposed, comment }
}
