//! The memory manager, asked through its gate.

use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

use abi::{Error, Kind};
use info::info;
use manager::rule::change;
use manager::wire::{Answer, Granted, LIFE_WORD, MESSAGE_WORDS, Message, Operation, Refused, Request, access};

unsafe extern "C" {
    /// Calls the gate in a slot with the address of a message; the status. Provided by the run-time.
    fn cof_grants_call(gate: u32, message: *mut u32) -> i32;
    /// How often the domain has been restarted; `u32::MAX` before a thread of it has started. Provided by the run-time.
    safe fn cof_grants_life() -> u32;
    /// Lets less important threads run for a moment; false in a gate, where nothing may wait. Provided by the run-time.
    safe fn cof_heap_wait() -> bool;
}

/// Name under which a program looks up the manager's gate.
pub const GATE: &str = "memory";
/// How often a call is repeated while another thread is being served, or the manager has not started.
const TRIES: u32 = 1000;
/// Steps of looking for a change that are asked for: more than any ledger has.
const MOST_STEPS: u32 = 256;

/// The last request of this domain for whose refusal a change can be looked for.
static REFUSED: [AtomicU32; MESSAGE_WORDS] = [const { AtomicU32::new(0) }; MESSAGE_WORDS];

/// Why there is no memory. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The manager refuses: rule, what was asked, what is left, and the change that would be admitted, or that
    /// [`Failure::explained`] looks for.
    Refused(Refused),
    /// There is no manager, or it cannot be reached.
    Failed(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Failed(error)
    }
}

impl Failure {
    /// Returns the same failure with the change that would be admitted, if it is this domain's last
    /// refusal. The manager looks for a change only when it is asked, because the search takes many
    /// calls. If the request has become possible meanwhile, asking again is the change.
    ///
    /// # Time complexity
    /// A call of the manager's gate for each change that is looked at: some thirty at most. None when the change is known.
    #[must_use]
    pub fn explained(self) -> Failure {
        match self {
            Failure::Refused(refused) => Failure::Refused(explained(refused)),
            failed @ Failure::Failed(_) => failed,
        }
    }
}

/// See [`Failure::explained`]. A change that the manager does not find stays unknown.
pub(crate) fn explained(mut refused: Refused) -> Refused {
    let words: Message = core::array::from_fn(|index| REFUSED[index].load(Ordering::Relaxed));
    let (Some(request), Some(manager)) = (Request::decode(&words), Manager::find()) else { return refused };
    for _ in 0..MOST_STEPS {
        if refused.change != change::UNKNOWN {
            break;
        }
        refused = match manager.ask(&request.explained(refused.value as u16)) {
            Err(Failure::Refused(found)) => found,
            Ok(_) => Refused { change: change::AGAIN, value: 0, ..refused },
            Err(Failure::Failed(_)) => break,
        };
    }
    refused
}

/// Keeps a refused request, so that a change can be looked for.
fn remember(request: &Request) {
    for (slot, word) in REFUSED.iter().zip(request.encode()) {
        slot.store(word, Ordering::Relaxed);
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(refused) => refused.fmt(f),
            Failure::Failed(error) => write!(f, "the memory manager cannot be asked: {error:?}"),
        }
    }
}

/// Shared memory that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedWanted<'a> {
    /// Its name among its owner's, as the manifest declares it.
    pub name: &'a str,
    /// Bytes.
    pub bytes: u32,
    /// Alignment of memory that is made, a power of two; 0 for any.
    pub alignment: u32,
    /// Packed specification.
    pub spec: u32,
    /// Bits of [`access`].
    pub access: u32,
}

impl SharedWanted<'_> {
    fn request(&self, operation: Operation) -> Request {
        let SharedWanted { name, bytes, alignment, spec, access } = *self;
        Request { bytes, spec, alignment, access, ..Request::new(operation).of(name) }
    }
}

/// The memory manager. Each function is one call of its gate (and so takes at most the gate's bound), unless it says otherwise; with page
/// tables, [`Manager::grant`], [`Manager::share`] and [`Manager::join`] are one for every few pieces of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manager(u32);

impl Manager {
    /// The manager that this domain was given as the gate `memory`.
    pub fn find() -> Option<Manager> {
        Some(Manager(info()?.cap(GATE, Kind::Gate)?.slot))
    }

    /// Sends a request. While the manager serves another thread or is starting, the caller waits and tries again.
    ///
    /// # Errors
    /// [`Failure`]; `BAD_STATE` in a gate that is called before the domain's first thread has started.
    pub fn ask(self, request: &Request) -> Result<Answer, Failure> {
        let mut message = request.encode();
        let life = cof_grants_life();
        if life == u32::MAX {
            return Err(Error::BadState.into());
        }
        message[LIFE_WORD] = life;
        let mut tries = 0;
        loop {
            // SAFETY: the call lets the manager read and write the message, which lives until it returns.
            let status = unsafe { cof_grants_call(self.0, message.as_mut_ptr()) };
            if status == 0 {
                break;
            }
            let error = Error::from_status(status as u32).unwrap_or(Error::BadCall);
            tries += 1;
            if !matches!(error, Error::Busy | Error::BadState | Error::Stopped) || tries >= TRIES {
                return Err(error.into());
            }
            if !cof_heap_wait() {
                return Err(error.into());
            }
        }
        match Answer::decode(&message) {
            Some(Answer::Refused(refused)) => {
                if refused.change == change::UNKNOWN && request.operation != Operation::Explain {
                    remember(request);
                }
                Err(Failure::Refused(refused))
            }
            Some(answer) => Ok(answer),
            None => Err(Error::BadState.into()),
        }
    }

    fn granted(self, request: &Request) -> Result<Granted, Failure> {
        match self.ask(request)? {
            Answer::Granted(granted) => Ok(granted),
            _ => Err(Error::BadState.into()),
        }
    }

    /// Memory that was granted, mapped to its end: a call for every few pieces. If that fails, the
    /// memory is given back.
    fn whole(self, request: &Request) -> Result<Granted, Failure> {
        let granted = self.granted(request)?;
        let mut left = granted.left;
        while left > 0 {
            left = match self.left(&Request::new(Operation::Map).about(granted.base)) {
                Ok(left) => left,
                Err(failure) => {
                    // Memory that cannot be given back stays charged to this domain until a
                    // supervisor reclaims it.
                    let _ = self.free(granted.base);
                    return Err(failure);
                }
            };
        }
        Ok(Granted { left, ..granted })
    }

    fn left(self, request: &Request) -> Result<u32, Failure> {
        match self.ask(request)? {
            Answer::Done(left) => Ok(left),
            _ => Err(Error::BadState.into()),
        }
    }

    /// Memory of `bytes` with the packed specification `spec`, at `address` unless that is 0.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn grant(self, bytes: u32, spec: u32, address: u32) -> Result<Granted, Failure> {
        self.whole(&Request { bytes, spec, ..Request::new(Operation::Grant).about(address) })
    }

    /// This domain's own shared memory, made when there is none.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn share(self, wanted: &SharedWanted) -> Result<Granted, Failure> {
        self.whole(&wanted.request(Operation::Share))
    }

    /// The shared memory of the domain `owner`, as far as manifest and owner permit it.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn join(self, owner: &str, wanted: &SharedWanted) -> Result<Granted, Failure> {
        self.whole(&wanted.request(Operation::Join).with(owner))
    }

    /// Lets the domain `domain` (empty: every one that the manifest names) map the caller's shared memory `share` with the bits `READ`
    /// and `WRITE` of [`access`]; none of them takes the permission away.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn permit(self, share: &str, domain: &str, access: u32) -> Result<(), Failure> {
        let access = access & (access::READ | access::WRITE);
        self.left(&Request { access, ..Request::new(Operation::Permit).of(share).with(domain) }).map(|_| ())
    }

    /// Takes the caller's shared memory `share` away from everybody else: a call for every few domains.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn revoke(self, share: &str) -> Result<(), Failure> {
        while self.left(&Request::new(Operation::Revoke).of(share))? > 0 {}
        Ok(())
    }

    /// Gives memory back without scrubbing it; returns the bytes to scrub, once it is out of this domain's table.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn release(self, base: u32) -> Result<u32, Failure> {
        self.left(&Request::new(Operation::Release).about(base))
    }

    /// One step of scrubbing what was released at `base`; returns the bytes left.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn scrub(self, base: u32) -> Result<u32, Failure> {
        self.left(&Request::new(Operation::Scrub).about(base))
    }

    /// Gives memory back and scrubs it: as many calls as its size takes steps, all of them paid by the caller.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn free(self, base: u32) -> Result<(), Failure> {
        let mut left = self.release(base)?;
        while left > 0 {
            left = self.scrub(base)?;
        }
        Ok(())
    }

    /// The grant that holds an address.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn query(self, address: u32) -> Result<Granted, Failure> {
        self.granted(&Request::new(Operation::Query).about(address))
    }

    /// One step of giving back everything that the caller holds (no name) or, for a supervisor, that the domain `name` holds;
    /// returns the number of things left.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn reclaim(self, name: &str) -> Result<u32, Failure> {
        self.left(&Request::new(Operation::Reclaim).with(name))
    }
}
