//! Moves a program: adds to everything that depends on an address how far its target moved. The linker has already resolved the
//! relocations; what it left (`--emit-relocs`) says which words depend on which symbol, and the program's instruction set how.

use object::elf;

use crate::elf::{Program, Relocation};
use crate::error::PlaceError;
use crate::isa::{Encoding, Moves};
use crate::veneers;

/// Sizes of ELF structures.
const SECTION_HEADER: usize = 40;
const SYMBOL: usize = 16;

/// A copy of the file at its final addresses.
///
/// # Errors
/// [`PlaceError::Relocation`] for a word that cannot be moved; [`PlaceError::Fixed`] for a program that would have to be moved
/// and has no relocations.
pub(crate) fn relocate(program: &Program, code: i64, data: i64) -> Result<Vec<u8>, PlaceError> {
    let mut file = program.file.clone();
    if code == 0 && data == 0 {
        return Ok(file);
    }
    let mover = Mover { program, code, data };
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

    fn apply(&self, file: &mut [u8], index: usize, relocation: &Relocation) -> Result<(), PlaceError> {
        let target = self.delta_of_symbol(relocation.symbol);
        let place = self.delta_of_section(relocation.section);
        let Some(offset) = self.offset(relocation) else { return Ok(()) };
        let outside = || self.refuse(relocation, "it lies outside of the file");
        match (self.program.isa.moves)(relocation.kind) {
            Some(Moves::Stays) => {}
            Some(Moves::Absolute) => {
                if target != 0 {
                    add(file, offset, target).ok_or_else(outside)?;
                }
            }
            Some(Moves::Relative) => {
                if target != place {
                    add(file, offset, target - place).ok_or_else(outside)?;
                }
            }
            Some(Moves::Half { lower, encoding }) => {
                if target != 0 {
                    let moved = self.half(index, relocation, (lower, encoding), target)?;
                    let word = read_word(file, offset).ok_or_else(outside)?;
                    file[offset..offset + 4].copy_from_slice(&(encoding.set)(word, moved).to_le_bytes());
                }
            }
            Some(Moves::Together) => {
                let weak = self.program.symbols.get(relocation.symbol).is_some_and(|s| s.section.is_none());
                if target != place && !weak {
                    return Err(self.refuse(relocation, "it is relative and its two ends move apart"));
                }
            }
            None => return Err(self.refuse(relocation, "this type is not known here")),
        }
        Ok(())
    }

    /// Words of veneers follow the segment in which their target is.
    fn move_veneers(&self, file: &mut [u8]) -> Result<(), PlaceError> {
        for (offset, target) in veneers::addresses(self.program) {
            let delta = if self.program.code.contains(target) { self.code } else { self.data };
            add(file, offset, delta).ok_or_else(|| PlaceError::Elf {
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

    /// Section addresses, symbol values and the entry follow.
    fn move_headers(&self, file: &mut [u8]) {
        let word = |file: &[u8], at: usize| read_word(file, at).unwrap_or(0);
        let table = word(file, 32) as usize;
        let count = usize::from(file[48]) | usize::from(file[49]) << 8;
        for section in 0..count {
            let header = table + section * SECTION_HEADER;
            let delta = self.delta_of_section(section);
            if delta != 0 {
                add(file, header + 12, delta);
            }
            if word(file, header + 4) != elf::SHT_SYMTAB {
                continue;
            }
            let (start, bytes) = (word(file, header + 16) as usize, word(file, header + 20) as usize);
            for symbol in 0..bytes / SYMBOL {
                let delta = self.delta_of_symbol(symbol);
                if delta != 0 {
                    add(file, start + symbol * SYMBOL + 4, delta);
                }
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

fn read_word(file: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?))
}

fn add(file: &mut [u8], at: usize, delta: i64) -> Option<()> {
    let word = read_word(file, at)?;
    let moved = (i64::from(word) + delta) as u32;
    file.get_mut(at..at + 4)?.copy_from_slice(&moved.to_le_bytes());
    Some(())
}
