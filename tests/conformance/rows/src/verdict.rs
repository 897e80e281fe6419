//! Whether a row holds.

use abi::trace::Fault;

use crate::cast::{ACTORS, Actor, DOMAINS, Dom};
use crate::{End, Row};

/// The record of one actor's steps while a row runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Lives that began.
    pub lives: u32,
    /// Steps performed in the last life.
    pub done: u32,
    /// The first step that was wrong, counted from 1; 0: none.
    pub wrong: u32,
    /// The result that it saw.
    pub got: u32,
}

impl Record {
    /// Words of a record.
    pub const WORDS: usize = 4;

    /// A life begins; its number from 0.
    pub fn begin(&mut self) -> u32 {
        self.done = 0;
        self.lives += 1;
        self.lives - 1
    }

    /// A step was performed, and was right or not.
    pub fn note(&mut self, judged: Result<(), u32>) {
        self.done += 1;
        if let (Err(got), 0) = (judged, self.wrong) {
            (self.wrong, self.got) = (self.done, got);
        }
    }
}

/// In what a row does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// A step of the actor (by number, counted from 1) saw something else (the low half of the word).
    Step(u8, u8, u16),
    /// The actor began more or fewer lives: so many.
    Lives(u8, u16),
    /// The actor performed so many steps in its last life, which are more or fewer.
    Steps(u8, u16),
    /// The domain has a report of a fault of this kind (0: none), and should not.
    Fault(u8, u16),
}

impl Shortfall {
    /// In one word; never 0.
    pub fn pack(self) -> u32 {
        let (kind, who, step, got) = match self {
            Shortfall::Step(who, step, got) => (1, who, step, got),
            Shortfall::Lives(who, got) => (2, who, 0, got),
            Shortfall::Steps(who, got) => (3, who, 0, got),
            Shortfall::Fault(who, got) => (4, who, 0, got),
        };
        kind << 28 | u32::from(who & 0xf) << 24 | u32::from(step) << 16 | u32::from(got)
    }

    /// Decodes a word; `None` for one that says that the row holds or that [`Shortfall::pack`] did
    /// not make.
    pub fn unpack(word: u32) -> Option<Shortfall> {
        let (who, step, got) = ((word >> 24) as u8 & 0xf, (word >> 16) as u8, word as u16);
        match word >> 28 {
            1 => Some(Shortfall::Step(who, step, got)),
            2 => Some(Shortfall::Lives(who, got)),
            3 => Some(Shortfall::Steps(who, got)),
            4 => Some(Shortfall::Fault(who, got)),
            _ => None,
        }
    }
}

/// Whether a row holds: what is noted of the actors, by number, and the kinds of unread fault reports, by domain.
///
/// # Errors
/// The first thing that is not as it must be.
pub fn verdict(row: &Row, records: &[Record; ACTORS], faults: &[u32; DOMAINS]) -> Result<(), Shortfall> {
    for actor in Actor::ALL {
        actor_verdict(row, *actor, &records[*actor as usize])?;
    }
    for dom in Dom::ALL {
        let found = faults[dom as usize];
        let right = match row.faults.iter().find(|(who, _)| *who == dom) {
            Some((_, kinds)) => Fault::from_number(found as u8).is_some_and(|kind| kinds.contains(&kind)),
            None => found == 0,
        };
        if !right {
            return Err(Shortfall::Fault(dom as u8, found as u16));
        }
    }
    Ok(())
}

fn actor_verdict(row: &Row, actor: Actor, record: &Record) -> Result<(), Shortfall> {
    let mut parts = row.parts.iter().filter(|part| part.actor == actor);
    let Some(first) = parts.next() else { return Ok(()) };
    if record.wrong != 0 {
        return Err(Shortfall::Step(actor as u8, record.wrong as u8, record.got as u16));
    }
    let (lives, last) = parts.fold((first.lives, first), |(lives, _), part| (lives + part.lives, part));
    if record.lives != lives {
        return Err(Shortfall::Lives(actor as u8, record.lives as u16));
    }
    let wanted = last.steps.len() as u32 - u32::from(last.end == End::Stays);
    if record.done != wanted {
        return Err(Shortfall::Steps(actor as u8, record.done as u16));
    }
    Ok(())
}
