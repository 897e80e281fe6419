//! Issue of instructions, one or two per cycle, in order or out of order.
//!
//! A scoreboard holds for each register the cycle from which it can be used. In order, an instruction issues in the first cycle
//! that is not before its predecessor's and in which its operands are ready; it may share its predecessor's cycle when
//! both allow it and need different units. If there is an early ALU, an instruction that goes through it has its result for the
//! late one in the same cycle. Out of order is in [`window`]. Cache misses are not in here: the machine stops the
//! whole pipeline for them.

mod costs;
mod numbered;
mod stored;
mod units;
mod window;

use crate::insn::{Class, Flags, InsnInfo, RegSet, WordLoad};
use crate::profile::ClassCost;
use stored::Stored;
use units::{KEPT, unit, units};

pub use costs::CostTable;
use costs::{is_folded, short};
pub(crate) use numbered::{Generation, Index, Number, Pipeline};
pub(crate) use stored::MAX_STORE_LOAD;

/// Whether an instruction does not wait for its operands: a conditional branch goes where it is expected to go.
fn is_predicted(insn: &InsnInfo) -> bool {
    insn.class == Class::Branch && insn.flags.has(Flags::CONDITIONAL)
}

/// Whether an instruction issues as the older of two only.
const fn goes_first(insn: &InsnInfo) -> bool {
    matches!(insn.class, Class::Dsp | Class::FpAlu64)
}

/// Registers that an instruction needs when it needs others early, or to multiply or divide: a word loaded is late for them.
fn unforwarded(insn: &InsnInfo) -> RegSet {
    match insn.class {
        Class::Multiply | Class::Divide => insn.reads,
        Class::AluShifted | Class::Dsp if !insn.early.is_empty() => insn.reads,
        _ => RegSet::NONE,
    }
}

/// Registers and issue slots between two instructions: all that the next one depends on. All times are in cycles after `group`, the
/// cycle in which the last group issued, so that two pipelines in the same state are equal whatever they executed before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scoreboard {
    /// First cycle in which a register can be used by the late ALU.
    ready: [u8; 64],
    /// By an early reader. Of floating-point registers nothing is read early.
    early: [u8; EARLY],
    /// As an index, of a word loaded; 0 of anything else.
    late: [u8; EARLY],
    /// Instructions for which the group leaves room; 0 when it is closed.
    open: u8,
    /// Whether the group is a NOP's, beside which a core that folds branches issues more than these.
    idle: bool,
    busy: u8,
    /// First cycle for a new group: everything before it is accounted for.
    next: u8,
    /// First cycle in which it is known where the branch issued last goes, and at least the cycle after it.
    resolved: u8,
    /// Whether the flags of the branch issued last were known early.
    known: bool,
    stored: Stored,
    /// The word load in the group.
    word: Option<WordLoad>,
    /// Out of order: how many instructions begin in each of the cycles from `group` on, two bits for a cycle.
    slots: u64,
    /// Out of order: when each unit is free for the next instruction.
    free: [u8; KEPT.len()],
}

/// The floating-point unit among those that are kept.
const FP: usize = 2;
const _: () = assert!(KEPT[FP] == unit::FP);

/// Core registers and flags.
const EARLY: usize = 17;
/// The flags among them. A branch is what reads them early.
const FLAGS: usize = 16;

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            ready: [0; 64],
            early: [0; EARLY],
            late: [0; EARLY],
            open: 0,
            idle: false,
            busy: 0,
            next: 0,
            resolved: 0,
            known: false,
            stored: Stored::default(),
            word: None,
            slots: 0,
            free: [0; KEPT.len()],
        }
    }
}

impl Scoreboard {
    /// An empty pipeline.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything, as an exception does.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Cycles by which the branch issued last was resolved after it was predicted.
    #[cfg(test)]
    fn late(&self) -> u8 {
        self.resolved
    }

    /// Issues one instruction and returns the cycles it adds; 0 when it shares its predecessor's cycle, or is covered by what has not begun.
    pub fn issue(&mut self, table: &CostTable, insn: &InsnInfo) -> u32 {
        if table.window > 0 { self.dispatch(table, insn) } else { self.issue_in_order(table, insn) }
    }

    /// Whether the flags that the branch issued last depends on were known so early that it costs less when it is wrong.
    pub(crate) const fn known(&self) -> bool {
        self.known
    }

    fn issue_in_order(&mut self, table: &CostTable, insn: &InsnInfo) -> u32 {
        let cost = table.of(insn);
        let ready =
            self.operands_ready(insn, cost).max(self.unforwarded_ready(table, insn)).max(self.stored.ready(insn));
        let units = units(insn);
        let ready = if units & unit::FP != 0 { ready.max(self.free[FP]) } else { ready };
        let at = match (is_predicted(insn), table.waits) {
            (true, false) => 0,
            (true, true) => self.folded_ready(insn),
            _ if table.folds && insn.class == Class::IfThen => self.folded_ready(insn),
            _ => ready,
        };
        let single = !table.leaves_room(insn, cost);
        if self.open > 0 && at == 0 && self.may_join(table, insn, cost, units) {
            self.open -= 1;
            let cost = self.alu(table, insn, cost, false);
            self.busy |= units;
            self.begins(table, insn, cost);
            self.resolved = ready.max(self.next);
            return 0;
        }
        let group = at.max(self.next);
        let waited = u32::from(group - self.next);
        self.shift(group);
        self.open = if single { 0 } else { table.width - 1 };
        self.idle = table.folds && insn.class == Class::Nop;
        self.busy = units;
        self.word = insn.word;
        self.next = short(cost.issue);
        let cost = self.alu(table, insn, cost, true);
        self.begins(table, insn, cost);
        self.resolved = ready.saturating_sub(group).max(self.next);
        waited + cost.issue
    }

    /// The cost in the ALU that an instruction goes through when it issues in this group, as the `older` or the younger one.
    fn alu(&self, table: &CostTable, insn: &InsnInfo, late: ClassCost, older: bool) -> ClassCost {
        let Some(early) = table.early_alu.filter(|_| insn.class == Class::Alu) else { return late };
        let fits = older || insn.flags.has(Flags::SHIFT) && self.busy & unit::SHIFT == 0;
        if fits && insn.reads.indices().all(|r| self.early[r] == 0) { early } else { late }
    }

    /// An instruction issues in this group.
    fn begins(&mut self, table: &CostTable, insn: &InsnInfo, cost: ClassCost) {
        self.known = table.flags_ahead > 0 && insn.reads.has(RegSet::FLAGS) && self.early[FLAGS] == 0;
        self.results(insn, cost, 0);
        if table.load_late > 0 {
            let late = if insn.class == Class::Load { short(cost.latency + cost.early) + table.load_late } else { 0 };
            insn.writes.indices().filter(|&r| r < EARLY).for_each(|r| self.late[r] = late);
        }
        if table.flags_ahead > 0 && insn.writes.has(RegSet::FLAGS) {
            // The late ALU sets them, whichever computes.
            self.ready[FLAGS] = self.ready[FLAGS].max(1);
            self.early[FLAGS] = table.flags_ahead;
        }
        self.stored.issue(insn, table.store_load);
        if insn.class == Class::FpAccumulate32 {
            self.free[FP] = table.fp_busy;
        }
    }

    /// Whether an instruction whose operands are there may issue in the group beside what is in it.
    fn may_join(&self, table: &CostTable, insn: &InsnInfo, cost: ClassCost, units: u8) -> bool {
        if table.folds {
            return insn.size == 2 && cost.dual && insn.class != Class::Nop && (self.idle || is_folded(insn.class));
        }
        let single = insn.flags.has(Flags::SINGLE) || !cost.dual;
        !single && !goes_first(insn) && self.has_units(table, insn, units)
    }

    /// First cycle for a branch or IT that waits for its operands. It sees flags in the cycle that sets them.
    fn folded_ready(&self, insn: &InsnInfo) -> u8 {
        let ready = |r: usize| if r == FLAGS { self.ready[r].saturating_sub(1) } else { self.ready[r] };
        insn.reads.indices().map(ready).max().unwrap_or(0)
    }

    /// First cycle for what a word loaded is late for.
    fn unforwarded_ready(&self, table: &CostTable, insn: &InsnInfo) -> u8 {
        if table.load_late == 0 {
            return 0;
        }
        let early = short(table.costs[Class::Load as usize].early);
        let late = |set: RegSet| set.indices().filter(|&r| r < EARLY).map(|r| self.late[r]).max().unwrap_or(0);
        late(unforwarded(insn)).saturating_sub(early).max(late(insn.index))
    }

    /// The cycles that a branch adds. `penalty` is what the profile states for a branch that is resolved in the
    /// cycle after it, if it was `wrong`, or else for a target that decode had to find.
    pub(crate) fn turn(&mut self, table: &CostTable, taken: bool, penalty: u32, wrong: bool) -> u32 {
        if penalty == 0 {
            if taken {
                // The instructions behind it are fetched in another cycle.
                (self.open, self.idle, self.busy, self.word) = (0, false, 0, None);
            }
            self.resolved = 0;
            return 0;
        }
        let seen = match (wrong, table.window > 0) {
            (true, _) => self.resolved,
            (false, true) => 1,
            (false, false) => self.next,
        };
        let again = seen.saturating_add(short(penalty));
        let added = again.saturating_sub(self.next);
        self.next = self.next.max(again);
        self.shift(again);
        self.open = if table.window > 0 { table.width } else { 0 };
        self.idle = false;
        u32::from(added)
    }

    /// Lets the next group issue `cycles` after the last one.
    fn shift(&mut self, cycles: u8) {
        if cycles == 0 {
            return;
        }
        self.ready.iter_mut().for_each(|ready| *ready = ready.saturating_sub(cycles));
        self.early.iter_mut().for_each(|early| *early = early.saturating_sub(cycles));
        self.late.iter_mut().for_each(|late| *late = late.saturating_sub(cycles));
        self.stored.shift(cycles);
        self.free.iter_mut().for_each(|free| *free = free.saturating_sub(cycles));
        self.next = self.next.saturating_sub(cycles);
        self.resolved = self.resolved.saturating_sub(cycles);
        self.slots = self.slots.checked_shr(2 * u32::from(cycles)).unwrap_or(0);
    }

    /// Whether the group leaves an instruction the units that it needs.
    fn has_units(&self, table: &CostTable, insn: &InsnInfo, units: u8) -> bool {
        let shared = self.busy & units;
        let banks = || self.word.zip(insn.word).is_some_and(|(one, other)| one.differs(other));
        shared == 0 || shared == unit::LOAD && table.banks && banks()
    }

    fn operands_ready(&self, insn: &InsnInfo, cost: ClassCost) -> u8 {
        let late = insn.reads.indices().map(|r| self.ready[r]);
        let early = insn.early.indices().map(|r| self.early.get(r).copied().unwrap_or(self.ready[r]));
        let sums = insn.sums.indices().map(|r| self.ready[r].saturating_sub(short(cost.sum)));
        late.chain(early).chain(sums).max().unwrap_or(0)
    }

    fn results(&mut self, insn: &InsnInfo, cost: ClassCost, issued: u8) {
        let done = issued.saturating_add(short(cost.busy(insn.count > 0) + cost.latency));
        for r in insn.writes.indices() {
            self.write(r, done, short(cost.early));
        }
        for r in insn.base_update.indices() {
            self.write(r, issued + 1, 0);
        }
    }

    fn write(&mut self, register: usize, done: u8, early: u8) {
        self.ready[register] = done;
        if let Some(place) = self.early.get_mut(register) {
            *place = done.saturating_add(early);
        }
    }
}

#[cfg(test)]
mod tests;
