//! Everything that handlers reach, found by relocations and by the branches in their code, and the copy of it for other addresses.

use std::collections::BTreeMap;

use super::pieces::{Piece, Pieces};
use super::stack::{Calls, Deepest, Need, Text};
use super::why::{self, Why};
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

/// The copy of a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied<'a> {
    pub name: &'a str,
    /// Address of the copy.
    pub at: u32,
    /// Address of the piece at link time.
    pub of: u32,
    pub bytes: u32,
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
    /// All that is reached from functions of a program. What a domain that is expected to attack does to itself is not looked for.
    ///
    /// # Errors
    /// [`PlaceError::Symbol`] for a handler that is not there; [`PlaceError::Reaches`] names what cannot be placed a second time, and by which way it is
    /// reached.
    ///
    /// # Time complexity
    /// O(pieces reached · (symbols + relocations)).
    pub fn from(program: &'a Program, handlers: &[&str], hostile: bool) -> Result<Reached<'a>, PlaceError> {
        let mut search =
            Search { program, all: Pieces::of(program), found: Vec::new(), leads: BTreeMap::new(), hostile };
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

    /// The deepest calls from a handler.
    pub fn deepest(&self, handler: u32) -> Deepest {
        let code = self.program.bytes_of(&self.program.file, true);
        let half = |at: u32| {
            let from = at.wrapping_sub(self.program.code.base) as usize;
            code.get(from..from + 2).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        let mut pieces = Vec::new();
        for piece in self.pieces.iter().filter(|piece| piece.is_code) {
            let words_until = |at| words_until(self.program, at, piece.to);
            pieces.push((piece, Need::of(&Text { piece, half: &half, words_until: &words_until })));
        }
        let named = |piece: &Piece| named(self.program, piece, piece.from).pop().unwrap_or_default();
        Calls { pieces, named: &named }.deepest(handler)
    }

    /// Bytes of the copy.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The copy of each piece.
    pub fn pieces(&self, base: u32) -> impl Iterator<Item = Copied<'_>> {
        let placed = self.pieces.iter().zip(&self.offsets);
        placed.map(move |(piece, offset)| Copied {
            name: &piece.name,
            at: base + offset,
            of: piece.from,
            bytes: piece.to - piece.from,
        })
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
    /// Pieces, each with that from which it was reached.
    found: Vec<(Piece, Option<By>)>,
    leads: BTreeMap<u32, Lead>,
    /// Floating-point instructions are let through.
    hostile: bool,
}

/// A place in a piece that was found: its index, and the address of the instruction or word.
type By = (usize, u32);

impl Search<'_> {
    /// Adds what is at an address, if it is not there.
    fn enter(&mut self, address: u32, by: Option<By>) -> Result<(), PlaceError> {
        if self.found.iter().any(|(piece, _)| piece.from <= address && address < piece.to) {
            return Ok(());
        }
        let piece = self.all.at(address);
        let name = piece.as_ref().map_or_else(|| self.nameless(address), |piece| Some(piece.name.clone()));
        let is_code = piece.as_ref().is_none_or(|piece| piece.is_code);
        if let Some((name, why)) = name.as_ref().filter(|_| is_code).and_then(|name| Some((name, why::of_name(name)?)))
        {
            return Err(self.refuse(by, format!("`{name}`"), why));
        }
        let nameless = || name.map_or_else(|| format!("{address:#010x}"), |name| format!("`{name}`"));
        let piece = piece.ok_or_else(|| self.refuse(by, nameless(), why::NO_LENGTH))?;
        self.found.push((piece, by));
        Ok(())
    }

    /// The name of code of which nothing says how long it is.
    fn nameless(&self, address: u32) -> Option<String> {
        let (symbol, from) = self.program.nearest(address)?;
        (from == 0).then(|| symbol.name.clone())
    }

    /// The refusal, with the way from the handler, and the lines at which it goes on.
    fn refuse(&self, mut by: Option<By>, what: String, why: Why) -> PlaceError {
        let mut way = vec![what];
        // Bounded: each piece was found after the one that led to it.
        while let Some(((piece, before), at)) = by.and_then(|(index, at)| Some((self.found.get(index)?, at))) {
            way.extend(named(self.program, piece, at));
            by = *before;
        }
        way.reverse();
        let Why { reason, remedy } = why;
        PlaceError::Reaches { domain: self.program.name.clone(), way, reason, remedy }
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
        let (by, place) = ((index, relocation.address), format!("the word at {:#010x}", relocation.address));
        let refuse = |search: &Self, reason| search.refuse(Some(by), place.clone(), Why::of(reason));
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
            return self.enter(target, Some((index, place)));
        }
        if !program.code.holds(target & !1) {
            return Ok(());
        }
        if piece.is_data {
            // Threads find there what is theirs to execute; a handler would find the same.
            let led =
                self.all.at(target & !1).map_or_else(|| format!("{target:#010x}"), |piece| format!("`{}`", piece.name));
            return Err(self.refuse(Some((index, place)), led, why::THROUGH_DATA));
        }
        self.leads.insert(place, lead);
        self.enter(target & !1, Some((index, place)))
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
            if let Some(behind) = words_until(program, at, piece.to) {
                at = behind;
                continue;
            }
            let (first, second) = (half(at), half(at + 2));
            let inside = |target: u32| piece.from <= target && target < piece.to;
            let refuse = |what: String, why| Err(self.refuse(Some((index, at)), what, why));
            let this = || format!("the instruction at {at:#010x}");
            match flow::flow(first, second, at) {
                Flow::Call => return refuse(this(), why::SYSTEM_CALL),
                Flow::Float if !self.hostile => return refuse(this(), why::FLOAT),
                Flow::Literal(target) if !inside(target) => {
                    return refuse(
                        format!("{target:#010x}"),
                        Why::of("is read from beside the function that reads it"),
                    );
                }
                Flow::Branch { target, long: false } if !inside(target) => {
                    return refuse(
                        self.nameless(target).map_or_else(|| format!("{target:#010x}"), |name| format!("`{name}`")),
                        Why::of("is reached by a short branch, which leads nowhere else"),
                    );
                }
                Flow::Branch { target, .. } if !inside(target) => {
                    self.lead(index, at, Lead { target, form: Form::Branch })?;
                }
                _ => {}
            }
            at += if flow::is_wide(first) { 4 } else { 2 };
        }
        Ok(())
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

/// If marks say that an address in code holds words, the address behind them.
fn words_until(program: &Program, at: u32, end: u32) -> Option<u32> {
    let marks = program.isa.marks;
    let marked = program.symbols.iter().filter_map(|symbol| {
        let found = marks.iter().find(|(name, _)| {
            symbol.name == *name || symbol.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
        })?;
        symbol.section.filter(|index| program.sections.get(*index).is_some_and(|s| s.executable))?;
        Some((symbol.value & !1, found.1))
    });
    let last = marked.clone().filter(|(from, _)| *from <= at).max_by_key(|(from, _)| *from);
    matches!(last, Some((_, Mark::Data)))
        .then(|| marked.filter(|(from, _)| *from > at).map(|(from, _)| from).min().unwrap_or(end).min(end))
}

/// A piece, and in front of it what was inlined there, each with its line if the file says that.
fn named(program: &Program, piece: &Piece, at: u32) -> Vec<String> {
    let sites = if piece.is_code { report::place::sources(&program.file, at) } else { Vec::new() };
    let line = |site: &report::schema::CallSite| {
        let file = site.file.as_deref().and_then(|path| path.rsplit('/').next());
        file.zip(site.line).map_or_else(String::new, |(file, line)| format!(" {file}:{line}"))
    };
    let inlined = sites.iter().filter(|site| site.inlined);
    let mut named: Vec<String> = inlined.map(|site| format!("`{}`{}", site.function, line(site))).collect();
    named.push(format!("`{}`{}", piece.name, sites.last().map_or_else(String::new, line)));
    named
}
