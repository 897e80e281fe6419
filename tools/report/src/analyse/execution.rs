//! Use counted from execution: what the observer saw run, who that was, and who pays for the kernel's part.
//!
//! A switch is paid with what it takes at most (docs/time.md, rule b): who is switched away from is charged until E before the kernel reads the clock,
//! and who is switched to from X after that. The neighbours of a switch that took less than E + X
//! run for the difference on the account of the activation. The moment at which the clock was read
//! does not show from outside, so that each neighbour is given as much of the difference as can be
//! its own.

use std::collections::{BTreeMap, VecDeque};

use abi::Call;
use record::{Handled, RunEvent, Summary};

use super::payer::{Account, Payers};
use super::supply::Use;
use crate::describe::{Costs, SystemDescription};
use crate::schema::{HandlersUse, KernelUse, Mismatch};

/// Most stretches that are kept to see who ran while a release was due.
const KEPT: usize = 128;
/// No stack that is known.
const NO_STACK: u16 = u16::MAX;

/// Time that one thread used.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadMeter {
    /// Its code, in its own domain, without what switches have paid for.
    pub user: u64,
    /// The same in gates.
    pub gates: u64,
    /// Its code in time that switches have paid for.
    pub given: u64,
    /// The kernel, for its calls and faults.
    pub calls: u64,
    /// The kernel, for switches that it arranged.
    pub activations: u64,
    /// Time that a job's `wcet` is about: its code and calls in its own domain, whoever pays. Gates
    /// and misses are declared apart.
    pub own: u64,
    /// Times that it went on after others had run.
    pub resumed: u64,
}

impl ThreadMeter {
    /// Time that its budget is charged for between switches.
    pub const fn charged(&self) -> u64 {
        self.user + self.gates + self.calls
    }
}

/// Time that has to be charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    pub thread: u16,
    pub from: u64,
    pub to: u64,
    pub what: Use,
}

/// Time that a thread runs and does not pay for.
#[derive(Clone, Copy, Debug)]
struct Credit {
    thread: u16,
    cycles: u64,
    /// Thread whose activation pays, if it can be told.
    payer: Option<u16>,
}

/// Most charges that one record leads to.
pub type Charges = [Option<Charge>; 2];

/// Thread that runs, and the domain that it is in, as the kernel says.
pub type Context = Option<(u16, u8)>;

/// A stretch in which code of some importance ran.
#[derive(Clone, Copy, Debug)]
struct Past {
    from: u64,
    to: u64,
    /// Less is more important.
    priority: u16,
}

/// Observations so far.
#[derive(Debug)]
pub struct Execution {
    payers: Payers,
    costs: Costs,
    credit: Option<Credit>,
    /// A stretch of code whose end may be paid by the switch behind it, and whether it was in a gate.
    held: Option<Charge>,
    held_in_gate: bool,
    /// The observer has recorded who ran; otherwise the kernel's switches say it.
    pub is_recorded: bool,
    /// End of the last stretch, or how far the kernel's current one is charged already.
    since: u64,
    before: Context,
    pub threads: Vec<ThreadMeter>,
    /// Cycles of user code by domain, as the processor's state says, and of calls.
    pub domains: BTreeMap<u8, (u64, u64)>,
    /// Handlers that interrupts reach without the kernel, by domain.
    pub served: BTreeMap<u8, HandlersUse>,
    pub kernel: BTreeMap<(u16, Option<u8>), KernelUse>,
    pub lines: BTreeMap<u16, u64>,
    pub timer: u64,
    pub nobody: u64,
    pub mismatch: Option<Mismatch>,
    pub mismatches: u64,
    past: VecDeque<Past>,
}

impl Execution {
    /// Nothing seen.
    pub fn new(system: &SystemDescription, summary: &Summary) -> Execution {
        let threads = system.threads.iter().map(|thread| usize::from(thread.index) + 1).max().unwrap_or(0);
        Execution {
            payers: Payers::new(system, summary.architecture),
            costs: system.costs,
            credit: None,
            held: None,
            held_in_gate: false,
            is_recorded: summary.use_recorded,
            since: 0,
            before: None,
            threads: vec![ThreadMeter::default(); threads],
            domains: BTreeMap::new(),
            served: BTreeMap::new(),
            kernel: BTreeMap::new(),
            lines: BTreeMap::new(),
            timer: 0,
            nobody: 0,
            mismatch: None,
            mismatches: 0,
            past: VecDeque::new(),
        }
    }

    /// Code of a domain ran until now, while the kernel's records say that `context` runs.
    pub fn ran(&mut self, event: &RunEvent, context: Context, system: &SystemDescription) -> Charges {
        let from = self.stretch(event);
        self.hold(event, context, system);
        self.before = context;
        let earlier = self.held.take();
        let Some((thread, domain)) = context else { return [earlier, None] };
        let seen = if event.domain == record::IDLE { domain } else { event.domain };
        let cycles = event.cycle.saturating_sub(from);
        self.domains.entry(seen).or_default().0 += cycles;
        let (given, payer) = self.spend_credit(thread, cycles);
        let Some(meter) = self.threads.get_mut(usize::from(thread)) else { return [earlier, None] };
        let at_home = home(system, thread) == Some(domain);
        let paid = if at_home { &mut meter.user } else { &mut meter.gates };
        *paid += cycles - given;
        meter.given += given;
        if at_home {
            meter.own += cycles;
        }
        let begin = from + given;
        self.held_in_gate = !at_home;
        self.held = Some(Charge { thread, from: begin, to: event.cycle, what: Use::User });
        let activation = payer.map(|thread| Charge { thread, from, to: begin, what: Use::Activation });
        if let Some(payer) = payer.and_then(|payer| self.threads.get_mut(usize::from(payer))) {
            payer.activations += given;
        }
        [earlier, activation.filter(|_| given > 0)]
    }

    /// A handler ran that interrupts reach without the kernel: its domain uses that, whatever it has interrupted.
    pub fn served(&mut self, event: &RunEvent) {
        let served = self.served.entry(event.domain).or_default();
        served.count += 1;
        served.cycles += u64::from(event.payload);
        served.max_cycles = served.max_cycles.max(u64::from(event.payload));
    }

    /// An exception of the kernel ran above a handler, and it went on or was ended. Nobody's thread pays (docs/time.md).
    pub fn looked(&mut self, event: &RunEvent) {
        let handled = Handled { exception: event.detail, call: None };
        let used = self.kernel.entry((event.detail, None)).or_insert_with(|| KernelUse::of(handled));
        used.add(u64::from(event.payload), false);
    }

    /// How much of a stretch of a thread's code is paid already, and by whom. Credit ends when another thread runs.
    fn spend_credit(&mut self, thread: u16, cycles: u64) -> (u64, Option<u16>) {
        let Some(Credit { cycles: credit, payer, .. }) = self.credit.take().filter(|credit| credit.thread == thread)
        else {
            return (0, None);
        };
        let given = credit.min(cycles);
        if given < credit {
            self.credit = Some(Credit { thread, cycles: credit - given, payer });
        }
        (given, payer)
    }

    /// The thread that ran before the kernel did.
    pub fn last_thread(&self) -> Option<u16> {
        self.before.map(|(thread, _)| thread)
    }

    /// The kernel ran until now; `context` goes on.
    pub fn handled(&mut self, event: &RunEvent, context: Context, system: &SystemDescription) -> Charges {
        let from = self.stretch(event);
        let handled = Handled::from_detail(event.detail);
        let (before, after) = (std::mem::replace(&mut self.before, context), context);
        let [last, next] = [before, after].map(|context| context.map(|(thread, _)| thread));
        let switched = last != next;
        let count = self.kernel.entry((handled.exception, handled.call)).or_insert_with(|| KernelUse::of(handled));
        count.add(u64::from(event.payload), switched);
        if let Some(meter) = next.filter(|_| switched).and_then(|thread| self.threads.get_mut(usize::from(thread))) {
            meter.resumed += 1;
        }
        let account = self.payers.account(handled, last, next);
        let cycles = event.cycle.saturating_sub(from);
        let earlier = self.give(account, (last, next), u64::from(event.payload));
        let charge = |thread, what| Some(Charge { thread, from, to: event.cycle, what });
        match account {
            Account::Call(thread) => {
                let Some(meter) = self.threads.get_mut(usize::from(thread)) else { return [earlier, None] };
                meter.calls += cycles;
                if before.is_some_and(|(thread, domain)| home(system, thread) == Some(domain)) && !is_apart(handled) {
                    meter.own += cycles;
                }
                if let Some((_, domain)) = before {
                    self.domains.entry(domain).or_default().1 += cycles;
                }
                return [earlier, charge(thread, Use::Call)];
            }
            Account::Activation(thread) => {
                let Some(meter) = self.threads.get_mut(usize::from(thread)) else { return [earlier, None] };
                meter.activations += cycles;
                return [earlier, charge(thread, Use::Activation)];
            }
            Account::Line(line) => *self.lines.entry(line).or_default() += cycles,
            Account::Timer => self.timer += cycles,
            Account::Nobody => self.nobody += cycles,
        }
        [earlier, None]
    }

    /// Gives the neighbours of a path what it took less than was paid for it. The charge of the stretch before it.
    fn give(&mut self, account: Account, (last, next): (Option<u16>, Option<u16>), took: u64) -> Option<Charge> {
        let Costs { entry_cycles, exit_cycles, early_cycles, .. } = self.costs;
        let switch = (entry_cycles + exit_cycles).saturating_sub(took);
        let (before, after) = match account {
            _ if last != next => (switch.min(entry_cycles), switch.min(exit_cycles)),
            Account::Line(_) => (0, switch),
            Account::Timer => (0, early_cycles.saturating_sub(took)),
            _ => (0, 0),
        };
        let payer = if let Account::Activation(payer) = account { Some(payer) } else { None };
        if let Some(thread) = next.filter(|_| after > 0) {
            // Of the same thread's last interruption something may be left.
            let left = self.credit.filter(|credit| credit.thread == thread && last == next).map_or(0, |c| c.cycles);
            self.credit = Some(Credit { thread, cycles: left + after, payer });
        }
        let mut held = self.held.take()?;
        let given = before.min(held.to - held.from);
        held.to -= given;
        let in_gate = self.held_in_gate;
        let meter = self.threads.get_mut(usize::from(held.thread))?;
        let paid = if in_gate { &mut meter.gates } else { &mut meter.user };
        *paid = paid.saturating_sub(given);
        meter.given += given;
        Some(held)
    }

    /// In the middle of the kernel's work for a thread, which enters or leaves a gate now: what was done so far is its call.
    pub fn so_far(&mut self, thread: u16, cycle: u64) -> Charges {
        let earlier = self.held.take();
        if !self.is_recorded || cycle <= self.since {
            return [earlier, None];
        }
        let from = std::mem::replace(&mut self.since, cycle);
        let Some(meter) = self.threads.get_mut(usize::from(thread)) else { return [earlier, None] };
        meter.calls += cycle - from;
        [earlier, Some(Charge { thread, from, to: cycle, what: Use::Call })]
    }

    /// The run is over.
    pub fn close(&mut self) -> Charges {
        [self.held.take(), None]
    }

    /// Begin of the stretch that a record ends, or of what is left of it.
    fn stretch(&mut self, event: &RunEvent) -> u64 {
        let from = event.cycle.saturating_sub(u64::from(event.payload)).max(self.since);
        self.since = self.since.max(event.cycle);
        from.min(event.cycle)
    }

    /// Holds what the kernel says of who runs against what the processor's state says.
    fn hold(&mut self, event: &RunEvent, context: Context, system: &SystemDescription) {
        let stack = system.stacks.get(usize::from(event.detail)).filter(|_| event.detail != NO_STACK);
        let hostile = |domain: u8| system.domains.iter().any(|d| d.index == domain && d.hostile);
        let (thread, domain) = context.unzip();
        let wrong_domain = event.domain != record::IDLE && Some(event.domain) != domain;
        // A hostile domain can point its stack pointer anywhere.
        let owner = stack.filter(|stack| stack.domain == event.domain && !hostile(stack.domain));
        let owner = owner.and_then(|stack| stack.thread);
        let wrong_thread = owner.is_some() && owner != thread;
        if wrong_domain || wrong_thread {
            self.mismatches += 1;
            let at = event.cycle.saturating_sub(u64::from(event.payload));
            let seen_domain = (event.domain != record::IDLE).then_some(event.domain);
            self.mismatch.get_or_insert(Mismatch { at, thread, domain, seen_domain, seen_stack_of: owner });
        }
    }

    /// Code ran, or the processor slept, with an importance.
    pub fn remember(&mut self, from: u64, to: u64, priority: u16) {
        if self.past.len() == KEPT {
            self.past.pop_front();
        }
        self.past.push_back(Past { from, to, priority });
    }

    /// For how long between two cycles code ran that is less important than this, or the processor slept.
    pub fn less_important(&self, from: u64, to: u64, priority: u8) -> u64 {
        let less = self.past.iter().filter(|past| past.priority > u16::from(priority));
        less.map(|past| past.to.min(to).saturating_sub(past.from.max(from))).sum()
    }
}

fn home(system: &SystemDescription, thread: u16) -> Option<u8> {
    system.threads.iter().find(|t| t.index == thread).map(|thread| thread.domain)
}

/// Work that a job's `wcet` is not about: gates and misses are declared apart.
fn is_apart(handled: Handled) -> bool {
    let call = handled.call.and_then(|number| Call::from_number(u32::from(number)));
    matches!(call, Some(Call::GateCall | Call::GateReturn)) || handled.exception == super::MEM_MANAGE
}
