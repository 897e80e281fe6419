//! The kernel's interface to a processor, and to how it protects memory. The kernel decides; [`Arch`] and [`Protection`] encode and apply.
//! [`crate::regions`] has region registers, [`crate::pages`] has page tables.

use abi::Error;
use protect::AccessKind;
use system::objects::Size;
use system::{Section, System};
use units::{Bytes, Instant, PhysAddr, PhysRange, VirtAddr};

use crate::boot::{BootError, Pool};
pub use crate::physical::{Len, Phys, Physical, Virt};
use crate::virtual_processor::VirtualProcessor;

/// The number and arguments of a system call as the calling thread passed them: words of 32 bits on every processor (`abi`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// Number of the call.
    pub number: u32,
    /// Its four arguments.
    pub args: [u32; 4],
}

/// How a thread, or a gate's callee, starts.
#[derive(Clone, Copy, Debug)]
pub struct Start<W> {
    /// Address of the first instruction, in the form the processor wants (Thumb bit).
    pub entry: VirtAddr<W>,
    /// Address to which the first function returns.
    pub link: VirtAddr<W>,
    /// Lowest address of the stack.
    pub stack_base: VirtAddr<W>,
    /// Bytes of the stack.
    pub stack_bytes: Bytes<W>,
    /// Arguments of the first function.
    pub args: [W; 4],
}

/// A processor (with its board) as the kernel sees it.
///
/// # Safety
/// An implementation promises that
/// * unprivileged code can access exactly what its [`Arch::Protection`] was last told to load;
/// * contexts never give a thread privileges.
pub unsafe trait Arch: Physical {
    /// The registers of a thread that is not running.
    type Context: Copy + 'static;

    /// Memory that a domain may access, as the processor wants it.
    type Protection: Protection<Self>;

    /// State that is kept to start the callee of a gate quickly: what does not change from call to
    /// call is computed once.
    type Entry: Copy + 'static;

    /// State that interrupts reach without the kernel.
    type Virtual: VirtualProcessor;

    /// A context that was never started.
    const EMPTY: Self::Context;

    /// An entry that leads nowhere.
    const NO_ENTRY: Self::Entry;

    /// The registers of the idle loop.
    fn idle(&mut self) -> Self::Context;

    /// Ticks since boot, asked at the start only: from then on the kernel counts what [`Arch::ticks`] says.
    fn now(&mut self) -> u64;

    /// The ticks since boot. Their low word may wrap, but not between two timer interrupts; the timer is always armed.
    fn ticks(&mut self) -> Instant;

    /// True if the entry code takes every call that has an entry point of its own to that
    /// ([`crate::entry_points`]). [`crate::Kernel::on_call`] then leaves them out, but for gates.
    const SHORT_WAYS: bool;

    /// The timer takes delays of more ticks than this as they are. It may lengthen shorter ones, so
    /// a budget that ends sooner takes the long way.
    const SHORT: u32;

    /// Asks for one timer interrupt at or soon after `at`, which is at most half a second away. An
    /// earlier request is replaced. The delay has the granularity that the board documents. A time in
    /// the past fires at once: a request that came too late must not be lost.
    #[inline(always)]
    fn arm_timer(&mut self, at: Instant) {
        let delay = self.ticks().until(at);
        self.arm_timer_in(delay.max(Self::SHORT as i32 + 1) as u32);
    }

    /// As [`Arch::arm_timer`], for a time so many ticks from now: more than [`Arch::SHORT`], and at
    /// most half a second. A switch knows the delay, and need not read the clock again.
    fn arm_timer_in(&mut self, delay: u32);

    /// Makes the timer interrupt as soon as the kernel is left. The request that was made before
    /// stays.
    fn timer_again(&mut self);

    /// Prepares a context so that resuming it starts `start`.
    ///
    /// # Safety
    /// The stack lies in memory of the domain in which the context will run, and nobody else writes there now.
    unsafe fn prepare(&mut self, context: &mut Self::Context, start: Start<Self::Width>);

    /// Returns the entry that is kept of a gate's start; the arguments of `start` mean nothing.
    /// `context` is left as it is in a callee that starts, but for what the hardware takes from the
    /// stack, so that a call writes only that.
    fn entry(&self, context: &mut Self::Context, start: Start<Self::Width>) -> Self::Entry;

    /// Notes which badge the callee is to see, for the entry code, which starts a callee without
    /// [`Arch::enter`].
    fn introduce(entry: &mut Self::Entry, badge: u32);

    /// Prepares a context so that resuming it starts a gate's callee.
    ///
    /// # Safety
    /// As for [`Arch::prepare`].
    unsafe fn enter(&mut self, context: &mut Self::Context, entry: &Self::Entry, args: [u32; 4]);

    /// Reads the request of a context that has just performed a system call.
    fn request(&self, context: &Self::Context) -> Request;

    /// Stores the result of a system call where the resumed thread will find it: at most two
    /// values. Registers of values that the call does not have keep what the thread had in them, so
    /// nothing of the kernel's gets there.
    fn respond<const N: usize>(&mut self, context: &mut Self::Context, status: u32, values: [u32; N]);

    /// Makes a context perform its system call again when it is resumed, so that long work can be
    /// cut into steps.
    fn repeat(&mut self, context: &mut Self::Context);

    /// Writes one record to the trace port.
    fn trace(&mut self, header: u32, payload: u32);

    /// Allows an interrupt line to interrupt.
    fn unmask(&mut self, line: u32);

    /// Keeps an interrupt line from interrupting.
    fn mask(&mut self, line: u32);

    /// The machine's virtual processor, or [`crate::virtual_processor::Absent`].
    fn virtual_processor(&self) -> &Self::Virtual;

    /// Copies bytes between two ranges of physical memory that do not overlap.
    ///
    /// # Safety
    /// The caller has checked both ranges against what the domains that own them may access, or, for the source of initial data, against
    /// the validated tables.
    unsafe fn copy(&mut self, dst: Phys<Self>, src: Phys<Self>, bytes: Len<Self>);

    /// Sets whole words of physical memory to zero, as the validated tables and granules of memory have them.
    ///
    /// # Safety
    /// As for [`Arch::copy`].
    unsafe fn zero(&mut self, dst: Phys<Self>, bytes: Len<Self>);

    /// Stops for good. The record before has ended the run under a simulator
    /// (`abi::trace::status_at_end`). `status` 0 means success.
    fn end(&mut self, status: u32);
}

/// Everything that the steps of an edit need beside the domain's own protection.
pub struct Hardware<'a, A: Arch> {
    /// The processor.
    pub arch: &'a mut A,
    /// Data that all domains have in common.
    pub shared: &'a mut Shared<A>,
    /// The domain is in force: what its registers lack after a step is loaded in that step.
    pub loaded: bool,
}

/// Data that all domains' protection has in common on a processor.
pub type Shared<A> = <<A as Arch>::Protection as Protection<A>>::Shared;

/// Mapping that a call is about, on a processor.
pub type Mapping<A> = <<A as Arch>::Protection as Protection<A>>::Mapping;

/// How far the edit of a mapping has come, on a processor.
pub type Progress<A> = <<A as Arch>::Protection as Protection<A>>::Progress;

/// Everything that boot makes a domain's protection from.
pub struct BootContext<'a, A: Arch> {
    /// The processor.
    pub arch: &'a mut A,
    /// Data that all domains have in common.
    pub shared: &'a mut Shared<A>,
    /// Memory of the kernel's own.
    pub pool: &'a mut Pool<A>,
    /// The validated tables.
    pub tables: &'a System<'static>,
}

/// Memory that a call asks to map or to unmap; all of it lies in frames that the caller holds.
#[derive(Clone, Copy, Debug)]
pub struct Asked<W> {
    /// First address, as the domain sees it: a multiple of [`abi::GRANULE_BYTES`], as all numbers here.
    pub at: VirtAddr<W>,
    /// Bits of [`abi::access`].
    pub access: u32,
    /// The memory, not empty, below 4 GiB.
    pub memory: PhysRange,
}

/// How an edit stands after a step, with what the step has cost in tens of instructions, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Take another one.
    More(u32),
    /// This part of it is complete.
    Done(u32),
}

/// Result of a search for something that was mapped at run time.
pub enum Next<A: Arch> {
    /// This one; once it is gone, the search goes on from this address.
    Found(Mapping<A>, Virt<A>),
    /// Nothing below this address, from which the search goes on.
    From(Virt<A>),
    /// Something at this address, of which is not known yet whether the domain began with it.
    Unsure(Virt<A>),
    /// Nothing.
    End,
}

/// Says what a domain began with ([`Protection::next_mapped`]).
pub trait Own<A: Arch>: FnOnce(Virt<A>, Phys<A>) -> Option<Len<A>> {}

impl<A: Arch, F: FnOnce(Virt<A>, Phys<A>) -> Option<Len<A>>> Own<A> for F {}

/// Memory that one domain may access. An implementation is `repr(C)` and begins with what the entry
/// code loads when the domain runs.
///
/// # Edits
/// At most one mapping of all domains is on its way in or out.
/// * Into the domain: [`Protection::compare_step`] until it is complete, then
///   [`Protection::enter_step`]. From the first step of entering on, parts of the mapping may be
///   there; after the last one, all of it is. If one of them fails, [`Protection::leave_step`]
///   takes back what was done.
/// * Out of the domain: [`Protection::withdraw_step`], then [`Protection::leave_step`]. After the
///   last step no access to it succeeds any more, not even by what a TLB remembers: only then may
///   the memory be given to others.
pub trait Protection<A: Arch>: Sized + 'static {
    /// Data that all domains have in common.
    type Shared;

    /// The board's description of what the idle loop may access.
    type Idle;

    /// Mapping that a call is about.
    type Mapping: Copy;

    /// How far the edit of a mapping has come.
    type Progress: Default;

    /// Scheme whose tables it is made from.
    type Scheme: Section;

    /// True if the addresses that a domain uses are physical ones: then copies need no translation.
    const PHYSICAL: bool;

    /// True if memory that was mapped by one call can be taken out in parts, and memory that was
    /// mapped by several in one. The frame table then has to join what lies side by side.
    const PARTS: bool;

    /// How memory for tables is given ([`Protection::give`]).
    const GIFT: NodeConstraints;

    /// Kernel memory that [`Protection::shared`] takes; 0 bytes: none.
    const LEAF: Size;

    /// Kernel memory that [`Protection::make`] takes for each node of a domain without memory of its own for them; 0 bytes: it takes none.
    const NODE: Size;

    /// Data that the domains will have in common.
    ///
    /// # Errors
    /// [`BootError::NoMemory`].
    fn shared(pool: &mut Pool<A>) -> Result<Self::Shared, BootError>;

    /// Address and bytes of memory that was set aside for the tables of the domain with this index.
    fn set_aside(tables: &System<'_>, index: usize) -> impl Iterator<Item = (Phys<A>, Len<A>)> + use<Self, A>;

    /// Memory that the domain with this index may access at the start.
    ///
    /// # Errors
    /// [`BootError`].
    fn make(context: &mut BootContext<'_, A>, index: usize) -> Result<Self, BootError>;

    /// Memory that the idle loop may access.
    ///
    /// # Errors
    /// [`BootError`].
    fn idle(shared: &mut Self::Shared, idle: &Self::Idle) -> Result<Self, BootError>;

    /// Loads what the domain may access into the processor.
    fn load(&self, arch: &mut A);

    /// The mapping that a call asks for.
    ///
    /// # Errors
    /// `BAD_ARGUMENT`: it cannot be mapped exactly, or could be written and executed. `BAD_ADDRESS`: the memory cannot be at this address.
    fn mapping(asked: &Asked<A::Width>) -> Result<Self::Mapping, Error>;

    /// The physical memory that a mapping makes accessible.
    fn memory(mapping: &Self::Mapping) -> PhysRange;

    /// With [`Protection::PARTS`]: the physical addresses before and behind the memory of a
    /// mapping, as far as the domain has them at the virtual addresses before and behind it, too.
    ///
    fn neighbours(&self, mapping: &Self::Mapping) -> [Option<PhysAddr>; 2];

    /// A step of looking whether a mapping can be made.
    ///
    /// # Errors
    /// `BAD_STATE`: something of it is mapped already.
    fn compare_step(&self, mapping: &Self::Mapping, progress: &mut Self::Progress) -> Result<Step, Error>;

    /// A step of making it.
    ///
    /// # Errors
    /// `BAD_STATE`: something of it is mapped already. `FULL`: there is no slot for it, or no
    /// memory for tables. [`Protection::leave_step`] takes back what was done so far.
    fn enter_step(
        &mut self,
        mapping: &Self::Mapping,
        progress: &mut Self::Progress,
        hardware: Hardware<'_, A>,
    ) -> Result<Step, Error>;

    /// A step of finding a mapping that is to be taken out, and of taking it out of sight as far as
    /// that can be done at once. It looks first, because a refused call must have changed nothing.
    ///
    /// # Errors
    /// `BAD_STATE`: exactly this mapping is not there. Nothing has changed.
    fn withdraw_step(
        &mut self,
        mapping: &Self::Mapping,
        progress: &mut Self::Progress,
        hardware: Hardware<'_, A>,
    ) -> Result<Step, Error>;

    /// A step of taking out what was withdrawn, or what was entered in part.
    fn leave_step(&mut self, mapping: &Self::Mapping, progress: &mut Self::Progress, hardware: Hardware<'_, A>)
    -> Step;

    /// Returns true if the kernel may access each of `len` bytes from `base` on, on the domain's
    /// behalf.
    fn permits(&self, base: Virt<A>, len: Len<A>, kind: AccessKind) -> bool;

    /// Returns the physical address of a byte that the domain may access so, and how many bytes
    /// follow one another from there on (at least one). If the domain's addresses are physical,
    /// nothing is checked.
    fn physical(&self, address: Virt<A>, kind: AccessKind) -> Option<(Phys<A>, Len<A>)>;

    /// A step of a search for what was mapped at run time. `own` says of a virtual and a physical
    /// address whether the domain began with it, and how many bytes follow from there on (0: it did
    /// not): a restart must not take that away. It says nothing as long as it has not compared with
    /// all areas; then the answer is [`Next::Unsure`] of this address.
    fn next_mapped(&self, shared: &Self::Shared, from: Virt<A>, own: impl Own<A>) -> Next<A>;

    /// Adds memory for the domain's tables. Returns how much can be mapped with it at least, so
    /// that the manager knows when it must give more.
    fn give(&mut self, base: Phys<A>, bytes: Len<A>) -> u32;

    /// Forgets what the domain has used, so that its next life finds nothing of this one.
    fn evict(&mut self, hardware: Hardware<'_, A>);

    /// True if domains may have a demand area: pages that are mapped at their first touch.
    /// Otherwise the functions below do nothing.
    const DEMAND: bool = false;

    /// Where a call remembers a page of its caller that was never touched; nothing without demand areas.
    type Untouched: Untouched<A>;

    /// Returns true if an access would be the first touch of a page, for which there is a frame.
    /// Nothing changes.
    fn is_untouched(&self, _: Virt<A>, _: AccessKind) -> bool {
        false
    }

    /// Serves an access that was refused to the domain, or to the kernel on its behalf: takes a
    /// step of mapping the page, if this is its first touch. Returns true if the access is to be
    /// repeated.
    fn touch(&mut self, _: Virt<A>, _: AccessKind, _: Hardware<'_, A>) -> bool {
        false
    }

    /// Makes pages of the demand area, from an address on, regions.
    ///
    /// # Errors
    /// Those of `REGION_MAP`.
    fn map_region(&mut self, _: Virt<A>, _: u32, _: u32) -> Result<(), Error> {
        Err(Error::BadAddress)
    }

    /// Frees regions of the demand area, the first of which begins at an address. If this takes more steps than one: the place where the
    /// rest of them begins, and how many there are.
    ///
    /// # Errors
    /// Those of `REGION_UNMAP`.
    fn unmap_regions(&mut self, _: Virt<A>, _: u32) -> Result<Option<(Virt<A>, u32)>, Error> {
        Err(Error::BadAddress)
    }

    /// Frees the region of an address of the demand area, if it is part of one; the address behind it. Nothing for other addresses.
    fn shed_step(&mut self, _: Virt<A>) -> Option<Virt<A>> {
        None
    }
}

/// Where a call remembers an address in a page of its caller that was never touched.
pub trait Untouched<A: Arch>: Copy + Default + 'static {
    /// Remembers this one.
    fn note(&mut self, at: Virt<A>);

    /// The one that was noted since the last time.
    fn take(&mut self) -> Option<Virt<A>>;
}

/// Without demand areas every page that a domain may access is there.
impl<A: Arch> Untouched<A> for () {
    #[inline(always)]
    fn note(&mut self, _: Virt<A>) {}

    #[inline(always)]
    fn take(&mut self) -> Option<Virt<A>> {
        None
    }
}

impl<A: Arch> Untouched<A> for Option<Virt<A>> {
    fn note(&mut self, at: Virt<A>) {
        *self = Some(at);
    }

    fn take(&mut self) -> Option<Virt<A>> {
        Option::take(self)
    }
}

/// How memory for tables is given.
#[derive(Clone, Copy, Debug)]
pub struct NodeConstraints {
    /// Alignment in bytes.
    pub align: u32,
    /// Fewest bytes of one gift.
    pub least: u32,
    /// Most bytes of one gift; of more, the beginning is taken.
    pub most: u32,
}
