//! Programs as builds leave them, and the files of the checkout that all are built with.

use std::fs;
use std::path::{Path, PathBuf};

use manifest::{Board, Core};

/// The part that is in the directory of the board's entry.
pub(crate) const GATE_RETURN: &str = "gate_return.S";

/// The header there.
pub(crate) const ENTRY_HEADER: &str = "include/cofferdam/arch.h";

/// The file of flags for compiling with a library of C, in its directory: clocks that headers declare only where a system has them.
pub(crate) const COMPILE: &str = "compile.txt";

/// Other addresses than the nominal ones, apart by another distance: multiples of 32 KiB, so that alignments up to that lay a program out as
/// before; half of the lower halves of addresses carry into the upper ones.
const ELSEWHERE: &[&str] = &["-Wl,--defsym=__cofferdam_code=0x12348000", "-Wl,--defsym=__cofferdam_data=0x3fed8000"];

/// Flags for the second link of a program; none where programs stay where they are linked.
pub(crate) fn elsewhere_flags(board: &Board) -> &'static [&'static str] {
    if board.core.targets.linked_at.is_some() { &[] } else { ELSEWHERE }
}

/// Flags for the first link: relocations, of a program that will be moved, or the addresses at which it stays.
pub(crate) fn addresses(core: &Core) -> Vec<String> {
    match core.targets.linked_at {
        None => vec!["-Wl,--emit-relocs".to_owned()],
        Some([code, data]) => {
            let at = |segment: &str, address: u32| format!("-Wl,--defsym=__cofferdam_{segment}={address:#x}");
            vec![at("code", code), at("data", data)]
        }
    }
}

/// What the linker adds to the name of a program for its second link.
pub(crate) const SECOND: &str = "elsewhere";

/// The file of a program under cargo's own name for it, with a hash: the other name is that of the last variant of its package that was built.
/// There is a file beside it whose name has this `beside` added, if that is not empty.
pub(crate) fn twin(program: &Path, bytes: &[u8], beside: &str) -> Option<PathBuf> {
    let directory = program.parent()?;
    let below = directory.join("deps");
    let entries = fs::read_dir(if below.is_dir() { &below } else { directory }).ok()?;
    let is_it = |path: &PathBuf| {
        let same =
            path.extension().is_none() && fs::metadata(path).is_ok_and(|found| found.len() == bytes.len() as u64);
        same && (beside.is_empty() || path.with_extension(beside).is_file())
    };
    { entries.flatten().map(|entry| entry.path()) }
        .filter(is_it)
        .find(|path| fs::read(path).is_ok_and(|own| own == bytes))
}

/// A program that was linked: twice, if it will be moved. The bytes of its files, which may be another's a moment later.
pub struct Linked {
    /// At the nominal addresses.
    pub nominal: Vec<u8>,
    /// At others, to compare with.
    pub elsewhere: Option<Vec<u8>>,
    /// How each source was compiled, as `compile_commands.json` has it.
    pub commands: Vec<serde_json::Value>,
    /// Warnings of the compiler, empty if there are none.
    pub warnings: String,
}
