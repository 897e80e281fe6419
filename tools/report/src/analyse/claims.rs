//! Until when a thread can claim the bound on its response: until somebody on whom that counts breaks what was declared.

use abi::Call;
use record::{Handled, RunEvent};

use super::Analysis;
use super::jobs::JobLimits;
use crate::describe::Thread;

impl Analysis<'_> {
    /// Most that the jobs of a thread may take, as far as use was recorded.
    pub(super) fn limits(&self, thread: &Thread) -> JobLimits {
        let wcet = thread.wcet_ticks.filter(|_| self.execution.is_recorded);
        JobLimits { wcet: wcet.map(|ticks| self.time.cycles(ticks)), reload: self.time.cycles(thread.reload_ticks) }
    }

    /// The cycle until which everybody on whom the bound on a thread's response counts has kept what was declared; `None` if that is to
    /// the end. It counts on the thread itself and on those that share its budget (docs/time.md, The bound): on the more important ones
    /// because they run before it, and on all when all have declared what they take, because then the budget is never empty.
    pub fn claims_until(&self, thread: &Thread) -> Option<u64> {
        let sharers = || self.system.threads.iter().filter(|sharer| sharer.budget == thread.budget);
        let all = sharers().all(|sharer| sharer.period_ticks.is_some() && sharer.wcet_ticks.is_some());
        let counted = sharers().filter(|sharer| all || sharer.priority <= thread.priority);
        let broke = |sharer: &Thread| {
            let index = usize::from(sharer.index);
            self.jobs[index].broke(&self.meter(index), self.limits(sharer))
        };
        counted.filter_map(broke).min()
    }

    /// A thread that is switched away from: in a call that lets it sleep, or because others keep it waiting.
    pub(super) fn note_stop(&mut self, event: &RunEvent) {
        let call = Handled::from_detail(event.detail).call.and_then(|number| Call::from_number(u32::from(number)));
        let last = self.execution.last_thread().filter(|last| Some(*last) != self.running.thread().map(|now| now.0));
        let Some(jobs) = last.and_then(|last| self.jobs.get_mut(usize::from(last))) else { return };
        match call {
            Some(Call::SleepUntil) => jobs.sleep(),
            Some(Call::Wait | Call::Exit) => {}
            _ => jobs.keep_waiting(event.cycle),
        }
    }
}
