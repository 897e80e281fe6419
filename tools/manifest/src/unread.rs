//! The refusal of a file that was not read.

use std::io::ErrorKind;
use std::path::Path;

use crate::diagnostic::Refusal;
use crate::input::Unread;

/// The refusal for a file that a user names. It has the code `missing` for one that the system does not give, otherwise CF0509.
pub fn unread(path: &Path, why: &Unread, missing: &'static str) -> Refusal {
    let path = path.display();
    match why {
        Unread::Io(error) if error.kind() == ErrorKind::NotFound && missing == "CF0501" => {
            Refusal::at(missing, "", format!("`{path}` does not exist"))
        }
        Unread::Io(_) | Unread::Text => Refusal::at(missing, "", format!("cannot read `{path}`: {why}")),
        Unread::Kind(_) => Refusal::at("CF0509", "", format!("`{path}` is not read: {why}")),
        Unread::Large { bytes, most } => Refusal::at("CF0509", "", format!("`{path}` is not read: it is too large"))
            .value(format!("{bytes} bytes"))
            .limit(format!("{most} bytes")),
    }
    .rule("a file that is named exists, is a regular file, can be read, and is not larger than the tools read")
    .remedy("correct the path; paths in a manifest are relative to the manifest")
}
