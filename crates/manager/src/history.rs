//! Long random histories of requests. They can be replayed on the host and on the target, so that
//! every decision can be compared.
//!
//! The next request depends on the answers so far, because only what was granted can be released.
//! The whole state is words, so that several domains can take turns at one history in shared
//! memory.

use crate::rule::change;
use crate::wire::{Answer, MESSAGE_WORDS, Message, Operation, Refused, Request, access};

/// Things that the history remembers at a time.
pub const SLOTS: usize = 48;
/// Words of the state.
pub const WORDS: usize = FIRST_SLOT + SLOTS * SLOT_WORDS;

const RANDOM: usize = 0;
const INDEX: usize = 1;
const WHO: usize = 2;
const CLIENTS: usize = 3;
const SLOT: usize = 4;
const SPECS: usize = 5;
const REQUEST: usize = 6;
const FIRST_SLOT: usize = REQUEST + MESSAGE_WORDS;
/// State, client, address.
const SLOT_WORDS: usize = 3;
const FREE: u32 = 0;
const HELD: u32 = 1;
const DIRTY: u32 = 2;
/// Granted, and not mapped to its end.
const PARTIAL: u32 = 3;
/// No slot belongs to the request.
const NO_SLOT: u32 = u32::MAX;
/// Most specifications to choose from.
const MAX_SPECS: usize = 8;

/// Names of the clients, in the order of their numbers.
pub const NAMES: [&str; 3] = ["control", "store", "script"];
/// Names of shared memory that are asked for; a system declares the first three for some clients, and never the last.
pub const SHARED: [&str; 4] = ["samples", "series", "log", "absent"];

/// The history that host and target are compared by: its seed, its length, and what is asked for.
pub const COMPARED_SEED: u32 = 2026;
/// Requests of that history.
pub const COMPARED_STEPS: u32 = 4000;
/// Best effort, L2, L1, deterministic, L3 (which no platform here keeps), independent L2, and bits that are no specification.
pub const COMPARED_SPECS: &[u32] = &[0, 2, 3, 4, 1, 2 | 8, 0x100];

/// A history and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    words: [u32; WORDS],
    specs: [u32; MAX_SPECS],
}

impl History {
    /// The beginning of a history of `clients` clients that ask for the given specifications (packed; up to eight count).
    ///
    /// # Panics
    /// When there are no clients or no specifications.
    pub fn new(seed: u32, clients: usize, specs: &[u32]) -> History {
        assert!(clients > 0 && !specs.is_empty());
        let mut history = History::resume([0; WORDS], specs);
        history.words[RANDOM] = seed | 1;
        history.words[CLIENTS] = clients as u32;
        history.plan();
        history
    }

    /// A history at the point that [`History::words`] has described.
    pub fn resume(mut words: [u32; WORDS], specs: &[u32]) -> History {
        let mut kept = [0; MAX_SPECS];
        let count = specs.len().min(MAX_SPECS);
        kept[..count].copy_from_slice(&specs[..count]);
        words[SPECS] = count as u32;
        History { words, specs: kept }
    }

    /// The state.
    pub fn words(&self) -> &[u32; WORDS] {
        &self.words
    }

    /// Number of the request that comes next, from 0.
    pub fn index(&self) -> u32 {
        self.words[INDEX]
    }

    /// The client whose turn it is, from 0.
    pub fn who(&self) -> usize {
        self.words[WHO] as usize
    }

    /// The request that comes next.
    pub fn message(&self) -> Message {
        let mut message = [0; MESSAGE_WORDS];
        message.copy_from_slice(&self.words[REQUEST..FIRST_SLOT]);
        message
    }

    fn random(&mut self) -> u32 {
        // xorshift32 (Marsaglia 2003)
        let state = &mut self.words[RANDOM];
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        *state
    }

    fn below(&mut self, limit: u32) -> u32 {
        (self.random() >> 3) % limit
    }

    fn slot(&mut self, index: u32) -> &mut [u32] {
        let first = FIRST_SLOT + index as usize * SLOT_WORDS;
        &mut self.words[first..first + SLOT_WORDS]
    }

    /// Finds a slot in this state. Unless it is to be free, it belongs to this client. The search
    /// begins at a random slot.
    fn find(&mut self, state: u32, who: u32) -> Option<u32> {
        let from = self.below(SLOTS as u32);
        (0..SLOTS as u32).map(|step| (from + step) % SLOTS as u32).find(|index| {
            let slot = self.slot(*index);
            slot[0] == state && (state == FREE || slot[1] == who)
        })
    }

    /// A size: every magnitude from one byte to 256 KiB alike, powers of two and their neighbours often.
    fn size(&mut self) -> u32 {
        let magnitude = 1 << self.below(19);
        match self.below(4) {
            0 => magnitude,
            1 => magnitude + 1,
            _ => magnitude + self.below(magnitude),
        }
    }

    fn spec(&mut self) -> u32 {
        let index = self.below(self.words[SPECS]);
        self.specs[index as usize]
    }

    fn name(&mut self) -> &'static str {
        NAMES[self.below(NAMES.len() as u32) as usize]
    }

    fn plan(&mut self) {
        let who = self.below(self.words[CLIENTS]);
        let partial = (0..SLOTS as u32).find(|index| self.slot(*index)[..2] == [PARTIAL, who]);
        let (slot, request) = match self.below(16) {
            0..=11 if partial.is_some() => self.plan_about(PARTIAL, who, Operation::Map),
            12 if partial.is_some() => self.plan_about(PARTIAL, who, Operation::Release),
            0..=4 => self.plan_grant(),
            5..=7 => self.plan_about(HELD, who, Operation::Release),
            8..=11 => self.plan_about(DIRTY, who, Operation::Scrub),
            12 => self.plan_about(HELD, who, Operation::Query),
            13 => (self.find(FREE, who), self.plan_share(who)),
            14 => {
                let (access, share) = (self.below(4), self.share_of(who));
                let request = Request { access, ..Request::new(Operation::Permit) }.of(share);
                (None, if self.below(2) == 0 { request } else { request.with(self.name()) })
            }
            _ if self.below(4) > 0 => (self.find(FREE, who), self.plan_share(who)),
            _ => (None, Request::new(Operation::Revoke).of(self.share_of(who))),
        };
        self.words[WHO] = who;
        self.words[SLOT] = slot.unwrap_or(NO_SLOT);
        self.words[REQUEST..FIRST_SLOT].copy_from_slice(&request.encode());
    }

    /// Plans a request for the client's own shared memory, or for another's. Mostly it is declared
    /// memory with the specification that goes with the name; otherwise hardly any could be joined.
    fn plan_share(&mut self, who: u32) -> Request {
        let access = access::READ | self.below(16);
        let joins = self.below(2) == 0;
        let owner = if joins { self.below(NAMES.len() as u32) } else { who };
        let share = self.share_of(owner);
        let spec = if self.below(4) == 0 { self.spec() } else { self.specs[owner as usize % MAX_SPECS] };
        let request = Request { spec, access, ..Request::new(Operation::Share) }.of(share);
        if joins {
            let access = if self.below(4) == 0 { access } else { access::READ };
            let request = Request { operation: Operation::Join, bytes: 1 + self.below(256), access, ..request };
            return request.with(NAMES[owner as usize]);
        }
        Request { bytes: self.size(), ..request }
    }

    /// A name that a client mostly has declared. Now and then it has not, so that refusals are
    /// tried, too.
    fn share_of(&mut self, who: u32) -> &'static str {
        match (self.below(8), who) {
            (0, _) => SHARED[self.below(SHARED.len() as u32) as usize],
            (1..4, 0) => SHARED[1],
            (_, 2) => SHARED[2],
            _ => SHARED[0],
        }
    }

    fn plan_grant(&mut self) -> (Option<u32>, Request) {
        let (bytes, spec) = (self.size(), self.spec());
        let free = self.find(FREE, 0);
        let request = Request { bytes, spec, ..Request::new(Operation::Grant) };
        // Now and then at an address that somebody had.
        if self.below(8) == 0 {
            let index = self.below(SLOTS as u32);
            let address = self.slot(index)[2];
            return (free, request.about(address));
        }
        // If a grant could not be remembered, a query is asked instead, which changes nothing.
        if free.is_some() { (free, request) } else { (None, Request::new(Operation::Query).about(1)) }
    }

    fn plan_about(&mut self, state: u32, who: u32, operation: Operation) -> (Option<u32>, Request) {
        match self.find(state, who) {
            Some(slot) => {
                let address = self.slot(slot)[2];
                (Some(slot), Request::new(operation).about(address))
            }
            None => self.plan_grant(),
        }
    }

    /// Takes the answer to [`History::message`] and goes on to the next request. `None` stands for an error.
    pub fn learn(&mut self, answer: Option<&Answer>) {
        let (slot, who, operation) = (self.words[SLOT], self.words[WHO], self.words[REQUEST]);
        if slot != NO_SLOT {
            let known = self.slot(slot)[0];
            match answer {
                Some(Answer::Granted(granted)) if known == FREE => {
                    // Shared memory that the client had already stays where it is remembered, or it
                    // would be released twice.
                    let base = granted.base;
                    let state = if granted.left > 0 { PARTIAL } else { HELD };
                    let again = (0..SLOTS as u32).any(|index| {
                        [HELD, PARTIAL].contains(&self.slot(index)[0]) && self.slot(index)[1..] == [who, base]
                    });
                    if !again {
                        self.slot(slot).copy_from_slice(&[state, who, base]);
                    }
                }
                Some(Answer::Done(left)) if operation == Operation::Release as u32 => {
                    self.slot(slot)[0] = if *left == 0 { FREE } else { DIRTY };
                }
                Some(Answer::Done(0)) if operation == Operation::Map as u32 => self.slot(slot)[0] = HELD,
                Some(Answer::Done(0)) if operation == Operation::Scrub as u32 => self.slot(slot)[0] = FREE,
                // Memory that was joined and then revoked no longer exists for the client, so it is
                // forgotten.
                Some(Answer::Refused(refused)) if refused.rule == crate::rule::EXISTS => self.slot(slot)[0] = FREE,
                _ => {}
            }
        }
        self.words[INDEX] = self.words[INDEX].wrapping_add(1);
        match answer {
            Some(Answer::Refused(Refused { change: change::UNKNOWN, value, .. }))
                if operation == Operation::Explain as u32 || self.below(8) == 0 =>
            {
                self.plan_explain(*value as u16);
            }
            _ => self.plan(),
        }
    }

    /// Plans the request by which the same client asks what would be admitted in place of its last
    /// one.
    fn plan_explain(&mut self, step: u16) {
        let Some(refused) = Request::decode(&self.message()) else { return self.plan() };
        self.words[SLOT] = NO_SLOT;
        self.words[REQUEST..FIRST_SLOT].copy_from_slice(&refused.explained(step).encode());
    }
}

/// One word for an answer, so that two histories can be compared: FNV-1a over the message; 0 for an error.
pub fn digest(answer: Option<&Answer>) -> u32 {
    let fold = |hash: u32, word: &u32| (hash ^ word).wrapping_mul(0x0100_0193);
    answer.map_or(0, |answer| answer.encode().iter().fold(0x811c_9dc5, fold))
}
