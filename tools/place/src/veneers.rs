//! Veneers: code that the linker inserts where a branch does not reach its target, or has to change the state of the processor. Some hold
//! the address of their target in a word that no relocation names, with `--emit-relocs`, too. Sequences: GNU ld 2.40, stubs of
//! `elf32-arm`, as it was seen to write them; instructions: Armv7-A/R ARM (DDI 0406), A8.8.

use std::collections::BTreeSet;

use crate::elf::{Program, Section, Segment};

/// A veneer's instructions in front of the target's address, as half-words in the order of the file.
type Sequence = &'static [u16];

/// Those that hold an absolute address. The ones of position-independent code move with it and are right as they are.
const ABSOLUTE: &[Sequence] = &[
    // Arm: LDR pc, [pc, #-4].
    &[0xf004, 0xe51f],
    // Arm: LDR ip, [pc]; BX ip.
    &[0xc000, 0xe59f, 0xff1c, 0xe12f],
    // Thumb-2: LDR.W pc, [pc, #-0].
    &[0xf85f, 0xf000],
    // Thumb: PUSH {r0}; LDR r0, [pc, #8]; MOV ip, r0; POP {r0}; BX ip; NOP.
    &[0xb401, 0x4802, 0x4684, 0xbc01, 0x4760, 0xbf00],
];

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
        let begins = |sequence: &&Sequence| halves[first..].starts_with(sequence);
        let Some(sequence) = ABSOLUTE.iter().find(begins) else { continue };
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
