//! The observer: what happens at each block and each access, on each core.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use record::{CoreId, EndReason, FaultContext, Mode, RunEvent, ViolationKind, Watch, observed};
use timing::Core;

use crate::accounts::{Accounts, Counts, Mark};
use crate::block::{Blocks, InsnInfo, RawInsn, TbInfo, flag, noticed};
use crate::disturb::Disturbances;
use crate::exceptions::Exceptions;
use crate::family::{Begins, Family};
use crate::log::Log;
use crate::meter::Meter;
use crate::probes::Probes;
use crate::rate::Rate;
use crate::witness::Witnesses;
use crate::{Clock, Seen, Target};

const DEFAULT_QUANTUM: u64 = 1000;

/// What all cores have in common.
pub(crate) struct Shared {
    pub watch: Watch,
    pub log: RefCell<Log>,
    /// Name of the profile.
    pub profile: String,
    /// Clock of the cores, Hz.
    pub cpu_hz: u64,
    /// Cycles between two advances of the simulator's clock.
    pub quantum: u64,
    /// Host time of the start, seconds.
    pub started: f64,
    /// The payload of the trace port's `End` record.
    pub trace_status: Cell<Option<u32>>,
    generation: Cell<u32>,
}

impl Shared {
    /// A number that no core had before for what it knows about permissions: blocks remember it.
    pub fn next_generation(&self) -> u32 {
        let next = self.generation.get().wrapping_add(1).max(1);
        self.generation.set(next);
        next
    }
}

/// The observation of all cores of a chip.
pub struct Observer<F: Family> {
    pub(crate) shared: Rc<Shared>,
    pub(crate) cores: Box<[CoreObserver<F>]>,
    memory: F::Memory,
    blocks: Blocks,
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
    pub(crate) rate: Rate,
    pub(crate) exceptions: Exceptions,
    pub(crate) witness: Witnesses,
    pub(crate) probes: Probes,
    pub(crate) disturbances: Disturbances,
    pub(crate) faults: Vec<FaultContext>,
    /// The block that the kernel was entered from last.
    pub(crate) interrupted: *const TbInfo,
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
    pub(crate) last: *const TbInfo,
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

impl<F: Family> Observer<F> {
    /// Ready to observe what `watch` asks for on a chip of this name and clock; `make` makes a core after reset.
    ///
    /// # Errors
    /// A text: a file that cannot be written, what `make` says, or a kernel made for another processor than the model's.
    pub(crate) fn new(
        watch: Watch,
        (profile, cpu_hz): (String, u64),
        clock: &'static Clock,
        simulator: &impl Begins,
        memory: F::Memory,
        make: impl Fn(&Watch) -> Result<F, String>,
    ) -> Result<Self, String> {
        let families = (0..watch.cores.max(1)).map(|_| make(&watch)).collect::<Result<Vec<F>, String>>()?;
        let modelled = families[0].divided();
        if let Some(watched) = watch.protection.filter(|watched| *watched != modelled) {
            return Err(format!("the kernel has {watched}, the observer's model {modelled}"));
        }
        let quantum = match watch.mode {
            Mode::Exact => 1,
            Mode::Quantum if watch.quantum_cycles == 0 => DEFAULT_QUANTUM,
            Mode::Quantum => watch.quantum_cycles,
        };
        let (log, started) = (RefCell::new(Log::create(&watch)?), crate::finish::host_seconds());
        let (trace_status, generation) = (Cell::new(None), Cell::new(1));
        let shared = Rc::new(Shared { watch, log, profile, cpu_hz, quantum, started, trace_status, generation });
        let core = |(number, family)| {
            let id = CoreId(number);
            CoreObserver::new(id, Rc::clone(&shared), clock, simulator.target(id), family)
        };
        let cores = (0..).zip(families).map(core).collect();
        Ok(Self { shared, cores, memory, blocks: Blocks::default() })
    }

    /// Clock of the cores, Hz.
    pub fn cpu_hz(&self) -> u64 {
        self.shared.cpu_hz
    }

    /// What is observed.
    pub fn watch(&self) -> &Watch {
        &self.shared.watch
    }

    /// Whether core number `index` is observed. Of another one nothing may be told but that it has started.
    #[inline]
    pub fn has(&self, index: usize) -> bool {
        index < self.cores.len()
    }

    /// A processor has started: its registers can be found.
    pub fn started(&mut self, index: usize) {
        if let Some(core) = self.cores.get_mut(index) {
            core.family.started(&mut *core.target);
        }
    }

    /// Instructions (at least one) that will run as a block, and on core `index` next. Those of one block are always told together.
    pub fn translated(&mut self, index: usize, mut raw: Vec<RawInsn>) -> &'static TbInfo {
        let core = &mut self.cores[index];
        let thumb = core.family.is_thumb(&mut *core.target);
        raw.iter_mut().for_each(|insn| insn.thumb = thumb);
        self.blocks.get::<F>(&raw, &self.shared.watch, core.family.core())
    }

    /// Whether [`Observer::probed`] is to be told before the instruction at `pc` executes.
    pub fn is_probed(&self, pc: u32) -> bool {
        self.cores[0].probes.concerns(pc)
    }

    /// A block is about to run on core `index`. The run is over when there is a reason.
    #[inline]
    pub fn block(&mut self, index: usize, tb: &'static TbInfo) -> Option<EndReason> {
        self.cores[index].block(&mut self.memory, tb)
    }

    /// An access was made on core `index`, a store or a load.
    #[inline]
    pub fn data(&mut self, index: usize, insn: &InsnInfo, seen: &impl Seen, address: u32, store: bool) {
        let core = &mut self.cores[index];
        core.notice_cut(insn);
        core.accesses += 1;
        F::data(core, &mut self.memory, insn, seen, (address, store));
    }

    /// An instruction that is [`InsnInfo::system`] is about to execute on core `index`.
    pub fn system(&mut self, index: usize, insn: &InsnInfo) {
        F::system(&mut self.cores[index], &self.memory, insn);
    }

    /// An instruction at which a probe starts or ends is about to execute on core `index`.
    pub fn probed(&mut self, index: usize, insn: &InsnInfo) {
        self.cores[index].probed(insn);
    }
}

impl<F: Family> CoreObserver<F> {
    fn new(id: CoreId, shared: Rc<Shared>, clock: &'static Clock, target: Box<dyn Target>, family: F) -> Self {
        let watch = &shared.watch;
        Self {
            id,
            clock,
            target,
            family,
            accounts: Accounts::new(id),
            meter: Meter::new(watch.meter.as_ref()),
            rate: Rate::new(watch.clock),
            exceptions: Exceptions::new(id, watch.trace_port.is_none()),
            witness: Witnesses::new(watch),
            probes: Probes::new(watch),
            disturbances: Disturbances::new(watch),
            faults: Vec::new(),
            interrupted: std::ptr::null(),
            instructions: 0,
            accesses: 0,
            kernel: flag::KERNEL,
            watched: flag::VECTOR,
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
    fn block(&mut self, memory: &mut F::Memory, tb: &'static TbInfo) -> Option<EndReason> {
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
    fn before_block(&mut self, memory: &mut F::Memory, tb: &TbInfo, noticed: u32) {
        self.noticed = 0;
        if noticed & noticed::SLEPT != 0 {
            self.woke();
        }
        F::before_block(self, memory, tb, noticed);
    }

    /// Kernel text is entered or left.
    pub(crate) fn cross(&mut self, tb: &TbInfo, by_exception: bool) {
        self.settle(0, 0);
        self.kernel = tb.flags & flag::KERNEL;
        if self.kernel != 0 {
            self.interrupted = self.last;
        }
        self.meter_crossing(tb.pc);
        F::crossed(self);
        if self.kernel != 0 && !by_exception {
            self.violation(ViolationKind::KernelEntry, tb.pc, tb.pc, tb.end - tb.pc, None);
        }
    }

    #[inline]
    fn notice_cut(&mut self, insn: &InsnInfo) {
        if !std::ptr::eq(insn.block, self.last) {
            self.cut_short(insn);
        }
    }

    /// The simulator gave the rest of a block up because an instruction inside reached a device: it runs that one instruction
    /// again, alone and without a block's callback, and goes on with a new block behind it.
    #[cold]
    fn cut_short(&mut self, insn: &InsnInfo) {
        // SAFETY: blocks live as long as the process.
        if let Some(stopped) = unsafe { self.last.as_ref() }.and_then(|block| block.insn_at(insn.raw.pc)) {
            self.clock.refund(self.charged_behind(stopped));
            self.family.core_mut().cut();
            self.instructions -= u64::from(stopped.after);
        }
        self.last = insn.block;
    }

    /// Cycles that were charged for the instructions behind `insn` when its block began, if it is still the one that runs.
    pub(crate) fn charged_behind(&self, insn: &InsnInfo) -> u64 {
        self.charged(insn, insn.after)
    }

    /// Cycles that were charged for `insn` and those behind it.
    pub(crate) fn charged_from(&self, insn: &InsnInfo) -> u64 {
        self.charged(insn, insn.after + 1)
    }

    fn charged(&self, insn: &InsnInfo, count: u32) -> u64 {
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
        self.rate.loaded(at, value, now);
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
            counts: Counts::of(&self.family),
        };
        self.accounts.settle(self.domain, self.kernel != 0, now);
    }
}
