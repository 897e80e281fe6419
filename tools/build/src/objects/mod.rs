//! Objects of sources in C and C++. One that was compiled before from the same text, by the same compiler with the same flags, is taken from a store:
//! SQLite alone takes half a minute, and most systems are built more often than they change.
//!
//! An object's name in the store is a hash of all that it was made from: the files of the compiler, its flags, the directory that debug information names, and what the
//! preprocessor makes of the source, which holds its headers and their paths. If a flag or a source makes the compiler read anything else, the source is compiled each time.

use std::path::{Path, PathBuf};
use std::process::Command;

use manifest::{Diagnostic, input};

use crate::command;
use crate::files::{hash, unwritable, write_file};
use crate::install::{Install, unreadable};
use crate::sources::is_source;
use crate::toolchain::Toolchain;

/// Beginnings of flags with which an object depends on nothing but the preprocessed source and the flags themselves.
const PURE: &[&str] = &["-D", "-U", "-I", "-O", "-W", "-f", "-m", "-g", "-std=", "-pedantic", "-ansi"];
/// Before a directory of headers.
const SYSTEM_HEADERS: &str = "-isystem";
/// Beginnings of those among them that name files or programs, or write further files.
const NOT_PURE: &[&str] = &[
    "-Wa,",
    "-Wp,",
    "-Wl,",
    "-fplugin",
    "-fprofile",
    "-fauto-profile",
    "-fdump",
    "-fcallgraph",
    "-fsave",
    "-fopt-info",
    "-fsanitize",
    "-gsplit",
    "-mdump",
    "-fmodule",
];
/// In the assembler of a source these read a file that the preprocessor does not see.
const READ_A_FILE: [&[u8]; 2] = [b"incbin", b".include"];
/// Most objects that are kept; beyond that the older half goes.
const MOST: usize = 4000;

/// The compiler, and the store of its objects.
pub(crate) struct Objects<'t> {
    tools: &'t Toolchain,
    compiler: String,
    store: PathBuf,
}

impl Objects<'_> {
    pub(crate) fn of<'t>(install: &Install, tools: &'t Toolchain) -> Objects<'t> {
        Objects { tools, compiler: tools.compiler(), store: install.target.join("objects") }
    }

    /// Makes the object of a source, and returns it with the compiler's warnings. It is renamed into its place, because somebody else may be linking the
    /// object that was there before.
    ///
    /// # Errors
    /// CF0501 for a source that cannot be read, CF0506 when it does not build, CF0604 for an object that cannot be written.
    pub(crate) fn make(&self, flags: &[String], source: &Path, object: &Path) -> Result<(PathBuf, String), Diagnostic> {
        input::readable(source, input::MOST_TEXT).map_err(|why| unreadable(source, &why))?;
        let made = self.name(flags, source);
        if let Some((bytes, warnings)) = made.as_ref().and_then(|path| kept(path)) {
            write_file(object, &bytes)?;
            return Ok((object.to_owned(), warnings));
        }
        let warnings = self.compile(flags, source, object)?;
        // The source may have changed while it was compiled: of which text the object is, is known only if both are the same.
        if let Some(path) = made.filter(|path| self.name(flags, source).as_ref() == Some(path)) {
            self.keep(&path, object, &warnings)?;
        }
        Ok((object.to_owned(), warnings))
    }

    fn compile(&self, flags: &[String], source: &Path, object: &Path) -> Result<String, Diagnostic> {
        let aside = object.with_extension(format!("{}.partial.o", std::process::id()));
        let mut command = Command::new(&self.tools.gcc);
        command.args(flags).arg("-c").arg(source).arg("-o").arg(&aside);
        let output = command::run(&format!("`{}`", source.display()), &mut command)?;
        std::fs::rename(&aside, object).map_err(|error| unwritable(object, &error))?;
        Ok(command::warnings(&output))
    }

    /// The path of the object in the store; `None` where more than is known decides about it.
    fn name(&self, flags: &[String], source: &Path) -> Option<PathBuf> {
        // An assembler's macros can put together the name of a directive that reads a file.
        if !is_source(source) || !are_pure(flags) {
            return None;
        }
        let output = Command::new(&self.tools.gcc).args(flags).arg("-E").arg(source).output().ok()?;
        let text = output.stdout;
        if !output.status.success() || reads_a_file(&text) {
            return None;
        }
        let directory = std::env::current_dir().ok()?;
        let flags = flags.join("\0");
        let parts = [
            self.compiler.as_bytes(),
            flags.as_bytes(),
            directory.as_os_str().as_encoded_bytes(),
            source.as_os_str().as_encoded_bytes(),
            &text,
        ];
        // Hashes have one length, so that no part can pass for the end of another.
        let all: String = parts.iter().map(|part| hash(part)).collect();
        Some(self.store.join(format!("{}.o", hash(all.as_bytes()))))
    }

    /// Puts an object into the store. What was warned of comes first: an object without is none.
    fn keep(&self, path: &Path, object: &Path, warnings: &str) -> Result<(), Diagnostic> {
        let bytes = input::read(object, input::MOST_BINARY).map_err(|why| unreadable(object, &why))?;
        write_file(&said(path), warnings.as_bytes())?;
        write_file(path, &bytes)?;
        forget_the_older_half(&self.store);
        Ok(())
    }
}

/// Whether an object made with these flags depends on nothing but the preprocessed source and the flags.
fn are_pure(flags: &[String]) -> bool {
    let begins = |flag: &str, all: &[&str]| all.iter().any(|known| flag.starts_with(known));
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        if flag == SYSTEM_HEADERS {
            flags.next();
        } else if !begins(flag, PURE) || begins(flag, NOT_PURE) {
            return false;
        }
    }
    true
}

/// Whether the assembler in a preprocessed source may read a file. Neighbouring strings are one string to the compiler.
fn reads_a_file(text: &[u8]) -> bool {
    let joined: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'"' && !byte.is_ascii_whitespace()).collect();
    READ_A_FILE.iter().any(|directive| joined.windows(directive.len()).any(|part| part == *directive))
}

/// The file with the warnings of the compiler for an object of the store.
fn said(path: &Path) -> PathBuf {
    path.with_extension("txt")
}

/// An object of the store, and what the compiler warned of.
fn kept(path: &Path) -> Option<(Vec<u8>, String)> {
    let bytes = std::fs::read(path).ok()?;
    Some((bytes, std::fs::read_to_string(said(path)).ok()?))
}

/// Removes the objects that were made first, if there are many. What somebody else removes meanwhile is gone as well.
fn forget_the_older_half(store: &Path) {
    let entries = std::fs::read_dir(store).into_iter().flatten().flatten().map(|entry| entry.path());
    let objects: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "o")).collect();
    if objects.len() <= MOST {
        return;
    }
    let made = |path: &PathBuf| std::fs::metadata(path).and_then(|facts| facts.modified()).ok();
    let mut objects: Vec<_> = objects.into_iter().map(|path| (made(&path), path)).collect();
    objects.sort();
    for (_, path) in &objects[..objects.len() / 2] {
        let _ = (std::fs::remove_file(path), std::fs::remove_file(said(path)));
    }
}

#[cfg(test)]
mod tests;
