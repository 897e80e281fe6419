//! Libraries of C for domains: what of the checkout belongs to one, and whether it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use manifest::input;
use manifest::{Board, Diagnostic};

use crate::install::{Install, unreadable};
use crate::linked::COMPILE;
use crate::toolchain::{Toolchain, missing};

/// The file of flags for linking: functions that are led through the run-time.
const LINK: &str = "link.txt";
/// In the place of a flag for compiling: the directory of headers in which gcc looks with the flags for linking, and not without them. Only gcc
/// knows it, and some flags for linking must not be given to it twice, as they would be where a program is compiled and linked at once.
const HEADERS: &str = "{headers}";

/// The library of a board's core.
pub(crate) struct Library {
    directory: PathBuf,
    /// Flags for compiling.
    pub compile: Vec<String>,
    /// Flags for linking.
    pub link: Vec<String>,
}

impl Library {
    /// Reads its flags, and asks the compiler for what it alone knows.
    ///
    /// # Errors
    /// CF0501 for a file of the checkout that cannot be read, CF0601 when it is not installed.
    pub fn of(install: &Install, tools: &Toolchain, board: &Board) -> Result<Library, Diagnostic> {
        let directory = install.root.join("user/c").join(&board.core.targets.c_library.name);
        let lines = |file: &str| -> Result<Vec<String>, Diagnostic> {
            let path = directory.join(file);
            let text = input::read_text(&path).map_err(|why| unreadable(&path, &why))?;
            Ok(text.lines().map(str::to_owned).collect())
        };
        let known = &board.core.targets.c_library;
        let what = format!("the library of C for the chip ({})", known.name);
        installed(tools, board, &known.file, &what)?;
        let (mut compile, link) = (lines(COMPILE)?, lines(LINK)?);
        for flag in compile.iter_mut().filter(|flag| *flag == HEADERS) {
            *flag = headers(&tools.gcc, &link).ok_or_else(|| missing(&what))?;
        }
        Ok(Library { directory, compile, link })
    }

    /// Directories of headers that programs include.
    pub fn include(&self) -> Option<PathBuf> {
        Some(self.directory.join("include")).filter(|directory| directory.is_dir())
    }

    /// The directory with the names by which it calls the run-time.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The parts of the run-time that are for it alone.
    pub fn sources(&self) -> Vec<PathBuf> {
        files(&self.directory.join("src"), "c")
    }

    /// Linker scripts that go with it.
    pub fn scripts(&self) -> Vec<PathBuf> {
        files(&self.directory, "ld")
    }
}

/// The directory of headers that gcc knows by these flags alone.
fn headers(gcc: &Path, flags: &[String]) -> Option<String> {
    let searched = |flags: &[String]| {
        let output = Command::new(gcc).args(flags).args(["-E", "-v", "-x", "c", "/dev/null"]).output().ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        // Its list has a line for each, which begins with a space.
        let list = text.lines().filter_map(|line| line.strip_prefix(' ')).map(str::to_owned);
        Some(list.filter(|line| Path::new(line).is_dir()).collect::<Vec<_>>())
    };
    let without = searched(&[])?;
    searched(flags)?.into_iter().find(|directory| !without.contains(directory))
}

/// Files in a directory whose names end so, in the order of their names; none if there is no such directory.
pub(crate) fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

/// A file of a library for the chip is there, which is a package of its own.
///
/// # Errors
/// CF0601, with this name of the library.
pub(crate) fn installed(tools: &Toolchain, board: &Board, file: &str, what: &str) -> Result<(), Diagnostic> {
    let mut command = Command::new(&tools.gcc);
    command.args(&board.core.targets.c_flags).arg(format!("-print-file-name={file}"));
    // The compiler prints the bare name of a file that it does not find.
    let found = command.output().is_ok_and(|output| output.stdout.contains(&b'/'));
    if found { Ok(()) } else { Err(missing(what)) }
}
