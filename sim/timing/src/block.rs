//! Blocks and instructions as every core model keeps them before they execute.

use alloc::boxed::Box;
use core::cell::RefCell;

use crate::branch::BranchSite;
use crate::insn::{Class, Flags, InsnInfo};
use crate::pipeline::{CostTable, Generation, Index, Number, Pipeline, Scoreboard};

/// Runs through a block that are remembered: loops and calls come with few different pipelines.
const PATHS: usize = 8;

/// A run through a block: the pipeline before and after it, and the cycles between. It depends on nothing else.
#[derive(Clone, Copy, Debug)]
struct Path {
    before: Index,
    after: Index,
    cycles: u32,
}

/// The runs through a block that were computed last.
#[derive(Clone, Debug)]
struct Paths {
    /// The generation of the pipelines that they name.
    generation: Generation,
    /// The one that was taken last.
    last: u8,
    oldest: u8,
    known: [Path; PATHS],
}

impl Paths {
    /// None.
    const NONE: Self = Self {
        generation: Generation::NONE,
        last: 0,
        oldest: 0,
        known: [Path { before: Index::UNUSED, after: Index::UNUSED, cycles: 0 }; PATHS],
    };

    /// The path that begins so.
    #[inline]
    fn find(&mut self, before: Number) -> Option<Path> {
        if before.generation != self.generation {
            return None;
        }
        let last = self.known[usize::from(self.last) % PATHS];
        if last.before == before.index { Some(last) } else { self.search(before.index) }
    }

    fn search(&mut self, before: Index) -> Option<Path> {
        let at = self.known.iter().position(|path| path.before == before)?;
        self.last = at as u8;
        Some(self.known[at])
    }

    /// Remembers a path in the place of the oldest.
    fn keep(&mut self, generation: Generation, path: Path) {
        if generation != self.generation {
            *self = Self { generation, ..Self::NONE };
        }
        self.known[usize::from(self.oldest)] = path;
        self.last = self.oldest;
        self.oldest = (self.oldest + 1) % PATHS as u8;
    }

    /// The pipeline before the path taken last.
    fn before(&self) -> Number {
        Number { generation: self.generation, index: self.known[usize::from(self.last)].before }
    }
}

/// A translated block before it executes. The code is contiguous. Its borders change nothing: the pipeline at its end is that at the
/// next one's start.
///
/// The part that every execution reads comes first, and is small: the host has thousands of blocks to keep at hand.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct BlockCost {
    start: u32,
    /// Address after the last instruction.
    end: u32,
    paths: RefCell<Paths>,
    /// The branch at its end, if it has one.
    pub(crate) branch: Option<BranchSite>,
    /// Whether a barrier in it waits for the store buffer.
    pub(crate) drains: bool,
    /// Whether an ISB in it empties the fetch buffer.
    pub(crate) refetches: bool,
    instructions: Box<[InsnInfo]>,
    /// Issue cycles from an empty pipeline, with all fetches and loads hitting.
    cycles: u32,
}

/// One instruction at its address, for the exact mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InsnCost {
    pub(crate) pc: u32,
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
    /// Analyses the instructions of a block that starts at `start`. Time: proportional to the instructions.
    pub fn new<'a>(table: &CostTable, start: u32, instructions: impl IntoIterator<Item = &'a InsnInfo>) -> Self {
        let mut board = Scoreboard::new();
        let mut block = Self {
            start,
            end: start,
            cycles: 0,
            instructions: Box::default(),
            paths: RefCell::new(Paths::NONE),
            branch: None,
            drains: false,
            refetches: false,
        };
        let instructions: Box<[InsnInfo]> = instructions.into_iter().copied().collect();
        for info in &instructions {
            block.cycles += board.issue(table, info);
            block.branch = site(block.end, info);
            block.drains |= info.class == Class::DataSyncBarrier;
            block.refetches |= info.class == Class::InstructionBarrier;
            block.end = block.end.wrapping_add(u32::from(info.size));
        }
        block.instructions = instructions;
        block
    }

    /// Issues all of it: cycles. Time: constant if it was issued to the same pipeline before, else proportional to the instructions.
    #[inline]
    pub(crate) fn issue(&self, table: &CostTable, pipeline: &mut Pipeline) -> u32 {
        let known = self.paths.borrow_mut().find(pipeline.now());
        let Some(path) = known else { return self.issue_anew(table, pipeline) };
        pipeline.enter(path.after);
        path.cycles
    }

    #[cold]
    fn issue_anew(&self, table: &CostTable, pipeline: &mut Pipeline) -> u32 {
        let before = pipeline.begin();
        let known = self.paths.borrow_mut().find(before);
        if let Some(path) = known {
            pipeline.enter(path.after);
            return path.cycles;
        }
        let mut board = *pipeline.board();
        let cycles = self.instructions.iter().map(|info| board.issue(table, info)).sum();
        let after = pipeline.end(&board);
        self.paths.borrow_mut().keep(before.generation, Path { before: before.index, after: after.index, cycles });
        cycles
    }

    /// Cycles that its last `count` instructions added when it was issued last. Time: proportional to the instructions.
    pub(crate) fn behind(&self, table: &CostTable, pipeline: &Pipeline, count: usize) -> u32 {
        let paths = self.paths.borrow();
        // The block issued last is always known; of an earlier one the pipeline may be forgotten.
        let Some(mut before) = pipeline.recall(paths.before()).copied() else { return 0 };
        let (first, last) = self.instructions.split_at(self.instructions.len().saturating_sub(count));
        first.iter().for_each(|info| _ = before.issue(table, info));
        last.iter().map(|info| before.issue(table, info)).sum()
    }

    /// Issue cycles from an empty pipeline, with all fetches and loads hitting.
    pub fn cycles(&self) -> u32 {
        self.cycles
    }

    /// Number of instructions.
    pub fn instructions(&self) -> u32 {
        self.instructions.len() as u32
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
    pub(crate) fn site(&self) -> Option<BranchSite> {
        site(self.pc, &self.info)
    }

    /// The instruction, classified.
    pub fn info(&self) -> &InsnInfo {
        &self.info
    }
}
