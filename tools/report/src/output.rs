//! Files that appear complete or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Why a file was not written. A former file in its place is untouched.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// No space is left, or a quota is exhausted.
    #[error("{}: no space left on the device; nothing was changed", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Anything else, for example a directory that does not exist or may not be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
}

impl WriteError {
    pub(crate) fn new(path: &Path, source: io::Error) -> WriteError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => WriteError::Full { path, source },
            _ => WriteError::Io { path, source },
        }
    }
}

/// Writes a whole file.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write_with(path, |out| out.write_all(bytes))
}

/// Writes a file through `fill` beside its place, then moves it there. The temporary file is removed when anything fails.
pub(crate) fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut io::BufWriter<&mut std::fs::File>) -> io::Result<()>,
) -> Result<(), WriteError> {
    let at = |source| WriteError::new(path, source);
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(directory).map_err(at)?;
    let mut out = io::BufWriter::new(file.as_file_mut());
    fill(&mut out).and_then(|()| out.flush()).map_err(at)?;
    drop(out);
    readable(file.as_file()).map_err(at)?;
    file.as_file().sync_all().map_err(at)?;
    file.persist(path).map_err(|error| at(error.error))?;
    Ok(())
}

/// Temporary files are for their owner only; a report is for whoever may read the directory.
#[cfg(unix)]
fn readable(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}
