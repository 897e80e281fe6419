//! Releases and completions of one thread.

use std::collections::VecDeque;
use std::io;

use crate::describe::Thread;
use crate::schema::{Cases, JobUse, LongJob, ThreadReport, ThreadUse, WorstJob};

use super::execution::ThreadMeter;
use crate::spool::Spool;
use crate::stats::{Histogram, Quantiles};
use crate::time::Timebase;

/// Most releases of one thread that can be pending; the kernel itself skips all but one.
const PENDING: usize = 64;

/// Observations of one thread. Nominal times count from tick 0, whose own cycle is settled only at
/// the end.
#[derive(Debug, Default)]
pub struct Jobs {
    pub cycles: u64,
    pending: VecDeque<Pending>,
    /// Nominal release of the job that was completed last, while the thread waits for the next.
    waits_after: Option<u64>,
    /// Cycle since which it neither runs nor has a job, and waits for its first release or for the processor.
    kept_waiting: Option<u64>,
    /// Lag of each completed job's completion behind its nominal release, and the cycle of the completion.
    completed: Spool,
    /// The shortest lag, and the longest with its nominal release and completion.
    shortest: u64,
    worst: Option<(u64, u64, u64)>,
    releases: u64,
    overruns: u64,
    skipped: u64,
    last_overrun: Option<u64>,
    first_overrun_at: Option<u64>,
    abandoned: u64,
    /// Time that jobs used in their own domain.
    job: JobUse,
    /// Releases that came late while less important code ran.
    lateness: u64,
    late_releases: Cases,
    /// When the first job was released that took more than was declared of it, or slept.
    broke: Option<u64>,
}

/// A job that has been released, and what its thread had used when it was.
#[derive(Clone, Copy, Debug)]
struct Pending {
    nominal: u64,
    /// Cycle of the record.
    at: u64,
    own: u64,
    resumed: u64,
}

impl Pending {
    /// Time that the job has used in its own domain, and what of it may be reloading.
    fn used(&self, meter: &ThreadMeter, limits: JobLimits) -> (u64, u64) {
        (meter.own.saturating_sub(self.own), limits.reload.saturating_mul(self.resumed(meter)))
    }

    /// Times that it has gone on after others had run.
    fn resumed(&self, meter: &ThreadMeter) -> u64 {
        meter.resumed.saturating_sub(self.resumed)
    }

    /// Whether that is more than was declared.
    fn exceeds(&self, meter: &ThreadMeter, limits: JobLimits) -> bool {
        let (used, reloads) = self.used(meter, limits);
        limits.wcet.is_some_and(|wcet| used > wcet.saturating_add(reloads))
    }
}

impl Jobs {
    /// A release; whether the thread waited for it. One that was reported as overrun before happens after all: late, not skipped, and
    /// late by the thread itself, which has asked for it only now.
    pub fn release(&mut self, nominal: u64, at: u64, meter: &ThreadMeter) -> bool {
        let is_overrun = self.last_overrun.take_if(|overrun| *overrun == nominal).is_some();
        if is_overrun {
            self.skipped -= 1;
        }
        self.releases += 1;
        (self.waits_after, self.kept_waiting) = (None, None);
        if self.pending.len() == PENDING {
            self.pending.pop_front();
            self.abandoned += 1;
        }
        self.pending.push_back(Pending { nominal, at, own: meter.own, resumed: meter.resumed });
        !is_overrun
    }

    /// A completion; false when nothing was released.
    pub fn complete(&mut self, cycle: u64, meter: &ThreadMeter, limits: JobLimits) -> bool {
        let Some(job) = self.pending.pop_front() else { return false };
        self.completed_at(cycle, job.nominal);
        self.waits_after = Some(job.nominal).filter(|_| self.pending.is_empty());
        let (used, reloads) = job.used(meter, limits);
        if used > self.job.max_cycles {
            self.job = JobUse { max_cycles: used, reload_cycles: reloads, max_at: cycle, ..self.job };
        }
        if job.exceeds(meter, limits) {
            self.job.exceeded.add(cycle);
            let resumed = job.resumed(meter);
            let long = LongJob { released_at: job.at, cycles: used, reload_cycles: reloads, resumed };
            let beyond = |long: LongJob| long.cycles.saturating_sub(long.reload_cycles);
            self.job.first.get_or_insert(long);
            if self.job.worst.is_none_or(|worst| beyond(worst) < beyond(long)) {
                self.job.worst = Some(long);
            }
            self.broke.get_or_insert(job.at);
        }
        true
    }

    fn completed_at(&mut self, cycle: u64, nominal: u64) {
        let lag = cycle.wrapping_sub(nominal);
        let signed = lag as i64;
        self.completed.push([lag, cycle]);
        let is_first = self.worst.is_none();
        if is_first || signed < self.shortest as i64 {
            self.shortest = lag;
        }
        if self.worst.is_none_or(|(longest, ..)| signed > longest as i64) {
            self.worst = Some((lag, nominal, cycle));
        }
    }

    /// The thread runs.
    pub fn runs(&mut self) {
        self.kept_waiting = None;
    }

    /// The thread stops without having asked for it, or waits for its first release, or begins anew.
    pub fn keep_waiting(&mut self, cycle: u64) {
        self.kept_waiting = Some(cycle).filter(|_| self.pending.is_empty() && self.waits_after.is_none());
    }

    /// The thread suspends itself; inside a job, no analysis has counted on that.
    pub fn sleep(&mut self) {
        if let Some(job) = self.pending.front() {
            self.broke.get_or_insert(job.at);
        }
    }

    /// The cycle from which on the thread has not kept what it had declared, if there is one; of its last job, as far as it has come.
    pub fn broke(&self, meter: &ThreadMeter, limits: JobLimits) -> Option<u64> {
        let current = self.pending.front().filter(|job| job.exceeds(meter, limits));
        self.broke.or(current.map(|job| job.at))
    }

    /// A release was recorded after less important code had run for so many cycles behind the nominal time.
    pub fn late_release(&mut self, cycle: u64, lateness: u64, limit: u64) {
        self.lateness = self.lateness.max(lateness);
        if lateness > limit {
            self.late_releases.add(cycle);
        }
    }

    /// The job before still runs at this nominal release; it is skipped unless [`Self::release`] follows.
    pub fn overrun(&mut self, nominal: u64, at: u64) {
        self.first_overrun_at.get_or_insert(at);
        self.overruns += 1;
        self.skipped += 1;
        self.waits_after = None;
        self.last_overrun = Some(nominal);
    }

    /// The thread's own domain faulted, was stopped or was restarted: its job will not complete.
    pub fn abandon(&mut self) {
        self.abandoned += self.pending.len() as u64;
        self.end();
    }

    /// The thread's domain ended: what it had been released for does not matter any more.
    pub fn end(&mut self) {
        self.pending.clear();
        (self.waits_after, self.kept_waiting) = (None, None);
    }

    /// Deadlines of a thread that has been kept waiting since it prepared itself: its first release is a boundary of its budget's grid, the one
    /// after if the budget is in debt.
    fn kept_from(&self, deadline: u64, period: Option<u64>, end: u64) -> u64 {
        let Some((since, period)) = self.kept_waiting.zip(period) else { return 0 };
        let over = end.saturating_sub(since).saturating_sub(period.saturating_mul(2)).saturating_sub(deadline);
        over.div_ceil(period.max(1))
    }

    /// Deadlines that passed before the end without a completion: of released jobs, and of the releases that a periodic thread
    /// should have had while its last job still ran, or while others kept it from being released (docs/time.md, rule (e)).
    fn overdue(&self, deadline: u64, period: Option<u64>, end: u64, zero: i64) -> u64 {
        let passed =
            |nominal: u64| response(end.wrapping_sub(nominal), zero).checked_sub(deadline).filter(|&over| over > 0);
        let released = self.pending.iter().filter(|job| passed(job.nominal).is_some()).count() as u64;
        let last = self.pending.back().map(|job| job.nominal).or(self.waits_after).and_then(passed);
        let behind = last.zip(period).map_or(0, |(over, period)| (over - 1) / period.max(1));
        released + behind
    }

    /// When the first deadline was missed of what did not complete: of a release that was skipped, or of a job that still ran.
    fn first_missed(&self, deadline: u64, zero: i64, overdue: bool) -> Option<u64> {
        let skipped = self.first_overrun_at.filter(|_| self.skipped > 0);
        let open = self.pending.front().map(|job| job.nominal).or(self.waits_after).filter(|_| overdue);
        let passed = open.map(|nominal| nominal.saturating_add_signed(zero).saturating_add(deadline));
        skipped.into_iter().chain(passed).min()
    }

    /// Response times of the completed jobs; `on_late` is told each completion after the deadline.
    fn responses(&self, limits: Limits, mut on_late: impl FnMut(u64)) -> io::Result<Responses> {
        let Limits { zero, deadline, bound, claims_until } = limits;
        let mut seen = Responses::default();
        let Some((longest, nominal, completed_at)) = self.worst else { return Ok(seen) };
        let worst = |lag| response(lag, zero);
        let (min, max) = (worst(self.shortest), worst(longest));
        let margin = |response: u64| deadline.map(|deadline| deadline as i64 - response as i64);
        seen.margins = margin(max).zip(margin(min)).map(|(low, high)| Histogram::between(low, high));
        seen.smallest_margin = margin(max);
        seen.worst = Some(WorstJob { released_at: nominal.saturating_add_signed(zero), completed_at });
        for job in self.completed.values()? {
            let [lag, done] = job?;
            let took = response(lag, zero);
            if deadline.is_some_and(|deadline| took > deadline) {
                seen.late += 1;
                seen.first_late.get_or_insert(done);
                on_late(done);
            }
            if bound.is_some_and(|bound| took > bound) && claims_until.is_none_or(|until| done <= until) {
                seen.beyond.add(done);
            }
            if let (Some(histogram), Some(margin)) = (&mut seen.margins, margin(took)) {
                histogram.add(margin);
            }
        }
        let again = || Ok(self.completed.values()?.map(|job| job.map(|[lag, _]| response(lag, zero))));
        seen.quantiles = Some(Quantiles::select(self.completed.count(), min, max, again)?);
        Ok(seen)
    }

    /// The thread's part of the report. The bound on its response holds until `claims_until`, if that is known; `on_late` is told each
    /// completion after the deadline.
    ///
    /// # Errors
    /// What the file answered in which the jobs of a long run are.
    pub fn report(
        &self,
        thread: &Thread,
        meter: &ThreadMeter,
        (time, end): (&Timebase, u64),
        claims_until: Option<u64>,
        on_late: impl FnMut(u64),
    ) -> io::Result<ThreadReport> {
        let zero = time.tick_zero();
        let deadline = thread.deadline_ticks.map(|ticks| time.cycles(ticks));
        let period = thread.period_ticks.map(|ticks| time.cycles(ticks));
        let bound = thread.response_bound_ticks.map(|ticks| time.cycles(ticks));
        let seen = self.responses(Limits { zero, deadline, bound, claims_until }, on_late)?;
        let kept = deadline.map_or(0, |d| self.kept_from(d, period, end));
        let unfinished = deadline.map_or(0, |d| self.overdue(d, period, end, zero)) + kept;
        let not_completed = deadline.and_then(|d| self.first_missed(d, zero, unfinished > 0));
        Ok(ThreadReport {
            index: thread.index,
            name: thread.name.clone(),
            domain: thread.domain,
            priority: thread.priority,
            budget: thread.budget,
            period_cycles: period,
            deadline_cycles: deadline,
            cycles: self.cycles,
            releases: self.releases,
            completions: self.completed.count(),
            missed_deadlines: if deadline.is_some() { seen.late + unfinished + self.skipped } else { 0 },
            late: seen.late,
            unfinished,
            skipped: self.skipped,
            overruns: self.overruns,
            abandoned: self.abandoned,
            response: seen.quantiles,
            response_bound: bound,
            worst_job: seen.worst,
            first_missed_at: seen.first_late.into_iter().chain(not_completed).min(),
            response_exceeded: seen.beyond,
            used: ThreadUse {
                user_cycles: meter.user,
                gate_cycles: meter.gates,
                call_cycles: meter.calls,
                activation_cycles: meter.activations,
                given_cycles: meter.given,
            },
            wcet_cycles: thread.wcet_ticks.map(|ticks| time.cycles(ticks)),
            job: self.job,
            release_late_cycles: self.lateness,
            release_late: self.late_releases,
            smallest_margin: seen.smallest_margin,
            margins: seen.margins,
        })
    }
}

/// Limits of responses.
#[derive(Clone, Copy, Debug)]
struct Limits {
    zero: i64,
    deadline: Option<u64>,
    bound: Option<u64>,
    claims_until: Option<u64>,
}

/// Response times of the completed jobs.
#[derive(Debug, Default)]
struct Responses {
    late: u64,
    first_late: Option<u64>,
    beyond: Cases,
    quantiles: Option<Quantiles>,
    worst: Option<WorstJob>,
    smallest_margin: Option<i64>,
    margins: Option<Histogram>,
}

/// Time that a job may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobLimits {
    /// As declared, if it was.
    pub wcet: Option<u64>,
    /// Cost of going on after others.
    pub reload: u64,
}

/// The response time of a job that completed so long after its nominal release, which counts from tick 0.
fn response(lag: u64, zero: i64) -> u64 {
    (lag as i64).saturating_sub(zero).max(0) as u64
}
