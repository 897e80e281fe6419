//! Files that appear complete or not at all, and together or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

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

/// Writes whole files that belong together: no one is moved to its place before all are complete. If one cannot be moved, those before it are put
/// back.
pub(crate) fn write_together(files: &[(&Path, &[u8])]) -> Result<(), WriteError> {
    let stage = |(path, bytes): &(&Path, &[u8])| stage(path, |out| out.write_all(bytes));
    let staged = files.iter().map(stage).collect::<Result<Vec<_>, _>>()?;
    let former: Vec<Former> = files.iter().map(|(path, _)| Former::of(path)).collect();
    for (index, (file, (path, _))) in staged.into_iter().zip(files).enumerate() {
        if let Err(error) = file.persist(path) {
            former.into_iter().take(index).zip(files).for_each(|(former, (path, _))| former.put_back(path));
            return Err(WriteError::new(path, error.error));
        }
    }
    Ok(())
}

/// The file that stood in a place before.
enum Former {
    /// None.
    Absent,
    /// A second name of it, which goes when it is not needed.
    Kept(NamedTempFile<()>),
    /// The file system has no second names.
    Unknown,
}

impl Former {
    fn of(path: &Path) -> Former {
        if path.symlink_metadata().is_err() {
            return Former::Absent;
        }
        let second = Builder::new().make_in(directory(path), |name| std::fs::hard_link(path, name));
        second.map_or(Former::Unknown, Former::Kept)
    }

    fn put_back(self, path: &Path) {
        match self {
            Former::Absent => _ = std::fs::remove_file(path),
            Former::Kept(former) => _ = former.persist(path),
            Former::Unknown => {}
        }
    }
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file through `fill` beside its place, then moves it there. The temporary file is removed when anything fails.
pub(crate) fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut io::BufWriter<&mut std::fs::File>) -> io::Result<()>,
) -> Result<(), WriteError> {
    let file = stage(path, fill)?;
    file.persist(path).map_err(|error| WriteError::new(path, error.error))?;
    Ok(())
}

/// A complete file beside its place.
fn stage(
    path: &Path,
    fill: impl FnOnce(&mut io::BufWriter<&mut std::fs::File>) -> io::Result<()>,
) -> Result<NamedTempFile, WriteError> {
    let at = |source| WriteError::new(path, source);
    if path.is_dir() {
        return Err(at(io::ErrorKind::IsADirectory.into()));
    }
    let mut file = NamedTempFile::new_in(directory(path)).map_err(at)?;
    let mut out = io::BufWriter::new(file.as_file_mut());
    fill(&mut out).and_then(|()| out.flush()).map_err(at)?;
    drop(out);
    readable(file.as_file()).map_err(at)?;
    file.as_file().sync_all().map_err(at)?;
    Ok(file)
}

/// Whether files can be made in a directory: one is, and goes again.
///
/// # Errors
/// [`WriteError`] for one of the files; nothing was changed.
pub fn can_write(paths: &[&Path]) -> Result<(), WriteError> {
    paths.iter().try_for_each(|path| stage(path, |_| Ok(())).map(drop))
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
