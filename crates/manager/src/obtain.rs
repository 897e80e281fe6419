//! Memory that a client is to have: `GRANT`, `SHARE` and `JOIN`, and `EXPLAIN` of each. All of them
//! read a request by one function (`sought`), so that what is explained is what would be done.

use abi::Error;

use crate::account::{Account, Admitted, Asked, Fresh};
use crate::calls::Calls;
use crate::holding::{Holding, State, TableMemory};
use crate::region::Mark;
use crate::rule::{self, change, refuse};
use crate::wire::{Answer, Explained, Operation, Refused, Request};
use crate::{Manager, Outcome, Stop};

/// A request for memory, before the account is asked.
pub(crate) enum Sought {
    /// The client has it already, so the account is not asked: index of its record.
    Known(usize),
    /// The account is asked; the state in which the client will hold it, and whether it is to write.
    New(Asked, State, bool),
}

impl<L: Account, const CLIENTS: usize, const EACH: usize, const SHARES: usize> Manager<L, CLIENTS, EACH, SHARES> {
    /// Reads a request as one for this operation, as far as that needs no account. Explaining uses
    /// the same function, so that it explains what would be done.
    fn sought(&self, client: u8, operation: Operation, request: &Request) -> Result<Sought, Refused> {
        match operation {
            Operation::Share => self.own_share(client, request),
            Operation::Join => self.share_of_another(client, request),
            _ => {
                let at = (request.address != 0).then_some(request.address);
                let wanted = Fresh { spec: request.spec, bytes: request.bytes, at, alignment: 1 };
                Ok(Sought::New(Asked::Fresh(wanted), State::Private, true))
            }
        }
    }

    pub(crate) fn obtain(&mut self, client: u8, request: &Request, calls: &mut impl Calls) -> Outcome {
        let slot = match self.sought(client, request.operation, request)? {
            Sought::Known(slot) => slot,
            Sought::New(asked, state, write) => {
                let slot = self.enter_asked(client, &asked, state, write, calls)?;
                if let State::Owned(index) = state {
                    self.offer(client, index, slot, request.access);
                }
                slot
            }
        };
        Ok(self.granted(client, &self.record(client).holdings[slot]))
    }

    /// `EXPLAIN`: takes one step of the search for what would be admitted. A refusal does not
    /// contain the search, because all its steps together take longer than anything else that a
    /// request makes the manager do, and the gate's bound would have to cover them.
    ///
    /// # Time complexity
    /// Two decisions of the account.
    pub(crate) fn explain(&mut self, client: u8, request: &Request) -> Outcome {
        let Explained { operation, step } = request.of.ok_or(Error::BadArgument)?;
        let asked = match self.sought(client, operation, request)? {
            Sought::Known(_) => return Ok(Answer::Done(0)),
            Sought::New(asked, ..) => asked,
        };
        self.free(client)?;
        let Manager { account, clients } = self;
        account.explain(client, &asked, step, &clients[usize::from(client)].holdings)?;
        Ok(Answer::Done(0))
    }

    fn free(&self, client: u8) -> Result<usize, Refused> {
        self.record(client).free().ok_or(refuse(rule::RECORDS, 1, 0, change::RELEASE, 1))
    }

    /// Asks the account for memory, and maps it to the client, which will hold it in `state`.
    /// Returns the index of its record.
    fn enter_asked(
        &mut self,
        client: u8,
        asked: &Asked,
        state: State,
        write: bool,
        calls: &mut impl Calls,
    ) -> Result<usize, Stop> {
        let slot = self.free(client)?;
        self.provide(client, calls)?;
        let Manager { account, clients } = self;
        let admitted = account.admit(client, asked, &clients[usize::from(client)].holdings)?;
        let holding = hold(&admitted, asked.spec(), state, write);
        self.enter_record(client, slot, &holding, admitted.nodes, calls);
        if let State::Joined(owner, index) = state {
            self.record_mut(owner).shares[usize::from(index)].members |= 1 << client;
        }
        self.begin(client, slot, calls)?;
        Ok(slot)
    }

    #[inline(never)]
    fn enter_record(
        &mut self,
        client: u8,
        slot: usize,
        holding: &Holding,
        nodes: Option<(u32, u32)>,
        calls: &mut impl Calls,
    ) {
        let record = self.record_mut(client);
        record.holdings[slot] = *holding;
        record.gift = nodes.map(|(base, bytes)| TableMemory { base, bytes });
        self.tell(client, holding, calls);
    }
}

/// The record of what was admitted. Nothing of it is mapped yet, so a failure from here on can be
/// reclaimed like any memory of the client's.
fn hold(admitted: &Admitted, spec: u32, state: State, write: bool) -> Holding {
    let Admitted { region, terms, .. } = *admitted;
    Holding { region, spec, state, write, terms, done: 0, mark: Mark::END, pages_gone: 0, typed: false }
}
