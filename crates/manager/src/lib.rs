//! The decisions of the memory manager, without the machine it runs on: the same code answers a domain's requests on the
//! target, and the host's when a history is replayed and compared.
//!
//! A [`Manager`] keeps what each client holds. It asks an [`Account`] whether something is
//! admitted, lets the kernel perform it through [`Calls`], and answers in the words of [`wire`].
//! Nothing that a client says is trusted: a request names an operation and numbers, and each number
//! is looked up in the tables of the client whose badge the kernel vouches for.
//!
//! # Bounds
//! Every operation looks at most once at each record of one client (`EACH`), at each client, and at
//! the shares of each, and makes a fixed number of kernel calls. Its account makes one decision,
//! and two for `EXPLAIN`. With page tables each decision looks at each record twice, and at a window
//! as at most eight words of bits, for each of two places of tables. Nothing is walked granule by
//! granule or page by page, so that the time does not depend on the sizes of pools and holdings.
//!
//! Longer work is done in steps, each of them a request of its own: mapping and unmapping many
//! pieces, scrubbing, revoking, reclaiming, and finding what would be admitted in place of what is
//! refused. The gate's bound stands in the response time of its callers, so no request may depend
//! on the size asked.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod account;
pub mod books;
mod calls;
mod explain;
mod hand_over;
pub mod history;
mod holding;
mod moves;
pub mod note;
mod obtain;
mod operate;
mod region;
pub mod rule;
mod share;
mod sizes;
pub mod standard;
mod stock;
pub mod tally;
mod window;
pub mod wire;

use abi::Error;
use memory::pieces::PAGE_LOG2;

pub use account::{Account, Admitted, Asked, Bound, Effort, Fresh};
pub use books::Books;
pub use calls::Calls;
pub use explain::sentence;
pub use hand_over::{Declared, HandOver, HandOverError, PoolAt};
pub use holding::{Client, Holding, MAX_CLIENTS, Share, State, TableMemory, Who};
pub use region::{Entry, Mapping, Mark, Piece, Region, Terms};
use wire::{Answer, Message, NAME_BYTES, Operation, Refused, Request};

/// Steps of scrubbing (each as long as the kernel's) that one request makes: the gate's bound has
/// to cover them.
pub const SCRUB_STEPS: u32 = 8;
/// Pieces of memory that one request maps or unmaps: the gate's bound has to cover them.
pub const MAP_STEPS: u32 = 4;
/// Bytes after which a request maps, or unmaps, no further piece: four of the smallest pieces. A
/// piece of 64 KiB has sixteen descriptors, and is therefore the last of its request. With region
/// registers there is one piece.
pub const MAP_BYTES: u32 = MAP_STEPS << PAGE_LOG2;
/// Domains that lose shared memory in one call of `REVOKE`. The owner calls again until there is
/// none, because the bound of a call must not grow with the number of domains.
pub const REVOKE_STEPS: u32 = 2;
/// Bit of a badge: its holder may reclaim what other domains hold. The kernel vouches for badges,
/// so no request can claim this.
pub const SUPERVISOR: u32 = 1 << 31;

/// The memory manager's state. `EACH` and `SHARES` are the records of one client.
#[derive(Debug)]
pub struct Manager<L, const CLIENTS: usize, const EACH: usize, const SHARES: usize> {
    /// The account of memory and registers.
    pub account: L,
    clients: [Client<EACH, SHARES>; CLIENTS],
}

/// Either a refusal, which is an answer, or a kernel call that failed although it was admitted,
/// which is an error.
enum Stop {
    Refused(Refused),
    Failed(Error),
}

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Self {
        Stop::Refused(refused)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

type Outcome = Result<Answer, Stop>;

impl<L: Account, const CLIENTS: usize, const EACH: usize, const SHARES: usize> Manager<L, CLIENTS, EACH, SHARES> {
    const SIZES: () = assert!(CLIENTS <= MAX_CLIENTS && EACH <= 256 && SHARES <= 256);

    /// A manager whose clients hold nothing. There are no clients yet.
    pub const fn new(account: L) -> Self {
        let () = Self::SIZES;
        Manager { account, clients: [const { Client::NONE }; CLIENTS] }
    }

    /// Makes the domain with number `client` a client under its name; false for a number or a name out of range.
    pub fn enrol(&mut self, client: usize, name: &str) -> bool {
        let Some(record) = self.clients.get_mut(client) else { return false };
        if name.is_empty() || name.len() >= NAME_BYTES {
            return false;
        }
        record.name = wire::padded(name);
        true
    }

    /// The record of a client; `None` when there is no such client.
    pub fn client(&self, client: usize) -> Option<&Client<EACH, SHARES>> {
        self.clients.get(client).filter(|record| record.name[0] != 0)
    }

    /// Serves one message: what the gate does.
    ///
    /// # Errors
    /// `BAD_ARGUMENT`: the badge is no client's, or the message holds no request. `BUSY`: another manager's edit is under way, or the
    /// client's former life has left something; the same request goes on later. Another error of the kernel's, when it refused what the account had admitted.
    ///
    /// # Time complexity
    /// See the crate.
    pub fn serve(&mut self, badge: u32, message: &Message, calls: &mut impl Calls) -> Result<Message, Error> {
        let request = Request::decode(message).ok_or(Error::BadArgument)?;
        let supervisor = badge & SUPERVISOR != 0;
        let number = badge & !SUPERVISOR;
        if supervisor && request.operation == Operation::Reclaim {
            let named = self.clients.iter().position(|client| client.name == request.name);
            let number = if request.name[0] == 0 { Some(request.address as usize) } else { named };
            let number = number.filter(|number| *number < CLIENTS).ok_or(Error::BadArgument)?;
            return self.answer(number as u32, &request, true, calls);
        }
        self.answer(number, &request, false, calls)
    }

    fn answer(
        &mut self,
        number: u32,
        request: &Request,
        reclaims: bool,
        calls: &mut impl Calls,
    ) -> Result<Message, Error> {
        let client = self.client(number as usize).ok_or(Error::BadArgument)?;
        if client.life != request.life && !reclaims {
            self.bury(number as u8, request.life, calls)?;
        }
        match self.perform(number as u8, request, calls) {
            Ok(answer) => Ok(answer.encode()),
            Err(Stop::Refused(refused)) => Ok(Answer::Refused(refused).encode()),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// Reclaims what a client held before it was restarted, one step for each of its requests, and
    /// lets it begin anew when nothing is left.
    ///
    /// The restart has taken away what the former life had mapped, and the kernel told nobody. So
    /// this comes before anything else is done for the client, which pays for it. The number of its
    /// life is the client's own word: with a wrong one it loses memory of its own only.
    ///
    /// # Errors
    /// `BUSY`: something of it is left, and the same request goes on with it. Those of the kernel.
    fn bury(&mut self, client: u8, life: u32, calls: &mut impl Calls) -> Result<(), Error> {
        if self.record(client).in_use().is_none() {
            self.record_mut(client).life = life;
            return Ok(());
        }
        match self.reclaim(client, calls) {
            Err(Stop::Failed(error)) => Err(error),
            _ => Err(Error::Busy),
        }
    }

    fn perform(&mut self, client: u8, request: &Request, calls: &mut impl Calls) -> Outcome {
        match request.operation {
            Operation::Grant | Operation::Share | Operation::Join => self.obtain(client, request, calls),
            Operation::Explain => self.explain(client, request),
            Operation::Permit => self.permit(client, request),
            Operation::Revoke => self.revoke(client, &request.share, calls),
            Operation::Release => self.release(client, request.address, calls),
            Operation::Scrub => self.scrub(client, request.address, calls),
            Operation::Query => self.query(client, request.address),
            Operation::Reclaim => self.reclaim(client, calls),
            Operation::Map => self.map(client, request.address, calls),
        }
    }

    fn record(&self, client: u8) -> &Client<EACH, SHARES> {
        &self.clients[usize::from(client)]
    }

    fn record_mut(&mut self, client: u8) -> &mut Client<EACH, SHARES> {
        &mut self.clients[usize::from(client)]
    }
}

#[cfg(test)]
mod tests;
