//! Memory that several clients map. Its owner made it, pays for the frames and says who may map it and how; each client pays
//! for the entry in its own table.

use crate::holding::{Share, State};
use crate::operate::{hold, provide, unknown};
use crate::rule::{self, change, refuse};
use crate::seam::{Account, Calls, Wanted};
use crate::wire::{Answer, NAME_BYTES, Refused, Request, access};
use crate::{Manager, Outcome, REVOKE_STEPS};

/// Where shared memory stands: owner, and index among the owner's.
type Place = (u8, u8);

const EVERYBODY: u32 = u32::MAX;

impl<L: Account, const CLIENTS: usize, const EACH: usize, const SHARES: usize> Manager<L, CLIENTS, EACH, SHARES> {
    /// `SHARE`.
    pub(crate) fn share(&mut self, client: u8, request: &Request, calls: &mut impl Calls) -> Outcome {
        if request.access & !access::ALL != 0 || request.access & access::READ == 0 {
            return Err(refuse(rule::PERMITTED, request.access, access::ALL, change::ACCESS, access::READ).into());
        }
        match self.find(client, request)? {
            Some((owner, index)) if owner == client => self.again(client, index, request),
            Some((owner, index)) => self.join(client, (owner, index), request, calls),
            None => self.create(client, request, calls),
        }
    }

    /// What the request means: the named owner's, the caller's own, the only one that the caller may map, or none yet.
    fn find(&self, client: u8, request: &Request) -> Result<Option<Place>, Refused> {
        let id = request.address;
        let of = |owner: usize| self.clients[owner].share(id).map(|index| (owner as u8, index as u8));
        if request.name[0] != 0 {
            let owner = self.named(&request.name).ok_or(unknown(id))?;
            return if owner == client { Ok(of(owner.into())) } else { of(owner.into()).map(Some).ok_or(unknown(id)) };
        }
        if let Some(own) = of(client.into()) {
            return Ok(Some(own));
        }
        let permitted = |place: &Place| self.shared(*place).permits(client, false);
        let mut others = (0..CLIENTS).filter_map(of).filter(permitted);
        let (first, more) = (others.next(), others.count() as u32);
        if more > 0 {
            return Err(refuse(rule::ONE_OWNER, id, more + 1, change::NAME_OWNER, 0));
        }
        Ok(first)
    }

    fn shared(&self, (owner, index): Place) -> &Share {
        &self.record(owner).shares[usize::from(index)]
    }

    /// The client of that name.
    fn named(&self, name: &[u8; NAME_BYTES]) -> Option<u8> {
        self.clients.iter().position(|client| client.name == *name).map(|index| index as u8)
    }

    fn create(&mut self, client: u8, request: &Request, calls: &mut impl Calls) -> Outcome {
        let free = self.record(client).shares.iter().position(|share| !share.used);
        let index = free.ok_or(refuse(rule::SHARES, 1, 0, change::RELEASE, 1))?;
        let alignment = request.alignment.max(1);
        let wanted = Wanted { spec: request.spec, bytes: request.bytes, at: None, alignment };
        let slot = self.obtain(client, &wanted, State::Owned(index as u8), calls)?;
        let all = |bit: u32| if request.access & bit != 0 { EVERYBODY } else { 0 };
        self.record_mut(client).shares[index] = Share {
            used: true,
            id: request.address,
            holding: slot as u8,
            readers: all(access::ALL_READ),
            writers: all(access::ALL_WRITE),
            members: 0,
        };
        Ok(self.granted(client, &self.record(client).holdings[slot]))
    }

    /// The owner asks for what it has.
    fn again(&self, client: u8, index: u8, request: &Request) -> Outcome {
        let holding = &self.record(client).holdings[usize::from(self.shared((client, index)).holding)];
        agree(holding.spec, holding.region.bytes, request)?;
        Ok(self.granted(client, holding))
    }

    fn join(&mut self, client: u8, place: Place, request: &Request, calls: &mut impl Calls) -> Outcome {
        let (owner, index) = place;
        let share = *self.shared(place);
        let write = request.access & access::WRITE != 0;
        if !share.permits(client, write) {
            let left = if share.permits(client, false) { access::READ } else { 0 };
            let change = if left == 0 { change::NONE } else { change::ACCESS };
            return Err(refuse(rule::PERMITTED, request.access, left, change, left).into());
        }
        let theirs = self.record(owner).holdings[usize::from(share.holding)];
        if theirs.unmapped() > 0 {
            return Err(unknown(request.address).into());
        }
        agree(theirs.spec, theirs.region.bytes, request)?;
        if let Some(slot) = self.record(client).joined(owner, index) {
            let known = &self.record(client).holdings[slot];
            if write && !known.write {
                return Err(refuse(rule::PERMITTED, request.access, access::READ, change::RELEASE, 1).into());
            }
            return Ok(self.granted(client, known));
        }
        if self.record(client).member(owner, index).is_some() {
            return Err(unknown(request.address).into());
        }
        let slot = self.free(client)?;
        let Manager { account, clients } = self;
        let admitted = account.join(client, &theirs.entry(), &clients[usize::from(client)].holdings)?;
        let holding = hold(&admitted, theirs.spec, State::Joined(owner, index), write);
        self.record_mut(client).holdings[slot] = holding;
        self.tell(client, &holding, calls);
        self.record_mut(owner).shares[usize::from(index)].members |= 1 << client;
        let done = provide(client, &admitted, calls).and_then(|()| self.begin(client, slot, calls));
        if let Err(error) = done {
            let _ = self.withdraw(client, slot, calls);
            return Err(error.into());
        }
        Ok(self.granted(client, &self.record(client).holdings[slot]))
    }

    /// `PERMIT`: who has mapped the memory keeps it; see `REVOKE`.
    pub(crate) fn permit(&mut self, client: u8, request: &Request) -> Outcome {
        let index = self.record(client).share(request.address).ok_or(unknown(request.address))?;
        let whom = if request.name[0] == 0 {
            EVERYBODY
        } else {
            1 << self.named(&request.name).ok_or(unknown(request.address))?
        };
        let share = &mut self.record_mut(client).shares[index];
        share.readers &= !whom;
        share.writers &= !whom;
        if request.access & access::READ != 0 {
            share.readers |= whom;
        }
        if request.access & access::WRITE != 0 {
            share.writers |= whom;
        }
        Ok(Answer::Done(0))
    }

    /// `REVOKE`: nobody may map the memory from now on; at most [`REVOKE_STEPS`] domains lose it in each call.
    pub(crate) fn revoke(&mut self, client: u8, id: u32, calls: &mut impl Calls) -> Outcome {
        let index = self.record(client).share(id).ok_or(unknown(id))?;
        let share = &mut self.record_mut(client).shares[index];
        share.readers = 0;
        share.writers = 0;
        for _ in 0..REVOKE_STEPS {
            let members = self.shared((client, index as u8)).members;
            if members == 0 {
                break;
            }
            let member = members.trailing_zeros() as u8;
            let Some(slot) = self.record(member).member(client, index as u8) else {
                // Cannot be: a member has a record.
                self.record_mut(client).shares[index].members &= members - 1;
                continue;
            };
            match self.record(member).holdings[slot].state {
                State::Parting(..) => self.exit(member, slot, calls)?,
                _ => self.withdraw(member, slot, calls)?,
            }
            if self.record(member).holdings[slot].state != State::Free {
                // A step's worth of it is gone; the next request goes on with the rest.
                break;
            }
        }
        Ok(Answer::Done(self.shared((client, index as u8)).members.count_ones()))
    }
}

/// Whether a request agrees with shared memory that there is.
fn agree(spec: u32, bytes: u32, request: &Request) -> Result<(), Refused> {
    if request.spec != spec {
        return Err(refuse(rule::SPEC_AGREES, request.spec, spec, change::SPEC, spec));
    }
    if request.bytes > bytes {
        return Err(refuse(rule::SIZE_AGREES, request.bytes, bytes, change::BYTES, bytes));
    }
    Ok(())
}
