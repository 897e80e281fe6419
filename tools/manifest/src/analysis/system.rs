//! A system in the terms of `sched::response`.

use std::collections::BTreeSet;

use sched::response::{self, Contender, Costs, Gate, Grid, Handlers, Job, Line, Response, Set, Share, Sharer, jobs_in};
use sched::sampling;

use crate::board::Board;
use crate::grant::Object;
use crate::references::held;
use crate::resolved::{self, System, Thread};
use crate::schema::Slips;

/// A thread with what the analysis needs of it.
pub struct Subject<'m> {
    pub place: String,
    pub name: String,
    pub domain: usize,
    pub declared: &'m Thread,
}

/// A manifest on a board.
pub struct Analysis<'m> {
    pub system: &'m System,
    pub board: &'m Board,
    pub costs: Costs,
    /// Handlers that interrupts reach without the kernel, with the names of their domains.
    pub handlers: Vec<(&'m str, Handlers)>,
    pub subjects: Vec<Subject<'m>>,
    /// Gates that somebody can reach, with their names.
    pub gates: Vec<(String, Gate)>,
    /// Objects that each domain can come to hold.
    held: Vec<Vec<(Object, u32)>>,
}

/// Everything beside one thread, with the names of budgets and sharers.
pub struct Beside {
    pub budgets: Vec<(String, Contender)>,
    pub sharers: Vec<(String, Sharer)>,
    own: Grid,
    contenders: Vec<Contender>,
    jobs: Vec<Sharer>,
    gates: Vec<Gate>,
    lines: Vec<Line>,
}

impl Beside {
    /// Without gates.
    pub fn new(
        own: Grid,
        budgets: Vec<(String, Contender)>,
        sharers: Vec<(String, Sharer)>,
        lines: Vec<Line>,
    ) -> Beside {
        let contenders = budgets.iter().map(|(_, budget)| *budget).collect();
        let jobs = sharers.iter().map(|(_, sharer)| *sharer).collect();
        Beside { own, budgets, sharers, contenders, jobs, gates: Vec::new(), lines }
    }

    pub fn view(&self, costs: &Costs) -> Set<'_> {
        let Beside { own, contenders, jobs, gates, lines, .. } = self;
        Set { own: *own, budgets: contenders, sharers: jobs, gates, lines, costs: *costs }
    }
}

impl<'m> Analysis<'m> {
    pub fn new(system: &'m System, board: &'m Board) -> Analysis<'m> {
        let mut analysis = Analysis {
            system,
            board,
            costs: system.costs(board),
            handlers: handlers(system, board),
            subjects: subjects(system),
            gates: Vec::new(),
            held: held(system),
        };
        analysis.gates = analysis.reached();
        analysis
    }

    /// The bound on its response, if it is at most `deadline`.
    #[expect(clippy::result_large_err, reason = "a refusal has the same terms as a bound")]
    pub fn respond(&self, thread: usize, deadline: u64, beside: &Beside) -> Result<Response, response::Refusal> {
        let handlers: Vec<Handlers> = self.handlers.iter().map(|(_, handlers)| *handlers).collect();
        response::response_beside(&self.subject(thread, deadline), &beside.view(&self.costs), &handlers)
    }

    /// A thread as the analysis takes it.
    fn subject(&self, thread: usize, deadline: u64) -> response::Thread {
        response::Thread { level: self.level(thread), deadline, job: self.job(thread) }
    }

    /// Its priority.
    pub fn level(&self, thread: usize) -> u8 {
        self.subjects[thread].declared.priority as u8
    }

    /// The deadline in force.
    pub fn deadline(&self, thread: usize) -> Option<u64> {
        self.subjects[thread].declared.deadline.map(u64::from)
    }

    pub(super) fn period(&self, thread: usize) -> Option<u64> {
        self.subjects[thread].declared.period.map(u64::from).filter(|ticks| *ticks > 0)
    }

    /// Most that handlers of any domain take from its budget in a period: of what nothing counts, the kernel charges whom they interrupt.
    pub fn taken(&self, thread: usize) -> u64 {
        self.charged(self.budget(thread).0)
    }

    /// Most of what handlers of any domain use within `window` ticks that is charged to whom they interrupt.
    pub fn charged(&self, window: u64) -> u64 {
        self.handlers.iter().fold(0, |sum, (_, handlers)| sum.saturating_add(handlers.charged_within(window)))
    }

    /// Names of the domains whose handlers' slips are counted.
    pub fn slipping(&self) -> Option<String> {
        let names = self.handlers.iter().filter(|(_, handlers)| handlers.slips > 0);
        let names: Vec<_> = names.map(|(name, _)| format!("`{name}`")).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Most that all handlers use within `window` ticks.
    pub fn displaced(&self, window: u64) -> u64 {
        self.handlers.iter().fold(0, |sum, (_, handlers)| sum.saturating_add(handlers.within(window)))
    }

    /// Capacity of its budget that is left to its jobs in each period, whatever handlers do.
    pub fn left_by_handlers(&self, thread: usize) -> u64 {
        self.budget(thread).1.saturating_sub(self.taken(thread))
    }

    /// Period and capacity of its budget.
    pub fn budget(&self, thread: usize) -> (u64, u64) {
        let budget = &self.system.budgets[self.subjects[thread].declared.budget];
        (budget.period.into(), budget.capacity.into())
    }

    /// Name of its budget.
    pub fn payer(&self, thread: usize) -> &str {
        &self.system.budgets[self.subjects[thread].declared.budget].name
    }

    /// How many of its jobs a period of its budget pays for.
    pub fn jobs(&self, thread: usize) -> u64 {
        let (budget, _) = self.budget(thread);
        self.period(thread).map_or(1, |period| jobs_in(budget, period))
    }

    /// Needs of a job. A `wcet` that is not declared is all that the budget leaves for it.
    pub fn job(&self, thread: usize) -> Job {
        let declared = self.subjects[thread].declared;
        let bounds = declared.calls.iter().map(|(gate, count)| self.bound(*gate).saturating_mul(u64::from(*count)));
        let job = Job {
            wcet: 0,
            misses: declared.misses.into(),
            calls: declared.calls.iter().map(|(_, count)| u64::from(*count)).sum(),
            bounds: bounds.fold(0, u64::saturating_add),
            activations: declared.activations.into(),
            reload: 0,
        };
        let job = Job { reload: self.reload(thread, &job), ..job };
        let left = || (self.left_by_handlers(thread) / self.jobs(thread)).saturating_sub(job.price(&self.costs));
        Job { wcet: declared.wcet.map_or_else(left, u64::from), ..job }
    }

    /// The threads of its budget, itself among them, with their numbers.
    pub fn shares(&self, thread: usize) -> (Vec<Share>, Vec<usize>) {
        let threads = self.payees(self.subjects[thread].declared.budget);
        let alone = threads.len() == 1;
        let share = |&t: &usize| {
            let priced = alone || self.subjects[t].declared.wcet.is_some();
            Share {
                level: self.level(t),
                period: self.period(t),
                price: priced.then(|| self.job(t).price(&self.costs)),
                reservation: self.reservation(self.subjects[t].domain),
                arranges: self.arranges(t),
            }
        };
        (threads.iter().map(share).collect(), threads)
    }

    /// The threads that a budget pays for.
    fn payees(&self, budget: usize) -> Vec<usize> {
        (0..self.subjects.len()).filter(|thread| self.subjects[*thread].declared.budget == budget).collect()
    }

    /// The bound of a gate.
    fn bound(&self, gate: usize) -> u64 {
        self.system.gates().nth(gate).map_or(0, |(_, gate)| gate.bound.into())
    }

    /// The largest bound among gates that a domain can call itself.
    fn reservation(&self, domain: usize) -> Option<u64> {
        calls(&self.held[domain]).into_iter().map(|gate| self.bound(gate)).max()
    }

    /// How many activations of others a call or fault of a thread arranges at most: one, of who waits for a signal, an interrupt, a fault or a gate's
    /// failure, of the thread that a step of `DOMAIN_RESTART` makes ready; a `YIELD` passes the processor on to somebody as important.
    fn arranges(&self, thread: usize) -> u64 {
        let Subject { domain, declared, .. } = self.subjects[thread];
        let by = |(object, rights): &(Object, u32)| match *object {
            _ if rights & u32::from(abi::rights::WRITE) == 0 => 0,
            Object::Domain(_) | Object::Gate(_) | Object::Notification(_) | Object::Interrupt(_) => 1,
            _ => 0,
        };
        let peers = self.subjects.iter().enumerate();
        let passes = peers.filter(|(other, s)| *other != thread && s.declared.priority == declared.priority).count();
        let faults = self.system.domains[domain].fault_notification.is_some();
        let calls = self.held[domain].iter().map(by).max().unwrap_or(0);
        calls.max(u64::from(passes > 0 || faults))
    }

    /// The same of all threads that a budget pays for.
    pub fn arranged_by(&self, budget: usize) -> u64 {
        self.payees(budget).into_iter().map(|thread| self.arranges(thread)).max().unwrap_or(0)
    }

    /// The gates that a domain can call, itself or through others.
    pub fn reaches(&self, domain: usize) -> BTreeSet<usize> {
        let (mut seen, mut open) = (BTreeSet::new(), calls(&self.held[domain]));
        while let Some(gate) = open.pop() {
            if let Some((owner, _)) = self.system.gates().nth(gate).filter(|_| seen.insert(gate)) {
                open.extend(calls(&self.held[owner]));
            }
        }
        seen
    }

    /// Everything beside a thread.
    pub fn set(&self, thread: usize) -> Beside {
        let gates = self.gates.iter().map(|(_, gate)| *gate).collect();
        let beside = Beside::new(self.grid(thread), self.contenders(thread), self.sharers(thread), self.lines(thread));
        Beside { gates, ..beside }
    }

    /// Ticks of which all releases of a thread are a multiple: rule (h), a boundary of its budget's
    /// grid and a number of its periods.
    fn releases(&self, thread: usize) -> u64 {
        let (grid, _) = self.budget(thread);
        self.period(thread).map_or(grid, |period| gcd(grid, period))
    }

    /// The grid of its budget: a timer for its end, and one for less important sharers that wait for the refill.
    pub(super) fn grid(&self, thread: usize) -> Grid {
        let (budget, level) = (self.subjects[thread].declared.budget, self.level(thread));
        let waits = self.subjects.iter().any(|s| s.declared.budget == budget && s.declared.priority as u8 > level);
        Grid { period: self.budget(thread).0, step: self.releases(thread), timers: 1 + u64::from(waits) }
    }

    /// Every other budget that pays for a thread, at the level of its most important one.
    pub(super) fn contenders(&self, thread: usize) -> Vec<(String, Contender)> {
        let releases = self.releases(thread);
        let mut list = Vec::new();
        for (index, budget) in self.system.budgets.iter().enumerate() {
            let users = self.payees(index);
            let Some(level) = users.iter().map(|t| self.level(*t)).min() else { continue };
            if index == self.subjects[thread].declared.budget {
                continue;
            }
            let period = budget.period.into();
            let contender = Contender {
                level,
                period,
                capacity: budget.capacity.into(),
                step: gcd(releases, period),
                threads: users.len() as u32,
                arranges: self.arranged_by(index),
            };
            list.push((budget.name.clone(), contender));
        }
        list
    }

    /// The other threads of its budget that are periodic; [`super::paid`] has refused a more important one that is not, or has no price.
    fn sharers(&self, thread: usize) -> Vec<(String, Sharer)> {
        let priced = |(other, sharer): (usize, Sharer)| {
            self.subjects[other].declared.wcet?;
            let price = self.job(other).price(&self.costs);
            Some((self.subjects[other].name.clone(), Sharer { price, ..sharer }))
        };
        self.peers(thread).into_iter().filter_map(priced).collect()
    }

    /// Every interrupt line, with the most important thread but this one that can wait for it.
    pub(super) fn lines(&self, thread: usize) -> Vec<Line> {
        let line = |(owner, line): (usize, &resolved::Interrupt)| {
            let object = Object::Notification(line.notification);
            let waits = |domain: usize| {
                domain == owner || self.held[domain].iter().any(|(o, rights)| *o == object && rights & 1 != 0)
            };
            let others = self.subjects.iter().enumerate().filter(|(other, _)| *other != thread);
            let woken = others.filter(|(_, s)| waits(s.domain)).map(|(_, s)| s.declared.priority as u8);
            Line { wakes: woken.min() }
        };
        self.system.interrupts().map(line).collect()
    }

    /// Each gate that somebody can reach, with its least important caller.
    fn reached(&self) -> Vec<(String, Gate)> {
        let gates: Vec<(usize, &resolved::Gate)> = self.system.gates().collect();
        let mut lowest: Vec<Option<u32>> = vec![None; gates.len()];
        for subject in &self.subjects {
            for gate in self.reaches(subject.domain) {
                let level = lowest[gate].get_or_insert(0);
                *level = (*level).max(subject.declared.priority);
            }
        }
        let reached = gates.iter().zip(lowest).filter_map(|(gate, level)| Some((*gate, level?)));
        let reached = reached.map(|((domain, gate), level)| {
            let known = Gate { ceiling: gate.ceiling as u8, bound: gate.bound.into(), lowest_caller: level as u8 };
            (format!("{}.{}", self.system.domains[domain].name, gate.name), known)
        });
        reached.collect()
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The gates among capabilities.
fn calls(caps: &[(Object, u32)]) -> Vec<usize> {
    let gate = |(object, _): &(Object, u32)| if let Object::Gate(index) = object { Some(*index) } else { None };
    caps.iter().filter_map(gate).collect()
}

fn subjects(system: &System) -> Vec<Subject<'_>> {
    let mut all = Vec::new();
    for (domain, d) in system.domains.iter().enumerate() {
        for (i, declared) in d.threads.iter().enumerate() {
            let place = format!("domain.{}.thread[{i}]", d.name);
            all.push(Subject { place, name: format!("{}.{}", d.name, declared.name), domain, declared });
        }
    }
    all
}

/// Whoever's handlers are reached, one timer looks.
fn handlers<'m>(system: &'m System, board: &Board) -> Vec<(&'m str, Handlers)> {
    let of = |(index, (domain, own)): (usize, (usize, crate::resolved::Handlers))| {
        let taken = taken_by(&own, (system.times_counted(domain, &own), system.hidden_ticks(domain, &own)), board);
        let taken = with_slips(system, domain, own.slips, taken, board);
        let look = if index == 0 { taken.look } else { 0 };
        let has_supervisor = system.domains[domain].fault_notification.is_some();
        let restart = if has_supervisor { u64::from(system.switching.activation()) } else { 0 };
        (system.domains[domain].name.as_str(), Handlers { look, restart, ..taken })
    };
    system.handlers().enumerate().map(of).collect()
}

fn taken_by(handlers: &crate::resolved::Handlers, (times, hidden): (u64, u64), board: &Board) -> Handlers {
    let (period, capacity) = (handlers.period.into(), handlers.capacity.into());
    let kernel = board.kernel;
    let (look, met) = match handlers.counted {
        true => (kernel.counted_look_cycles, kernel.counted_met_cycles),
        false => (kernel.look_cycles, kernel.met_cycles),
    };
    let [end, look, met] = [kernel.handlers_cycles, look, met].map(|cycles| board.ticks_in(cycles));
    let longest = sampling::LONGEST_TICKS.into();
    let counter = board.counter.filter(|_| handlers.counted);
    let beyond = handlers.beyond(board);
    let own = Handlers {
        period,
        capacity,
        beyond,
        late: longest,
        uncounted: hidden,
        end,
        early: 0,
        met: 0,
        look,
        counted: false,
        times: 1,
        restart: 0,
        slips: 0,
    };
    let counted = |_| {
        // A timer for the end of a budget comes too early when handlers have run meanwhile: once, and again for each of its delays that they use in full.
        let delay = board.rate().counts_in(board.enforcement_ns).ceil().max(1);
        let early = board.ticks_in(board.kernel.early_cycles) * (1 + capacity / delay);
        // What goes on without a pause and is not counted is found by the next look.
        let uncounted = longest.max(hidden);
        Handlers { late: sampling::SHORTEST_TICKS.into(), uncounted, early, counted: true, times, ..own }
    };
    let own = counter.map_or(own, counted);
    // For each spending, looks that meet it, and the boundary.
    let looks = own.looks(own.used()) + 1;
    Handlers { met: looks * met.saturating_sub(look), ..own }
}

/// Adds the slips that the handlers' own time pays for, unless the system accepts them.
fn with_slips(system: &System, domain: usize, slips: Slips, taken: Handlers, board: &Board) -> Handlers {
    if slips == Slips::Accepted {
        return taken;
    }
    let wasted = |used: u64| system.slip_ticks(domain, &board.kernel, used);
    let uncounted = taken.uncounted.saturating_add(wasted(taken.uncounted));
    Handlers { slips: wasted(taken.used()), uncounted, ..taken }
}
