//! The front of every core model: pipeline, branch prediction, and blocks of instructions over whatever fetches their lines.

use crate::block::{BlockCost, InsnCost};
use crate::branch::{BranchSite, Outcome, Predictor};
use crate::counters::Counters;
use crate::insn::{Class, InsnInfo};
use crate::pipeline::{CostTable, Pipeline};
use crate::profile::Profile;

/// The number of no line: line sizes are at least two.
pub(crate) const NO_LINE: u32 = u32::MAX;

/// Code as a model with this front keeps it, before it executes.
pub enum Code {
    /// Instructions that execute as a whole.
    Block(BlockCost),
    /// One instruction, where each is executed alone.
    Instruction(InsnCost),
}

/// Fetch, prediction and issue: every core has them, whatever its memories.
#[derive(Clone, Debug)]
pub struct Front {
    pub(crate) predictor: Predictor,
    /// The branch that ended the last block, until it is known where execution went on.
    pub(crate) pending: Option<BranchSite>,
    pub(crate) last_fetch_line: u32,
    pub(crate) costs: CostTable,
    pub(crate) scoreboard: Pipeline,
    issued: u32,
    pub(crate) line_log2: u32,
}

impl Front {
    /// An empty pipeline, nothing predicted.
    pub(crate) fn new(profile: &Profile) -> Self {
        Self {
            predictor: Predictor::new(&profile.branch),
            pending: None,
            last_fetch_line: NO_LINE,
            costs: CostTable::new(&profile.pipeline).predicted(profile.branch.entries.is_some()),
            scoreboard: Pipeline::new(),
            issued: 0,
            line_log2: profile.line_bytes().trailing_zeros(),
        }
    }

    /// Code of instructions from `pc` on (at least one); `alone`: one that stands alone executes as an instruction.
    pub(crate) fn describe(&self, pc: u32, instructions: &[InsnInfo], alone: bool) -> Code {
        match instructions {
            [one] if alone => Code::Instruction(InsnCost::new(pc, *one)),
            _ => Code::Block(BlockCost::new(&self.costs, pc, instructions)),
        }
    }

    /// Forgets what is under way, as an exception does.
    pub(crate) fn empty(&mut self) {
        self.cut();
        self.last_fetch_line = NO_LINE;
    }

    /// The block executed last did not come to its end: what it left in the pipeline is forgotten.
    pub fn cut(&mut self) {
        self.pending = None;
        self.scoreboard.clear();
    }

    /// Issue cycles of the last `count` instructions of the code that was executed last.
    pub(crate) fn behind(&self, code: &Code, count: u32) -> u32 {
        match code {
            _ if count == 0 => 0,
            Code::Block(block) => block.behind(&self.costs, &self.scoreboard, count as usize),
            Code::Instruction(_) => self.issued,
        }
    }

    /// Issues a block: cycles.
    #[inline]
    fn issue(&mut self, block: &BlockCost) -> u32 {
        block.issue(&self.costs, &mut self.scoreboard)
    }
}

/// A core that executes blocks. `C` is what a fetch needs to know beside the address: attributes, or tables.
pub(crate) trait Executes<C> {
    /// Its front.
    fn front(&mut self) -> &mut Front;
    /// Its counters.
    fn counts(&mut self) -> &mut Counters;
    /// Adds cycles to the clock and returns them.
    fn pass(&mut self, cycles: u32) -> u32;
    /// Fetches a line that is not at hand: cycles, already added to the clock.
    fn fetch_line(&mut self, line: u32, context: &C) -> u32;
    /// Waits until every buffered store is done: cycles, already added to the clock.
    fn wait_for_stores(&mut self, context: &C) -> u32;

    /// Fetches a line; the one fetched last is still at hand.
    #[inline]
    fn fetch(&mut self, line: u32, context: &C) -> u32 {
        let front = self.front();
        if line == front.last_fetch_line {
            return 0;
        }
        front.last_fetch_line = line;
        self.fetch_line(line, context)
    }

    /// One execution of a block: cycles, those of the previous block's branch included.
    fn execute_block(&mut self, block: &BlockCost, context: &C) -> u32 {
        let (start, end) = block.addresses();
        let mut spent = self.arrive(start);
        if block.drains {
            spent += self.wait_for_stores(context);
        }
        let line_log2 = self.front().line_log2;
        let first = start >> line_log2;
        let last = end.wrapping_sub(1) >> line_log2;
        let cycles = self.front().issue(block);
        if first == last {
            spent += self.fetch(first, context) + self.pass(cycles);
        } else {
            // The issue cycles are spread over the lines, so that what is read ahead has time to arrive.
            let lines = last.wrapping_sub(first).wrapping_add(1);
            // Nearly always two: a division would cost the host more than the rest of this.
            let share = if lines == 2 { cycles / 2 } else { cycles / lines };
            for line in first..=last {
                spent += self.fetch(line, context) + self.pass(share);
            }
            spent += self.pass(cycles - share * lines);
        }
        if block.refetches {
            self.front().last_fetch_line = NO_LINE;
        }
        self.front().pending = block.branch;
        let counts = self.counts();
        counts.instructions += u64::from(block.instructions());
        counts.blocks += 1;
        spent
    }

    /// One execution of one instruction: as a block of its own.
    fn execute_instruction(&mut self, insn: &InsnCost, context: &C) -> u32 {
        let mut spent = self.arrive(insn.pc);
        let info = insn.info();
        if info.class == Class::DataSyncBarrier {
            spent += self.wait_for_stores(context);
        }
        let line_log2 = self.front().line_log2;
        let first = insn.pc >> line_log2;
        let last = insn.pc.wrapping_add(u32::from(info.size)).wrapping_sub(1) >> line_log2;
        spent += self.fetch(first, context);
        if last != first {
            spent += self.fetch(last, context);
        }
        let front = self.front();
        let issue = front.scoreboard.issue(&front.costs, info);
        front.issued = issue;
        if info.class == Class::InstructionBarrier {
            front.last_fetch_line = NO_LINE;
        }
        front.pending = insn.site();
        self.counts().instructions += 1;
        spent + self.pass(issue)
    }

    /// Settles the branch before, now that execution went on at `next`.
    #[inline]
    fn arrive(&mut self, next: u32) -> u32 {
        let front = self.front();
        let Some(site) = front.pending.take() else { return 0 };
        let outcome = front.predictor.resolve(&site, next);
        let waits = matches!(outcome, Outcome::Wrong | Outcome::Unpredicted);
        let known = waits && front.scoreboard.board().known();
        let penalty = front.predictor.cost(outcome, known);
        let taken = next != site.fall_through;
        let cycles = front.scoreboard.turn(&front.costs, taken, penalty, waits);
        let counts = self.counts();
        counts.branches += 1;
        match outcome {
            Outcome::Right => return 0,
            Outcome::Redirect | Outcome::Unpredicted => counts.redirects += 1,
            Outcome::Wrong => counts.mispredicts += 1,
        }
        self.pass(cycles)
    }
}
