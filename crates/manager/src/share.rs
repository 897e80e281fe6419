//! Memory that several clients map. Its owner made it, pays for the frames and says which clients
//! may map it and how. Each client pays for the entry in its own table.
//!
//! No client can take a name before its owner does. The manifest declares each name under its
//! owner, with the most that others may do. A domain makes only what is declared as its own, and
//! joins only by naming the owner. So a name means the same to every client from the beginning.

use crate::account::{Account, Asked, Fresh};
use crate::calls::Calls;
use crate::holding::{Holding, Share, State, Who};
use crate::obtain::Sought;
use crate::rule::{self, change, refuse};
use crate::wire::{Answer, NAME_BYTES, Refused, Request, access};
use crate::{Manager, Outcome, REVOKE_STEPS};

type Place = (u8, u8);

const EVERYBODY: u32 = u32::MAX;

fn undeclared() -> Refused {
    refuse(rule::DECLARED, 1, 0, change::DECLARE, 0)
}

fn not_made() -> Refused {
    refuse(rule::MADE, 1, 0, change::NONE, 0)
}

/// Checks that the access asked for exists and contains reading, as every mapping does.
fn sensible(request: &Request) -> Result<(), Refused> {
    if request.access & !access::ALL == 0 && request.access & access::READ != 0 {
        return Ok(());
    }
    Err(refuse(rule::PERMITTED, request.access, access::ALL, change::ACCESS, access::READ))
}

impl<L: Account, const CLIENTS: usize, const EACH: usize, const SHARES: usize> Manager<L, CLIENTS, EACH, SHARES> {
    /// Lets a client make shared memory of that name, and says which clients may map it at most.
    /// Returns false if there is no room for it.
    pub fn declare(&mut self, owner: usize, name: [u8; NAME_BYTES], declared: Who) -> bool {
        let Some(record) = self.clients.get_mut(owner).filter(|_| name[0] != 0) else { return false };
        let Some(free) = record.shares.iter_mut().find(|share| share.name[0] == 0) else { return false };
        *free = Share { name, declared, ..Share::NONE };
        true
    }

    /// Reads `SHARE`: the caller's own memory of that name. Other clients can have memory of the
    /// same name.
    pub(crate) fn own_share(&self, client: u8, request: &Request) -> Result<Sought, Refused> {
        sensible(request)?;
        let index = self.record(client).share(&request.share).ok_or_else(undeclared)? as u8;
        if let Some(slot) = self.shared((client, index)).holding {
            let made = &self.record(client).holdings[usize::from(slot)];
            agree(made.spec, made.region.bytes, request)?;
            return Ok(Sought::Known(usize::from(slot)));
        }
        let alignment = request.alignment.max(1);
        let wanted = Fresh { spec: request.spec, bytes: request.bytes, at: None, alignment };
        Ok(Sought::New(Asked::Fresh(wanted), State::Owned(index), true))
    }

    fn shared(&self, (owner, index): Place) -> &Share {
        &self.record(owner).shares[usize::from(index)]
    }

    fn made(&self, place: Place) -> Option<&Holding> {
        let holding = self.shared(place).holding?;
        Some(&self.record(place.0).holdings[usize::from(holding)])
    }

    fn named(&self, name: &[u8; NAME_BYTES]) -> Option<u8> {
        self.clients.iter().position(|client| client.name == *name && name[0] != 0).map(|index| index as u8)
    }

    /// Notes that a client has made its shared memory, in the record `slot`. The bits of `asked`
    /// say which clients may map it.
    pub(crate) fn offer(&mut self, client: u8, index: u8, slot: usize, asked: u32) {
        let all = |bits: u32| if asked & bits != 0 { EVERYBODY } else { 0 };
        let permitted = Who { readers: all(access::ALL_READ), writers: all(access::ALL_WRITE) };
        let share = &mut self.record_mut(client).shares[usize::from(index)];
        *share = Share { holding: Some(slot as u8), permitted, members: 0, ..*share };
    }

    /// Reads `JOIN`: the shared memory of the owner that the request names.
    pub(crate) fn share_of_another(&self, client: u8, request: &Request) -> Result<Sought, Refused> {
        sensible(request)?;
        let owner = self.named(&request.name).ok_or_else(undeclared)?;
        let index = self.record(owner).share(&request.share).ok_or_else(undeclared)? as u8;
        let share = self.shared((owner, index));
        let theirs = self.made((owner, index)).filter(|theirs| theirs.state.is_live()).ok_or_else(not_made)?;
        let (wanted, left) = (request.access & (access::READ | access::WRITE), share.access(client));
        if wanted & !left != 0 {
            return Err(forbidden(share, client, request.access));
        }
        let write = request.access & access::WRITE != 0;
        if theirs.unmapped() > 0 {
            return Err(not_made());
        }
        agree(theirs.spec, theirs.region.bytes, request)?;
        if let Some(slot) = self.record(client).joined(owner, index) {
            if write && !self.record(client).holdings[slot].write {
                return Err(refuse(rule::PERMITTED, request.access, access::READ, change::RELEASE, 1));
            }
            return Ok(Sought::Known(slot));
        }
        if self.record(client).member(owner, index).is_some() {
            return Err(not_made());
        }
        Ok(Sought::New(Asked::Theirs(theirs.entry()), State::Joined(owner, index), write))
    }

    /// `PERMIT`: says which clients may map the memory from now on, within what the manifest says.
    /// A client that has mapped it keeps it until `REVOKE`.
    pub(crate) fn permit(&mut self, client: u8, request: &Request) -> Outcome {
        let index = self.record(client).share(&request.share).ok_or_else(undeclared)?;
        let share = self.record(client).shares[index];
        share.holding.ok_or_else(not_made)?;
        let whom = if request.name[0] == 0 {
            EVERYBODY
        } else {
            let named = self.named(&request.name).ok_or_else(undeclared)?;
            if request.access & !share.declared.access(named) != 0 {
                return Err(forbidden(&Share { permitted: share.declared, ..share }, named, request.access).into());
            }
            1 << named
        };
        let also = |bit: u32| if request.access & bit != 0 { whom } else { 0 };
        let permitted = &mut self.record_mut(client).shares[index].permitted;
        permitted.readers = permitted.readers & !whom | also(access::READ);
        permitted.writers = permitted.writers & !whom | also(access::WRITE);
        Ok(Answer::Done(0))
    }

    /// `REVOKE`: lets no client map the memory from now on, and takes it from those that have. At
    /// most [`REVOKE_STEPS`] domains lose it in each call, so that the bound of a call does not
    /// grow with their number.
    pub(crate) fn revoke(&mut self, client: u8, share: &[u8; NAME_BYTES], calls: &mut impl Calls) -> Outcome {
        let index = self.record(client).share(share).ok_or_else(undeclared)?;
        self.shared((client, index as u8)).holding.ok_or_else(not_made)?;
        self.take_away(client, index, calls)
    }

    pub(crate) fn take_away(&mut self, client: u8, index: usize, calls: &mut impl Calls) -> Outcome {
        self.record_mut(client).shares[index].permitted = Who::NOBODY;
        for _ in 0..REVOKE_STEPS {
            let members = self.shared((client, index as u8)).members;
            if members == 0 {
                break;
            }
            let member = members.trailing_zeros() as u8;
            let Some(slot) = self.record(member).member(client, index as u8) else {
                // Cannot be, because a member has a record; without this the loop would find it
                // again.
                self.record_mut(client).shares[index].members &= members - 1;
                continue;
            };
            match self.record(member).holdings[slot].state {
                State::Parting(..) => self.exit(member, slot, calls)?,
                _ => self.withdraw(member, slot, calls)?,
            }
            if self.record(member).holdings[slot].state != State::Free {
                // One step of this member is gone, which may be as much as a request moves; the
                // next one goes on.
                break;
            }
        }
        Ok(Answer::Done(self.shared((client, index as u8)).members.count_ones()))
    }
}

/// Refuses access that a client does not have. The change tells the two reasons apart: `DECLARE` if
/// the manifest does not permit it.
#[inline(never)]
fn forbidden(share: &Share, client: u8, asked: u32) -> Refused {
    let left = share.access(client);
    let change = match left {
        0 if share.declared.access(client) == 0 => change::DECLARE,
        0 => change::NONE,
        _ => change::ACCESS,
    };
    refuse(rule::PERMITTED, asked, left, change, left)
}

/// Refuses a request that asks for another specification, or for more bytes, than existing shared
/// memory has.
#[inline(never)]
fn agree(spec: u32, bytes: u32, request: &Request) -> Result<(), Refused> {
    if request.spec != spec {
        return Err(refuse(rule::SPEC_AGREES, request.spec, spec, change::SPEC, spec));
    }
    if request.bytes > bytes {
        return Err(refuse(rule::SIZE_AGREES, request.bytes, bytes, change::BYTES, bytes));
    }
    Ok(())
}
