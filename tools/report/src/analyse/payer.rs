//! Payer of the kernel's work (docs/time.md, Payer), told from the exception that led to it and
//! from who ran before and after it.
//!
//! * Work of the kernel for a thread that goes on afterwards is that thread's call, or, after an
//!   interrupt, the line's or the timer's.
//! * A switch belongs to an activation: to that of the thread that preempts, or of the one that cannot go on. `SIGNAL` pays for whom it wakes.
//! * A thread of a domain that was restarted begins on the account of whoever restarted it.
//! * A thread that waited for a notification was woken by a line, which its own budget pays, or by a signal, which the signaller has paid.
//!   Nobody is charged if that cannot be told from outside.

use abi::Call;
use record::{Architecture, Handled};

use crate::describe::SystemDescription;

/// Account that a stretch of the kernel's goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// A call or fault of the thread.
    Call(u16),
    /// An activation that the thread arranged.
    Activation(u16),
    /// A line's interrupt that switched to nobody.
    Line(u16),
    /// A timer's interrupt that switched to nobody.
    Timer,
    /// Start, idling, and switches whose payer cannot be told.
    Nobody,
}

/// The one who arranged that a thread was woken last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arranged {
    /// The thread, or a line of its domain.
    Itself,
    /// Another thread, by a signal.
    By(u16),
    /// It waits for a notification.
    Open,
    /// It cannot be told.
    Unknown,
}

/// Facts that are known of each thread.
#[derive(Debug)]
pub struct Payers {
    architecture: Architecture,
    priorities: Vec<u8>,
    arranged: Vec<Arranged>,
    /// How often the timer may still wake each thread until it runs again.
    asleep: Vec<u8>,
    lines: Vec<u16>,
}

/// The end of a sleep, and a boundary of the budget that was empty then.
const WAKES: u8 = 2;

impl Payers {
    /// Every thread has arranged its start.
    pub fn new(system: &SystemDescription, architecture: Architecture) -> Payers {
        let threads = system.threads.iter().map(|thread| usize::from(thread.index) + 1).max().unwrap_or(0);
        let mut priorities = vec![u8::MAX; threads];
        for thread in &system.threads {
            priorities[usize::from(thread.index)] = thread.priority;
        }
        let lines = system.interrupts.iter().map(|interrupt| interrupt.line).collect();
        let asleep = vec![0; threads];
        Payers { architecture, priorities, arranged: vec![Arranged::Itself; threads], asleep, lines }
    }

    /// Whether an exception comes from what the running thread did.
    pub const fn is_synchronous(&self, exception: u16) -> bool {
        self.architecture.is_synchronous(exception)
    }

    /// The line of an interrupt, if it is a domain's.
    fn line(&self, exception: u16) -> Option<u16> {
        let line = exception.checked_sub(record::FIRST_LINE)?;
        self.lines.contains(&line).then_some(line)
    }

    fn priority(&self, thread: u16) -> u8 {
        self.priorities.get(usize::from(thread)).copied().unwrap_or(u8::MAX)
    }

    /// Account that pays for a stretch of the kernel's between a thread that ran before it and one
    /// that goes on.
    pub fn account(&mut self, handled: Handled, before: Option<u16>, after: Option<u16>) -> Account {
        let Handled { exception, call } = handled;
        let call = call.and_then(|number| Call::from_number(u32::from(number)));
        let line = self.line(exception);
        if exception == 0 {
            return Account::Nobody;
        }
        if before == after {
            return match before {
                Some(thread) if self.is_synchronous(exception) => Account::Call(thread),
                _ => line.map_or(Account::Timer, Account::Line),
            };
        }
        let signaller = before.filter(|_| call == Some(Call::Signal));
        if let Some(woken) = after.and_then(|thread| self.arranged.get_mut(usize::from(thread)))
            && *woken == Arranged::Open
        {
            *woken = match (signaller, line) {
                (Some(signaller), _) => Arranged::By(signaller),
                (None, Some(_)) => Arranged::Itself,
                (None, None) => Arranged::Unknown,
            };
        }
        let preempting = after.filter(|next| before.is_none_or(|last| self.priority(*next) < self.priority(last)));
        let account = match (signaller, preempting, before) {
            (Some(signaller), ..) => Account::Activation(signaller),
            (None, Some(next), _) => self.activation(next),
            // An exhausted budget pays for its own end.
            (None, None, Some(last)) if !self.is_synchronous(exception) => Account::Activation(last),
            (None, None, Some(last)) => self.activation(last),
            (None, None, None) => Account::Nobody,
        };
        // The thread has used its budget up: it has arranged by itself what comes at the boundary, whoever woke it before.
        if let (None, None, Some(last)) = (signaller, preempting, before)
            && !self.is_synchronous(exception)
            && let Some(place) = self.arranged.get_mut(usize::from(last))
        {
            *place = Arranged::Itself;
        }
        if let Some(last) = before {
            if let Some(asleep) = self.asleep.get_mut(usize::from(last)) {
                *asleep = WAKES;
            }
            self.stops(last, call);
        }
        account
    }

    /// Whose activation a switch is: of who preempts, or of who cannot go on.
    pub fn activated(&self, before: Option<u16>, after: Option<u16>) -> Option<u16> {
        let preempts = |next: &u16| before.is_none_or(|last| self.priority(*next) < self.priority(last));
        after.filter(preempts).or(before)
    }

    /// Whether an interrupt of the timer behind which a thread goes on may have woken another one: as important, or without budget.
    pub fn wakes(&mut self, running: u16) -> bool {
        let priority = self.priority(running);
        let others = self.priorities.iter().zip(&mut self.asleep).enumerate();
        let mut others = others.filter(|(other, _)| *other != usize::from(running));
        let woken = others.find(|(_, (other, asleep))| **other <= priority && **asleep > 0);
        woken.map(|(_, (_, asleep))| *asleep -= 1).is_some()
    }

    fn activation(&self, thread: u16) -> Account {
        match self.arranged.get(usize::from(thread)) {
            Some(Arranged::Itself) => Account::Activation(thread),
            Some(Arranged::By(other)) => Account::Activation(*other),
            _ => Account::Nobody,
        }
    }

    /// A thread begins anew: whoever restarted its domain has paid for that (docs/time.md, rule c).
    pub fn restarted(&mut self, thread: u16, by: Option<u16>) {
        if let Some(place) = self.arranged.get_mut(usize::from(thread)) {
            *place = by.map_or(Arranged::Unknown, Arranged::By);
        }
    }

    /// A thread does not go on, and this is how.
    fn stops(&mut self, thread: u16, call: Option<Call>) {
        let arranged = match call {
            Some(Call::Wait) => Arranged::Open,
            Some(Call::SleepUntil | Call::WaitPeriod) => Arranged::Itself,
            // It is preempted, out of budget or in a fault: who woke it does not change.
            _ => return,
        };
        if let Some(place) = self.arranged.get_mut(usize::from(thread)) {
            *place = arranged;
        }
    }
}
