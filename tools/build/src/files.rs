//! Files that appear complete or not at all.

use std::io::{self, Write};
use std::path::Path;

use manifest::Diagnostic;
use sha2::{Digest, Sha256};

/// CF0604 for a file or directory that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Diagnostic {
    let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    let why = if full { "no space is left on the device".to_owned() } else { error.to_string() };
    Diagnostic::new("CF0604", format!("cannot write `{}`: {why}", path.display()))
        .rule("results are written aside and renamed when complete; what stood there before is untouched")
        .remedy("make room, or set CARGO_TARGET_DIR to a directory that can be written: everything that is built goes there")
}

/// Creates a directory and those above it.
pub(crate) fn create_dir(dir: &Path) -> Result<(), Diagnostic> {
    std::fs::create_dir_all(dir).map_err(|error| unwritable(dir, &error))
}

/// Writes a whole file through a neighbour that is renamed at the end.
///
/// # Errors
/// CF0604; an older file of that name is then untouched and the neighbour is removed.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    if let Some(parent) = path.parent() {
        create_dir(parent)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let aside = path.with_file_name(name);
    let written = std::fs::File::create(&aside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&aside, path)).map_err(|error| {
        // The neighbour may not exist; what is reported is the first error.
        let _ = std::fs::remove_file(&aside);
        unwritable(path, &error)
    })
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// The first digits of [`hash`], for names of files that a person reads.
pub(crate) fn short(bytes: &[u8]) -> String {
    hash(bytes)[..16].to_owned()
}
