//! What the model of every core is to an observer.
//!
//! `C` is what decides about a fetch or an access beside its address: the attributes of a region, or translation tables.

use crate::counters::Counters;
use crate::machine::{BlockCost, Front, InsnCost};
use crate::mmu::MmuCounters;
use crate::thumb::InsnInfo;

/// Code as a model keeps it, before it executes.
pub enum Code {
    /// Instructions that execute as a whole.
    Block(BlockCost),
    /// One instruction, where each is executed alone.
    Instruction(InsnCost),
    /// So many instructions of which nothing else is known.
    Counted(u32),
}

impl Code {
    /// What `front` keeps of instructions from `pc` on (at least one); `alone`: one that stands alone executes as an instruction.
    pub(crate) fn new(front: &Front, pc: u32, instructions: &[InsnInfo], alone: bool) -> Self {
        match instructions {
            [one] if alone => Self::Instruction(InsnCost::new(pc, *one)),
            _ => Self::Block(BlockCost::new(&front.costs, pc, instructions)),
        }
    }
}

/// What something cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charged<V> {
    /// Cycles, already added to the model's clock.
    pub cycles: u32,
    /// The first thing that must not be and was seen by the way.
    pub violation: Option<V>,
}

/// A model of one core with its memories. It is told what happens, in order, and answers what each costs.
pub trait Core<C> {
    /// A data access.
    type Access;
    /// What an instruction or a store does to the core itself: caches, TLBs, registers of translation.
    type System;
    /// An exception taken or left.
    type Exception;
    /// What must not be.
    type Violation;

    /// What is kept of instructions from `pc` on (at least one). Time: proportional to them.
    fn describe(&self, pc: u32, instructions: &[InsnInfo], alone: bool) -> Code;

    /// Code executes: fetches, prediction and issue, without its data accesses; those of the previous code's branch included.
    fn fetch(&mut self, code: &Code, context: &C) -> Charged<Self::Violation>;

    /// Cycles that the code executed last was charged for its last `count` instructions.
    fn behind(&self, code: &Code, count: u32) -> u32;

    /// The code executed last was left before its end.
    fn cut(&mut self);

    /// A data access: the cycles that it adds to those of the instruction.
    fn data(&mut self, access: Self::Access, context: &C) -> Charged<Self::Violation>;

    /// Cycles of what is done to the core itself.
    fn system(&mut self, operation: Self::System, context: &C) -> u32;

    /// Cycles of an exception's entry or return.
    fn exception(&mut self, exception: Self::Exception) -> u32;

    /// What hardware may use from now on and must not.
    fn check(&self, context: &C) -> Option<Self::Violation>;

    /// The core sleeps for so many cycles.
    fn sleep(&mut self, cycles: u64);

    /// Caches, TLBs, predictor and buffers become as bad as others can leave them. Takes no time.
    fn spoil(&mut self);

    /// What another program leaves behind that fills caches and TLBs and whose lines are as if written back. Takes no time.
    fn disturb(&mut self) {}

    /// What happened so far.
    fn counters(&self) -> Counters;

    /// What translation did so far.
    fn mmu_counters(&self) -> MmuCounters {
        MmuCounters::default()
    }
}
