//! Words that look like addresses of a program, and that moving it does not change. In a program that was linked once, nobody can say of
//! such a word whether it is an address or a number.

use crate::elf::{Program, Section};
use crate::error::PlaceError;
use crate::isa::{Encoding, Mark};
use crate::relocate::{read_word, relocate};

/// A word, or a pair of instructions, that holds what may be an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// Its address, at link time.
    pub address: u32,
    /// The symbol there, and the distance from it.
    pub within: Option<(String, u32)>,
    /// Its value.
    pub value: u32,
    /// The symbol to which that would lead, and the distance from it.
    pub leads_to: Option<(String, u32)>,
}

/// How far two instructions that hold an address together are apart, in instructions.
const APART: usize = 4;

/// Looks for them in a finished program.
///
/// # Errors
/// Those of [`Program::parse`] and of moving; [`PlaceError::Unnamed`] for one that is an address for certain: it is the exact address of a
/// function or an object, in a section that has no relocations at all, while others have.
pub fn suspects(name: &str, file: &[u8]) -> Result<Vec<Suspect>, PlaceError> {
    let program = Program::parse(name, file)?;
    if program.relocations.is_empty() {
        return Ok(Vec::new());
    }
    // By multiples of every alignment that occurs, so that each half of each address changes.
    let step = i64::from(program.code.align.max(program.data.align).max(0x1000));
    let moved = relocate(&program, 0x11 * step, 0x34 * step)?;
    let mut found = Vec::new();
    for (index, section) in program.sections.iter().enumerate().filter(|(_, s)| s.is_loaded() && s.in_file) {
        let has = program.relocations.iter().any(|relocation| relocation.section == index);
        for (address, value) in of_section(&program, &moved, index, section) {
            if !has && is_exact(&program, value) {
                return Err(PlaceError::Unnamed { domain: name.to_owned(), address });
            }
            let near = |address| program.nearest(address).map(|(symbol, from)| (symbol.name.clone(), from));
            found.push(Suspect { address, within: near(address), value, leads_to: near(value) });
        }
    }
    Ok(found)
}

/// Whether it is the address of something with a size, other than the first of a segment: those are round numbers.
fn is_exact(program: &Program, value: u32) -> bool {
    let sized = program.symbols.iter().filter(|symbol| symbol.bytes > 0 && symbol.section.is_some());
    let base = |segment: u32| value & !1 == segment;
    !base(program.code.base) && !base(program.data.base) && { sized }.any(|symbol| symbol.value == value)
}

/// Address and value of each in a section.
fn of_section(program: &Program, moved: &[u8], index: usize, section: &Section) -> Vec<(u32, u32)> {
    let (start, end) = section.file_range();
    let (start, end) = (start as usize, end as usize);
    let same = |at: usize| program.file.get(at..at + 4) == moved.get(at..at + 4);
    let inside = |value: u32| program.code.holds(value & !1) || program.data.holds(value & !1);
    let address = |at: usize| section.address + (at - start) as u32;
    let mut found = Vec::new();
    for (from, to, mark) in marks(program, index, section) {
        let (from, to) = (start + from, (start + to).min(end));
        match mark {
            Mark::Data => {
                let words = (from.next_multiple_of(4)..to.saturating_sub(3)).step_by(4).filter(|at| same(*at));
                let words = words.filter_map(|at| Some((at, read_word(&program.file, at)?)));
                found.extend(words.filter(|(_, value)| inside(*value)).map(|(at, value)| (address(at), value)));
            }
            Mark::Code(step, encoding) => {
                let pairs = pairs(&program.file, (from, to), step, encoding);
                found.extend(pairs.filter(|(at, value)| same(*at) && inside(*value)).map(|(at, v)| (address(at), v)));
            }
        }
    }
    found
}

/// Offset of the second instruction of each pair that holds an address in one register, and the address.
fn pairs<'a>(
    file: &'a [u8],
    (from, to): (usize, usize),
    step: usize,
    encoding: &'static Encoding,
) -> impl Iterator<Item = (usize, u32)> + 'a {
    let word = |at: usize| read_word(file, at);
    (from..to.saturating_sub(3))
        .step_by(step)
        .filter(move |at| word(*at).is_some_and(|word| (encoding.is)(word, false)))
        .filter_map(move |at| {
            let (high, register) = (encoding.get)(word(at)?);
            let before =
                (1..=APART * 4 / step).filter_map(|count| word(at.checked_sub(count * step).filter(|at| *at >= from)?));
            let lower = before.filter(|word| (encoding.is)(*word, true)).map(|word| (encoding.get)(word));
            let (low, _) = { lower }.find(|(_, other)| *other == register)?;
            Some((at, u32::from(high) << 16 | u32::from(low)))
        })
}

/// The parts of a section, by the symbols that mark them: offsets, and what is there. A section without marks holds data, as far as it is
/// not code.
fn marks(program: &Program, index: usize, section: &Section) -> Vec<(usize, usize, Mark)> {
    let bytes = section.bytes as usize;
    if !section.executable {
        return vec![(0, bytes, Mark::Data)];
    }
    let kind = |name: &str| {
        let known = program.isa.marks.iter().find(|(mark, _)| name == *mark || name.starts_with(&format!("{mark}.")));
        known.map(|(_, mark)| *mark)
    };
    let own = program.symbols.iter().filter(|symbol| symbol.section == Some(index));
    let own = own.filter_map(|symbol| Some((symbol.value.checked_sub(section.address)? as usize, kind(&symbol.name)?)));
    let mut found: Vec<(usize, Mark)> = own.filter(|(at, _)| *at < bytes).collect();
    found.sort_by_key(|(at, _)| *at);
    let ends = found.iter().skip(1).map(|(at, _)| *at).chain([bytes]);
    found.iter().zip(ends).map(|((at, mark), end)| (*at, end, *mark)).collect()
}
