//! The observer: what happens at each block and each access. Everything here runs on the virtual processor's thread,
//! except that the main thread ends a run whose guest sleeps for ever.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use protect::AccessKind;
use protect::pmsav7::{Attr, Shadow};
use record::{EndReason, Mode, RunEvent, ViolationKind, Watch, observed};

use crate::accounts::{Accounts, Mark};
use crate::api::{Bytes, MemInfo, api};
use crate::application::{Areas, Disturbances};
use crate::block::{Blocks, InsnInfo, TbInfo, flag};
use crate::clock::{CLOCK, attention};
use crate::conduct::BELOW_STACK_BYTES;
use crate::exceptions::Exceptions;
use crate::hardware::{MPU_TYPE, Regions};
use crate::log::Log;
use crate::meter::Meter;
use crate::model::Model;
use crate::probes::Probes;
use crate::rate::Rate;
use crate::witness::Witnesses;

/// Registers of the memory protection unit, from `MPU_TYPE`.
const MPU_WRITABLE: std::ops::RangeInclusive<u32> = 0x04..=0x28;
const PRIVATE_BUS: u32 = 0xe000_0000;
const VTOR: u32 = 0xe000_ed08;
const DEFAULT_QUANTUM: u64 = 1000;
/// Registers of SysTick.
const SYSTICK: std::ops::Range<u32> = 0xe000_e010..0xe000_e020;

/// Handles of the registers that are read.
pub struct Registers {
    /// Program status.
    pub xpsr: *mut c_void,
    /// Link register.
    pub lr: *mut c_void,
    /// Stack pointers.
    pub msp: *mut c_void,
    /// The process stack pointer.
    pub psp: *mut c_void,
    /// CONTROL.
    pub control: *mut c_void,
    /// PRIMASK, BASEPRI, FAULTMASK.
    pub masks: [*mut c_void; 3],
}

/// The state of the observation.
pub struct Observer {
    pub(crate) watch: Watch,
    pub(crate) model: Model,
    pub(crate) shadow: Shadow,
    pub(crate) blocks: Blocks,
    pub(crate) log: Log,
    pub(crate) accounts: Accounts,
    pub(crate) meter: Meter,
    pub(crate) rate: Rate,
    pub(crate) regions: Regions,
    pub(crate) exceptions: Exceptions,
    pub(crate) witness: Witnesses,
    pub(crate) probes: Probes,
    pub(crate) areas: Areas,
    pub(crate) disturbances: Disturbances,
    pub(crate) bytes: Bytes,
    pub(crate) registers: Option<Registers>,
    pub(crate) instructions: u64,
    pub(crate) accesses: u64,
    pub(crate) quantum: u64,
    /// [`flag::KERNEL`] while kernel text runs, else 0.
    pub(crate) kernel: u32,
    /// [`flag`]s that need attention before a block runs.
    pub(crate) watched: u32,
    /// [`flag`]s that need attention after it ran.
    pub(crate) watched_after: u32,
    pub(crate) last: *const TbInfo,
    pub(crate) domain: u8,
    pub(crate) trace_status: Option<u32>,
    /// Host time of the start, seconds.
    pub(crate) started: f64,
    /// Cycle at which the last block began.
    pub(crate) block_start: u64,
    /// Cycles of the longest block of instructions.
    pub(crate) longest_block: u64,
    /// The main loop is met at each deadline; 0: the deadline is not known. Under a debugger, time advances by quanta instead.
    pub(crate) meets: bool,
    pub(crate) deadline: u64,
    pub(crate) next_tick: u64,
    mpu_generation: u32,
    /// First of the addresses below the kernel's stack.
    below_stack: u32,
    /// A domain was interrupted, and the kernel has not yet looked whether a store of it has failed late.
    pub(crate) late_unseen: bool,
    /// Address of the trace port, and what was last stored to its first word.
    pub(crate) port: u32,
    pub(crate) payload: u32,
}

static OBSERVER: AtomicPtr<Observer> = AtomicPtr::new(std::ptr::null_mut());
static OVER: AtomicBool = AtomicBool::new(false);

/// Makes `observer` the one of this process.
pub fn install(observer: Observer) {
    OBSERVER.store(Box::into_raw(Box::new(observer)), Ordering::Release);
}

/// The observer. Callbacks do not nest and run on one thread; see the module's text for the exception.
#[inline]
pub fn observer() -> &'static mut Observer {
    // SAFETY: installed before the first callback, never freed, and never used by two callers at a time.
    unsafe { &mut *OBSERVER.load(Ordering::Relaxed) }
}

/// Writes the results and ends the process.
pub fn end_run(reason: EndReason) -> ! {
    write_results(reason);
    // SAFETY: ends the process without running handlers that would wait for this very thread.
    unsafe { libc::_exit(0) }
}

/// Writes the results, once.
pub fn write_results(reason: EndReason) {
    if OVER.swap(true, Ordering::SeqCst) {
        return;
    }
    let observer = observer();
    observer.settle(0, 0);
    // What was slept since the guest last ran is nobody's.
    observer.end_stretch(CLOCK.now().saturating_sub(CLOCK.streak.load(Ordering::Relaxed)));
    crate::finish::write(observer, reason);
}

fn default_attr(address: u32) -> Attr {
    let attr = Shadow::permits_background(address, 1, true, AccessKind::Read);
    attr.unwrap_or(Attr { tex_s_c_b: 0, region: None })
}

impl Observer {
    /// Ready to observe what `watch` asks for.
    pub fn new(watch: Watch, model: Model, log: Log) -> Self {
        let quantum = match watch.mode {
            Mode::Exact => 1,
            Mode::Quantum if watch.quantum_cycles == 0 => DEFAULT_QUANTUM,
            Mode::Quantum => watch.quantum_cycles,
        };
        Self {
            model,
            shadow: Shadow::new(),
            blocks: Blocks::default(),
            log,
            accounts: Accounts::new(),
            meter: Meter::new(watch.meter.as_ref()),
            rate: Rate::new(watch.clock),
            regions: Regions::default(),
            exceptions: Exceptions::new(watch.trace_port.is_none()),
            witness: Witnesses::new(&watch),
            probes: Probes::new(&watch),
            areas: Areas::new(&watch),
            disturbances: Disturbances::new(&watch),
            bytes: Bytes::new(),
            registers: None,
            instructions: 0,
            accesses: 0,
            quantum,
            kernel: flag::KERNEL,
            watched: flag::VECTOR,
            watched_after: flag::MASKS,
            last: std::ptr::null(),
            domain: record::IDLE,
            trace_status: None,
            started: crate::finish::host_seconds(),
            block_start: 0,
            longest_block: 0,
            meets: !watch.debugger,
            deadline: 0,
            next_tick: 0,
            mpu_generation: 1,
            below_stack: watch.kernel_stack.map_or(0, |stack| stack.start.wrapping_sub(BELOW_STACK_BYTES)),
            late_unseen: false,
            port: watch.trace_port.unwrap_or(u32::MAX),
            payload: 0,
            watch,
        }
    }

    /// A block is about to run.
    #[inline]
    pub fn block(&mut self, tb: &'static TbInfo) {
        let noticed = CLOCK.attention.load(Ordering::Relaxed);
        self.end_block(noticed);
        if (tb.flags & self.watched) | ((tb.flags ^ self.kernel) & flag::KERNEL) | noticed != 0 {
            self.before_block(tb, noticed);
        }
        if tb.checked.get() != self.mpu_generation {
            self.check_fetch(tb);
        }
        self.block_start = CLOCK.now();
        CLOCK.pass(self.model.run(tb));
        self.instructions += u64::from(tb.count);
        self.last = tb;
        if tb.flags & self.watched_after != 0 {
            self.after_block(tb);
        }
        self.tick_when_due();
    }

    #[cold]
    fn before_block(&mut self, tb: &TbInfo, noticed: u32) {
        CLOCK.attention.store(0, Ordering::Relaxed);
        if noticed & attention::SLEPT != 0 {
            self.woke();
        }
        let entered = tb.flags & flag::VECTOR != 0 && self.enter_exception(tb, noticed & attention::RETURN != 0);
        if !entered && noticed & attention::RETURN != 0 {
            self.leave_exception();
        }
        if noticed & attention::MASK != 0 {
            self.check_masks(tb.pc);
        }
        if tb.flags & flag::FP & self.watched != 0 {
            self.watched &= !flag::FP;
            let cycles = self.model.save_lazily(self.exceptions.lazy_frame);
            CLOCK.pass(cycles);
        }
        if (tb.flags ^ self.kernel) & flag::KERNEL != 0 {
            self.cross(tb, entered);
        }
    }

    /// Kernel text is entered or left.
    pub(crate) fn cross(&mut self, tb: &TbInfo, by_exception: bool) {
        self.settle(0, 0);
        self.kernel = tb.flags & flag::KERNEL;
        self.meter_crossing(tb.pc);
        self.crossed();
        if self.kernel != 0 && !by_exception {
            self.violation(ViolationKind::KernelEntry, tb.pc, tb.pc, tb.end - tb.pc, None);
        }
    }

    #[cold]
    fn after_block(&mut self, tb: &TbInfo) {
        let mut noticed = 0;
        if tb.flags & flag::MASKS != 0 {
            noticed |= attention::MASK;
        }
        if tb.flags & self.watched_after & flag::RETURNS != 0 {
            noticed |= attention::RETURN;
        }
        CLOCK.attention.fetch_or(noticed, Ordering::Relaxed);
    }

    /// The first run of a block since the shadowed MPU changed.
    #[cold]
    fn check_fetch(&mut self, tb: &TbInfo) {
        tb.checked.set(self.mpu_generation);
        let privileged = self.kernel != 0;
        match self.shadow.permits(tb.pc, tb.end - tb.pc, privileged, AccessKind::Exec) {
            Ok(attr) => tb.attr.set(attr),
            Err(_) => {
                tb.attr.set(default_attr(tb.pc));
                if !privileged {
                    self.violation(ViolationKind::Execute, tb.pc, tb.pc, tb.end - tb.pc, None);
                }
            }
        }
    }

    /// An access was made.
    #[inline]
    pub fn data(&mut self, insn: &InsnInfo, info: MemInfo, address: u32, store: bool) {
        // SAFETY: `info` belongs to the callback that is running.
        let len = unsafe { insn.bytes_of(info) };
        self.notice_cut(insn);
        self.accesses += 1;
        let kind = if store { AccessKind::Write } else { AccessKind::Read };
        let attr = match self.shadow.permits(address, len, self.kernel != 0, kind) {
            Ok(attr) => attr,
            Err(_) => self.denied(insn, address, len, kind),
        };
        let cycles = self.model.data(address, len, store, attr);
        CLOCK.pass(cycles);
        if address.wrapping_sub(self.below_stack) < BELOW_STACK_BYTES {
            self.below_stack(insn, address, len);
        }
        if matches!(address >> 29, 2 | 7) {
            self.device(insn, info, address, len, store);
        } else if store && address.wrapping_sub(self.port) < 8 {
            self.trace_port(insn, info, address);
        }
        if store && self.witness.is_watching && self.kernel == 0 {
            self.hostile_store(insn, address, len);
        }
    }

    #[inline]
    pub(crate) fn notice_cut(&mut self, insn: &InsnInfo) {
        if !std::ptr::eq(insn.block, self.last) {
            self.cut_short(insn);
        }
    }

    /// QEMU gave the rest of a block up because an instruction inside reached a device: it runs that one instruction
    /// again, alone and without a block's callback, and goes on with a new block behind it.
    #[cold]
    fn cut_short(&mut self, insn: &InsnInfo) {
        // SAFETY: blocks live as long as the process.
        if let Some(stopped) = unsafe { self.last.as_ref() }.and_then(|block| block.insn_at(insn.pc)) {
            CLOCK.refund(self.charged_behind(stopped));
            self.model.cut();
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
        unsafe { insn.block.as_ref() }.map_or(0, |block| u64::from(self.model.behind(block, count)))
    }

    #[cold]
    fn denied(&mut self, insn: &InsnInfo, address: u32, len: u32, kind: AccessKind) -> Attr {
        if self.kernel == 0 {
            let kind = if kind == AccessKind::Write { ViolationKind::Write } else { ViolationKind::Read };
            self.violation(kind, insn.pc, address, len, None);
        }
        default_attr(address)
    }

    #[cold]
    fn device(&mut self, insn: &InsnInfo, info: MemInfo, address: u32, len: u32, store: bool) {
        CLOCK.forget_reads();
        if self.kernel != 0 {
            self.kernel_device(insn, address, len, store);
        }
        let offset = address.wrapping_sub(MPU_TYPE);
        // SAFETY: `info` belongs to the callback that is running.
        let value = unsafe { (api().qemu_plugin_mem_get_value)(info) };
        if !store {
            self.meter.loaded(address, CLOCK.now());
            self.rate.loaded(address, value.low as u32, CLOCK.now());
            self.regions.loaded(address, value.low as u32);
        }
        if store && (address < PRIVATE_BUS || SYSTICK.contains(&address)) {
            self.forget_deadline();
        }
        if !store || address < PRIVATE_BUS {
            return;
        }
        if address == VTOR {
            self.exceptions.table = value.low as u32;
        }
        let cycles = self.model.control(address, value.low as u32);
        CLOCK.pass(cycles);
        if !MPU_WRITABLE.contains(&offset) {
            return;
        }
        // What the architecture leaves open is ignored by the shadow as by QEMU.
        let _ = self.shadow.write(offset, value.low as u32);
        if len == 8 {
            let _ = self.shadow.write(offset + 4, (value.low >> 32) as u32);
        }
        self.mpu_generation = self.mpu_generation.wrapping_add(1).max(1);
    }

    /// Records an event of the observer's own, stamped now.
    pub(crate) fn note(&mut self, event: u8, detail: u16, payload: u32) {
        self.log.event(RunEvent { cycle: CLOCK.now(), event, domain: self.domain, detail, payload });
    }

    /// Attributes of data at `address`, as the kernel sees them.
    pub(crate) fn attr(&mut self, address: u32) -> Attr {
        let attr = self.shadow.permits(address, 4, true, AccessKind::Read);
        attr.unwrap_or_else(|_| default_attr(address))
    }

    /// Records a violation.
    pub(crate) fn violation(&mut self, kind: ViolationKind, pc: u32, address: u32, len: u32, victim: Option<u8>) {
        let (cycle, domain) = (CLOCK.now(), self.domain);
        let violation = record::Violation { kind, cycle, pc, address, len, domain, victim, translation: None };
        let index = self.log.violation(violation);
        self.note(observed::VIOLATION, index, address);
    }

    /// Attributes what passed since the last call to the domain and the privilege that were current; `cycles` and
    /// `instructions` have been charged already but belong to what follows.
    pub(crate) fn settle(&mut self, cycles: u64, instructions: u32) {
        let now = Mark {
            cycles: CLOCK.now() - cycles,
            slept: CLOCK.slept.load(Ordering::Relaxed),
            instructions: self.instructions - u64::from(instructions),
            accesses: self.accesses,
            counts: self.model.counts(),
        };
        self.accounts.settle(self.domain, self.kernel != 0, now);
    }
}
