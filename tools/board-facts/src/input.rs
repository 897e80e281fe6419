//! Reads what a user names. Only regular files up to a limit are read: a device or a pipe would never end, and a sparse file takes no room on
//! a disk but all of the memory.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Most bytes of a program, with its debug information, or of a constant file.
pub const MOST_BINARY: u64 = 128 << 20;
/// Most bytes of a text: a manifest, a description of a board, a source.
pub const MOST_TEXT: u64 = 16 << 20;

/// Why a file was not read.
#[derive(Debug)]
pub enum Unread {
    /// The system's error.
    Io(io::Error),
    /// It is something else than a regular file.
    Kind(&'static str),
    /// It has more bytes than the limit.
    Large {
        /// Bytes that it has.
        bytes: u64,
        /// Bytes that are read at most.
        most: u64,
    },
    /// It is no UTF-8 text.
    Text,
}

impl fmt::Display for Unread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::Io(error) => write!(out, "{error}"),
            Unread::Kind(kind) => write!(out, "it is {kind}, and no regular file"),
            Unread::Large { bytes, most } => write!(out, "it has {bytes} bytes, and at most {most} are read"),
            Unread::Text => out.write_str("it is not UTF-8 text"),
        }
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Unread {
        Unread::Io(error)
    }
}

/// Whether a file may be read: it is regular, and not larger than `most` bytes. Nothing is opened, which could wait for ever.
///
/// # Errors
/// [`Unread`] says why not.
pub fn readable(path: &Path, most: u64) -> Result<(), Unread> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() {
        return Err(Unread::Kind(kind(&found)));
    }
    if found.len() > most { Err(Unread::Large { bytes: found.len(), most }) } else { Ok(()) }
}

/// The contents of a file.
///
/// # Errors
/// As [`readable`].
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, Unread> {
    readable(path, most)?;
    let mut bytes = Vec::new();
    // Files of the system's own say that they are empty, and may grow meanwhile.
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    let length = bytes.len() as u64;
    if length > most { Err(Unread::Large { bytes: length, most }) } else { Ok(bytes) }
}

/// The contents of a text.
///
/// # Errors
/// As [`readable`]; [`Unread::Text`].
pub fn read_text(path: &Path) -> Result<String, Unread> {
    String::from_utf8(read(path, MOST_TEXT)?).map_err(|_| Unread::Text)
}

#[cfg(unix)]
fn kind(found: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind(found: &Metadata) -> &'static str {
    if found.is_dir() { "a directory" } else { "a device" }
}
