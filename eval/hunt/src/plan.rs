//! A system as plain data: what the generator draws, the minimiser takes apart, and a manifest with a table of rows is made from.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// Time that a job takes beyond its computation: its calls of the kernel, and what it misses in
/// caches after it was preempted.
const JOB_EXTRA_US: u64 = 6;
/// Time of a run in which it gets under way.
pub const SETTLE_US: u64 = 10_000;
/// Time that a call takes beyond what the gate computes.
pub const GATE_EXTRA_US: u64 = 14;
/// The smallest bound of a gate.
pub const LEAST_GATE_US: u64 = 20;
/// Time that a budget holds for each job beyond its `wcet`, at first: the prices of activations.
pub const EXTRA_US: u64 = 60;
/// Time that it holds beyond that, at first, for each less important thread that shares it: activations and an overdraft.
pub const PAYER_US: u64 = 150;

/// How a board differs from those that the figures are meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// All times are so many times as long.
    pub stretch: u64,
    /// Jobs of each victim in a run, of the longest period.
    pub jobs: u64,
    /// The same, where that period is [`Pace::LONG_US`] or more.
    pub long_jobs: u64,
    /// Memory of hostile domains' heaps.
    pub heaps: &'static str,
}

impl Pace {
    /// That of boards whose chip is modelled.
    pub const USUAL: Pace = Pace { stretch: 1, jobs: 205, long_jobs: 4, heaps: "sram" };
    /// That of a board which is simulated as its own hardware description: a core of 50 MHz, on which a call takes 20 us. A second of it takes a minute of the
    /// host's, so that runs are short, and local memory holds a player for each domain.
    pub const SLOW: Pace = Pace { stretch: 5, jobs: 24, long_jobs: 2, heaps: "sdram" };
    /// From when on a period is long.
    pub const LONG_US: u64 = 20_000;

    /// Jobs of a run whose longest period this is.
    pub const fn jobs_of(self, longest_us: u64) -> u64 {
        if longest_us < Self::LONG_US { self.jobs } else { self.long_jobs }
    }

    /// A row with its times, which have the unit `us`, as long as the board needs them.
    fn stretched(self, text: &str) -> String {
        let word = |word: &str| {
            let (time, end) = word.strip_suffix(';').map_or((word, ""), |time| (time, ";"));
            match time.strip_suffix("us").and_then(|number| number.parse::<i64>().ok()) {
                Some(us) => format!("{}us{end}", us * self.stretch as i64),
                None => word.to_owned(),
            }
        };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }
}

/// A system. Times are in microseconds, and so many times as long on a board that is slow ([`Pace`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Modelled time of a run.
    pub limit_us: u64,
    /// Budgets; threads name them by position.
    pub budgets: Vec<Budget>,
    /// Domains.
    pub domains: Vec<Domain>,
}

/// A budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Its period.
    pub period_us: u64,
    /// Its capacity; at least what its jobs need (see [`Plan::capacity_us`]).
    pub least_us: u64,
    /// Time that it holds for each job beyond its `wcet`.
    pub extra_us: u64,
}

/// A domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// It is expected to attack; what becomes of it is its own affair.
    pub hostile: bool,
    /// Its threads.
    pub threads: Vec<Thread>,
    /// The gate that it serves.
    pub gate: Option<Gate>,
    /// Names of domains whose gates it may call.
    pub calls: Vec<String>,
    /// It has the timer.
    pub timer: bool,
    /// Domain that restarts it when it faults.
    pub warden: Option<String>,
    /// Interrupts of the timer reach its handler without the kernel, which never returns by itself; its thread only starts the timer.
    #[serde(default)]
    pub handlers: Option<Handlers>,
}

/// Time of a domain's handlers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handlers {
    /// From refill to refill.
    pub period_us: u64,
    /// How long they run in it.
    pub capacity_us: u64,
    /// The sampler measures it, not the counter.
    pub sampled: bool,
}

impl Domain {
    /// Fewest threads of a herd.
    pub const HERD: usize = 10;

    /// Whether it has as many threads as a herd.
    pub fn is_herd(&self) -> bool {
        self.threads.len() >= Self::HERD
    }
}

/// A gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// Its ceiling.
    pub ceiling: u32,
    /// Its bound.
    pub bound_us: u64,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its priority.
    pub priority: u32,
    /// Position of its budget.
    pub budget: usize,
    /// With a deadline: its job, and then it performs nothing else.
    pub job: Option<Job>,
    /// Acts that it performs once.
    pub first: Vec<Act>,
    /// Acts that it performs for ever.
    pub then: Vec<Act>,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// From release to release.
    pub period_us: u64,
    /// From release to completion.
    pub deadline_us: u64,
    /// How long it computes.
    pub work_us: u64,
    /// The domain whose gate it calls, once in a job.
    pub calls: Option<String>,
    /// It uses the floating-point unit.
    pub float: bool,
}

/// An act of the player (`tests/time/player/src/act.rs`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Act {
    /// One that concerns nobody else, as the player reads it.
    Plain(String),
    /// One at the gate of a domain: `call`, `stay` or `trap`.
    Gate {
        /// The word.
        word: String,
        /// The domain.
        callee: String,
        /// For how long the gate computes.
        us: u64,
    },
}

impl Act {
    /// An act that concerns nobody else.
    pub fn plain(text: impl Into<String>) -> Act {
        Act::Plain(text.into())
    }
}

impl Plan {
    /// A domain.
    pub fn domain(&self, name: &str) -> Option<&Domain> {
        self.domains.iter().find(|domain| domain.name == name)
    }

    /// How long the gate of a domain computes when it is used as it was meant, and its bound.
    fn call_us(&self, callee: &str) -> Option<(u64, u64)> {
        let bound = self.domain(callee)?.gate.as_ref()?.bound_us;
        Some((bound.saturating_sub(GATE_EXTRA_US), bound))
    }

    /// Whether a victim's window is so long that what happens at each boundary adds up in it.
    pub fn has_long_window(&self) -> bool {
        let mut jobs = self.domains.iter().flat_map(|domain| &domain.threads).filter_map(|thread| thread.job.as_ref());
        jobs.any(|job| job.period_us >= Pace::LONG_US)
    }

    /// The gate that a job calls, and its bound.
    fn bound_us(&self, job: &Job) -> u64 {
        job.calls.as_deref().and_then(|callee| self.call_us(callee)).map_or(0, |(_, bound)| bound)
    }

    /// A job's `wcet` without gates.
    fn wcet_us(job: &Job) -> u64 {
        job.work_us + job.work_us / 200 + JOB_EXTRA_US
    }

    /// Whether anybody uses a budget.
    fn pays(&self, budget: usize) -> bool {
        self.domains.iter().flat_map(|domain| &domain.threads).any(|thread| thread.budget == budget)
    }

    /// Position among the jobs of the least important.
    pub fn least_important(&self) -> Option<usize> {
        let threads = self.domains.iter().flat_map(|domain| &domain.threads).filter(|thread| thread.job.is_some());
        threads.enumerate().max_by_key(|(_, thread)| thread.priority).map(|(index, _)| index)
    }

    /// How long a run takes: as long as the longest period needs for its jobs, where runs are shorter than usual.
    fn run_us(&self, pace: Pace) -> u64 {
        let jobs = self.domains.iter().flat_map(|domain| &domain.threads).filter_map(|thread| thread.job.as_ref());
        let longest = jobs.map(|job| job.period_us).max().unwrap_or(0);
        self.limit_us.min(longest * pace.jobs_of(longest) + SETTLE_US)
    }

    /// The same plan, in which no budget has less than the board admits.
    pub fn at_least(&self, least_us: u64) -> Plan {
        let mut plan = self.clone();
        for budget in &mut plan.budgets {
            budget.least_us = budget.least_us.max(least_us);
            budget.period_us = budget.period_us.max(budget.least_us * 2);
        }
        plan
    }

    /// The same plan with less to do for everybody.
    pub fn shrunk(&self) -> Plan {
        let mut plan = self.clone();
        let smaller = |us: u64| (us * 7 / 10).max(20);
        for budget in &mut plan.budgets {
            budget.least_us = smaller(budget.least_us);
        }
        for gate in plan.domains.iter_mut().filter_map(|domain| domain.gate.as_mut()) {
            gate.bound_us = (gate.bound_us * 7 / 10).max(LEAST_GATE_US);
        }
        // A call lasts no longer than the smaller bound.
        let bounds: Vec<(String, u64)> =
            plan.domains.iter().filter_map(|of| Some((of.name.clone(), of.gate.as_ref()?.bound_us))).collect();
        for thread in plan.domains.iter_mut().flat_map(|domain| &mut domain.threads) {
            for act in thread.first.iter_mut().chain(&mut thread.then) {
                if let Act::Gate { callee, us, .. } = act
                    && let Some((_, bound)) = bounds.iter().find(|(name, _)| name == callee)
                {
                    *us = (*us).min(bound.saturating_sub(GATE_EXTRA_US));
                }
            }
        }
        for handlers in plan.domains.iter_mut().filter_map(|domain| domain.handlers.as_mut()) {
            handlers.capacity_us = handlers.capacity_us * 7 / 10 + 1;
        }
        for thread in plan.domains.iter_mut().flat_map(|domain| &mut domain.threads) {
            if let Some(job) = &mut thread.job {
                job.work_us = (job.work_us * 7 / 10).max(10);
            }
        }
        plan
    }

    /// Capacity of a budget.
    pub fn capacity_us(&self, budget: usize) -> u64 {
        let Budget { period_us, least_us, extra_us } = self.budgets[budget];
        let jobs = self.domains.iter().flat_map(|domain| &domain.threads);
        let jobs = jobs.filter(|thread| thread.budget == budget).filter_map(|thread| thread.job.as_ref());
        let need = jobs.map(|job| {
            let harmonic = period_us.is_multiple_of(job.period_us) || job.period_us.is_multiple_of(period_us);
            let times = period_us.div_ceil(job.period_us) + u64::from(!harmonic);
            times * (Plan::wcet_us(job) + self.bound_us(job) + extra_us)
        });
        need.sum::<u64>().max(least_us)
    }

    /// The manifest. Paths are relative to the file `acts`.
    pub fn manifest(&self, name: &str, board: &str, [player, endless]: [&str; 2], pace: Pace) -> String {
        let limit = self.run_us(pace) * pace.stretch;
        let mut text = format!("[system]\nname = \"{name}\"\nboard = \"{board}\"\n\n[run]\nlimit = \"{limit} us\"\n");
        text.push_str(
            "\n[file.acts]\npath = \"acts.txt\"\n\n[notification.n0]\n[notification.n1]\n[notification.n2]\n",
        );
        for (index, budget) in self.budgets.iter().enumerate().filter(|(index, _)| self.pays(*index)) {
            let [period, capacity] = [budget.period_us, self.capacity_us(index)].map(|us| us * pace.stretch);
            let _ = write!(text, "\n[budget.b{index}]\nperiod = \"{period} us\"\ncapacity = \"{capacity} us\"\n");
        }
        let mut row = 0;
        for domain in &self.domains {
            match &domain.handlers {
                Some(handlers) => write_handlers(&mut text, domain, handlers, (endless, pace)),
                None => self.write_domain(&mut text, domain, (player, pace), &mut row),
            }
        }
        text
    }

    fn write_domain(&self, text: &mut String, domain: &Domain, (player, pace): (&str, Pace), row: &mut usize) {
        let name = &domain.name;
        let _ = write!(text, "\n[domain.{name}]\ncrate = \"{player}\"\nfiles = [\"acts\"]\n");
        // What many threads need does not fit on every chip.
        let stacks = if domain.is_herd() { "sdram" } else { "sram" };
        let _ = writeln!(text, "stack = {{ memory = \"{stacks}\", size = \"2 KiB\" }}");
        if domain.hostile {
            let _ = write!(
                text,
                "hostile = true\nheap = {{ memory = \"{}\", size = \"32 KiB\", spec = \"l2\" }}\n",
                pace.heaps
            );
        }
        if domain.timer {
            text.push_str("devices = [\"timer1\"]\n");
        }
        if domain.warden.is_some() {
            text.push_str("fault = \"restart\"\nfault_notification = \"n2\"\n");
        }
        for (index, thread) in domain.threads.iter().enumerate() {
            let _ = write!(text, "\n[[domain.{name}.thread]]\nname = \"t{index}\"\n");
            if index > 0 {
                text.push_str("entry = \"player_thread\"\n");
            }
            let _ = writeln!(text, "argument = {row}\npriority = {}\nbudget = \"b{}\"", thread.priority, thread.budget);
            if let Some(job) = &thread.job {
                write_job(text, job, pace);
            }
            *row += 1;
        }
        if let Some(gate) = &domain.gate {
            let _ = write!(text, "\n[domain.{name}.gate.serve]\nentry = \"player_gate\"\nceiling = {}\n", gate.ceiling);
            let _ = writeln!(text, "bound = \"{} us\"", gate.bound_us * pace.stretch);
        }
        if domain.timer {
            let _ = write!(text, "\n[domain.{name}.interrupt.timer1]\ndevice = \"timer1\"\nline = \"zero\"\n");
            text.push_str("notification = \"n0\"\nbit = 0\n");
        }
        self.write_uses(text, domain);
    }

    fn write_uses(&self, text: &mut String, domain: &Domain) {
        let _ = write!(text, "\n[domain.{}.uses]\n", domain.name);
        let own = domain.threads.first().map_or(0, |thread| thread.budget);
        let _ = writeln!(text, "b0 = {{ budget = \"b{own}\", rights = \"r\" }}");
        for (index, callee) in domain.calls.iter().enumerate() {
            let _ = writeln!(text, "g{index} = {{ gate = \"{callee}.serve\" }}");
        }
        let waits = |word: &str| {
            let acts = domain.threads.iter().flat_map(|thread| thread.first.iter().chain(&thread.then));
            acts.into_iter().any(|act| matches!(act, Act::Plain(text) if text.starts_with(word)))
        };
        for (index, words) in [["tick", "timer"], ["signal 1", "wait 1"], ["revive", "revive"]].iter().enumerate() {
            if words.iter().any(|word| waits(word)) {
                let _ = writeln!(text, "n{index} = {{ notification = \"n{index}\" }}");
            }
        }
        let wards = self.domains.iter().filter(|ward| ward.warden.as_ref() == Some(&domain.name));
        for (index, ward) in wards.enumerate() {
            let _ = writeln!(text, "d{index} = {{ domain = \"{}\" }}", ward.name);
        }
    }

    /// The table of rows, in the order of the threads.
    pub fn rows(&self, pace: Pace) -> String {
        let mut text = String::new();
        for domain in self.domains.iter().filter(|domain| domain.handlers.is_none()) {
            for thread in &domain.threads {
                let job = thread.job.as_ref().map(|job| self.job_acts(job));
                let acts = |acts: &[Act]| {
                    let all: Vec<String> = acts.iter().filter_map(|act| self.act_text(domain, act)).collect();
                    all.join("; ")
                };
                let row = format!("{} | {}", acts(&thread.first), acts(job.as_deref().unwrap_or(&thread.then)));
                let _ = writeln!(text, "{}", pace.stretched(&row));
            }
        }
        text
    }

    fn job_acts(&self, job: &Job) -> Vec<Act> {
        let half = job.work_us / 2;
        let mut acts = vec![Act::plain(format!("work {half}us"))];
        if let Some((us, _)) = job.calls.as_deref().and_then(|callee| self.call_us(callee)) {
            acts.push(Act::Gate { word: "call".into(), callee: job.calls.clone().unwrap_or_default(), us });
        }
        if job.float {
            acts.push(Act::plain("float"));
        }
        acts.extend([Act::plain(format!("work {}us", job.work_us - half)), Act::plain("period")]);
        acts
    }

    fn act_text(&self, domain: &Domain, act: &Act) -> Option<String> {
        match act {
            Act::Plain(text) => Some(text.clone()),
            Act::Gate { word, callee, us } => {
                let index = domain.calls.iter().position(|known| known == callee)?;
                Some(if word == "stay" { format!("stay {index}") } else { format!("{word} {index} {us}us") })
            }
        }
    }
}

/// A domain of `tests/direct/endless`.
fn write_handlers(text: &mut String, domain: &Domain, handlers: &Handlers, (endless, pace): (&str, Pace)) {
    let Handlers { period_us, capacity_us, sampled } = *handlers;
    let [period, capacity, separation] = [period_us, capacity_us, 50].map(|us| us * pace.stretch);
    let name = &domain.name;
    let meter = if sampled { "sampler" } else { "counter" };
    let _ = write!(text, "\n[notification.never]\n\n[domain.{name}]\ncrate = \"{endless}\"\ndevices = [\"timer1\"]\n");
    let _ = writeln!(text, "hostile = {}", domain.hostile);
    for thread in &domain.threads {
        let (priority, budget) = (thread.priority, thread.budget);
        let _ = write!(text, "\n[[domain.{name}.thread]]\npriority = {priority}\nbudget = \"b{budget}\"\n");
    }
    let _ = write!(
        text,
        "\n[domain.{name}.interrupt.fired]\ndevice = \"timer1\"\nline = \"zero\"\nnotification = \"never\"\nbit = 0\n\
         delivery = \"direct\"\nhandler = \"fired\"\npriority = 0\nseparation = \"{separation} us\"\n\n\
         [domain.{name}.handlers]\nperiod = \"{period} us\"\ncapacity = \"{capacity} us\"\nmeter = \"{meter}\"\n\
         slips = \"accepted\"\n"
    );
}

fn write_job(text: &mut String, job: &Job, pace: Pace) {
    let [period, deadline, wcet] = [job.period_us, job.deadline_us, Plan::wcet_us(job)].map(|us| us * pace.stretch);
    let _ = write!(text, "period = \"{period} us\"\ndeadline = \"{deadline} us\"\nwcet = \"{wcet} us\"\n");
    if let Some(callee) = &job.calls {
        let _ = writeln!(text, "calls = {{ \"{callee}.serve\" = 1 }}");
    }
}
