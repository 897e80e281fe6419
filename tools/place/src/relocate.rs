//! Moves a program: adds to everything that depends on an address how far its target moved. The linker has already resolved the
//! relocations; what it left (`--emit-relocs`) says which words depend on which symbol. Source: ELF for the Arm Architecture
//! (IHI 0044), section 4.6.

use object::elf;

use crate::elf::{Program, Relocation};
use crate::error::PlaceError;
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
        match relocation.kind {
            elf::R_ARM_NONE | elf::R_ARM_V4BX => {}
            elf::R_ARM_ABS32 | elf::R_ARM_TARGET1 => {
                if target != 0 {
                    add(file, offset, target).ok_or_else(outside)?;
                }
            }
            elf::R_ARM_REL32 | elf::R_ARM_TARGET2 => {
                if target != place {
                    add(file, offset, target - place).ok_or_else(outside)?;
                }
            }
            elf::R_ARM_THM_MOVW_ABS_NC | elf::R_ARM_THM_MOVT_ABS | elf::R_ARM_MOVW_ABS_NC | elf::R_ARM_MOVT_ABS => {
                if target != 0 {
                    self.move_half(file, index, relocation, offset, target)?;
                }
            }
            // Relative to the program counter: right as they are while both ends move together.
            elf::R_ARM_CALL
            | elf::R_ARM_JUMP24
            | elf::R_ARM_PC24
            | elf::R_ARM_THM_PC22
            | elf::R_ARM_THM_JUMP24
            | elf::R_ARM_THM_JUMP19
            | elf::R_ARM_THM_PC11
            | elf::R_ARM_THM_PC9
            | elf::R_ARM_THM_ALU_PREL_11_0
            | elf::R_ARM_THM_PC12
            | elf::R_ARM_THM_PC8
            | elf::R_ARM_PREL31 => {
                let weak = self.program.symbols.get(relocation.symbol).is_some_and(|s| s.section.is_none());
                if target != place && !weak {
                    return Err(self.refuse(relocation, "it is relative and its two ends move apart"));
                }
            }
            _ => return Err(self.refuse(relocation, "this type is not known here")),
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

    /// MOVW and MOVT hold a half each; the upper one depends on the carry of the lower.
    fn move_half(
        &self,
        file: &mut [u8],
        index: usize,
        relocation: &Relocation,
        offset: usize,
        delta: i64,
    ) -> Result<(), PlaceError> {
        let original = &self.program.file;
        let thumb = matches!(relocation.kind, elf::R_ARM_THM_MOVW_ABS_NC | elf::R_ARM_THM_MOVT_ABS);
        let lower = if thumb { elf::R_ARM_THM_MOVW_ABS_NC } else { elf::R_ARM_MOVW_ABS_NC };
        let read = |at: usize| if thumb { immediate(original, at) } else { arm_immediate(original, at) };
        let (own, register) = read(offset).ok_or_else(|| self.refuse(relocation, "it lies outside of the file"))?;
        let moved = if relocation.kind == lower {
            (i64::from(own) + delta) as u32 & 0xffff
        } else {
            let lower_half = |candidate: &Relocation| {
                let fits = candidate.kind == lower
                    && candidate.symbol == relocation.symbol
                    && candidate.section == relocation.section;
                self.offset(candidate).filter(|_| fits).and_then(read)
            };
            let upper = |low: u16| ((i64::from(own) << 16 | i64::from(low)) + delta) as u32 >> 16;
            self.upper_half(index, register, &lower_half, &upper)
                .ok_or_else(|| self.refuse(relocation, "the lower half of this address was not found"))?
        };
        let write = if thumb { set_immediate } else { set_arm_immediate };
        write(file, offset, moved as u16);
        Ok(())
    }

    /// The upper half that the lower half of the same address leads to. It is the nearest one with the same symbol and destination
    /// register. A compiler may also shift or combine the halves in two registers; then all lower halves near by with that symbol have to
    /// lead to the same.
    fn upper_half(
        &self,
        index: usize,
        register: u8,
        lower_half: &impl Fn(&Relocation) -> Option<(u16, u8)>,
        upper: &impl Fn(u16) -> u32,
    ) -> Option<u32> {
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

/// Immediate and destination register of MOVW or MOVT (Armv7-M ARM, A7.7.76, encoding T3): imm4:i:imm3:imm8.
fn immediate(file: &[u8], at: usize) -> Option<(u16, u8)> {
    let word = read_word(file, at)?;
    let (first, second) = (word & 0xffff, word >> 16);
    let value = (first & 0xf) << 12 | (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xff;
    Some((value as u16, (second >> 8 & 0xf) as u8))
}

fn set_immediate(file: &mut [u8], at: usize, value: u16) {
    let Some(word) = read_word(file, at) else { return };
    let value = u32::from(value);
    let first = word & 0xfbf0 | value >> 12 | (value >> 11 & 1) << 10;
    let second = word >> 16 & 0x8f00 | (value >> 8 & 7) << 12 | value & 0xff;
    file[at..at + 4].copy_from_slice(&(first | second << 16).to_le_bytes());
}

/// Immediate and destination register of MOVW or MOVT in Arm state (Armv7-A ARM, A8.8.102, encoding A2): imm4 in bits 19 to 16, imm12 in 11 to 0.
fn arm_immediate(file: &[u8], at: usize) -> Option<(u16, u8)> {
    let word = read_word(file, at)?;
    Some(((word >> 4 & 0xf000 | word & 0xfff) as u16, (word >> 12 & 0xf) as u8))
}

fn set_arm_immediate(file: &mut [u8], at: usize, value: u16) {
    let Some(word) = read_word(file, at) else { return };
    let value = u32::from(value);
    let moved = word & 0xfff0_f000 | (value & 0xf000) << 4 | value & 0xfff;
    file[at..at + 4].copy_from_slice(&moved.to_le_bytes());
}
