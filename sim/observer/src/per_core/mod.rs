//! The observation of one core, and the trait of the family that it belongs to. The children are parts of [`CoreObserver`].

mod exceptions;
mod faults;
mod probes;
mod stretches;
mod tick;
mod trace;

use std::rc::Rc;

use record::{
    Architecture, AreaCounts, CoreId, Counted, Deed, EndReason, FaultContext, ProtectionWatch, RunEvent,
    TranslationCounts, ViolationKind, observed,
};
use timing::{Charged, Core};

use crate::accounts::{Accounts, Counts, Mark};
use crate::block::{Block, BlockInsn, RawInsn, flag, noticed};
use crate::clock_reads::ClockReads;
use crate::disturb::Disturbances;
use crate::exceptions::Exceptions;
use crate::meter::Meter;
use crate::probes::Probes;

use crate::saved::Saved;
use crate::shared::Shared;
use crate::witness::Witnesses;
use crate::{Clock, Seen, Target};

/// A block of a family's code.
pub type BlockOf<F> = Block<<<F as Family>::Core as Core<<F as Family>::Context>>::Code>;
/// An instruction of such a block.
pub type InsnOf<F> = BlockInsn<<<F as Family>::Core as Core<<F as Family>::Context>>::Code>;
/// A defect that a model finds.
pub(crate) type ViolationOf<F> = <<F as Family>::Core as Core<<F as Family>::Context>>::Violation;

/// One core of a family, as it is observed.
pub trait Family: Sized + 'static {
    /// Facts that decide about a fetch beside its address: see [`Core`].
    type Context;
    /// The model.
    type Core: Core<Self::Context, Code: 'static>;
    /// Memory that all cores of a chip look at.
    type Memory;
    /// The architecture whose exceptions are counted.
    const ARCHITECTURE: Architecture;
    /// [`flag`]s of blocks after which something may have to be noticed, at reset.
    const WATCHED_AFTER: u32;

    /// The model.
    fn core(&self) -> &Self::Core;
    /// The model, to let something happen.
    fn core_mut(&mut self) -> &mut Self::Core;
    /// How much the model has of what a kernel divides among domains.
    fn divided(&self) -> ProtectionWatch;
    /// The processor has started: its registers can be found.
    fn started(&mut self, target: &mut dyn Target);
    /// The stack pointer of the code that runs, and the address space in force where there are some.
    fn running(&self, target: &mut dyn Target) -> (u32, Option<u32>);

    /// An instruction as the model decodes it.
    fn decode(insn: &RawInsn) -> <Self::Core as Core<Self::Context>>::Insn;
    /// The action of an instruction, for the context of a fault.
    fn deed(insn: &RawInsn) -> Deed;
    /// [`flag`]s of a block, beyond those that follow from its address.
    fn flags(raw: &[RawInsn]) -> u32;
    /// Whether the simulator is to tell of the instruction before it executes, as it may change the core itself.
    fn is_system(_: &RawInsn) -> bool {
        false
    }
    /// Whether the processor executes T32 now.
    fn is_thumb(&self, _: &mut dyn Target) -> bool {
        true
    }
    /// Whether an exception that is taken begins at this address, beyond the handlers that the request names.
    fn is_vector(&self, _: u32) -> bool {
        false
    }

    /// A block is about to run that is in [`CoreObserver::watched`] or crosses into or out of the kernel, or something was noticed.
    fn before_block(on: &mut CoreObserver<Self>, memory: &mut Self::Memory, tb: &BlockOf<Self>, noticed: u32);
    /// A block is about to be fetched.
    fn before_fetch(_: &mut CoreObserver<Self>, _: &BlockOf<Self>) {}
    /// A block is fetched.
    fn fetch(&mut self, memory: &Self::Memory, tb: &BlockOf<Self>) -> Charged<ViolationOf<Self>>;
    /// A block was fetched.
    fn fetched(_: &mut CoreObserver<Self>, _: &BlockOf<Self>) {}
    /// An access was made.
    fn data(
        on: &mut CoreObserver<Self>,
        memory: &mut Self::Memory,
        insn: &InsnOf<Self>,
        seen: &impl Seen,
        at: (u32, bool),
    );
    /// An instruction that [`Family::is_system`] is about to execute.
    fn system(_: &mut CoreObserver<Self>, _: &Self::Memory, _: &InsnOf<Self>) {}
    /// The model found something wrong with the `len` bytes at `address`, accessed by the instruction at `pc`.
    fn violated(on: &mut CoreObserver<Self>, pc: u32, address: u32, len: u32, found: ViolationOf<Self>);
    /// Timers have expired that were due at this cycle: interrupts may be pending now.
    fn expired(_: &mut CoreObserver<Self>, _due: u64) {}
    /// Kernel text was entered or left.
    fn crossed(_: &mut CoreObserver<Self>) {}
    /// Whether handlers that are not the kernel's have something interrupted: what runs is theirs.
    fn is_displaced(&self) -> bool {
        false
    }
    /// Another domain goes on, says the instruction at `pc`.
    fn switched(_: &mut CoreObserver<Self>, _: u32) {}

    /// The registers of a thread as the kernel has saved them, its context at this address; `whole`: what the processor itself stores is there.
    fn saved(&self, target: &mut dyn Target, context: u32, whole: bool) -> Option<Saved>;

    /// For the summary: region registers, as the machine says.
    fn regions(&self) -> Option<u32> {
        None
    }
    /// For the summary: the counter of Non-secure cycles.
    fn counted(&self) -> Option<Counted> {
        None
    }
    /// The processor has slept for so many cycles.
    fn slept(&mut self, _: u64) {}
    /// It is a cycle now at which the simulator may have to be asked for an interrupt of the model's; whether it was, and the next such cycle.
    fn interrupts(_: &mut CoreObserver<Self>, _: u64) -> (bool, u64) {
        (false, u64::MAX)
    }
    /// For the summary: translation in parts of address spaces.
    fn areas(&self, _: CoreId) -> Vec<AreaCounts> {
        Vec::new()
    }
    /// Translation so far.
    fn translation(&self) -> TranslationCounts {
        TranslationCounts::default()
    }
}

/// The observation of one core.
pub struct CoreObserver<F: Family> {
    pub(crate) id: CoreId,
    pub(crate) shared: Rc<Shared>,
    pub(crate) clock: &'static Clock,
    pub(crate) target: Box<dyn Target>,
    pub(crate) family: F,
    pub(crate) accounts: Accounts,
    pub(crate) meter: Meter,
    pub(crate) clock_reads: ClockReads,
    pub(crate) exceptions: Exceptions,
    pub(crate) witness: Witnesses,
    pub(crate) probes: Probes,
    pub(crate) disturbances: Disturbances,
    pub(crate) faults: Vec<FaultContext>,
    /// The block that the kernel was entered from last.
    pub(crate) interrupted: *const BlockOf<F>,
    /// The block of a handler that is not the kernel's from which the kernel was entered last, and the handler's stack pointer then.
    pub(crate) handler_ran: (*const BlockOf<F>, u32),
    pub(crate) instructions: u64,
    pub(crate) accesses: u64,
    /// [`flag::KERNEL`] while kernel text runs, else 0.
    pub(crate) kernel: u32,
    /// [`flag`]s that need attention before a block runs.
    pub(crate) watched: u32,
    /// [`flag`]s that need attention after it ran.
    pub(crate) watched_after: u32,
    /// [`noticed`] since the last block.
    pub(crate) noticed: u32,
    /// Sleeps, and cycles slept, until the core last ran.
    pub(crate) sleeps: u64,
    pub(crate) slept: u64,
    pub(crate) last: *const BlockOf<F>,
    pub(crate) domain: u8,
    /// Cycle at which the last block began.
    pub(crate) block_start: u64,
    /// Cycles of the longest block of instructions.
    pub(crate) longest_block: u64,
    /// The simulator is met at each deadline; 0: the deadline is not known. Under a debugger, time advances by quanta instead.
    pub(crate) meets: bool,
    pub(crate) deadline: u64,
    pub(crate) next_tick: u64,
    /// Address of the trace port, and what was last stored to its first word.
    pub(crate) port: u32,
    pub(crate) payload: u32,
}

impl<F: Family> CoreObserver<F> {
    pub(crate) fn new(
        id: CoreId,
        shared: Rc<Shared>,
        clock: &'static Clock,
        target: Box<dyn Target>,
        family: F,
    ) -> Self {
        let watch = &shared.watch;
        Self {
            id,
            clock,
            target,
            family,
            accounts: Accounts::new(id),
            meter: Meter::new(watch.meter.as_ref()),
            clock_reads: ClockReads::new(watch.clock),
            exceptions: Exceptions::new(id, watch.trace_port.is_none()),
            witness: Witnesses::new(watch),
            probes: Probes::new(watch),
            disturbances: Disturbances::new(watch),
            faults: Vec::new(),
            interrupted: std::ptr::null(),
            handler_ran: (std::ptr::null(), 0),
            instructions: 0,
            accesses: 0,
            kernel: flag::KERNEL,
            watched: flag::VECTOR | flag::APART,
            watched_after: F::WATCHED_AFTER,
            noticed: 0,
            sleeps: 0,
            slept: 0,
            last: std::ptr::null(),
            domain: record::IDLE,
            block_start: 0,
            longest_block: 0,
            meets: !watch.debugger,
            deadline: 0,
            next_tick: 0,
            port: watch.trace_port.unwrap_or(u32::MAX),
            payload: 0,
            shared,
        }
    }

    /// A block is about to run.
    #[inline]
    pub(crate) fn block(&mut self, memory: &mut F::Memory, tb: &'static BlockOf<F>) -> Option<EndReason> {
        let slept = if self.clock.sleeps() == self.sleeps { 0 } else { noticed::SLEPT };
        let noticed = self.noticed | slept;
        self.end_block(noticed);
        let attention = (tb.flags & self.watched) | ((tb.flags ^ self.kernel) & flag::KERNEL) | noticed;
        if attention != 0 || self.family.is_vector(tb.pc) {
            self.before_block(memory, tb, noticed);
        }
        F::before_fetch(self, tb);
        self.block_start = self.clock.now();
        let charged = self.family.fetch(memory, tb);
        self.clock.pass(u64::from(charged.cycles));
        if let Some(violation) = charged.violation {
            F::violated(self, tb.pc, tb.pc, tb.end - tb.pc, violation);
        }
        F::fetched(self, tb);
        self.instructions += u64::from(tb.count);
        self.last = tb;
        if tb.flags & self.watched_after != 0 {
            self.noticed = noticed::after(tb.flags & self.watched_after);
        }
        self.tick_when_due()
    }

    #[cold]
    fn before_block(&mut self, memory: &mut F::Memory, tb: &BlockOf<F>, noticed: u32) {
        self.noticed = 0;
        if noticed & noticed::SLEPT != 0 {
            self.woke();
        }
        F::before_block(self, memory, tb, noticed);
    }

    /// Kernel text is entered or left.
    pub(crate) fn cross(&mut self, tb: &BlockOf<F>, by_exception: bool) {
        self.settle(0, 0);
        self.kernel = tb.flags & flag::KERNEL;
        if self.kernel != 0 {
            self.interrupted = self.last;
        } else {
            self.witness_call(tb.pc, None);
        }
        self.meter_crossing(tb.pc);
        F::crossed(self);
        if self.kernel != 0 && !by_exception {
            self.violation(ViolationKind::KernelEntry, tb.pc, tb.pc, tb.end - tb.pc, None);
        }
    }

    #[inline]
    pub(crate) fn notice_cut(&mut self, insn: &InsnOf<F>) {
        if !std::ptr::eq(insn.block, self.last) {
            self.cut_short(insn);
        }
    }

    /// The simulator gave the rest of a block up because an instruction inside reached a device: it runs that one instruction
    /// again, alone and without a block's callback, and goes on with a new block behind it.
    #[cold]
    fn cut_short(&mut self, insn: &InsnOf<F>) {
        // SAFETY: blocks live as long as the process.
        if let Some(stopped) = unsafe { self.last.as_ref() }.and_then(|block| block.insn_at(insn.raw.pc)) {
            self.clock.refund(self.charged_behind(stopped));
            self.family.core_mut().cut();
            self.instructions -= u64::from(stopped.after);
        }
        self.last = insn.block;
    }

    /// Cycles that were charged for the instructions behind `insn` when its block began, if it is still the one that runs.
    pub(crate) fn charged_behind(&self, insn: &InsnOf<F>) -> u64 {
        self.charged(insn, insn.after)
    }

    /// Cycles that were charged for `insn` and those behind it.
    pub(crate) fn charged_from(&self, insn: &InsnOf<F>) -> u64 {
        self.charged(insn, insn.after + 1)
    }

    fn charged(&self, insn: &InsnOf<F>, count: u32) -> u64 {
        // SAFETY: blocks live as long as the process.
        let block = unsafe { insn.block.as_ref() };
        block.map_or(0, |block| u64::from(self.family.core().behind(&block.code, count)))
    }

    /// A device was accessed.
    pub(crate) fn device_accessed(&mut self) {
        self.target.device_accessed();
    }

    /// A device's register was loaded.
    pub(crate) fn device_loaded(&mut self, at: u32, value: u32) {
        let now = self.clock.now();
        self.meter.loaded(at, now);
        self.clock_reads.loaded(at, value, now);
    }

    /// A device's register was stored to.
    pub(crate) fn device_stored(&self, at: u32, value: u32) {
        let outputs = (0..).zip(&self.shared.watch.outputs);
        for (place, _) in outputs.filter(|(_, output)| output.addresses.contains(&at)) {
            self.note(observed::STORED, place, value);
        }
    }

    /// Records an event of this core.
    pub(crate) fn record(&self, event: RunEvent) {
        self.shared.log.borrow_mut().event(RunEvent { core: self.id, ..event });
    }

    /// Records an event of the observer's own, stamped now.
    pub(crate) fn note(&self, event: u8, detail: u16, payload: u32) {
        let (cycle, domain) = (self.clock.now(), self.domain);
        self.record(RunEvent { cycle, event, domain, detail, payload, ..RunEvent::default() });
    }

    /// Records a violation.
    pub(crate) fn violation(&mut self, kind: ViolationKind, pc: u32, address: u32, len: u32, victim: Option<u8>) {
        let (core, cycle, domain) = (self.id, self.clock.now(), self.domain);
        self.list(record::Violation { core, kind, cycle, pc, address, len, domain, victim, translation: None });
    }

    /// Lists a violation and records that it happened.
    pub(crate) fn list(&mut self, violation: record::Violation) {
        let address = violation.address;
        let index = self.shared.log.borrow_mut().violation(violation);
        self.note(observed::VIOLATION, index, address);
    }

    /// Attributes what passed since the last call to the domain and the privilege that were current; `cycles` and
    /// `instructions` have been charged already but belong to what follows.
    pub(crate) fn settle(&mut self, cycles: u64, instructions: u32) {
        let now = Mark {
            cycles: self.clock.now() - cycles,
            slept: self.clock.slept(),
            instructions: self.instructions - u64::from(instructions),
            accesses: self.accesses,
            counts: Counts::new(self.family.core().counters(), self.family.translation()),
        };
        self.accounts.settle(self.domain, self.kernel != 0, now);
    }
}
