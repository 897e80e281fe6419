//! Issue of instructions, in order, one or two per cycle.
//!
//! A scoreboard holds for each register the cycle from which it can be used. An instruction issues in the first cycle
//! that is not before its predecessor's and in which its operands are ready; it may share its predecessor's cycle when
//! both allow it and need different units. Cache misses are not in here: the machine stops the whole pipeline for them.

use crate::profile::{ClassCost, PipelineParams};
use crate::thumb::{Class, Flags, InsnInfo, WordLoad};

/// Units of which there is one, but for loads from different banks; two instructions that need the same one do not issue together.
mod unit {
    pub const LOAD: u8 = 1;
    pub const STORE: u8 = 1 << 1;
    /// The shifter in front of the late ALU, also used by extensions and bit fields.
    pub const SHIFT: u8 = 1 << 2;
    pub const MULTIPLY: u8 = 1 << 3;
    pub const FP: u8 = 1 << 4;
    pub const BRANCH: u8 = 1 << 5;
}

/// The cost of each class, ready for use.
#[derive(Clone, Debug)]
pub struct CostTable {
    width: u32,
    /// Whether loads from different banks issue together.
    banks: bool,
    costs: [ClassCost; Class::COUNT],
}

impl CostTable {
    /// The costs that a profile gives.
    pub fn new(p: &PipelineParams) -> Self {
        let mut costs = [p.alu.value; Class::COUNT];
        for (class, cost) in [
            (Class::AluLate, &p.alu_late),
            (Class::AluShifted, &p.alu_shifted),
            (Class::Dsp, &p.dsp),
            (Class::Multiply, &p.multiply),
            (Class::Divide, &p.divide),
            (Class::Load, &p.load),
            (Class::LoadNarrow, &p.load_narrow),
            (Class::LoadMultiple, &p.load_multiple),
            (Class::LoadExclusive, &p.exclusive),
            (Class::Store, &p.store),
            (Class::StoreMultiple, &p.store_multiple),
            (Class::StoreExclusive, &p.exclusive),
            (Class::Preload, &p.load),
            (Class::Branch, &p.branch),
            (Class::Wait, &p.system),
            (Class::Exception, &p.system),
            (Class::System, &p.system),
            (Class::DataMemoryBarrier, &p.barrier),
            (Class::DataSyncBarrier, &p.barrier),
            (Class::InstructionBarrier, &p.instruction_barrier),
            (Class::FpMove, &p.fp_move),
            (Class::FpAlu32, &p.fp_alu32),
            (Class::FpMultiply32, &p.fp_multiply32),
            (Class::FpAccumulate32, &p.fp_accumulate32),
            (Class::FpDivide32, &p.fp_divide32),
            (Class::FpAlu64, &p.fp_alu64),
            (Class::FpMultiply64, &p.fp_multiply64),
            (Class::FpAccumulate64, &p.fp_accumulate64),
            (Class::FpDivide64, &p.fp_divide64),
            (Class::FpLoad, &p.fp_load),
            (Class::FpLoadMultiple, &p.load_multiple),
            (Class::FpStore, &p.store),
            (Class::FpStoreMultiple, &p.store_multiple),
            (Class::Undefined, &p.system),
        ] {
            costs[class as usize] = cost.value;
        }
        Self { width: p.width.value, banks: p.load_banks.is_some(), costs }
    }

    /// Cost of `insn`, a multiple transfer's issue cycles already multiplied: two registers per issue.
    fn of(&self, insn: &InsnInfo) -> ClassCost {
        let mut cost = self.costs[insn.class as usize];
        if insn.count > 0 {
            cost.issue *= u32::from(insn.count).div_ceil(2);
        }
        cost
    }
}

/// Units that an instruction keeps busy.
fn units(insn: &InsnInfo) -> u8 {
    let memory = if insn.flags.has(Flags::LOAD) || insn.class == Class::Preload { unit::LOAD } else { 0 };
    let memory = if insn.flags.has(Flags::STORE) { memory | unit::STORE } else { memory };
    memory
        | match insn.class {
            Class::AluShifted | Class::Dsp => unit::SHIFT,
            // A multiply does not pair with a store either.
            Class::Multiply => unit::MULTIPLY | unit::STORE,
            Class::Branch => unit::BRANCH,
            Class::FpMove
            | Class::FpAlu32
            | Class::FpMultiply32
            | Class::FpAccumulate32
            | Class::FpDivide32
            | Class::FpAlu64
            | Class::FpMultiply64
            | Class::FpAccumulate64
            | Class::FpDivide64 => unit::FP,
            _ => 0,
        }
}

/// Whether an instruction does not wait for its operands: a conditional branch goes where it is expected to go.
fn is_predicted(insn: &InsnInfo) -> bool {
    insn.class == Class::Branch && insn.flags.has(Flags::CONDITIONAL)
}

/// Registers and issue slots between two instructions. Time is in cycles since the last [`Scoreboard::clear`].
#[derive(Clone, Debug)]
pub struct Scoreboard {
    /// First cycle in which a register can be used by the late ALU, and by an early reader.
    ready: [(u32, u32); 64],
    /// Cycle of the group that issued last.
    group: u32,
    /// Instructions in it that leave room for another; 0 when it is closed.
    open: u32,
    busy: u8,
    /// The word load among them.
    word: Option<WordLoad>,
    /// First cycle for a new group: everything before it is accounted for.
    next: u32,
    /// Cycles by which the operands of the instruction issued last come after it: a branch that is predicted.
    late: u32,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self { ready: [(0, 0); 64], group: 0, open: 0, busy: 0, word: None, next: 0, late: 0 }
    }
}

impl Scoreboard {
    /// An empty pipeline.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything, as after a change of flow.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Cycles accounted for since the start.
    pub fn cycles(&self) -> u32 {
        self.next
    }

    /// Cycles by which the branch issued last was resolved after it was predicted.
    pub fn late(&self) -> u32 {
        self.late
    }

    /// Issues one instruction and returns the cycles it adds; 0 when it shares its predecessor's cycle.
    pub fn issue(&mut self, table: &CostTable, insn: &InsnInfo) -> u32 {
        let cost = table.of(insn);
        let ready = self.operands_ready(insn, cost);
        let at = if is_predicted(insn) { 0 } else { ready };
        let units = units(insn);
        let single = insn.flags.has(Flags::SINGLE) || !cost.dual;
        let before = self.next;
        let pairs = self.open > 0 && !single && at <= self.group && self.has_units(table, insn, units);
        let issued = if pairs {
            self.open -= 1;
            self.busy |= units;
            self.group
        } else {
            self.group = at.max(self.next);
            self.open = if single { 0 } else { table.width - 1 };
            self.busy = units;
            self.word = insn.word;
            self.next = self.group + cost.issue;
            self.group
        };
        self.late = ready.saturating_sub(issued);
        self.results(insn, cost, issued);
        self.next - before
    }

    /// Whether the group leaves an instruction the units that it needs.
    fn has_units(&self, table: &CostTable, insn: &InsnInfo, units: u8) -> bool {
        let shared = self.busy & units;
        let banks = || self.word.zip(insn.word).is_some_and(|(one, other)| one.differs(other));
        shared == 0 || shared == unit::LOAD && table.banks && banks()
    }

    fn operands_ready(&self, insn: &InsnInfo, cost: ClassCost) -> u32 {
        let late = insn.reads.indices().map(|r| self.ready[r].0);
        let early = insn.early.indices().map(|r| self.ready[r].1);
        let sums = insn.sums.indices().map(|r| self.ready[r].0.saturating_sub(cost.sum));
        late.chain(early).chain(sums).max().unwrap_or(0)
    }

    fn results(&mut self, insn: &InsnInfo, cost: ClassCost, issued: u32) {
        let done = issued + cost.busy(insn.count > 0) + cost.latency;
        for r in insn.writes.indices() {
            self.ready[r] = (done, done + cost.early);
        }
        for r in insn.base_update.indices() {
            self.ready[r] = (issued + 1, issued + 1);
        }
    }
}

#[cfg(test)]
mod tests;
