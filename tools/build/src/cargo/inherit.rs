//! What a new directory of cargo's can have from another, so that it is not compiled again: the compiler's library for a target takes longer than a kernel.

use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};

use super::places::{LOCK, PROFILE, notes};

/// Copies what one of `others` holds for the host, and for the target if `of_target`, into a directory in which nothing was built. One that has something for the
/// target is preferred. The notes come last: what lacks them, because the copy broke off, is built again.
pub(super) fn inherit(directory: &Path, target: &str, others: &[PathBuf], of_target: bool) {
    if directory.join(PROFILE).exists() {
        return;
    }
    let has_target = |other: &&PathBuf| of_target && other.join(target).is_dir();
    let noted = || others.iter().filter(|other| notes(other).is_file());
    let Some(from) = noted().find(has_target).or(noted().next()) else { return };
    // Whoever builds there is waited for. He does not wait for this directory: nothing has been noted in it.
    let Ok(lock) = File::open(from.join(LOCK)) else { return };
    if lock.lock_shared().is_err() {
        return;
    }
    let parts = [Some(PROFILE), Some(target).filter(|target| of_target && from.join(target).is_dir())];
    let copied = parts.into_iter().flatten().try_for_each(|part| copy(&from.join(part), &directory.join(part)));
    let _ = copied.and_then(|()| fs::copy(notes(from), notes(directory)).map(drop));
}

/// Copies a directory with the times of its files, by which cargo goes.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, to) = (entry.metadata()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), &to)?;
            File::options().write(true).open(&to)?.set_times(FileTimes::new().set_modified(kind.modified()?))?;
        }
    }
    Ok(())
}
