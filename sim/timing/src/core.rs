//! The model of a core, as an observer uses it.
//!
//! `C` decides about a fetch or an access beside its address: the attributes of a region, or translation tables.

use crate::counters::Counters;

/// The cost of one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charged<V> {
    /// Cycles, already added to the model's clock.
    pub cycles: u32,
    /// The first violation seen by the way.
    pub violation: Option<V>,
}

/// A model of one core with its memories. It is told what happens, in order, and answers what each costs.
pub trait Core<C> {
    /// An instruction, decoded as far as the model needs it.
    type Insn;
    /// Code as the model keeps it, before it executes.
    type Code;
    /// A data access.
    type Access;
    /// A change of the core itself by an instruction or a store: of caches, TLBs, registers of translation.
    type System;
    /// An exception taken or left.
    type Exception;
    /// A state or an access that must not be.
    type Violation;

    /// The model's code of instructions from `pc` on (at least one). Time: proportional to them.
    fn describe(&self, pc: u32, instructions: &[Self::Insn], alone: bool) -> Self::Code;

    /// Code executes: fetches, prediction and issue, without its data accesses; those of the previous code's branch included.
    fn fetch(&mut self, code: &Self::Code, context: &C) -> Charged<Self::Violation>;

    /// Cycles that the code executed last was charged for its last `count` instructions.
    fn behind(&self, code: &Self::Code, count: u32) -> u32;

    /// The code executed last was left before its end.
    fn cut(&mut self);

    /// A data access: the cycles that it adds to those of the instruction.
    fn data(&mut self, access: Self::Access, context: &C) -> Charged<Self::Violation>;

    /// Cycles of a change of the core itself.
    fn system(&mut self, operation: Self::System, context: &C) -> u32;

    /// Cycles of an exception's entry or return.
    fn exception(&mut self, exception: Self::Exception) -> u32;

    /// The first state that hardware may use from now on and must not.
    fn check(&self, context: &C) -> Option<Self::Violation>;

    /// The core sleeps for so many cycles.
    fn sleep(&mut self, cycles: u64);

    /// Caches, TLBs, predictor and buffers become as bad as others can leave them. Takes no time.
    fn spoil(&mut self);

    /// Another program fills caches and TLBs and leaves; its lines are as if written back. Takes no time.
    fn disturb(&mut self) {}

    /// Events so far.
    fn counters(&self) -> Counters;
}
