//! Memory of one client: grant, release, scrub, query, reclaim.

use abi::Error;

use crate::holding::{Holding, State};
use crate::rule::{self, change, refuse};
use crate::seam::{Account, Admitted, Calls, Mapping, Wanted};
use crate::wire::{Answer, Granted, Refused, Request};
use crate::{Manager, Outcome, SCRUB_STEPS};

pub(crate) fn granted(holding: &Holding) -> Answer {
    Answer::Granted(Granted {
        base: holding.region.base,
        bytes: holding.region.bytes,
        spec: holding.spec,
        level: u32::from(holding.bound.level),
        cycles: holding.bound.cycles,
        method: u32::from(holding.bound.method),
    })
}

pub(crate) fn unknown(what: u32) -> Refused {
    refuse(rule::EXISTS, what, 0, change::NONE, 0)
}

impl<L: Account, const CLIENTS: usize, const EACH: usize, const SHARES: usize> Manager<L, CLIENTS, EACH, SHARES> {
    /// `GRANT`.
    pub(crate) fn grant(&mut self, client: u8, request: &Request, calls: &mut impl Calls) -> Outcome {
        let at = (request.address != 0).then_some(request.address);
        let wanted = Wanted { spec: request.spec, bytes: request.bytes, at, alignment: 1 };
        let slot = self.obtain(client, &wanted, State::Private, calls)?;
        Ok(granted(&self.record(client).holdings[slot]))
    }

    /// A free record of a client, or the refusal.
    pub(crate) fn free(&self, client: u8) -> Result<usize, Refused> {
        self.record(client).free().ok_or(refuse(rule::RECORDS, 1, 0, change::RELEASE, 1))
    }

    /// Fresh memory, mapped to the client that will hold it in `state`. Returns the index of its record.
    pub(crate) fn obtain(
        &mut self,
        client: u8,
        wanted: &Wanted,
        state: State,
        calls: &mut impl Calls,
    ) -> Result<usize, crate::Stop> {
        let slot = self.free(client)?;
        let admitted = self.account.admit(client, wanted)?;
        let holding = hold(&admitted, wanted.spec, state, true);
        let done = provide(client, &admitted, calls)
            .and_then(|()| calls.retype(holding.region.base, holding.region.bytes))
            .and_then(|()| calls.map(client, &holding.mapping()));
        if let Err(error) = done {
            // The account and the kernel disagree: nobody gets these frames before they have been scrubbed.
            self.account.leave(client, &holding.entry(), true);
            self.record_mut(client).holdings[slot] = Holding { state: State::Dirty, ..holding };
            return Err(error.into());
        }
        self.record_mut(client).holdings[slot] = holding;
        Ok(slot)
    }

    /// `RELEASE`.
    pub(crate) fn release(&mut self, client: u8, base: u32, calls: &mut impl Calls) -> Outcome {
        let slot = self.record(client).at(base, false).ok_or(unknown(base))?;
        match self.record(client).holdings[slot].state {
            State::Private => self.soil(client, slot, calls),
            State::Owned(index) => {
                let members = self.record(client).shares[usize::from(index)].members.count_ones();
                if members > 0 {
                    return Err(refuse(rule::ALONE, 0, members, change::REVOKE, members).into());
                }
                let answer = self.soil(client, slot, calls)?;
                self.record_mut(client).shares[usize::from(index)].used = false;
                Ok(answer)
            }
            State::Joined(owner, index) => {
                self.part(client, slot, owner, index, calls)?;
                Ok(Answer::Done(0))
            }
            State::Free | State::Dirty => Err(unknown(base).into()),
        }
    }

    /// Takes private memory from a client; it stays charged for it until it is clean.
    fn soil(&mut self, client: u8, slot: usize, calls: &mut impl Calls) -> Outcome {
        let holding = self.record(client).holdings[slot];
        unmap(client, &holding.mapping(), calls)?;
        self.account.leave(client, &holding.entry(), true);
        self.record_mut(client).holdings[slot].state = State::Dirty;
        Ok(Answer::Done(holding.region.bytes))
    }

    /// `SCRUB`: at most [`SCRUB_STEPS`] of the kernel's steps.
    pub(crate) fn scrub(&mut self, client: u8, base: u32, calls: &mut impl Calls) -> Outcome {
        let slot = self.record(client).at(base, true).ok_or(unknown(base))?;
        Ok(Answer::Done(self.cleanse(client, slot, calls)?))
    }

    fn cleanse(&mut self, client: u8, slot: usize, calls: &mut impl Calls) -> Result<u32, Error> {
        let region = self.record(client).holdings[slot].region;
        let mut left = region.bytes;
        for _ in 0..SCRUB_STEPS {
            left = calls.clean(region.base, region.bytes)?;
            if left == 0 {
                self.account.clean(client, region);
                self.record_mut(client).holdings[slot].state = State::Free;
                break;
            }
        }
        Ok(left)
    }

    /// `QUERY`.
    pub(crate) fn query(&self, client: u8, address: u32) -> Outcome {
        Ok(granted(self.record(client).around(address).ok_or(unknown(address))?))
    }

    /// `RECLAIM`: one step for one record.
    pub(crate) fn reclaim(&mut self, client: u8, calls: &mut impl Calls) -> Outcome {
        let slot = self.record(client).holdings.iter().position(|holding| holding.state != State::Free);
        let Some(slot) = slot else { return Ok(Answer::Done(0)) };
        let holding = self.record(client).holdings[slot];
        match holding.state {
            State::Owned(index) if self.record(client).shares[usize::from(index)].members != 0 => {
                let id = self.record(client).shares[usize::from(index)].id;
                self.revoke(client, id, calls)?;
            }
            State::Dirty => {
                self.cleanse(client, slot, calls)?;
            }
            _ => {
                self.release(client, holding.region.base, calls)?;
            }
        }
        Ok(Answer::Done(self.record(client).used()))
    }
}

/// The record of what was admitted.
pub(crate) fn hold(admitted: &Admitted, spec: u32, state: State, write: bool) -> Holding {
    let Admitted { region, pinned, bound, .. } = *admitted;
    Holding { region, spec, bound, state, write, pinned }
}

/// Gives the client's table the nodes that the account found it to need.
pub(crate) fn provide(client: u8, admitted: &Admitted, calls: &mut impl Calls) -> Result<(), Error> {
    admitted.nodes.map_or(Ok(()), |(base, bytes)| calls.nodes(client, base, bytes))
}

/// Ends a mapping; a domain that the kernel has taken apart has none left.
pub(crate) fn unmap(client: u8, mapping: &Mapping, calls: &mut impl Calls) -> Result<(), Error> {
    match calls.unmap(client, mapping) {
        Ok(()) | Err(Error::BadState) => Ok(()),
        Err(error) => Err(error),
    }
}
