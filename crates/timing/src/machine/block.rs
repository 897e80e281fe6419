//! Execution, block by block or instruction by instruction.

use super::Machine;
use super::front::{Executes, Front};
use crate::attr::MemAttr;
use crate::branch::BranchSite;
use crate::counters::Counters;
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
    pub(super) branch: Option<BranchSite>,
    /// Cycles by which it is resolved after it was predicted.
    pub(super) late: u32,
    /// Whether a barrier in it waits for the store buffer.
    pub(super) drains: bool,
    /// Whether an ISB in it empties the fetch buffer.
    pub(super) refetches: bool,
}

/// One instruction at its address, for the exact mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InsnCost {
    pub(super) pc: u32,
    info: InsnInfo,
}

fn site(pc: u32, info: &InsnInfo) -> Option<BranchSite> {
    info.is_branch().then(|| BranchSite {
        pc,
        fall_through: pc.wrapping_add(u32::from(info.size)),
        target: info.target.map(|offset| pc.wrapping_add_signed(offset)),
        conditional: info.flags.has(Flags::CONDITIONAL),
        calls: info.flags.has(Flags::LINK),
        returns: info.flags.has(Flags::RETURN) && info.class != Class::System,
    })
}

impl BlockCost {
    /// Analyses the instructions of a block that starts at `start`, as if the pipeline were empty before it. Time:
    /// proportional to the instructions.
    pub fn new<'a>(table: &CostTable, start: u32, instructions: impl IntoIterator<Item = &'a InsnInfo>) -> Self {
        let mut board = Scoreboard::new();
        let mut block = Self {
            start,
            end: start,
            cycles: 0,
            instructions: 0,
            branch: None,
            late: 0,
            drains: false,
            refetches: false,
        };
        for info in instructions {
            board.issue(table, info);
            block.branch = site(block.end, info);
            block.drains |= info.class == Class::DataSyncBarrier;
            block.refetches |= info.class == Class::InstructionBarrier;
            block.end = block.end.wrapping_add(u32::from(info.size));
            block.instructions += 1;
        }
        block.cycles = board.cycles();
        block.late = board.late();
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

    /// The branch that it is, if it is one.
    pub(super) fn site(&self) -> Option<BranchSite> {
        site(self.pc, &self.info)
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
        self.execute_block(block, &attr)
    }

    /// One execution of one instruction: as a block, but with the pipeline's state kept from the instruction before,
    /// up to the next branch.
    pub fn instruction(&mut self, insn: &InsnCost, attr: MemAttr) -> u32 {
        self.execute_instruction(insn, &attr)
    }

    /// Waits until every buffered store has reached its memory, as DSB does.
    pub fn drain(&mut self) -> u32 {
        let stall = self.side.stores.drain(self.now);
        self.counters.drain_stalls += u64::from(stall);
        self.spend(stall)
    }
}

impl Executes<MemAttr> for Machine {
    #[inline]
    fn front(&mut self) -> &mut Front {
        &mut self.front
    }

    #[inline]
    fn counts(&mut self) -> &mut Counters {
        &mut self.counters
    }

    #[inline]
    fn pass(&mut self, cycles: u32) -> u32 {
        self.spend(cycles)
    }

    fn fetch_line(&mut self, line: u32, attr: &MemAttr) -> u32 {
        self.fetch_attributed(line, *attr)
    }

    fn wait_for_stores(&mut self, _: &MemAttr) -> u32 {
        self.drain()
    }
}
