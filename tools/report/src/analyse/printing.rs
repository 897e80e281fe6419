//! Text that programs have written to the console, and that it has not printed.
//!
//! A write that the console's gate accepts signals the console's thread from inside the gate; that thread waits when it has printed everything.

use std::collections::BTreeMap;

use abi::Call;
use record::{Handled, RunEvent};

use super::execution::Context;
use crate::describe::SystemDescription;

/// Gate of `[console]`.
const GATE: &str = "console.write";

/// Writes since the console's thread waited last.
#[derive(Debug, Default)]
pub struct Printing {
    console: Option<u8>,
    /// Of each domain.
    writes: BTreeMap<u8, u64>,
}

impl Printing {
    /// Nothing written.
    pub fn new(system: &SystemDescription) -> Printing {
        let console = system.gates.iter().find(|gate| gate.name == GATE).map(|gate| gate.domain);
        Printing { console, writes: BTreeMap::new() }
    }

    /// The kernel handled something for `before`; `after` goes on.
    pub fn handled(&mut self, event: &RunEvent, (before, after): (Context, Context), system: &SystemDescription) {
        let Some((thread, _)) = before.filter(|(_, domain)| Some(*domain) == self.console) else { return };
        let call = Handled::from_detail(event.detail).call.and_then(|number| Call::from_number(u32::from(number)));
        let home = system.threads.iter().find(|known| known.index == thread).map(|known| known.domain);
        match (call, home) {
            (Some(Call::Signal), Some(writer)) if home != self.console => *self.writes.entry(writer).or_default() += 1,
            (Some(Call::Wait), _) if home == self.console && after.is_none_or(|(next, _)| next != thread) => {
                self.writes.clear();
            }
            _ => {}
        }
    }

    /// Domains with writes that the console has not printed, and how many.
    pub fn unprinted(&self) -> impl Iterator<Item = (u8, u64)> {
        self.writes.iter().map(|(domain, writes)| (*domain, *writes))
    }
}
