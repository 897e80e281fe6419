//! Bytes of the kernel's image, with the code for handlers that interrupts reach without it and without (SBI, table IV).

use build_tool::{Toolchain, build_kernel, build_kernel_without_handlers};
use object::{Object, ObjectSection, SectionFlags};

use crate::bench::Bench;
use crate::cells::empty;
use crate::rows::{kind, kinds};
use crate::{Error, Row};

/// Bytes of an image: loaded, and beyond that in memory. Code that is copied to memory counts as loaded alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes {
    rom: u64,
    ram: u64,
}

/// An image, what it is, and the paper's bytes of the same.
const WITH: (&str, &str, [&str; 2]) = ("", "the kernel", ["94397", "33044"]);
const WITHOUT: (&str, &str, [&str; 2]) =
    (".without_handlers", "the kernel without the code for handlers", ["93137", "33044"]);

/// Builds both kernels of a board whose handlers are measured, and returns their rows.
///
/// # Errors
/// Any error that keeps a kernel from being built or read.
pub fn measure(bench: &Bench<'_>, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    if bench.chip.systems().direct.is_none() {
        return Ok(Vec::new());
    }
    let refused = |refusal: manifest::Diagnostic| Error::Build(refusal.to_string());
    let (install, board) = (bench.install, &bench.chip.board);
    let tools = Toolchain::find(install, &board.core).map_err(refused)?;
    progress(&format!("kernels for {}: building", board.name));
    let with = build_kernel(install, &tools, board).map_err(refused)?;
    let without = build_kernel_without_handlers(install, &tools, board).map_err(refused)?;
    Ok([rows(bench, &with, WITH)?, rows(bench, &without, WITHOUT)?].concat())
}

fn rows(bench: &Bench<'_>, image: &[u8], (suffix, what, paper): (&str, &str, [&str; 2])) -> Result<Vec<Row>, Error> {
    let Bytes { rom, ram } = bytes(image)?;
    let figures = [("rom", "loaded: code, constants, vectors", rom), ("ram", "data, stacks but for the boot's", ram)];
    let row = |((id, part, bytes), paper): ((&str, &str, u64), &str)| Row {
        bytes: Some(bytes),
        paper: Some(format!("{paper} (SBI, table IV)")),
        ..bench.row(format!("{}{id}{suffix}", bench.chip.rows(kinds::IMAGE)), "Cofferdam", format!("{what}, {part}"))
    };
    Ok(figures.into_iter().zip(paper).map(row).collect())
}

fn bytes(image: &[u8]) -> Result<Bytes, Error> {
    let file = object::File::parse(image).map_err(|error| Error::Build(format!("a kernel cannot be read: {error}")))?;
    let mut bytes = Bytes { rom: 0, ram: 0 };
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        let has = |flag: u32| sh_flags & u64::from(flag) != 0;
        let is_loaded = section.file_range().is_some();
        if !has(object::elf::SHF_ALLOC) {
            continue;
        }
        bytes.rom += if is_loaded { section.size() } else { 0 };
        bytes.ram += if has(object::elf::SHF_WRITE) { section.size() } else { 0 };
    }
    Ok(bytes)
}

/// Whether a row is one of images, on any board.
pub(crate) fn is_one(row: &Row) -> bool {
    kind(&row.id) == Some(kinds::IMAGE)
}

/// The rows of images. Empty when there are none.
pub fn images_table(rows: &[Row]) -> String {
    let mut table = empty(&["row", "subject", "image", "bytes", "paper"], 3..4);
    let rows: Vec<&Row> = rows.iter().filter(|row| is_one(row)).collect();
    for row in &rows {
        table.add_row([
            row.id.clone(),
            row.subject.clone(),
            row.operation.clone(),
            row.bytes.unwrap_or(0).to_string(),
            row.paper.clone().unwrap_or_default(),
        ]);
    }
    if rows.is_empty() { String::new() } else { format!("{table}\n") }
}
