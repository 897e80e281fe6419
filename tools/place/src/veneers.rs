//! Veneers: code that the linker inserts where a branch does not reach its target, or has to change the state of the processor. Some hold
//! the address of their target in a word that no relocation names, with `--emit-relocs`, too.

use std::collections::BTreeSet;

use crate::elf::{Program, Section, Segment};

/// Offsets in the file of the words with which veneers reach their targets, and the addresses there.
///
/// # Time complexity
/// Linear in the bytes of code.
pub(crate) fn addresses(program: &Program) -> Vec<(usize, u32)> {
    let named: BTreeSet<u32> = program.relocations.iter().map(|relocation| relocation.address).collect();
    let code = program.sections.iter().filter(|section| section.allocated && section.in_file && !section.writable);
    let found = code.flat_map(|section| of_section(program, section));
    found.filter(|(at, _, _)| !named.contains(at)).map(|(_, offset, target)| (offset, target)).collect()
}

/// Address and file offset of each such word, and the word.
fn of_section(program: &Program, section: &Section) -> Vec<(u32, usize, u32)> {
    let (start, bytes) = (section.offset as usize, section.bytes as usize);
    let Some(text) = program.file.get(start..start.saturating_add(bytes)) else { return Vec::new() };
    let halves: Vec<u16> = text.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]])).collect();
    let mut found = Vec::new();
    for first in (0..halves.len()).step_by(2) {
        let begins = |sequence: &&&[u16]| halves[first..].starts_with(sequence);
        let Some(sequence) = program.isa.veneers.iter().find(begins) else { continue };
        let at = first + sequence.len();
        let Some(&[low, high]) = halves.get(at..at + 2) else { continue };
        let target = u32::from(low) | u32::from(high) << 16;
        let inside = |segment: &Segment| segment.bytes > 0 && segment.contains(target);
        if inside(&program.code) || inside(&program.data) {
            found.push((section.address.wrapping_add(2 * at as u32), start + 2 * at, target));
        }
    }
    found
}
