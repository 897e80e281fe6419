//! Execution, block by block or instruction by instruction.

use super::Machine;
use crate::attr::MemAttr;
use crate::branch::{BranchSite, Outcome};
use crate::pipeline::{CostTable, Scoreboard};
use crate::thumb::{Class, Flags, InsnInfo};

/// What one execution of a translated block costs, computed once at translation. The code is contiguous.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockCost {
    start: u32,
    /// Address after the last instruction.
    end: u32,
    /// Issue cycles with all fetches and loads hitting.
    cycles: u32,
    instructions: u32,
    /// The branch at its end, if it has one.
    branch: Option<BranchSite>,
    /// Whether a barrier in it waits for the store buffer.
    drains: bool,
    /// Whether an ISB in it empties the fetch buffer.
    refetches: bool,
}

/// One instruction at its address, for the exact mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InsnCost {
    pc: u32,
    info: InsnInfo,
}

fn site(pc: u32, info: &InsnInfo) -> Option<BranchSite> {
    info.is_branch().then(|| BranchSite {
        pc,
        fall_through: pc.wrapping_add(u32::from(info.size)),
        target: info.target.map(|offset| pc.wrapping_add_signed(offset)),
        conditional: info.flags.has(Flags::CONDITIONAL),
    })
}

impl BlockCost {
    /// Analyses the instructions of a block that starts at `start`, as if the pipeline were empty before it. Time:
    /// proportional to the instructions.
    pub fn new<'a>(table: &CostTable, start: u32, instructions: impl IntoIterator<Item = &'a InsnInfo>) -> Self {
        let mut board = Scoreboard::new();
        let mut block =
            Self { start, end: start, cycles: 0, instructions: 0, branch: None, drains: false, refetches: false };
        for info in instructions {
            board.issue(table, info);
            block.branch = site(block.end, info);
            block.drains |= info.class == Class::DataSyncBarrier;
            block.refetches |= info.class == Class::InstructionBarrier;
            block.end = block.end.wrapping_add(u32::from(info.size));
            block.instructions += 1;
        }
        block.cycles = board.cycles();
        block
    }

    /// Issue cycles with all fetches and loads hitting.
    pub fn cycles(&self) -> u32 {
        self.cycles
    }

    /// Number of instructions.
    pub fn instructions(&self) -> u32 {
        self.instructions
    }

    /// First address and the address after the last instruction.
    pub fn addresses(&self) -> (u32, u32) {
        (self.start, self.end)
    }
}

impl InsnCost {
    /// The instruction `info` at address `pc`.
    pub fn new(pc: u32, info: InsnInfo) -> Self {
        Self { pc, info }
    }

    /// What it is.
    pub fn info(&self) -> &InsnInfo {
        &self.info
    }
}

impl Machine {
    /// One execution of `block`, whose code has attributes `attr`. Returns the cycles spent, those of the previous
    /// block's branch included. Time: proportional to the lines that the code touches.
    pub fn block(&mut self, block: &BlockCost, attr: MemAttr) -> u32 {
        let mut spent = self.arrive(block.start);
        if block.drains {
            spent += self.drain();
        }
        let first = block.start >> self.line_log2;
        let last = block.end.wrapping_sub(1) >> self.line_log2;
        if first == last {
            spent += self.fetch(first, attr) + self.spend(block.cycles);
        } else {
            // The issue cycles are spread over the lines, so that what is read ahead has time to arrive.
            let lines = last.wrapping_sub(first).wrapping_add(1);
            let share = block.cycles / lines;
            for line in first..=last {
                spent += self.fetch(line, attr) + self.spend(share);
            }
            spent += self.spend(block.cycles - share * lines);
        }
        if block.refetches {
            self.last_fetch_line = super::NO_LINE;
        }
        self.pending = block.branch;
        self.counters.instructions += u64::from(block.instructions);
        self.counters.blocks += 1;
        spent
    }

    /// One execution of one instruction: as a block, but with the pipeline's state kept from the instruction before,
    /// up to the next branch.
    pub fn instruction(&mut self, insn: &InsnCost, attr: MemAttr) -> u32 {
        let mut spent = self.arrive(insn.pc);
        if insn.info.class == Class::DataSyncBarrier {
            spent += self.drain();
        }
        let end = insn.pc.wrapping_add(u32::from(insn.info.size));
        let first = insn.pc >> self.line_log2;
        let last = end.wrapping_sub(1) >> self.line_log2;
        spent += self.fetch(first, attr);
        if last != first {
            spent += self.fetch(last, attr);
        }
        let issue = self.scoreboard.issue(&self.costs, &insn.info);
        spent += self.spend(issue);
        if insn.info.class == Class::InstructionBarrier {
            self.last_fetch_line = super::NO_LINE;
        }
        self.pending = site(insn.pc, &insn.info);
        if self.pending.is_some() {
            self.scoreboard.clear();
        }
        self.counters.instructions += 1;
        spent
    }

    /// Settles the branch before, now that execution went on at `next`.
    fn arrive(&mut self, next: u32) -> u32 {
        let Some(site) = self.pending.take() else { return 0 };
        let outcome = self.predictor.resolve(&site, next);
        self.counters.branches += 1;
        match outcome {
            Outcome::Right => return 0,
            Outcome::Redirect => self.counters.redirects += 1,
            Outcome::Wrong => self.counters.mispredicts += 1,
        }
        let cycles = self.predictor.cost(outcome);
        self.spend(cycles)
    }

    /// Waits until every buffered store has reached its memory, as DSB does.
    pub fn drain(&mut self) -> u32 {
        let stall = self.side.stores.drain(self.now);
        self.counters.drain_stalls += u64::from(stall);
        self.spend(stall)
    }
}
