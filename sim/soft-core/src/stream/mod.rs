//! Reads the entries of a bench's record ([`record::bench`]).

use std::io::{self, Read};

use observer::{Access, At, Happened};
use record::bench::{BYTES, kind};
use record::{EndReason, FIRST_LINE};

/// The bit of a cause that says that it is an interrupt.
const INTERRUPT: u32 = 1 << 31;

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: At,
    kind: u32,
    words: [u32; 3],
}

/// The meaning of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Something that the observer is told.
    Happened(Happened),
    /// The run is over.
    Ended {
        /// Its status.
        status: u32,
        /// Why it is over.
        reason: EndReason,
    },
}

impl Entry {
    /// Reads an entry.
    ///
    /// # Errors
    /// Reading fails; the end of the stream is an error, too, because a bench says when it ends.
    pub fn read(stream: &mut impl Read) -> io::Result<Entry> {
        let mut bytes = [0; BYTES];
        stream.read_exact(&mut bytes)?;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let at = At { cycle: long(0), instructions: long(8) };
        Ok(Entry { at, kind: word(16), words: [word(20), word(24), word(28)] })
    }

    /// Its meaning.
    ///
    /// # Errors
    /// A text: a kind that no bench writes.
    pub fn told(&self) -> Result<Told, String> {
        let [first, second, third] = self.words;
        Ok(Told::Happened(match self.kind {
            kind::ENTERED => Happened::Entered { exception: number(first), pc: second, call: third },
            kind::LEFT => Happened::Left { pc: first, sp: second, space: third },
            kind::TRACED => Happened::Traced { header: first, payload: second },
            kind::CLOCK => Happened::Clock { value: first },
            kind::WOKE => {
                let exception = (third != 0).then(|| number(INTERRUPT | second));
                Happened::Woke { slept: first.into(), exception }
            }
            kind::ALIVE => Happened::Alive,
            kind::STRAYED => {
                let access = match first {
                    0 => Access::Load,
                    1 => Access::Store,
                    _ => Access::Fetch,
                };
                Happened::Strayed { access, physical: second, space: third }
            }
            kind::REACHED => Happened::Reached { pc: first },
            kind::STORED => Happened::Stored { physical: first, kernel: second != 0 },
            kind::HELD => Happened::Held { number: first, values: [second, third] },
            kind::ON_STACK => Happened::OnStack { address: first, values: [second, third] },
            kind::ENDED => {
                let reason = if second != 0 { EndReason::CycleLimit } else { EndReason::Exit };
                return Ok(Told::Ended { status: first, reason });
            }
            other => return Err(format!("the bench's record has an entry of kind {other}")),
        }))
    }
}

/// The number of an exception.
fn number(cause: u32) -> u16 {
    let number = (cause & 0xff) as u16;
    if cause & INTERRUPT != 0 { number + FIRST_LINE } else { number }
}

#[cfg(test)]
mod tests;
