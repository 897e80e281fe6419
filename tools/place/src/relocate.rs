//! Moves a program: adds to everything that depends on an address how far its target moved. The linker has already resolved the
//! relocations; what it left (`--emit-relocs`) says which words depend on which symbol, and the program's instruction set how.

use std::collections::HashMap;

use object::elf;

use crate::elf::{Program, Relocation};
use crate::error::PlaceError;
use crate::isa::{Encoding, Moves};
use crate::veneers::{self, Found};

/// Sizes of ELF structures.
const SECTION_HEADER: usize = 40;
const SYMBOL: usize = 16;
const RELOCATION: usize = 8;

/// A copy of the file at its final addresses.
///
/// # Errors
/// [`PlaceError::Relocation`] for a word that cannot be moved; [`PlaceError::Fixed`] for a program that would have to be moved
/// and has no relocations; [`PlaceError::Alignment`] for a distance that its alignment excludes.
pub(crate) fn relocate(program: &Program, code: i64, data: i64) -> Result<Vec<u8>, PlaceError> {
    let mut file = program.file.clone();
    if code == 0 && data == 0 {
        return Ok(file);
    }
    let mover = Mover { program, code, data, lower: lower_halves(program) };
    for (segment, delta) in [(&program.code, code), (&program.data, data)] {
        if segment.bytes > 0 && delta % i64::from(segment.align) != 0 {
            return Err(PlaceError::Alignment {
                domain: program.name.clone(),
                address: segment.base,
                align: segment.align,
            });
        }
    }
    if program.relocations.is_empty() {
        return Err(PlaceError::Fixed {
            domain: program.name.clone(),
            address: program.code.base,
            reason: "it would have to be moved".into(),
        });
    }
    for (index, relocation) in program.relocations.iter().enumerate() {
        mover.apply(&mut file, index, relocation)?;
    }
    mover.move_veneers(&mut file)?;
    mover.move_headers(&mut file);
    Ok(file)
}

/// Whether moving a program is complete: the same program was linked at other addresses, and what is moved there equals it.
///
/// # Errors
/// [`PlaceError::Unnamed`] for the first word that differs; those of [`Program::parse`] and of moving.
pub fn moves(name: &str, nominal: &[u8], elsewhere: &[u8]) -> Result<(), PlaceError> {
    let (program, there) = (Program::parse(name, nominal)?, Program::parse(name, elsewhere)?);
    let delta = |to: u32, from: u32| i64::from(to) - i64::from(from);
    let [code, data] = [delta(there.code.base, program.code.base), delta(there.data.base, program.data.base)];
    let moved = relocate(&program, code, if program.data.bytes == 0 { 0 } else { data })?;
    for (is_code, segment) in [(true, &program.code), (false, &program.data)] {
        let (ours, theirs) = (program.bytes_of(&moved, is_code), there.bytes_of(elsewhere, is_code));
        let differs = ours.chunks(4).zip(theirs.chunks(4)).position(|(one, other)| one != other);
        let differs = differs.or((ours.len() != theirs.len()).then_some(0));
        if let Some(word) = differs {
            return Err(PlaceError::Unnamed { domain: name.to_owned(), address: segment.base + 4 * word as u32 });
        }
    }
    Ok(())
}

struct Mover<'a> {
    program: &'a Program,
    code: i64,
    data: i64,
    /// Relocations of lower halves, by section and symbol.
    lower: HashMap<(usize, usize), Vec<usize>>,
}

/// A lower half of an address: the number of its relocation, its bits, and the register that it is loaded into.
#[derive(Clone, Copy, Debug)]
struct Lower {
    index: usize,
    low: u16,
    register: u8,
}

/// The upper half to which the lower half of the same address leads: of those in question all lead to the same, or the last one in front of it that is
/// loaded into the same register counts, then the first one behind it. A compiler may also copy or combine the halves in two registers: then the former
/// holds, or nothing is known.
fn upper_half(index: usize, register: u8, halves: &[Lower], upper: &impl Fn(&Lower) -> u16) -> Option<u16> {
    let first = upper(halves.first()?);
    if halves.iter().all(|half| upper(half) == first) {
        return Some(first);
    }
    let own = || halves.iter().filter(|half| half.register == register);
    let before = own().rev().find(|half| half.index < index);
    before.or_else(|| own().find(|half| half.index > index)).map(upper)
}

fn lower_halves(program: &Program) -> HashMap<(usize, usize), Vec<usize>> {
    let mut all: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, relocation) in program.relocations.iter().enumerate() {
        if matches!((program.isa.moves)(relocation.kind), Some(Moves::Half { lower: true, .. })) {
            all.entry((relocation.section, relocation.symbol)).or_default().push(index);
        }
    }
    all
}

impl Mover<'_> {
    fn delta_of_section(&self, section: usize) -> i64 {
        match self.program.sections.get(section) {
            Some(section) if section.allocated && section.writable => self.data,
            Some(section) if section.allocated => self.code,
            _ => 0,
        }
    }

    /// How far the target of a symbol moves; one of no section stays.
    fn delta_of_symbol(&self, symbol: usize) -> i64 {
        let section = self.program.symbols.get(symbol).and_then(|symbol| symbol.section);
        section.map_or(0, |section| self.delta_of_section(section))
    }

    fn refuse(&self, relocation: &Relocation, reason: &'static str) -> PlaceError {
        PlaceError::Relocation {
            domain: self.program.name.clone(),
            kind: relocation.kind,
            address: relocation.address,
            reason,
        }
    }

    /// Offset in the file of the word that a relocation changes.
    fn offset(&self, relocation: &Relocation) -> Option<usize> {
        let section = self.program.sections.get(relocation.section)?;
        let within = relocation.address.checked_sub(section.address)?;
        (section.in_file && within < section.bytes).then_some(section.offset as usize + within as usize)
    }

    /// Whether an address is in the other segment than the one that moves so far.
    fn leads_elsewhere(&self, delta: i64, address: u32) -> bool {
        let other = if delta == self.code { &self.program.data } else { &self.program.code };
        delta != 0 && self.code != self.data && other.holds(address)
    }

    fn apply(&self, file: &mut [u8], index: usize, relocation: &Relocation) -> Result<(), PlaceError> {
        let target = self.delta_of_symbol(relocation.symbol);
        let place = self.delta_of_section(relocation.section);
        let outside = || self.refuse(relocation, "it lies outside of the file");
        let moves = (self.program.isa.moves)(relocation.kind);
        if matches!(moves, Some(Moves::Stays)) {
            return Ok(());
        }
        let offset = self.offset(relocation).ok_or_else(outside)?;
        match moves {
            Some(Moves::Stays) => {}
            Some(Moves::Absolute) => {
                let word = read_word(file, offset).ok_or_else(outside)?;
                if place != 0 && self.leads_elsewhere(target, word) {
                    return Err(self.refuse(relocation, "it holds an address far from its symbol"));
                }
                add(file, offset, target).ok_or_else(outside)?;
            }
            Some(Moves::Relative) => {
                if target != place {
                    add(file, offset, target - place).ok_or_else(outside)?;
                }
            }
            Some(Moves::Half { lower, encoding }) => {
                if target != 0 {
                    let moved = self.half(index, relocation, (lower, encoding), target)?;
                    put_half(file, offset, encoding, moved).ok_or_else(outside)?;
                }
            }
            Some(Moves::Together) => {
                // The linker has resolved a call of a weak symbol that nobody defines to the next instruction.
                let symbol = self.program.symbols.get(relocation.symbol);
                let weak = symbol.is_some_and(|symbol| symbol.section.is_none() && !symbol.absolute);
                if target != place && !weak {
                    return Err(self.refuse(relocation, "it is relative and its two ends move apart"));
                }
            }
            None => return Err(self.refuse(relocation, "this type is not known here")),
        }
        Ok(())
    }

    /// Addresses in veneers follow the segment in which their target is.
    fn move_veneers(&self, file: &mut [u8]) -> Result<(), PlaceError> {
        for Found { offset, target, halves } in veneers::addresses(self.program) {
            let delta = if self.program.code.contains(target) { self.code } else { self.data };
            let moved = (i64::from(target) + delta) as u32;
            let done = match halves {
                None => add(file, offset, delta),
                Some(encoding) => put_half(file, offset, encoding, moved as u16)
                    .and_then(|()| put_half(file, offset + 4, encoding, (moved >> 16) as u16)),
            };
            done.ok_or_else(|| PlaceError::Elf {
                domain: self.program.name.clone(),
                reason: "a veneer lies outside of the file".into(),
            })?;
        }
        Ok(())
    }

    /// The upper half of an address depends on the carry of the lower.
    fn half(
        &self,
        index: usize,
        relocation: &Relocation,
        (lower, encoding): (bool, &Encoding),
        delta: i64,
    ) -> Result<u16, PlaceError> {
        let (own, register) = self
            .read_half(relocation, encoding)
            .ok_or_else(|| self.refuse(relocation, "it lies outside of the file"))?;
        if lower {
            return Ok((i64::from(own) + delta) as u16);
        }
        let all = self.lower_halves(relocation, encoding);
        // Objects hold the whole distance from the symbol in each half, 16 bits with a sign (IHI 0044, 4.6.1.1): what a lower half and its symbol
        // lead to is known, and has the same upper half if the two belong together. Of a section the linker has moved the symbol.
        let symbol = self.program.symbols.get(relocation.symbol).filter(|symbol| symbol.named);
        let belongs = |low: u16| {
            symbol.is_none_or(|symbol| {
                let distance = low.wrapping_sub(symbol.value as u16) as i16;
                symbol.value.wrapping_add_signed(distance.into()) >> 16 == u32::from(own)
            })
        };
        let belonging: Vec<Lower> = all.iter().copied().filter(|half| belongs(half.low)).collect();
        let upper = |half: &Lower| (((i64::from(own) << 16 | i64::from(half.low)) + delta) as u32 >> 16) as u16;
        let upper = upper_half(index, register, if belonging.is_empty() { &all } else { &belonging }, &upper);
        upper.ok_or_else(|| self.refuse(relocation, "the lower half of this address was not found"))
    }

    fn read_half(&self, of: &Relocation, encoding: &Encoding) -> Option<(u16, u8)> {
        self.offset(of).and_then(|at| read_word(&self.program.file, at)).map(encoding.get)
    }

    /// The lower halves of addresses in the same section with the symbol of an upper one.
    fn lower_halves(&self, relocation: &Relocation, encoding: &Encoding) -> Vec<Lower> {
        let of_symbol = self.lower.get(&(relocation.section, relocation.symbol)).map_or(&[][..], Vec::as_slice);
        let all = of_symbol.iter().map(|index| (*index, &self.program.relocations[*index]));
        let all = all.filter(|(_, candidate)| candidate.kind == encoding.lower);
        let read = |(index, candidate)| {
            let (low, register) = self.read_half(candidate, encoding)?;
            Some(Lower { index, low, register })
        };
        all.filter_map(read).collect()
    }

    /// Section addresses, symbol values, places of relocations and the entry follow: the result can be moved again.
    fn move_headers(&self, file: &mut [u8]) {
        let table = read_word(file, 32).unwrap_or(0) as usize;
        for (index, section) in self.program.sections.iter().enumerate() {
            let header = table + index * SECTION_HEADER;
            let (start, bytes) = (section.offset as usize, section.bytes as usize);
            add(file, header + 12, self.delta_of_section(index));
            match section.kind {
                elf::SHT_SYMTAB => {
                    for symbol in 0..bytes / SYMBOL {
                        add(file, start + symbol * SYMBOL + 4, self.delta_of_symbol(symbol));
                    }
                }
                elf::SHT_REL => {
                    let target = read_word(file, header + 28).unwrap_or(0) as usize;
                    for relocation in 0..bytes / RELOCATION {
                        add(file, start + relocation * RELOCATION, self.delta_of_section(target));
                    }
                }
                _ => {}
            }
        }
        add(file, 24, self.code);
        self.move_segments(file);
    }

    fn move_segments(&self, file: &mut [u8]) {
        let table = read_word(file, 28).unwrap_or(0) as usize;
        let count = usize::from(file[44]) | usize::from(file[45]) << 8;
        for segment in 0..count {
            let header = table + segment * 32;
            let Some(address) = read_word(file, header + 8) else { continue };
            let delta = if self.program.data.contains(address) && self.program.data.bytes > 0 {
                self.data
            } else if self.program.code.contains(address) {
                self.code
            } else {
                continue;
            };
            add(file, header + 8, delta);
            add(file, header + 12, delta);
        }
    }
}

/// A word of a file.
pub(crate) fn read_word(file: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?))
}

/// Puts 16 bits of an address into an instruction.
pub(crate) fn put_half(file: &mut [u8], at: usize, encoding: &Encoding, half: u16) -> Option<()> {
    let word = (encoding.set)(read_word(file, at)?, half);
    file.get_mut(at..at + 4)?.copy_from_slice(&word.to_le_bytes());
    Some(())
}

fn add(file: &mut [u8], at: usize, delta: i64) -> Option<()> {
    let word = read_word(file, at)?;
    let moved = (i64::from(word) + delta) as u32;
    file.get_mut(at..at + 4)?.copy_from_slice(&moved.to_le_bytes());
    Some(())
}
