//! Use counted from execution: what the observer saw run, who that was, and who pays for the kernel's part.
//!
//! A switch is paid with what it takes at most (docs/time.md, rule b): whoever is switched to may run for E + X more than is left of its budget, for the
//! way out of the kernel and the way back in. The moments at which the clock was read do not show from outside, so that all of E + X is taken for time
//! of the thread: its code, its calls and the prices of what it arranges draw on it, in this order of time. Who has arranged the switch pays for
//! it, up to what the switch itself took less than E + X; what exceeds that is in no account.

use std::collections::{BTreeMap, VecDeque};

use abi::Call;
use record::{Handled, RunEvent, Summary};

use super::payer::{Account, Payers};
use super::supply::Use;
use crate::describe::{Costs, SystemDescription};
use crate::schema::{HandlersUse, KernelUse, Mismatch, Unpaid};

/// Most stretches that are kept to see who ran while a release was due.
const KEPT: usize = 128;
/// No stack that is known.
const NO_STACK: u16 = u16::MAX;

/// Time that one thread used.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadMeter {
    /// Its code, in its own domain, without what switches have paid for, as all that is charged.
    pub user: u64,
    /// The same in gates.
    pub gates: u64,
    /// Its code and calls in time that switches have paid for.
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
    /// Of an activation: the thread that it is of, if that is another one. It may have been paid in an earlier period.
    pub of: Option<u16>,
}

/// Time that a thread need not pay for.
#[derive(Clone, Copy, Debug, Default)]
struct Credit {
    thread: u16,
    cycles: u64,
    /// Thread whose activation pays, if it can be told, and for how much of it.
    payer: Option<u16>,
    payable: u64,
}

impl Credit {
    /// Draws so many cycles: how many there were, and for how many of them the payer pays.
    fn draw(&mut self, cycles: u64) -> (u64, u64) {
        let given = cycles.min(self.cycles);
        let paid = if self.payer.is_some() { given.min(self.payable) } else { 0 };
        self.cycles -= given;
        self.payable -= paid;
        (given, paid)
    }
}

/// Most charges that one record leads to.
pub type Charges = [Option<Charge>; 3];

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
    /// Of the thread that runs.
    credit: Credit,
    /// Of each thread: what was left when it stopped last, if others had paid for that. What it has arranged meanwhile draws on it.
    carried: Vec<Credit>,
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
    /// Work of the kernel that no account pays for, by what it was for.
    pub nobody: BTreeMap<(u16, Option<u8>), Unpaid>,
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
            credit: Credit::default(),
            carried: vec![Credit::default(); threads],
            is_recorded: summary.use_recorded,
            since: 0,
            before: None,
            threads: vec![ThreadMeter::default(); threads],
            domains: BTreeMap::new(),
            served: BTreeMap::new(),
            kernel: BTreeMap::new(),
            lines: BTreeMap::new(),
            timer: 0,
            nobody: BTreeMap::new(),
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
        let Some((thread, domain)) = context else { return [None; 3] };
        let seen = if event.domain == record::IDLE { domain } else { event.domain };
        let cycles = event.cycle.saturating_sub(from);
        self.domains.entry(seen).or_default().0 += cycles;
        let at_home = home(system, thread) == Some(domain);
        let (given, others) = self.given(thread, (from, event.cycle));
        let Some(meter) = self.threads.get_mut(usize::from(thread)) else { return [None; 3] };
        let paid = if at_home { &mut meter.user } else { &mut meter.gates };
        *paid += cycles - given;
        if at_home {
            meter.own += cycles;
        }
        let own = Charge { thread, from: from + given, to: event.cycle, what: Use::User, of: None };
        [others[0], others[1], Some(own)]
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
        self.unpaid(handled, u64::from(event.payload));
    }

    /// The kernel did something that no account pays for.
    fn unpaid(&mut self, handled: Handled, cycles: u64) {
        let Handled { exception, call } = handled;
        let unpaid = self.nobody.entry((exception, call)).or_default();
        unpaid.count += 1;
        unpaid.cycles += cycles;
        unpaid.max_cycles = unpaid.max_cycles.max(cycles);
    }

    /// How much of a stretch of a thread's is paid already, and the charges of who pays for it.
    fn given(&mut self, thread: u16, (from, to): (u64, u64)) -> (u64, [Option<Charge>; 2]) {
        if self.credit.thread != thread {
            return (0, [None; 2]);
        }
        let (given, paid) = self.credit.draw(to - from);
        if let Some(meter) = self.threads.get_mut(usize::from(thread)) {
            meter.given += given;
        }
        let payer = self.credit.payer.filter(|_| paid > 0);
        (given, payer.map_or([None; 2], |payer| self.arranged(payer, Some(thread), (from, from + paid))))
    }

    /// Time goes by that a thread pays for because it has arranged it; `of`: whose activation that is. What others had paid for its last stay, and what it did not need then, has gone
    /// into the price.
    fn arranged(&mut self, payer: u16, of: Option<u16>, (from, to): (u64, u64)) -> [Option<Charge>; 2] {
        let charge = |thread, from, to| {
            let of = of.filter(|of| *of != thread);
            Some(Charge { thread, from, to, what: Use::Activation, of }).filter(|_| from < to)
        };
        let Some(carried) = self.carried.get_mut(usize::from(payer)) else { return [None; 2] };
        let (given, paid) = carried.draw(to - from);
        let other = carried.payer.filter(|_| paid > 0);
        self.threads[usize::from(payer)].activations += to - from - given;
        if let Some(meter) = other.and_then(|other| self.threads.get_mut(usize::from(other))) {
            meter.activations += paid;
        }
        [other.and_then(|other| charge(other, from, from + paid)), charge(payer, from + given, to)]
    }

    /// The thread that ran before the kernel did has restarted another's domain.
    pub fn restarted(&mut self, thread: u16) {
        self.payers.restarted(thread, self.last_thread());
    }

    /// The thread that ran before the kernel did, and the domain that it was in.
    pub fn last_context(&self) -> Context {
        self.before
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
        let span = (from, event.cycle);
        let cycles = event.cycle.saturating_sub(from);
        if switched {
            self.carry(last);
        }
        let charges = match account {
            Account::Call(thread) => {
                let (given, others) = self.given(thread, span);
                let Some(meter) = self.threads.get_mut(usize::from(thread)) else { return [None; 3] };
                meter.calls += cycles - given;
                if before.is_some_and(|(thread, domain)| home(system, thread) == Some(domain)) && !is_apart(handled) {
                    meter.own += cycles;
                }
                if let Some((_, domain)) = before {
                    self.domains.entry(domain).or_default().1 += cycles;
                }
                let own = Charge { thread, from: from + given, to: event.cycle, what: Use::Call, of: None };
                [others[0], others[1], Some(own)]
            }
            Account::Activation(thread) => {
                let [other, own] = self.arranged(thread, self.payers.activated(last, next), span);
                [other, own, None]
            }
            Account::Line(line) => {
                *self.lines.entry(line).or_default() += cycles;
                [None; 3]
            }
            Account::Timer => {
                self.timer += cycles;
                [None; 3]
            }
            Account::Nobody => {
                self.unpaid(handled, cycles);
                [None; 3]
            }
        };
        self.grant(account, (last, next), u64::from(event.payload));
        charges
    }

    /// A thread stops. What others have paid for its stay and it has not needed can be in the price of what it has arranged.
    fn carry(&mut self, last: Option<u16>) {
        let left = std::mem::take(&mut self.credit);
        if let Some(carried) = last.and_then(|last| self.carried.get_mut(usize::from(last))) {
            let others = last == Some(left.thread) && left.payer != last;
            *carried = if others { left } else { Credit::default() };
        }
    }

    /// Whoever goes on behind a path may run for a while without paying.
    fn grant(&mut self, account: Account, (last, next): (Option<u16>, Option<u16>), took: u64) {
        let Costs { entry_cycles, exit_cycles, early_cycles, .. } = self.costs;
        let Some(thread) = next else { return };
        let switch = entry_cycles + exit_cycles;
        if last != next {
            let payer = if let Account::Activation(payer) = account { Some(payer) } else { None };
            self.credit = Credit { thread, cycles: switch, payer, payable: switch.saturating_sub(took) };
            return;
        }
        let (back, woken) = match account {
            Account::Line(_) => (switch.saturating_sub(took), switch),
            // Who is woken and does not run yet has paid for an activation.
            Account::Timer if self.payers.wakes(thread) => (early_cycles.saturating_sub(took), switch),
            Account::Timer => (early_cycles.saturating_sub(took), 0),
            _ => return,
        };
        self.credit.thread = thread;
        self.credit.cycles = (self.credit.cycles + back).max(woken);
    }

    /// In the middle of the kernel's work for a thread, which enters or leaves a gate now: what was done so far is its call.
    pub fn so_far(&mut self, thread: u16, cycle: u64) -> Charges {
        if !self.is_recorded || cycle <= self.since {
            return [None; 3];
        }
        let from = std::mem::replace(&mut self.since, cycle);
        let (given, others) = self.given(thread, (from, cycle));
        let Some(meter) = self.threads.get_mut(usize::from(thread)) else { return [None; 3] };
        meter.calls += cycle - from - given;
        [others[0], others[1], Some(Charge { thread, from: from + given, to: cycle, what: Use::Call, of: None })]
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
