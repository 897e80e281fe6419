//! Moves a program: adds to everything that depends on an address how far its target moved. The linker has already resolved the
//! relocations; what it left (`--emit-relocs`) says which words depend on which symbol, and the program's instruction set how.

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
    let mover = Mover { program, code, data };
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

    /// The upper half of an address depends on the carry of the lower. The pair is found by symbol and destination register.
    fn half(
        &self,
        index: usize,
        relocation: &Relocation,
        (lower, encoding): (bool, &Encoding),
        delta: i64,
    ) -> Result<u16, PlaceError> {
        let read = |of: &Relocation| self.offset(of).and_then(|at| read_word(&self.program.file, at)).map(encoding.get);
        let (own, register) = read(relocation).ok_or_else(|| self.refuse(relocation, "it lies outside of the file"))?;
        if lower {
            return Ok((i64::from(own) + delta) as u16);
        }
        let lower_half = |candidate: &Relocation| {
            let fits = candidate.kind == encoding.lower
                && candidate.symbol == relocation.symbol
                && candidate.section == relocation.section;
            if fits { read(candidate) } else { None }
        };
        let upper = |low: u16| (((i64::from(own) << 16 | i64::from(low)) + delta) as u32 >> 16) as u16;
        self.upper_half(index, register, &lower_half, &upper)
            .ok_or_else(|| self.refuse(relocation, "the lower half of this address was not found"))
    }

    /// The upper half that the lower half of the same address leads to. It is the nearest one with the same symbol and destination
    /// register. A compiler may also shift or combine the halves in two registers; then all lower halves near by with that symbol have to
    /// lead to the same.
    fn upper_half(
        &self,
        index: usize,
        register: u8,
        lower_half: &impl Fn(&Relocation) -> Option<(u16, u8)>,
        upper: &impl Fn(u16) -> u16,
    ) -> Option<u16> {
        let all = &self.program.relocations;
        let before = all[..index].iter().rev().take(PAIR_DISTANCE).filter_map(lower_half);
        let after = all[index..].iter().take(PAIR_DISTANCE).filter_map(lower_half);
        let near = || before.clone().chain(after.clone());
        let paired = near().find(|(_, other)| *other == register);
        let mut uppers = near().map(|(low, _)| upper(low));
        let first = uppers.next();
        paired.map_or_else(|| first.filter(|first| uppers.all(|other| other == *first)), |(low, _)| Some(upper(low)))
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

/// Compilers schedule the two halves close to each other.
const PAIR_DISTANCE: usize = 64;

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
