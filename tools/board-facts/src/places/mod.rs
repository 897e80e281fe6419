//! The places of every board that has a table `[foreign]`, as Rust for programs that find their board when they run.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::foreign::NAMES;
use crate::{Board, Foreign, Named, Reference, Viewer, write};

/// The constants, in the build's output directory.
pub const PLACES: &str = "places.rs";
/// Names the file of a board that is outside of the checkout, by an absolute path.
const OWN_BOARD: &str = "COFFERDAM_OWN_BOARD";

/// Writes [`PLACES`] of the package that is being built: a struct with an address for each name of `[foreign]`, and `BOARDS`, an entry for each
/// board file below `boards`, relative to the package, and for that of `COFFERDAM_OWN_BOARD`. Boards without the table have none.
///
/// # Errors
/// A text: called outside of a build script, a file is wrong or cannot be read or written, or two boards have the same name.
pub fn generate_places(boards: &str) -> Result<(), String> {
    let all: Vec<Board> =
        all(&variable("CARGO_MANIFEST_DIR")?.join(boards))?.into_iter().map(|(_, board)| board).collect();
    write(&variable("OUT_DIR")?.join(PLACES), &table(&all)?)
}

/// A path that cargo gives to build scripts.
pub(crate) fn variable(name: &str) -> Result<PathBuf, String> {
    std::env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("{name} is not set"))
}

/// Every board of a directory, and that of `COFFERDAM_OWN_BOARD`, each with its file. The build begins again when one changes.
pub(crate) fn all(boards: &Path) -> Result<Vec<(PathBuf, Board)>, String> {
    println!("cargo::rerun-if-env-changed={OWN_BOARD}");
    println!("cargo::rerun-if-changed={}", boards.display());
    let read = |file: PathBuf| {
        println!("cargo::rerun-if-changed={}", file.display());
        let board = Board::read(&file)?;
        Ok((file, board))
    };
    files(boards)?.into_iter().chain(variable(OWN_BOARD).ok()).map(read).collect()
}

/// The files of a directory's boards, in the order of their names.
fn files(boards: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(boards).map_err(|error| format!("{}: {error}", boards.display()))?;
    let files = entries.flatten().map(|entry| entry.path().join("board.toml")).filter(|file| file.is_file());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    Ok(files)
}

/// The text of [`PLACES`].
fn table(boards: &[Board]) -> Result<String, String> {
    for (index, board) in boards.iter().enumerate() {
        if boards[..index].iter().any(|other| other.name == board.name) {
            return Err(format!("two boards are called `{}`", board.name));
        }
    }
    let mut text = String::new();
    declare(&mut text).map_err(|error| error.to_string())?;
    for board in boards {
        let Some(foreign) = &board.foreign else { continue };
        let fields =
            board.fields(foreign).map_err(|why| format!("the board file of `{}` is wrong: {why}", board.name))?;
        text += &format!("    (abi::info::name_hash({:?}), Places {{ {fields} }}),\n", board.name);
    }
    text += "];\n";
    Ok(text)
}

/// The struct, and the beginning of the table.
fn declare(text: &mut String) -> std::fmt::Result {
    let (needed, optional) = NAMES;
    writeln!(
        text,
        "/// Addresses that no domain gets, on one board.\n#[derive(Clone, Copy, Debug)]\npub struct Places {{"
    )?;
    for (name, about) in needed {
        writeln!(text, "    ///{about}\n    pub {name}: u32,")?;
    }
    for (name, about) in optional {
        writeln!(text, "    ///{about}\n    pub {name}: Option<u32>,")?;
    }
    writeln!(text, "}}\n/// The boards, by the words for their names.\nconst BOARDS: &[(u32, Places)] = &[")
}

impl Board {
    /// The fields of a board's entry.
    fn fields(&self, foreign: &Foreign) -> Result<String, String> {
        foreign.check(|named| match named {
            Named::Memory(name) => self.memory.get(name).map(|memory| memory.bytes),
            Named::Device(name) => self.device.get(name).map(|device| device.bytes),
            Named::Address(_) => None,
        })?;
        let at = |reference: Option<&Reference>| reference.map(|reference| self.address(reference)).transpose();
        let mut fields = Vec::new();
        for (name, _, reference) in foreign.needed() {
            fields.extend(at(reference)?.map(|address| format!("{name}: {address:#x}")));
        }
        for (name, _, reference) in foreign.optional() {
            fields.push(match at(reference)? {
                Some(address) => format!("{name}: Some({address:#x})"),
                None => format!("{name}: None"),
            });
        }
        Ok(fields.join(", "))
    }

    /// The address that a reference means. Domains have devices, and memory in the kernel's half of the address space, lower by
    /// `device_offset`; what only the kernel has is where the kernel has it.
    fn address(&self, reference: &Reference) -> Result<u32, String> {
        let (named, offset, viewer) = reference.named()?;
        let (base, kernels, lower) = match named {
            Named::Address(address) => return Ok(address),
            Named::Memory(name) => {
                let memory = self.memory.get(name).ok_or_else(|| format!("no memory `{name}`"))?;
                (memory.base, memory.kind == "kernel", self.seen(memory.base) == memory.base)
            }
            Named::Device(name) => {
                let device = self.device.get(name).ok_or_else(|| format!("no device `{name}`"))?;
                (device.base, device.kernel, true)
            }
        };
        let lower = self.protection.device_offset.filter(|_| lower).unwrap_or(0);
        let seen = if kernels || viewer == Viewer::Kernel { self.seen(base) } else { base.wrapping_sub(lower) };
        Ok(seen.wrapping_add(offset))
    }
}

#[cfg(test)]
mod tests;
