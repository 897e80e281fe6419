//! Memory on its way into a client's table and out of it, piece by piece. A request moves a few small pieces or a large one; the next
//! one goes on.

use abi::Error;
use memory::pieces::PAGE_LOG2;

use crate::account::Account;
use crate::calls::Calls;
use crate::holding::{Holding, State, TableMemory};
use crate::note::Note;
use crate::region::Mapping;
use crate::wire::Answer;
use crate::{MAP_BYTES, MAP_STEPS, Manager, Outcome, SCRUB_STEPS};

impl<L: Account, const CLIENTS: usize, const EACH: usize, const SHARES: usize> Manager<L, CLIENTS, EACH, SHARES> {
    fn holding(&mut self, client: u8, slot: usize) -> &mut Holding {
        &mut self.clients[usize::from(client)].holdings[slot]
    }

    pub(crate) fn map(&mut self, client: u8, base: u32, calls: &mut impl Calls) -> Outcome {
        let slot = self.record(client).at(base, false).ok_or(crate::operate::unknown(base))?;
        self.provide(client, calls)?;
        Ok(Answer::Done(self.enter(client, slot, calls)?))
    }

    /// Maps as part of the request that admitted the memory. If the kernel is busy with another
    /// manager's edit, that is left to `MAP`: nothing was lost, and the client asks again.
    ///
    /// # Errors
    /// The kernel's. Pieces that were mapped already are taken back, and the memory is scrubbed
    /// before another client gets it. If the kernel refuses to take it back, too, a later `RECLAIM`
    /// goes on.
    #[inline(never)]
    pub(crate) fn begin(&mut self, client: u8, slot: usize, calls: &mut impl Calls) -> Result<(), Error> {
        let later = self.account.maps_later();
        let done = match self.provide(client, calls) {
            Ok(()) if !later => self.enter(client, slot, calls).map(|_| ()),
            done => done,
        };
        match done {
            Ok(()) | Err(Error::Busy) => Ok(()),
            Err(error) => {
                self.record_mut(client).gift = None;
                let _ = self.withdraw(client, slot, calls);
                Err(error)
            }
        }
    }

    /// Gives the client's table what it was granted. This comes before the mapping, which may need
    /// it.
    #[inline(never)]
    pub(crate) fn provide(&mut self, client: u8, calls: &mut impl Calls) -> Result<(), Error> {
        // Bounded, because the ledger grants a few tables at a time.
        while let Some(TableMemory { base, bytes }) = self.record(client).gift {
            let given = calls.nodes(client, base, bytes)?.min(bytes).max(1);
            let left = TableMemory { base: base + given, bytes: bytes - given };
            self.record_mut(client).gift = Some(left).filter(|left| left.bytes > 0);
        }
        Ok(())
    }

    /// Maps the next pieces; returns the bytes that are left. The client's own memory is drawn and
    /// typed first; joined memory exists already.
    #[inline(never)]
    pub(crate) fn enter(&mut self, client: u8, slot: usize, calls: &mut impl Calls) -> Result<u32, Error> {
        let before = self.holding(client, slot).done;
        for _ in 0..MAP_STEPS {
            let holding = &mut self.clients[usize::from(client)].holdings[slot];
            if holding.unmapped() == 0 || holding.done - before >= MAP_BYTES {
                break;
            }
            let mark = self.account.draw(client, &mut holding.region, holding.done, holding.mark)?;
            let piece = self.account.piece(&holding.region, mark).ok_or(Error::BadState)?;
            if !matches!(holding.state, State::Joined(..)) && !holding.typed {
                calls.retype(piece.base, piece.bytes)?;
                holding.typed = true;
            }
            calls.map(client, &holding.mapping(holding.done, &piece))?;
            (holding.done, holding.mark, holding.typed) = (holding.done + piece.bytes, mark, false);
        }
        Ok(self.holding(client, slot).unmapped())
    }

    /// Begins to take a mapping away, and makes the first step. If the kernel refuses at once, the
    /// record stays as it was, because the mapping is still there.
    #[inline(never)]
    pub(crate) fn withdraw(&mut self, client: u8, slot: usize, calls: &mut impl Calls) -> Result<(), Error> {
        let before = *self.holding(client, slot);
        let state = match before.state {
            State::Joined(owner, index) => State::Parting(owner, index),
            _ => State::Leaving,
        };
        *self.holding(client, slot) =
            Holding { state, mark: before.region.first, pages_gone: 0, typed: false, ..before };
        let done = self.exit(client, slot, calls);
        if done.is_err() && self.holding(client, slot).done == before.done {
            *self.holding(client, slot) = before;
        }
        done
    }

    /// Unmaps the next pieces of what is on its way out. The account is told only when nothing is
    /// mapped any more, because it gives back then what the table took.
    #[inline(never)]
    pub(crate) fn exit(&mut self, client: u8, slot: usize, calls: &mut impl Calls) -> Result<(), Error> {
        let before = self.holding(client, slot).done;
        let mut steps = 0;
        loop {
            let holding = *self.holding(client, slot);
            if holding.done == 0 {
                self.left(client, slot);
                calls.tell(&Note::Ended { client, base: holding.region.base });
                return Ok(());
            }
            if steps == MAP_STEPS || before - holding.done >= MAP_BYTES {
                return Ok(());
            }
            let piece = self.account.piece(&holding.region, holding.mark).ok_or(Error::BadState)?;
            unmap(client, &holding.mapping(holding.gone(), &piece), calls)?;
            let holding = self.holding(client, slot);
            (holding.done, holding.mark) = (holding.done - piece.bytes, piece.next);
            holding.pages_gone += (piece.bytes >> PAGE_LOG2) as u16;
            steps += 1;
        }
    }

    /// Notes that nothing of a record is in the client's table any more: tells the account, and
    /// ends the membership of shared memory.
    fn left(&mut self, client: u8, slot: usize) {
        let Manager { account, clients } = self;
        let record = &mut clients[usize::from(client)];
        let holding = record.holdings[slot];
        let frames = holding.state == State::Leaving;
        account.leave(client, &holding.entry(), frames, &record.holdings);
        let state = if frames { State::Dirty } else { State::Free };
        record.holdings[slot] = Holding { state, done: 0, mark: holding.region.first, ..holding };
        if let State::Parting(owner, index) = holding.state {
            clients[usize::from(owner)].shares[usize::from(index)].members &= !(1 << client);
        }
    }

    /// Takes one step of clearing: at most [`SCRUB_STEPS`] of the kernel's steps, so that the bound
    /// of a request does not depend on the size. Returns the bytes left.
    #[inline(never)]
    pub(crate) fn cleanse(&mut self, client: u8, slot: usize, calls: &mut impl Calls) -> Result<u32, Error> {
        let mut left = 0;
        for _ in 0..SCRUB_STEPS {
            let holding = self.clients[usize::from(client)].holdings[slot];
            let rest = holding.region.bytes - holding.done;
            let Some(piece) = self.account.piece(&holding.region, holding.mark) else {
                // Memory that was promised and never drawn was never mapped, so there is nothing to
                // clear.
                self.account.clean(client, &holding.region, None, rest);
                self.holding(client, slot).state = State::Free;
                return Ok(0);
            };
            let dirty = calls.clean(piece.base, piece.bytes)?;
            left = rest - piece.bytes + dirty;
            if dirty > 0 {
                continue;
            }
            self.account.clean(client, &holding.region, Some(holding.mark), piece.bytes);
            let holding = self.holding(client, slot);
            (holding.done, holding.mark) = (holding.done + piece.bytes, piece.next);
            if left == 0 {
                holding.state = State::Free;
                break;
            }
        }
        Ok(left)
    }
}

/// Ends a mapping. `BAD_STATE` is no error: the kernel has taken the mappings of a restarted domain
/// away by itself.
fn unmap(client: u8, mapping: &Mapping, calls: &mut impl Calls) -> Result<(), Error> {
    match calls.unmap(client, mapping) {
        Ok(()) | Err(Error::BadState) => Ok(()),
        Err(error) => Err(error),
    }
}
