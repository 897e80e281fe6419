//! Everything that handlers reach, found by relocations and by the branches in their code, and the copy of it for other addresses.

use std::collections::BTreeMap;

use super::pieces::{Piece, Pieces};
use crate::elf::{Program, Relocation};
use crate::error::PlaceError;
use crate::isa::flow::{self, Flow};
use crate::isa::{Encoding, Mark, Moves};
use crate::relocate::{put_half, read_word};

/// Everything that handlers of a domain execute, and the constants that it reads.
pub(crate) struct Reached<'a> {
    program: &'a Program,
    pieces: Vec<Piece>,
    /// By the address of the word or instruction, what it leads to.
    leads: BTreeMap<u32, Lead>,
    /// Bytes from the first piece's copy to each one's.
    offsets: Vec<u32>,
    bytes: u32,
}

/// A place in the code or in constants that depends on where something else is.
#[derive(Clone, Copy, Debug)]
struct Lead {
    target: u32,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Word,
    Distance,
    Half { lower: bool, encoding: &'static Encoding },
    Branch,
}

/// Copies keep the place of their first byte within so many bytes: literals are found from the word in which an instruction lies.
pub(super) const KEPT: u32 = 16;

impl<'a> Reached<'a> {
    /// All that is reached from functions of a program.
    ///
    /// # Errors
    /// [`PlaceError::Symbol`] for a handler that is not there; [`PlaceError::Reaches`] names what cannot be placed a second time, and by which way it is
    /// reached.
    ///
    /// # Time complexity
    /// O(pieces reached · (symbols + relocations)).
    pub fn from(program: &'a Program, handlers: &[&str]) -> Result<Reached<'a>, PlaceError> {
        let mut search = Search { program, all: Pieces::of(program), found: Vec::new(), leads: BTreeMap::new() };
        for handler in handlers {
            let address = program.function(handler)?;
            search.enter(address & !1, None)?;
        }
        let mut next = 0;
        while next < search.found.len() {
            search.follow(next)?;
            next += 1;
        }
        let pieces: Vec<Piece> =
            search.found.iter().map(|(piece, _)| piece.clone()).filter(|piece| !piece.is_data).collect();
        let (mut offsets, mut bytes) = (Vec::new(), 0_u32);
        for piece in &pieces {
            bytes += piece.from.wrapping_sub(bytes) % KEPT;
            offsets.push(bytes);
            bytes += piece.to - piece.from;
        }
        Ok(Reached { program, pieces, leads: search.leads, offsets, bytes })
    }

    /// Bytes of the copy.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Name, address and bytes of the copy of each piece.
    pub fn pieces(&self, base: u32) -> impl Iterator<Item = (&str, u32, u32)> {
        let placed = self.pieces.iter().zip(&self.offsets);
        placed.map(move |(piece, offset)| (piece.name.as_str(), base + offset, piece.to - piece.from))
    }

    /// Address of the copy of an address, if the copy begins at `base`, a multiple of [`KEPT`].
    pub fn copied(&self, base: u32, address: u32) -> Option<u32> {
        let at = self.pieces.iter().position(|piece| piece.from <= address && address < piece.to)?;
        Some(base + self.offsets[at] + (address - self.pieces[at].from))
    }

    /// The copy, to lie at `base`, of a file that was relocated for its own place.
    ///
    /// # Errors
    /// [`PlaceError::Relocation`] for a branch that does not reach its target in the copy.
    pub fn copy(&self, relocated: &[u8], base: u32) -> Result<Vec<u8>, PlaceError> {
        let code = self.program.bytes_of(relocated, true);
        let mut copy = vec![0; self.bytes as usize];
        for (piece, offset) in self.pieces.iter().zip(&self.offsets) {
            let from = (piece.from - self.program.code.base) as usize;
            let (at, bytes) = (*offset as usize, (piece.to - piece.from) as usize);
            copy[at..at + bytes].copy_from_slice(&code[from..from + bytes]);
        }
        for (place, lead) in &self.leads {
            let Some(here) = self.copied(base, *place) else { continue };
            // Data stays where the relocated file has it.
            let Some(there) = self.copied(base, lead.target & !1) else { continue };
            let there = there | lead.target & 1;
            self.lead(&mut copy, here, base, there, lead.form).ok_or_else(|| PlaceError::Relocation {
                domain: self.program.name.clone(),
                kind: 0,
                address: *place,
                reason: "the branch does not reach its target's second place",
            })?;
        }
        Ok(copy)
    }

    fn lead(&self, copy: &mut [u8], here: u32, base: u32, there: u32, form: Form) -> Option<()> {
        let at = (here - base) as usize;
        let word = match form {
            Form::Word => there,
            Form::Distance => there.wrapping_sub(here),
            Form::Half { lower, encoding } => {
                return put_half(copy, at, encoding, if lower { there as u16 } else { (there >> 16) as u16 });
            }
            Form::Branch => flow::with_distance(read_word(copy, at)?, i64::from(there & !1) - i64::from(here + 4))?,
        };
        copy.get_mut(at..at + 4)?.copy_from_slice(&word.to_le_bytes());
        Some(())
    }
}

struct Search<'a> {
    program: &'a Program,
    all: Pieces<'a>,
    /// Pieces, each with the one from which it was reached.
    found: Vec<(Piece, Option<usize>)>,
    leads: BTreeMap<u32, Lead>,
}

impl Search<'_> {
    /// Adds what is at an address, if it is not there.
    fn enter(&mut self, address: u32, by: Option<usize>) -> Result<(), PlaceError> {
        if self.found.iter().any(|(piece, _)| piece.from <= address && address < piece.to) {
            return Ok(());
        }
        let piece = self.all.at(address).ok_or_else(|| {
            self.refuse(
                by,
                format!("`{address:#010x}`"),
                "is no function or constant of which the file says how long it is",
            )
        })?;
        self.found.push((piece, by));
        Ok(())
    }

    /// The refusal, with the way from the handler.
    fn refuse(&self, mut by: Option<usize>, what: String, reason: &'static str) -> PlaceError {
        let mut way = vec![what];
        // Bounded: each piece was found after the one that led to it.
        while let Some((piece, before)) = by.and_then(|index| self.found.get(index)) {
            way.push(format!("`{}`", piece.name));
            by = *before;
        }
        way.reverse();
        PlaceError::Reaches { domain: self.program.name.clone(), way, reason }
    }

    /// Everything to which one piece leads.
    fn follow(&mut self, index: usize) -> Result<(), PlaceError> {
        let piece = self.found[index].0.clone();
        let program = self.program;
        for (number, relocation) in program.relocations.iter().enumerate() {
            let here = program.sections.get(relocation.section).is_some_and(|section| section.allocated);
            if here && piece.from <= relocation.address && relocation.address < piece.to {
                self.by_relocation(index, number, relocation)?;
            }
        }
        if piece.is_code { self.by_instructions(index, &piece) } else { Ok(()) }
    }

    fn by_relocation(&mut self, index: usize, number: usize, relocation: &Relocation) -> Result<(), PlaceError> {
        let refuse =
            |search: &Self, reason| search.refuse(Some(index), format!("{:#010x}", relocation.address), reason);
        let word = self.word(relocation).ok_or_else(|| refuse(self, "lies outside of the file"))?;
        let (target, form) = match (self.program.isa.moves)(relocation.kind) {
            Some(Moves::Stays) => return Ok(()),
            Some(Moves::Absolute) => (word, Form::Word),
            Some(Moves::Relative) => (word.wrapping_add(relocation.address), Form::Distance),
            Some(Moves::Half { lower, encoding }) => {
                let target = self.halves(number, relocation, (lower, encoding));
                (
                    target.ok_or_else(|| refuse(self, "holds half of an address, of which the other was not found"))?,
                    Form::Half { lower, encoding },
                )
            }
            // A branch: its instruction says where it leads.
            Some(Moves::Together) => return Ok(()),
            None => return Err(refuse(self, "has a relocation that is not known here")),
        };
        self.lead(index, relocation.address, Lead { target, form })
    }

    fn lead(&mut self, index: usize, place: u32, lead: Lead) -> Result<(), PlaceError> {
        let Lead { target, .. } = lead;
        let (program, piece) = (self.program, &self.found[index].0);
        if program.data.holds(target) {
            return self.enter(target, Some(index));
        }
        if !program.code.holds(target & !1) {
            return Ok(());
        }
        if piece.is_data {
            // Threads find there what is theirs to execute; a handler would find the same.
            let led =
                self.all.at(target & !1).map_or_else(|| format!("{target:#010x}"), |piece| format!("`{}`", piece.name));
            return Err(self.refuse(
                Some(index),
                led,
                "is reached through a pointer in data, which threads and handlers share, and is Secure",
            ));
        }
        self.leads.insert(place, lead);
        self.enter(target & !1, Some(index))
    }

    /// Branches, and words that are found from the program counter.
    fn by_instructions(&mut self, index: usize, piece: &Piece) -> Result<(), PlaceError> {
        let program = self.program;
        let code = program.bytes_of(&program.file, true);
        let half = |at: u32| {
            let from = at.wrapping_sub(program.code.base) as usize;
            code.get(from..from + 2).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        let mut at = piece.from;
        while at < piece.to {
            if let Some(behind) = self.words_until(at, piece.to) {
                at = behind;
                continue;
            }
            let (first, second) = (half(at), half(at + 2));
            let inside = |target: u32| piece.from <= target && target < piece.to;
            match flow::flow(first, second, at) {
                Flow::Call => {
                    return Err(self.refuse(
                        Some(index),
                        format!("{at:#010x}"),
                        "is a system call, which a handler cannot make",
                    ));
                }
                Flow::Literal(target) if !inside(target) => {
                    return Err(self.refuse(
                        Some(index),
                        format!("{target:#010x}"),
                        "is read from beside the function that reads it",
                    ));
                }
                Flow::Branch { target, long } if !inside(target) => {
                    if !long {
                        return Err(self.refuse(
                            Some(index),
                            format!("{target:#010x}"),
                            "is reached by a short branch, which leads nowhere else",
                        ));
                    }
                    self.lead(index, at, Lead { target, form: Form::Branch })?;
                }
                _ => {}
            }
            at += if flow::is_wide(first) { 4 } else { 2 };
        }
        Ok(())
    }

    /// If marks say that an address in code holds words, the address behind them.
    fn words_until(&self, at: u32, end: u32) -> Option<u32> {
        let marks = self.program.isa.marks;
        let marked = self.program.symbols.iter().filter_map(|symbol| {
            let found = marks.iter().find(|(name, _)| {
                symbol.name == *name || symbol.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
            })?;
            symbol.section.filter(|index| self.program.sections.get(*index).is_some_and(|s| s.executable))?;
            Some((symbol.value & !1, found.1))
        });
        let last = marked.clone().filter(|(from, _)| *from <= at).max_by_key(|(from, _)| *from);
        matches!(last, Some((_, Mark::Data)))
            .then(|| marked.filter(|(from, _)| *from > at).map(|(from, _)| from).min().unwrap_or(end).min(end))
    }

    fn word(&self, relocation: &Relocation) -> Option<u32> {
        let section = self.program.sections.get(relocation.section)?;
        let within = relocation.address.checked_sub(section.address)?;
        read_word(&self.program.file, section.offset as usize + within as usize)
    }

    /// The address of which an instruction holds a half: the nearest other half with the same symbol and register has the rest.
    fn halves(&self, number: usize, relocation: &Relocation, (lower, encoding): (bool, &Encoding)) -> Option<u32> {
        let (own, register) = (encoding.get)(self.word(relocation)?);
        let other = |found: &&Relocation| {
            let moves = (self.program.isa.moves)(found.kind);
            let is_other = matches!(moves, Some(Moves::Half { lower: theirs, .. }) if theirs != lower);
            let same = found.symbol == relocation.symbol && found.section == relocation.section;
            is_other && same && self.word(found).is_some_and(|word| (encoding.get)(word).1 == register)
        };
        let all = &self.program.relocations;
        let (before, behind) = (all[..number].iter().rfind(other), all[number..].iter().find(other));
        let nearest =
            before.into_iter().chain(behind).min_by_key(|found| found.address.abs_diff(relocation.address))?;
        let (theirs, _) = (encoding.get)(self.word(nearest)?);
        Some(if lower { u32::from(theirs) << 16 | u32::from(own) } else { u32::from(own) << 16 | u32::from(theirs) })
    }
}
