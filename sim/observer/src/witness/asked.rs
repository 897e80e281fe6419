//! What the kernel changes of the memory of others because the hostile domain has asked for it, by right: a callee's answer in its caller's memory, and
//! a restart of a domain. Nothing else of a call may change anything there.

use std::collections::BTreeMap;

use abi::{Call, MAX_NESTING};

const COPIES: usize = Call::GateCopyOut as usize;
const RESTARTS: usize = Call::DomainRestart as usize;

/// Whose memory the call that goes on may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lawful {
    /// A domain's: that of the caller of the gate.
    Of(u8),
    /// One domain's, whichever: which one the call names, its number does not say.
    AnyOne,
}

/// What the kernel's records say of gates, and the call that goes on.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The domains from which each thread has entered gates, the innermost last.
    callers: BTreeMap<u16, Vec<u8>>,
    /// The thread that runs.
    thread: u16,
    lawful: Option<Lawful>,
}

impl Asked {
    /// A thread runs from now on.
    pub fn switched(&mut self, thread: u16) {
        (self.thread, self.lawful) = (thread, None);
    }

    /// A thread enters a gate, from the memory of `caller`.
    pub fn entered(&mut self, thread: u16, caller: u8) {
        self.switched(thread);
        let callers = self.callers.entry(thread).or_default();
        // No kernel lets a thread in deeper.
        if callers.len() < MAX_NESTING {
            callers.push(caller);
        }
    }

    /// A thread is back from a gate; it need not be the one that runs.
    pub fn left(&mut self, thread: u16) {
        self.switched(self.thread);
        self.callers.get_mut(&thread).and_then(Vec::pop);
    }

    /// Whether a call changes memory of others by right.
    pub fn concerns(number: Option<usize>) -> bool {
        number == Some(COPIES) || number == Some(RESTARTS)
    }

    /// The thread that runs calls the kernel; without a number, no call goes on.
    pub fn calls(&mut self, number: Option<usize>) {
        self.lawful = match number {
            Some(COPIES) => self.callers.get(&self.thread).and_then(|callers| callers.last()).copied().map(Lawful::Of),
            Some(RESTARTS) => Some(Lawful::AnyOne),
            _ => None,
        };
    }

    /// Whether a call goes on that may change memory of others.
    pub fn may_change(&self) -> bool {
        self.lawful.is_some()
    }

    /// Whether what has changed of a domain's memory is what was asked for.
    pub fn permits(&mut self, victim: u8) -> bool {
        match self.lawful {
            Some(Lawful::Of(domain)) => domain == victim,
            Some(Lawful::AnyOne) => {
                self.lawful = Some(Lawful::Of(victim));
                true
            }
            None => false,
        }
    }
}
