//! Cores of the M profile, with or without security states: every access is held against a shadow of the protection units, and exceptions
//! are seen where their handlers begin. An architecture brings the rest ([`Protects`]).

mod attributes;
mod conduct;
mod counter;
mod decode;
mod exceptions;
mod frame;
mod handlers;
mod observe;
mod pending;
mod registers;

use std::convert::Infallible;

use protect::AccessKind;
use protect::regions::{Attributes, REGIONS, default_attributes};
use record::{Architecture, Counted, Deed, ProtectionWatch, Watch};
use timing::insn::InsnInfo;
use timing::machine::{Access, Exception};
use timing::profile::{CacheParams, ProfileError};
use timing::{Charged, Core, FpFrame, Frame, Machine, Maintenance, MemAttr, Profile, thumb};

use crate::block::{RawInsn, flag};
use crate::exceptions::Moment;
use crate::per_core::{BlockOf, CoreObserver, Family, InsnOf};
use crate::saved::{Saved, deed};
use crate::{Register, Seen, Target};
use attributes::memory_attr;
use counter::Counter;
pub use frame::{EXTENDED_BYTES, ON_PROCESS_STACK, SECURE_STACK, SPSEL, TO_THREAD};
use pending::Pending;
use registers::Regions;
pub use registers::{Banked, SCR, SystemControl, VTOR, write_unit};

/// So many bytes below its stack are not the kernel's to access: more than any of its frames.
const BELOW_STACK_BYTES: u32 = 1024;

/// A model of such a core.
pub trait Modelled:
    Core<
        MemAttr,
        Insn = InsnInfo,
        Code: 'static,
        Access = Access,
        System = Maintenance,
        Exception = Exception,
        Violation = Infallible,
    > + 'static
{
}

impl<C> Modelled for C where
    C: Core<
            MemAttr,
            Insn = InsnInfo,
            Code: 'static,
            Access = Access,
            System = Maintenance,
            Exception = Exception,
            Violation = Infallible,
        > + 'static
{
}

/// An architecture of the profile: who may access what, and what it adds to exceptions.
pub trait Protects: Sized + 'static {
    /// The architecture.
    const ARCHITECTURE: Architecture;
    /// The last of the exceptions from HardFault on that stop an instruction before it executes.
    const LAST_FAULT: u16;

    /// After reset.
    fn new(watch: &Watch) -> Self;
    /// The processor has started: its registers can be found.
    fn started(&mut self, target: &mut dyn Target);

    /// The instruction at `pc` runs next: its address decides in which state.
    fn runs_at(&mut self, _pc: u32) {}
    /// A block runs next of which [`Protects::fetch`] has said this.
    #[inline]
    fn runs(&mut self, _note: u8) {}
    /// The attributes of data if the code that runs may access all bytes; `None`: hardware denies some.
    fn permits(&mut self, address: u32, len: u32, privileged: bool, kind: AccessKind) -> Option<Attributes>;
    /// Whether code of handlers that are not the kernel's may access all bytes although [`Protects::permits`] denies it: the unit that denies it is off for now.
    fn is_spared(&self, _: &mut dyn Target, _address: u32, _len: u32, _privileged: bool, _: AccessKind) -> bool {
        false
    }
    /// The attributes of code if all bytes may be fetched, and what is to be known when it runs: bits above those of [`Attributes`].
    fn fetch(&mut self, pc: u32, len: u32, privileged: bool) -> (Option<Attributes>, u8);
    /// The code that runs stores to the system control space, or to what the architecture adds to it. Whether what is permitted may be another now.
    fn control(&mut self, address: u32, len: u32, value: u64) -> bool;

    /// Line that the code that runs pends by a store to the system control space although it is not its state's; silicon ignores that.
    fn pends_foreign(&self, _address: u32, _len: u32, _value: u64) -> Option<u32> {
        None
    }
    /// Whether the code that runs is of the state in which handlers run that are not the kernel's.
    fn is_apart(&self) -> bool {
        false
    }
    /// The registers of the state that runs.
    fn banked(&self) -> &Banked;
    /// The stack pointer of handlers that are not the kernel's, where there are such.
    fn handlers_stack(&self) -> Option<Register> {
        None
    }
    /// Whether some exceptions are masked.
    fn masks(&self, target: &mut dyn Target) -> bool;
    /// Whether sleep is deep sleep, in which a chip may stop the clocks of its timers.
    fn sleeps_deep(&self) -> bool;
    /// The address of the vector table of the state that runs.
    fn table(&self) -> u32;
    /// At the first instruction of a handler that was entered with this EXC_RETURN, the address of the frame's r0.
    fn frame(&self, target: &mut dyn Target, exc_return: u32) -> u32;
    /// Bytes of a frame with floating-point registers that the state that runs stores.
    fn extended_bytes(&self) -> u32 {
        EXTENDED_BYTES
    }
}

/// The thread or the kernel, as a handler that is not the kernel's has interrupted it.
struct Displaced {
    kernel: u32,
    domain: u8,
    exception: u16,
    since: Moment,
    /// Handlers that were active.
    depth: usize,
    /// The exception of the kernel that runs above them, and since which cycle; cycles of those that have.
    above: Option<(u16, u64)>,
    above_cycles: u64,
}

/// One core.
pub struct Microcontroller<C, P> {
    core: C,
    /// Caches that CCR has enabled so far; QEMU reads the bits as zero, so that they are never taken back here.
    caches_on: (bool, bool),
    protection: P,
    /// Number of what is permitted now.
    generation: u32,
    /// Program status, and link register.
    xpsr: Register,
    lr: Register,
    regions: Regions,
    /// First of the addresses below the kernel's stack.
    below_stack: u32,
    /// A domain was interrupted, and the kernel has not yet looked whether a store of it has failed late.
    late_unseen: bool,
    /// The frame that still waits for its floating-point registers.
    lazy_frame: Frame,
    /// Set while such a handler runs.
    displaced: Option<Displaced>,
    /// Since when their interrupts are pending.
    pending: Pending,
    counter: Counter,
}

impl<P: Protects> Microcontroller<Machine, P> {
    /// The core of a profile, after reset.
    ///
    /// # Errors
    /// The broken rules of the profile.
    pub fn load(profile: &Profile, watch: &Watch) -> Result<Self, Vec<ProfileError>> {
        let machine = Machine::new(profile)?;
        let on = |cache: &Option<CacheParams>| cache.as_ref().is_some_and(|cache| cache.enabled.value);
        let caches_on = (on(&profile.icache), on(&profile.dcache));
        Ok(Self { caches_on, ..Self::new(machine, watch) })
    }
}

impl<C: Modelled, P: Protects> Microcontroller<C, P> {
    /// A core after reset, without caches.
    pub fn new(core: C, watch: &Watch) -> Self {
        Self {
            core,
            caches_on: (false, false),
            protection: P::new(watch),
            generation: 1,
            xpsr: Register::default(),
            lr: Register::default(),
            regions: Regions::default(),
            below_stack: watch.kernel_stack.map_or(0, |stack| stack.start.wrapping_sub(BELOW_STACK_BYTES)),
            late_unseen: false,
            lazy_frame: Frame { sp: 0, attr: MemAttr::STRONGLY_ORDERED, fp: FpFrame::None },
            displaced: None,
            pending: Pending::new(watch),
            counter: Counter::new(watch.handlers.as_ref().and_then(|handlers| handlers.counter.as_ref())),
        }
    }

    /// Attributes of data at `address`, as the kernel sees them.
    fn attr(&mut self, address: u32) -> MemAttr {
        let attributes = self.protection.permits(address, 4, true, AccessKind::Read);
        memory_attr(attributes.unwrap_or_else(|| default_attributes(address)))
    }
}

impl<C: Modelled, P: Protects> Family for Microcontroller<C, P> {
    type Context = MemAttr;
    type Core = C;
    type Memory = ();
    const ARCHITECTURE: Architecture = P::ARCHITECTURE;
    const WATCHED_AFTER: u32 = flag::MASKS | flag::SLEEPS;

    fn core(&self) -> &C {
        &self.core
    }

    fn core_mut(&mut self) -> &mut C {
        &mut self.core
    }

    fn divided(&self) -> ProtectionWatch {
        ProtectionWatch::Regions(REGIONS as u32)
    }

    fn started(&mut self, target: &mut dyn Target) {
        (self.xpsr, self.lr) = (target.find("xpsr"), target.find("lr"));
        self.protection.started(target);
    }

    fn running(&self, target: &mut dyn Target) -> (u32, Option<u32>) {
        (target.register(self.protection.banked().psp), None)
    }

    fn decode(insn: &RawInsn) -> InsnInfo {
        thumb::classify(&insn.code.to_le_bytes())
    }

    fn deed(insn: &RawInsn) -> Deed {
        deed(&Self::decode(insn))
    }

    fn flags(raw: &[RawInsn]) -> u32 {
        let mut flags = 0;
        flags |= if raw.iter().any(|insn| decode::is_floating_point(insn.code)) { flag::FP } else { 0 };
        flags |= if raw.last().is_some_and(|last| decode::may_return(last.code)) { flag::RETURNS } else { 0 };
        flags |= if raw.iter().any(|insn| decode::changes_mask(insn.code)) { flag::MASKS } else { 0 };
        flags |= if raw.last().is_some_and(|last| decode::may_sleep(last.code)) { flag::SLEEPS } else { 0 };
        flags
    }

    fn before_block(on: &mut CoreObserver<Self>, (): &mut (), tb: &BlockOf<Self>, noticed: u32) {
        on.before_block_here(tb, noticed);
    }

    #[inline]
    fn before_fetch(on: &mut CoreObserver<Self>, tb: &BlockOf<Self>) {
        if tb.checked.get() != on.family.generation || on.is_displaced_thread() {
            on.check_fetch(tb);
        }
        on.family.protection.runs(tb.attributes.get());
    }

    #[inline]
    fn fetch(&mut self, (): &(), tb: &BlockOf<Self>) -> Charged<Infallible> {
        self.core.fetch(&tb.code, &memory_attr(Attributes::from_bits(tb.attributes.get())))
    }

    #[inline]
    fn data(on: &mut CoreObserver<Self>, (): &mut (), insn: &InsnOf<Self>, seen: &impl Seen, at: (u32, bool)) {
        on.data_here(insn, seen, at);
    }

    fn violated(_: &mut CoreObserver<Self>, _: u32, _: u32, _: u32, found: Infallible) {
        match found {}
    }

    fn expired(on: &mut CoreObserver<Self>, due: u64) {
        on.note_pending(due);
    }

    fn crossed(on: &mut CoreObserver<Self>) {
        on.look_for_late_faults();
    }

    #[inline]
    fn is_displaced(&self) -> bool {
        self.displaced.is_some()
    }

    fn switched(on: &mut CoreObserver<Self>, pc: u32) {
        on.without_having_looked(pc);
    }

    /// The kernel keeps r4 to r11, the process stack pointer and EXC_RETURN in this order; the hardware has put the rest on the stack.
    fn saved(&self, target: &mut dyn Target, context: u32, whole: bool) -> Option<Saved> {
        frame::saved(target, context, whole, self.protection.extended_bytes())
    }

    fn regions(&self) -> Option<u32> {
        self.regions.seen()
    }

    fn counted(&self) -> Option<Counted> {
        self.counter.counted()
    }

    fn slept(&mut self, cycles: u64) {
        self.counter.slept(cycles);
    }

    fn interrupts(on: &mut CoreObserver<Self>, now: u64) -> (bool, u64) {
        let (matches, next) = on.family.counter.look(&*on.target, now);
        if matches {
            on.target.counter_matches();
        }
        (matches, next.unwrap_or(u64::MAX))
    }
}
