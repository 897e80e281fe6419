//! Text that programs have written to the console, and that it has not printed.
//!
//! A write that the console's gate accepts signals the console's thread from inside the gate; the console tells by markers how many writes of a client it has
//! sent ([`abi::console`]).

use std::collections::BTreeMap;

use abi::Call;
use abi::console::Printed;
use record::{Handled, RunEvent};

use super::execution::Context;
use crate::describe::{Console, SystemDescription};

/// Writes since the console's start, and what it has told of them.
#[derive(Debug, Default)]
pub struct Printing {
    console: Option<Console>,
    /// Of each domain.
    writes: BTreeMap<u8, u64>,
    /// Of each badge.
    printed: BTreeMap<u32, Printed>,
}

impl Printing {
    /// Nothing written.
    pub fn new(system: &SystemDescription) -> Printing {
        Printing { console: system.console.clone(), ..Printing::default() }
    }

    /// The kernel handled something for `before`.
    pub fn handled(&mut self, event: &RunEvent, before: Context, system: &SystemDescription) {
        let Some(console) = self.console.as_ref().map(|console| console.domain) else { return };
        let Some((thread, _)) = before.filter(|(_, domain)| *domain == console) else { return };
        let call = Handled::from_detail(event.detail).call.and_then(|number| Call::from_number(u32::from(number)));
        let home = system.threads.iter().find(|known| known.index == thread).map(|known| known.domain);
        if let Some(writer) = home.filter(|home| call == Some(Call::Signal) && *home != console) {
            *self.writes.entry(writer).or_default() += 1;
        }
    }

    /// The console has told what is printed.
    pub fn told(&mut self, printed: Printed) {
        self.printed.insert(printed.badge, printed);
    }

    /// A domain is restarted. With the console's data its count of writes begins anew.
    pub fn restarted(&mut self, domain: u8) {
        if self.console.as_ref().is_some_and(|console| console.domain == domain) {
            self.writes.clear();
            self.printed.clear();
        }
    }

    /// Domains with writes that the console has not printed, and how many.
    pub fn unprinted(&self) -> impl Iterator<Item = (u8, u64)> {
        let left = |(&domain, &writes): (&u8, &u64)| (domain, self.left(domain, writes));
        self.writes.iter().map(left).filter(|(_, left)| *left > 0)
    }

    /// Of a domain with several badges each write counts with one of them.
    fn left(&self, domain: u8, writes: u64) -> u64 {
        let own = self.console.iter().flat_map(|console| &console.clients).filter(|(client, _)| *client == domain);
        let told = own.filter_map(|(_, badge)| self.printed.get(badge));
        let all = told.copied().reduce(|sum, next| Printed { writes: sum.writes.wrapping_add(next.writes), ..next });
        all.map_or(writes, |all| all.left(writes))
    }
}
