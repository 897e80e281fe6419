//! Budgets with several threads: when a thread never finds its budget empty, and how its sharers delay it. Saewong et al. 2002 and Davis and
//! Burns 2005 bound the responses of threads that wait for refills; here a deadline is admitted only where there is no such wait.
//! [`Sharing::Full`] is for threads that are released with their budget (Davis and Burns 2005). All threads of a budget are of one domain, so
//! they count as they are declared.

use super::costs::Costs;
use super::job::jobs_in;

/// A sharer as it delays others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharer {
    /// Urgency.
    pub level: u8,
    /// From one release to the next.
    pub period: u64,
    /// By when its jobs are done.
    pub deadline: u64,
    /// Time that a job takes, activation included.
    pub price: u64,
    /// How many activations a job leads to: its own, those that it arranges, one for each callee that fails.
    pub activations: u64,
    /// True if it is released whenever the delayed thread is. Then no job from before is left when
    /// the window opens.
    pub together: bool,
}

impl Sharer {
    /// Time that its jobs add within a window that opens at the other's release. A job that was
    /// released before is done by its deadline; if both are released together, no job from before
    /// is left.
    pub const fn within(&self, window: u64) -> u64 {
        self.jobs(window).saturating_mul(self.price)
    }

    pub(super) const fn jobs(&self, window: u64) -> u64 {
        let reach = if self.together { window } else { window.saturating_add(self.deadline) };
        reach.div_ceil(self.period)
    }
}

/// A thread as it takes from a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Urgency.
    pub level: u8,
    /// From one release to the next; `None` if it runs when it likes.
    pub period: Option<u64>,
    /// Time that a job takes at most; `None` if that is not declared.
    pub price: Option<u64>,
    /// The largest bound among gates that it can call.
    pub reservation: Option<u64>,
    /// As [`super::Contender::arranges`].
    pub arranges: u64,
}

impl Share {
    /// Time that its jobs take within a period of the budget.
    pub const fn demand(&self, budget: u64) -> Option<u64> {
        match (self.period, self.price) {
            (Some(period), Some(price)) => Some(jobs_in(budget, period).saturating_mul(price)),
            _ => None,
        }
    }
}

/// The answer to whether a thread can find its budget empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Never: all that its threads do within a period is covered.
    Covered {
        /// All their demands.
        demand: u64,
    },
    /// Never: the budget is full when the thread is released, and no less urgent thread takes from
    /// it before the job is done.
    Full {
        /// Time that the job and more urgent sharers take, that less urgent ones can have reserved,
        /// and debt.
        demand: u64,
    },
    /// It can: this sharer's demand has no limit, and it runs first, or the thread's period is no multiple of the budget's.
    Emptied {
        /// Position of the sharer.
        by: usize,
    },
    /// It can: the demands are limited but exceed the capacity.
    Exceeded {
        /// All demands, or, if some have no limit, as for `Full`.
        demand: u64,
    },
}

/// Says whether `shares[of]` can find a budget of `period` and `capacity` empty. Its own demand
/// must be declared.
///
/// # Panics
/// If `of` is no position in `shares`, or a period is zero.
pub fn sharing(period: u64, capacity: u64, shares: &[Share], of: usize, costs: &Costs) -> Sharing {
    let mut all = Some(0u64);
    for share in shares {
        all = all.and_then(|sum| Some(sum.saturating_add(share.demand(period)?)));
    }
    if let Some(demand) = all.filter(|&demand| demand <= capacity) {
        return Sharing::Covered { demand };
    }
    match when_full(period, shares, of, costs) {
        Ok(demand) if demand <= capacity => Sharing::Full { demand },
        Ok(demand) => Sharing::Exceeded { demand: all.unwrap_or(demand) },
        Err(by) => all.map_or(Sharing::Emptied { by }, |demand| Sharing::Exceeded { demand }),
    }
}

/// Returns the time that a thread must find at its release if less urgent sharers may do as they
/// like, or the position of the sharer that prevents a bound. It holds for a thread that is
/// released only at boundaries.
///
/// Until the release is served, a less urgent sharer can take from the new capacity in these ways:
/// - It overdraws the budget, also by its last call or fault, and pays for one activation of its
///   own.
/// - A sharer that was exhausted before leaves half an activation for itself, and a look at each
///   other sharer that was ready.
/// - The first sharer that waits for the boundary leaves half an activation for its timer (rule
///   (c)).
/// - Each sharer can be preempted inside a gate, with the bound reserved. One of them can be inside
///   a gate that holds the thread off, and whose callee exceeds its bound.
fn when_full(period: u64, shares: &[Share], of: usize, costs: &Costs) -> Result<u64, usize> {
    let (mut demand, mut arranges, mut calls, mut turn) = (0u64, 0, false, 0);
    let at_boundaries = shares[of].period.is_some_and(|own| own.is_multiple_of(period));
    for (position, share) in shares.iter().enumerate() {
        let taken = if position == of || share.level <= shares[of].level {
            share.demand(period).ok_or(position)?
        } else if at_boundaries {
            calls |= share.reservation.is_some();
            turn = costs.switching.yielding().into();
            arranges = if share.arranges > arranges { share.arranges } else { arranges };
            share.reservation.unwrap_or(0).saturating_add(costs.activation())
        } else {
            return Err(position);
        };
        demand = demand.saturating_add(taken);
    }
    Ok(demand.saturating_add(turn).saturating_add(costs.overdraft(arranges)).saturating_add(if calls {
        costs.slack()
    } else {
        0
    }))
}
