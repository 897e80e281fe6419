//! Memory that a client has: release, scrub, query, reclaim.

use spec::{Method, TablePlace, TemporalSpec};

use crate::account::{Account, Bound, Effort};
use crate::calls::Calls;
use crate::holding::{Holding, State};
use crate::note::{GrantNote, Holder, Note};
use crate::rule::{self, change, refuse};
use crate::wire::{Answer, Granted, Refused, place};
use crate::{Manager, Outcome};

pub(crate) fn unknown(what: u32) -> Refused {
    refuse(rule::EXISTS, what, 0, change::NONE, 0)
}

impl<L: Account, const CLIENTS: usize, const EACH: usize, const SHARES: usize> Manager<L, CLIENTS, EACH, SHARES> {
    /// The answer that describes a record of a client.
    #[inline(never)]
    pub(crate) fn granted(&self, client: u8, holding: &Holding) -> Answer {
        let Bound { level, method: found, cycles } = self.account.bound(client, holding.terms);
        let Effort { descriptors, map_cycles, release_cycles, method } =
            self.account.effort(&holding.region, holding.terms);
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        let partly = TemporalSpec::from_bits(holding.spec).is_ok_and(|spec| spec.independent && spec.allow_partial);
        Answer::Granted(Granted {
            base: holding.region.base,
            bytes: holding.region.bytes,
            spec: holding.spec,
            level: u32::from(level),
            cycles,
            method: u32::from(found),
            left: holding.unmapped(),
            place: u32::from(holding.terms.place)
                | bit(holding.terms.pinned(), place::PINNED)
                | bit(partly && descriptors > 0, place::PARTLY)
                | bit(u32::from(method) == Method::Observed as u32, place::OBSERVED),
            descriptors,
            map_cycles,
            release_cycles,
        })
    }

    /// Tells an observer of the run what a client holds now: from outside, mappings alone do not
    /// say which promise was made.
    pub(crate) fn tell(&self, client: u8, holding: &Holding, calls: &mut impl Calls) {
        let Holding { region, spec, write, terms, .. } = *holding;
        let holder = match holding.state {
            State::Owned(_) => Holder::Owner,
            State::Joined(..) => Holder::Member,
            _ => Holder::Private,
        };
        let place = TablePlace::from_number(u32::from(terms.place)).unwrap_or(TablePlace::OffChip);
        let descriptors = self.account.effort(&region, terms).descriptors;
        let (base, bytes, pinned) = (region.base, region.bytes, terms.pinned());
        calls.tell(&Note::Granted(GrantNote { client, base, bytes, spec, write, holder, pinned, place, descriptors }));
    }

    pub(crate) fn release(&mut self, client: u8, base: u32, calls: &mut impl Calls) -> Outcome {
        let slot = self.record(client).at(base, false).ok_or(unknown(base))?;
        match self.record(client).holdings[slot].state {
            State::Owned(index) => {
                let members = self.record(client).shares[usize::from(index)].members.count_ones();
                if members > 0 {
                    return Err(refuse(rule::ALONE, 0, members, change::REVOKE, members).into());
                }
                let begun = self.withdraw(client, slot, calls);
                // It is on its way out, so from now on no client can join it.
                let record = self.record_mut(client);
                if !record.holdings[slot].state.is_live() {
                    record.shares[usize::from(index)].holding = None;
                }
                begun?;
            }
            _ => self.withdraw(client, slot, calls)?,
        }
        let holding = &self.record(client).holdings[slot];
        Ok(Answer::Done(if holding.state.is_going() { holding.region.bytes } else { 0 }))
    }

    pub(crate) fn scrub(&mut self, client: u8, base: u32, calls: &mut impl Calls) -> Outcome {
        let slot = self.record(client).at(base, true).ok_or(unknown(base))?;
        if self.record(client).holdings[slot].state == State::Dirty {
            return Ok(Answer::Done(self.cleanse(client, slot, calls)?));
        }
        self.exit(client, slot, calls)?;
        let holding = &self.record(client).holdings[slot];
        Ok(Answer::Done(if holding.state.is_going() { holding.region.bytes } else { 0 }))
    }

    pub(crate) fn query(&self, client: u8, address: u32) -> Outcome {
        Ok(self.granted(client, self.record(client).around(address).ok_or(unknown(address))?))
    }

    /// `RECLAIM`: one step for one record.
    pub(crate) fn reclaim(&mut self, client: u8, calls: &mut impl Calls) -> Outcome {
        let Some(slot) = self.record(client).in_use() else { return Ok(Answer::Done(0)) };
        let holding = self.record(client).holdings[slot];
        match holding.state {
            State::Owned(index) if self.record(client).shares[usize::from(index)].members != 0 => {
                self.take_away(client, usize::from(index), calls)?;
            }
            State::Dirty => {
                self.cleanse(client, slot, calls)?;
            }
            State::Leaving | State::Parting(..) => self.exit(client, slot, calls)?,
            _ => {
                self.release(client, holding.region.base, calls)?;
            }
        }
        Ok(Answer::Done(self.record(client).used()))
    }
}
