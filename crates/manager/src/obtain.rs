//! Memory that a client is to have: `GRANT`, `SHARE` and `JOIN`, and `EXPLAIN` of each. One function finds out what a request
//! comes to, so that what is explained is what would be done.

use abi::Error;

use crate::holding::{Gift, Holding, State};
use crate::rule::{self, change, refuse};
use crate::seam::{Account, Admitted, Asked, Calls, Entry, Mark, Wanted};
use crate::share::Place;
use crate::wire::{Answer, Explained, Operation, Refused, Request};
use crate::{Manager, Outcome, Stop};

/// What a request for memory comes to.
pub(crate) enum Sought {
    /// The client has it already: index of its record.
    Known(usize),
    /// Fresh memory, which it will hold in this state.
    Fresh(Wanted, State),
    /// The memory at this place, as its owner has it, and whether the client is to write.
    Theirs(Place, Entry, bool),
}

impl<L: Account, const CLIENTS: usize, const EACH: usize, const SHARES: usize> Manager<L, CLIENTS, EACH, SHARES> {
    /// What a request comes to if it is for this operation. Nothing that needs the account is known yet.
    fn sought(&self, client: u8, operation: Operation, request: &Request) -> Result<Sought, Refused> {
        match operation {
            Operation::Share => self.own_share(client, request),
            Operation::Join => self.share_of_another(client, request),
            _ => {
                let at = (request.address != 0).then_some(request.address);
                let wanted = Wanted { spec: request.spec, bytes: request.bytes, at, alignment: 1 };
                Ok(Sought::Fresh(wanted, State::Private))
            }
        }
    }

    /// `GRANT`, `SHARE`, `JOIN`.
    pub(crate) fn obtain(&mut self, client: u8, request: &Request, calls: &mut impl Calls) -> Outcome {
        let slot = match self.sought(client, request.operation, request)? {
            Sought::Known(slot) => slot,
            Sought::Fresh(wanted, state) => {
                let slot = self.enter_fresh(client, &wanted, state, calls)?;
                if let State::Owned(index) = state {
                    self.offer(client, index, slot, request.access);
                }
                slot
            }
            Sought::Theirs(place, entry, write) => self.enter_theirs(client, place, &entry, write, calls)?,
        };
        Ok(self.granted(client, &self.record(client).holdings[slot]))
    }

    /// `EXPLAIN`: one step of looking for what would be admitted. It is not asked for with the refusal, because all steps together take
    /// longer than anything else that a request makes the manager do.
    ///
    /// # Time complexity
    /// Two decisions of the account.
    pub(crate) fn explain(&mut self, client: u8, request: &Request) -> Outcome {
        let Explained { operation, step } = request.of.ok_or(Error::BadArgument)?;
        let asked = match self.sought(client, operation, request)? {
            Sought::Known(_) => return Ok(Answer::Done(0)),
            Sought::Fresh(wanted, _) => Asked::Fresh(wanted),
            Sought::Theirs(_, entry, _) => Asked::Theirs(entry),
        };
        self.free(client)?;
        let Manager { account, clients } = self;
        account.explain(client, &asked, step, &clients[usize::from(client)].holdings)?;
        Ok(Answer::Done(0))
    }

    /// A free record of a client, or the refusal.
    fn free(&self, client: u8) -> Result<usize, Refused> {
        self.record(client).free().ok_or(refuse(rule::RECORDS, 1, 0, change::RELEASE, 1))
    }

    /// Fresh memory, mapped to the client that will hold it in `state`. Returns the index of its record.
    fn enter_fresh(
        &mut self,
        client: u8,
        wanted: &Wanted,
        state: State,
        calls: &mut impl Calls,
    ) -> Result<usize, Stop> {
        let slot = self.free(client)?;
        self.provide(client, calls)?;
        let Manager { account, clients } = self;
        let admitted = account.admit(client, wanted, &clients[usize::from(client)].holdings)?;
        let holding = hold(&admitted, wanted.spec, state, true);
        self.enter_record(client, slot, &holding, admitted.nodes, calls);
        self.begin(client, slot, calls)?;
        Ok(slot)
    }

    /// Memory of another client, mapped to this one, too. Returns the index of its record.
    fn enter_theirs(
        &mut self,
        client: u8,
        (owner, index): Place,
        theirs: &Entry,
        write: bool,
        calls: &mut impl Calls,
    ) -> Result<usize, Stop> {
        let slot = self.free(client)?;
        self.provide(client, calls)?;
        let Manager { account, clients } = self;
        let admitted = account.join(client, theirs, &clients[usize::from(client)].holdings)?;
        let holding = hold(&admitted, theirs.spec, State::Joined(owner, index), write);
        self.enter_record(client, slot, &holding, admitted.nodes, calls);
        self.record_mut(owner).shares[usize::from(index)].members |= 1 << client;
        self.begin(client, slot, calls)?;
        Ok(slot)
    }

    /// What was admitted stands in the client's records from now on.
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
        record.gift = nodes.map(|(base, bytes)| Gift { base, bytes });
        self.tell(client, holding, calls);
    }
}

/// The record of what was admitted; nothing of it is mapped yet.
fn hold(admitted: &Admitted, spec: u32, state: State, write: bool) -> Holding {
    let Admitted { region, terms, .. } = *admitted;
    Holding { region, spec, state, write, terms, done: 0, mark: Mark::END, pages_gone: 0, typed: false }
}
