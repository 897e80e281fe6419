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
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("{name} is not set"));
    let boards = variable("CARGO_MANIFEST_DIR")?.join(boards);
    println!("cargo::rerun-if-env-changed={OWN_BOARD}");
    println!("cargo::rerun-if-changed={}", boards.display());
    let mut files = files(&boards)?;
    files.extend(variable(OWN_BOARD).ok());
    let mut all = Vec::new();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        all.push(Board::read(&file)?);
    }
    write(&variable("OUT_DIR")?.join(PLACES), &table(&all)?)
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
mod tests {
    use super::*;

    const FILE: &str = "name = 'tiny'\nticks_per_second = 1000\n[clock]\ndevice = 'timer'\n\
        [protection]\nkernel_offset = 0x8000_0000\ndevice_offset = 0x8000_0000\n\
        [memory.chip]\nbase = 0xfff0_0000\nbytes = 0x4000\nkind = 'kernel'\n\
        [memory.near]\nbase = 0xfff0_4000\nbytes = 0x4000\nkind = 'ram'\n\
        [memory.far]\nbase = 0x10_0000\nbytes = 0x4000\nkind = 'loaded'\n\
        [device.timer]\nbase = 0xf000_0000\nbytes = 0x1000\nkernel = true\n\
        [device.uart]\nbase = 0xe000_0000\nbytes = 0x1000\n\
        [foreign]\nkernel_code = { memory = 'chip' }\nkernel_data = { memory = 'chip', offset = 0x100 }\n\
        kernel_objects = { memory = 'chip' }\nkernel_tables = { memory = 'near' }\n\
        kernel_device = { device = 'timer' }\nkernel_timer = { device = 'timer', offset = 8 }\ncore = { device = 'timer' }\n\
        console = { device = 'uart' }\nother_device = { device = 'uart' }\nheaps = { memory = 'far', seen_by = 'kernel' }\n\
        placed = { memory = 'far' }\nnowhere = { address = 0x7fff_0000 }\nouter_cache = { device = 'uart', offset = 4 }\n";

    fn made(text: &str) -> Result<String, String> {
        let board: Board = basic_toml::from_str(text).map_err(|error| error.to_string())?;
        table(&[board])
    }

    #[test]
    fn addresses_are_those_at_which_a_domain_would_try() {
        let text = made(FILE).unwrap();
        for field in [
            "kernel_code: 0xfff00000,",
            "kernel_data: 0xfff00100,",
            "kernel_tables: 0x7ff04000,",
            "kernel_timer: 0xf0000008,",
            "console: 0x60000000,",
            "heaps: 0x80100000,",
            "placed: 0x100000,",
            "nowhere: 0x7fff0000,",
            "outer_cache: Some(0x60000004),",
            "placed_on_chip: None",
        ] {
            assert!(text.contains(field), "{field} in\n{text}");
        }
        let without = FILE.split("[foreign]").next().unwrap();
        assert!(!made(without).unwrap().contains("tiny"));
    }

    #[test]
    fn what_names_nothing_is_refused() {
        let with = |from: &str, to: &str| made(&FILE.replace(from, to)).unwrap_err();
        let wrong = "the board file of `tiny` is wrong: foreign.";
        assert_eq!(
            with("placed = { memory = 'far' }", "placed = { memory = 'fat' }"),
            format!("{wrong}placed: no memory `fat`")
        );
        assert_eq!(
            with("core = { device = 'timer' }", "core = { device = 'time' }"),
            format!("{wrong}core: no device `time`")
        );
        assert_eq!(
            with("offset = 0x100 }", "offset = 0x4000 }"),
            format!("{wrong}kernel_data: 0x4000 lies behind the memory `chip`")
        );
        let two = format!("{wrong}placed: a memory or a device with an offset, or an address");
        assert_eq!(with("placed = { memory = 'far' }", "placed = { memory = 'far', device = 'uart' }"), two);
        assert!(with("placed = { memory = 'far' }\n", "").contains("missing field `placed`"));
        assert!(with("nowhere = ", "somewhere = { address = 1 }\nnowhere = ").contains("unknown field `somewhere`"));
        let twice = [basic_toml::from_str::<Board>(FILE).unwrap(), basic_toml::from_str(FILE).unwrap()];
        assert_eq!(table(&twice).unwrap_err(), "two boards are called `tiny`");
    }
}
