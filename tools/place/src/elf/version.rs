//! The version of the interface that a program was built for, as its run-time says in a note.

use abi::info::{NOTE_NAME, NOTE_SECTION, NOTE_TYPE, VERSION};

use super::program::Program;
use crate::error::PlaceError;

/// Refuses a program that says another version than the kernel's, or none.
pub(super) fn check(program: &Program) -> Result<(), PlaceError> {
    let found = of(program);
    if found == Some(VERSION) {
        return Ok(());
    }
    Err(PlaceError::Version { domain: program.name.clone(), found })
}

/// A note (System V ABI): bytes of its name, bytes of its description, its type; then both, padded to words.
fn of(program: &Program) -> Option<u32> {
    let section = program.sections.iter().find(|section| section.name == NOTE_SECTION && section.in_file)?;
    let (from, to) = section.file_range();
    let note = program.file.get(from as usize..to as usize)?;
    let word = |at: usize| note.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let head = [word(0)?, word(4)?, word(8)?];
    let name = note.get(12..12 + NOTE_NAME.len())?;
    (head == [NOTE_NAME.len() as u32, 4, NOTE_TYPE] && name == NOTE_NAME).then(|| word(12 + NOTE_NAME.len()))?
}
