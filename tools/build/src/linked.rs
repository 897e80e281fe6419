//! Programs as builds leave them, and the files of the checkout that all are built with.

use std::path::PathBuf;

/// The part that is in the directory of the board's entry.
pub(crate) const GATE_RETURN: &str = "gate_return.S";

/// The header there.
pub(crate) const ENTRY_HEADER: &str = "include/cofferdam/arch.h";

/// Other addresses than the nominal ones, apart by another distance: multiples of 32 KiB, so that alignments up to that lay a program out as
/// before; half of the lower halves of addresses carry into the upper ones.
pub(crate) const ELSEWHERE: &[&str] =
    &["-Wl,--defsym=__cofferdam_code=0x12348000", "-Wl,--defsym=__cofferdam_data=0x3fed8000"];

/// A program that was linked twice.
pub struct Linked {
    /// At the nominal addresses.
    pub nominal: PathBuf,
    /// At others, to compare with.
    pub elsewhere: PathBuf,
    /// How each source was compiled, as `compile_commands.json` has it.
    pub commands: Vec<serde_json::Value>,
    /// Warnings of the compiler, empty if there are none.
    pub warnings: String,
}
