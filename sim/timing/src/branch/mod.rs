//! Branch prediction: a branch target address cache of one or more ways with two-bit counters; what it does not hold is
//! predicted statically, backward taken and forward not taken. A core without prediction fetches on behind each branch. On a core with a return stack, calls push the address
//! behind them, and returns are expected to go to the one pushed last. The state is part of the machine, hence deterministic.

use alloc::vec;
use alloc::vec::Vec;

use crate::profile::{BranchParams, Param};

/// A branch as translation knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BranchSite {
    /// Address of the instruction.
    pub pc: u32,
    /// Address after it.
    pub fall_through: u32,
    /// Its target, if the instruction says it.
    pub target: Option<u32>,
    /// Whether it depends on flags or a register.
    pub conditional: bool,
    /// Whether it leaves the address behind it in the link register.
    pub calls: bool,
    /// Whether it goes back to such an address.
    pub returns: bool,
}

/// The largest return stack.
pub const MAX_RETURNS: usize = 16;

/// Addresses behind calls, the last one on top. A push onto a full stack loses the oldest; what an empty one yields is one
/// that was popped before.
#[derive(Clone, Debug)]
struct ReturnStack {
    addresses: [u32; MAX_RETURNS],
    depth: usize,
    top: usize,
}

impl ReturnStack {
    fn new(depth: u32) -> Self {
        Self { addresses: [0; MAX_RETURNS], depth: (depth as usize).clamp(1, MAX_RETURNS), top: 0 }
    }

    fn push(&mut self, address: u32) {
        self.top = (self.top + 1) % self.depth;
        self.addresses[self.top] = address;
    }

    fn pop(&mut self) -> u32 {
        let address = self.addresses[self.top];
        self.top = (self.top + self.depth - 1) % self.depth;
        address
    }
}

/// How a prediction turned out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Direction and target were known.
    Right,
    /// The direction was right, the target had to be computed.
    Redirect,
    /// Direction or target was wrong.
    Wrong,
    /// It was taken on a core that predicts nothing, and where it goes was known when its flags or its register were.
    Unpredicted,
}

#[derive(Clone, Copy, Default, Debug)]
struct Entry {
    pc: u32,
    target: u32,
    /// 0 and 1 predict not taken, 2 and 3 taken.
    counter: u8,
    valid: bool,
    /// [`Predictor::spoiled`] when it was used last.
    era: u64,
}

impl Entry {
    /// The entry as the first branch since [`Predictor::spoil`] finds it: the way of that branch is known.
    fn spoil(&mut self, site: &BranchSite, taken: bool, era: u64) {
        let fixed = !site.conditional && site.target.is_some();
        // Behind a wrong prediction it still predicts the same.
        let counter = if taken && site.conditional { 0 } else { 3 };
        *self = Self { pc: site.pc, target: NOWHERE, counter, valid: !fixed, era };
    }
}

/// No branch goes there.
const NOWHERE: u32 = u32::MAX;

/// The predictor's state.
#[derive(Clone, Debug)]
pub struct Predictor {
    /// The ways of one set lie side by side.
    entries: Vec<Entry>,
    /// The way of each set that is filled next, in turn.
    next: Vec<u8>,
    ways: usize,
    /// Whether anything is predicted.
    predicts: bool,
    returns: Option<ReturnStack>,
    /// How often [`Predictor::spoil`] was called.
    spoiled: u64,
    redirect: u32,
    mispredict: u32,
    mispredict_early: u32,
}

impl Predictor {
    /// An empty predictor.
    pub fn new(params: &BranchParams) -> Self {
        let value = |param: &Option<Param<u32>>| param.as_ref().map_or(0, |param| param.value as usize);
        let (entries, ways) = (value(&params.entries), value(&params.ways).max(1));
        Self {
            entries: vec![Entry::default(); entries],
            next: vec![0; entries / ways],
            ways,
            predicts: params.entries.is_some(),
            returns: params.return_stack.as_ref().map(|stack| ReturnStack::new(stack.value)),
            spoiled: 0,
            redirect: params.redirect.value,
            mispredict: params.mispredict.value,
            mispredict_early: params.mispredict_early.as_ref().unwrap_or(&params.mispredict).value,
        }
    }

    /// Extra cycles for an outcome of a branch that is resolved in the cycle after it, or before if its flags were `known`.
    pub fn cost(&self, outcome: Outcome, known: bool) -> u32 {
        match outcome {
            Outcome::Right => 0,
            Outcome::Redirect => self.redirect,
            Outcome::Wrong | Outcome::Unpredicted if known => self.mispredict_early,
            Outcome::Wrong | Outcome::Unpredicted => self.mispredict,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let era = self.spoiled;
        self.entries.fill(Entry { era, ..Entry::default() });
        self.next.fill(0);
    }

    /// As bad as it can be: each way of each set turns out to hold the next branch that is not in the set, and to have learned the opposite of
    /// what that does, twice. A branch that always does the same cannot have taught it the opposite: its entry is lost. Constant time.
    pub fn spoil(&mut self) {
        self.spoiled += 1;
    }

    /// Compares the prediction for `site` with where execution went on, and learns. Time: proportional to the ways.
    pub fn resolve(&mut self, site: &BranchSite, next: u32) -> Outcome {
        let taken = next != site.fall_through;
        if !self.predicts {
            return unpredicted(site, taken);
        }
        let expected = self.follow_calls(site, taken);
        if self.next.is_empty() {
            return statically(site, taken, expected == Some(next));
        }
        let entry = self.entry(site, taken);
        if !(entry.valid && entry.pc == site.pc) {
            if taken {
                *entry = Entry { pc: site.pc, target: next, counter: 2, valid: true, era: entry.era };
            }
            return statically(site, taken, expected == Some(next));
        }
        let outcome = match (entry.counter >= 2, taken) {
            (true, true) if expected.unwrap_or(entry.target) == next => Outcome::Right,
            (false, false) => Outcome::Right,
            _ => Outcome::Wrong,
        };
        if taken {
            entry.counter = (entry.counter + 1).min(3);
            entry.target = next;
        } else {
            entry.counter = entry.counter.saturating_sub(1);
        }
        outcome
    }

    /// The entry of `site`, or else the one that it would fill: one that was spoiled, and then turns out to be its own, or that whose turn it is.
    #[inline]
    fn entry(&mut self, site: &BranchSite, taken: bool) -> &mut Entry {
        let (ways, era) = (self.ways, self.spoiled);
        let set = (site.pc >> 2) as usize & (self.next.len() - 1);
        let entries = &mut self.entries[set * ways..(set + 1) * ways];
        let held = |entry: &Entry| entry.pc == site.pc && entry.valid && entry.era == era;
        let way = if let Some(way) = entries.iter().position(held) {
            way
        } else if let Some(way) = entries.iter().position(|entry| entry.era != era) {
            entries[way].spoil(site, taken, era);
            way
        } else {
            let turn = &mut self.next[set];
            let way = usize::from(*turn);
            if taken {
                *turn = if way + 1 == ways { 0 } else { *turn + 1 };
            }
            way
        };
        &mut entries[way]
    }

    /// A taken branch changes the return stack. Returns the address that a return is expected to go to.
    fn follow_calls(&mut self, site: &BranchSite, taken: bool) -> Option<u32> {
        let stack = self.returns.as_mut().filter(|_| taken)?;
        if site.calls {
            stack.push(site.fall_through);
        }
        site.returns.then(|| stack.pop())
    }
}

/// Without any prediction: fetch goes on behind each branch, and decode finds the target of one that always jumps there.
fn unpredicted(site: &BranchSite, taken: bool) -> Outcome {
    match (site.target, taken) {
        (_, false) => Outcome::Right,
        (Some(_), true) if !site.conditional => Outcome::Redirect,
        (_, true) => Outcome::Unpredicted,
    }
}

/// Without an entry. A return whose target was `known` from the stack is seen in decode, as a direct branch is.
fn statically(site: &BranchSite, taken: bool, known: bool) -> Outcome {
    match (site.target, taken) {
        (None, true) if known && !site.conditional => Outcome::Redirect,
        // Backward taken, forward not taken; an unconditional one is taken.
        (Some(target), _) => match (!site.conditional || target <= site.pc, taken) {
            (true, true) => Outcome::Redirect,
            (false, false) => Outcome::Right,
            _ => Outcome::Wrong,
        },
        (None, true) => Outcome::Wrong,
        (None, false) => Outcome::Right,
    }
}

#[cfg(test)]
mod tests;
