//! Whether threads keep their deadlines.

use sched::response::{self, Sharing};

use super::system::Analysis;

/// Why the budget of a thread with a deadline does not always cover its jobs.
pub enum Unpaid {
    /// There is no budget, or one without a period.
    Nothing,
    /// Its jobs need more than the budget has.
    Price,
    /// Another thread of this number can empty it.
    Emptied {
        /// The thread, or the one itself if it says too little.
        by: usize,
    },
    /// All together need so much in a period.
    Exceeded {
        /// Ticks.
        demand: u64,
    },
}

/// Whether a thread keeps its deadline, if it has one.
pub fn holds(system: &Analysis<'_>, thread: usize) -> bool {
    let Some(deadline) = system.deadline(thread) else { return true };
    let set = system.set(thread);
    paid(system, thread).is_ok() && system.respond(thread, deadline, &set).is_ok()
}

/// The threads that do not.
pub fn failing(system: &Analysis<'_>) -> Vec<usize> {
    (0..system.subjects.len()).filter(|thread| !holds(system, *thread)).collect()
}

/// Whether the budget of a thread with a deadline always covers its jobs.
pub fn paid(system: &Analysis<'_>, thread: usize) -> Result<(), Unpaid> {
    let (period, capacity) = (system.budget(thread).0, system.left_by_handlers(thread));
    if period == 0 {
        return Err(Unpaid::Nothing);
    }
    let (jobs, price) = (system.jobs(thread), system.job(thread).price(&system.costs));
    if system.job(thread).wcet == 0 || jobs.saturating_mul(price) > capacity {
        return Err(Unpaid::Price);
    }
    let (shares, threads) = system.shares(thread);
    if shares.len() == 1 {
        return Ok(());
    }
    let of = threads.iter().position(|other| *other == thread).unwrap_or(0);
    if shares[of].price.is_none() {
        return Err(Unpaid::Emptied { by: thread });
    }
    match response::sharing(period, capacity, &shares, of, &system.costs) {
        Sharing::Covered { .. } | Sharing::Full { .. } => Ok(()),
        Sharing::Emptied { by } => Err(Unpaid::Emptied { by: threads[by] }),
        Sharing::Exceeded { demand } => Err(Unpaid::Exceeded { demand }),
    }
}
