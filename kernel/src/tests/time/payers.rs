//! The processor's own account of each budget: it notes use and prices as they happen, and holds them against the budget's supply.

use std::string::String;

use abi::trace::Event;
use sched::switching::Switching;

use super::COSTS;
use super::drive::Run;
use crate::NOBODY;
use crate::objects::State;
use crate::ranks::Turn;

impl Run<'_> {
    pub fn budget_of(&self, who: usize) -> (u64, u64) {
        let (period, capacity) = self.system.budgets[self.payer(who)];
        (period.into(), capacity.into())
    }

    pub fn payer(&self, who: usize) -> usize {
        let victims = &self.system.victims;
        if who < victims.len() { victims[who].budget } else { self.system.hostile[who - victims.len()].budget }
    }

    /// Bits for the threads in some states.
    fn bits(&self, are: impl Fn(State) -> bool) -> u32 {
        (0..self.busy.len())
            .filter(|thread| are(self.kernel.thread(*thread as u8).state))
            .fold(0, |bits, one| bits | 1 << one)
    }

    pub fn waiting(&self) -> u32 {
        self.bits(|state| matches!(state, State::Waiting(_)))
    }

    /// The budget that this entry has found exhausted.
    pub fn exhausted(&self) -> Option<usize> {
        let mut records = self.kernel.arch.trace.iter().map(|(head, _)| *head);
        records.find(|head| *head as u8 == Event::BudgetOut as u8).map(|head| (head >> 16) as usize)
    }

    pub fn pays(&mut self, budget: usize, price: u64) {
        let left = self.kernel.budgets[budget].time.left();
        self.note(|| format!("budget {budget} pays {price}, has {left}"));
        let complaint = self.supplies[budget].pays(self.kernel.arch.now, price);
        self.complain(budget, complaint);
    }

    fn complain(&mut self, budget: usize, complaint: Option<String>) {
        if let Some(complaint) = complaint {
            self.complaint.get_or_insert(format!("budget {budget}: {complaint}"));
        }
    }

    /// After a kernel entry: who ran before pays for what it has run; not for the switch, and not for what an interrupt for others takes, of which
    /// `way_in` is over. A thread whose budget was exhausted pays for its return, the first that waits for a boundary for the timer.
    pub fn switched(&mut self, before: u8, way_in: u64, interrupt: u32) {
        let now = self.kernel.arch.now;
        let Switching { entry, exit, .. } = COSTS.switching;
        if self.kernel.current() != before {
            self.ends(before, now - u64::from(entry));
            self.pays_from = now + u64::from(exit);
            self.ran = 0;
        } else if interrupt > 0 {
            self.ends(before, now - way_in);
            self.pays_from = now - way_in + u64::from(interrupt);
        }
        let throttled = || self.kernel.thread(before).state == State::Throttled;
        let half = u64::from(COSTS.switching.yielding());
        if before != NOBODY && self.exhausted() == Some(self.payer(before.into())) && throttled() {
            self.pays(self.payer(before.into()), half);
        }
        for budget in 0..self.system.budgets.len() {
            let waits = self.kernel.budgets[budget].turn == Turn::Boundary;
            if waits && !core::mem::replace(&mut self.waited[budget], waits) {
                self.pays(budget, half);
            }
            self.waited[budget] = waits;
        }
    }

    /// A timer that came too early: the thread gets Y back, beside what it has left of the way out of the kernel.
    pub fn came_in_vain(&mut self, who: u8, way_in: u64) {
        let to = self.kernel.arch.now - way_in;
        if self.pays_from < to {
            self.ends(who, to);
        }
        self.pays_from += u64::from(COSTS.switching.early);
    }

    /// A thread has run until `to`.
    pub fn ends(&mut self, who: u8, to: u64) {
        if who == NOBODY {
            return;
        }
        let (budget, from) = (self.payer(who.into()), self.pays_from);
        let left = self.kernel.budgets[budget].time.left();
        self.note(|| format!("budget {budget} was used from {from} to {to}, has {left}"));
        // A switch that was shorter than its bound is not its gain beyond what it has run since the last one.
        let shorter = from.saturating_sub(to).min(self.ran);
        self.ran += to.saturating_sub(from);
        self.supplies[budget].takes_back(shorter);
        let complaint = self.supplies[budget].ran(from, to);
        self.complain(budget, complaint);
        self.pays_from = self.pays_from.max(to);
    }
}
