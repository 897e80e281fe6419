//! Veneers: code that the linker inserts where a branch does not reach its target, or has to change the state of the processor. Some hold
//! the address of their target where no relocation names it, with `--emit-relocs`, too.

use std::collections::BTreeSet;

use crate::elf::{Program, Section};
use crate::isa::{Encoding, Veneer};

/// Place in which a veneer holds the address of its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Offset in the file of the word, or of the first of the two instructions.
    pub offset: usize,
    /// The address.
    pub target: u32,
    /// How two instructions hold it, one after the other; `None`: a word does.
    pub halves: Option<&'static Encoding>,
}

/// Every veneer of a program that no relocation names.
///
/// # Time complexity
/// Linear in the bytes of code.
pub(crate) fn addresses(program: &Program) -> Vec<Found> {
    let named: BTreeSet<u32> = program.relocations.iter().map(|relocation| relocation.address).collect();
    let code = program.sections.iter().filter(|s| s.is_loaded() && s.in_file && (s.executable || !s.writable));
    code.flat_map(|section| of_section(program, section, &named)).collect()
}

fn of_section(program: &Program, section: &Section, named: &BTreeSet<u32>) -> Vec<Found> {
    let (start, end) = section.file_range();
    let Some(text) = program.file.get(start as usize..end as usize) else { return Vec::new() };
    let halves: Vec<u16> = text.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]])).collect();
    let word = |at: usize| Some(u32::from(*halves.get(at)?) | u32::from(*halves.get(at + 1)?) << 16);
    let mut found = Vec::new();
    for first in 0..halves.len() {
        let begins = |veneer: &&Veneer| (2 * first).is_multiple_of(veneer.align) && matches(veneer, &halves[first..]);
        let Some(veneer) = program.isa.veneers.iter().find(begins) else { continue };
        let at = if veneer.halves.is_some() { first } else { first + veneer.code.len() };
        let half = |encoding: &Encoding, at: usize| word(at).map(|word| u32::from((encoding.get)(word).0));
        let target = match veneer.halves {
            None => word(at),
            Some(encoding) => half(encoding, at).zip(half(encoding, at + 2)).map(|(low, high)| high << 16 | low),
        };
        let inside = |target: &u32| program.code.holds(*target) || program.data.holds(*target);
        let Some(target) = target.filter(inside) else { continue };
        if !named.contains(&section.address.wrapping_add(2 * at as u32)) {
            found.push(Found { offset: start as usize + 2 * at, target, halves: veneer.halves });
        }
    }
    found
}

fn matches(veneer: &Veneer, halves: &[u16]) -> bool {
    halves.len() >= veneer.code.len() && veneer.code.iter().zip(halves).all(|((bits, mask), half)| half & mask == *bits)
}
