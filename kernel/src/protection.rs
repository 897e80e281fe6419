//! The kernel's interface to what a domain may access, whichever way a processor protects memory:
//! [`crate::regions`] has region registers, [`crate::pages`] has page tables.

use abi::Error;
use units::{PhysAddr, PhysRange, VirtAddr};

use protect::AccessKind;
use system::objects::Size;
use system::{Scheme, System};

use crate::arch::{Arch, Len, Phys, Virt};
use crate::boot::{BootError, Pool};

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
    /// Nothing.
    End,
}

/// Memory that one domain may access. An implementation is `repr(C)` and begins with what the entry
/// code loads when the domain runs.
///
/// # Edits
/// At most one mapping of all domains is on its way in or out. Into the domain: [`Protection::compare_step`] until it is complete, then
/// [`Protection::enter_step`], from the completion of which on it is there; from the first one on parts of it may be there. When one of them
/// fails, [`Protection::leave_step`] until it is complete. Out of the domain: [`Protection::withdraw_step`], then
/// [`Protection::leave_step`]. After the last one no access to it succeeds any more, also not through what a TLB remembers.
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
    const SCHEME: Scheme;

    /// Addresses that a domain uses are physical addresses.
    const PHYSICAL: bool;

    /// Memory that was mapped by one call can be taken out in parts, and memory that was mapped by
    /// several in one.
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

    /// A step of finding a mapping that is to be taken out, and of taking it out of sight as far as that can be done at once.
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

    /// Whether the kernel may access `len` bytes from `base` on on the domain's behalf, each of them.
    fn permits(&self, base: Virt<A>, len: Len<A>, kind: AccessKind) -> bool;

    /// The physical address of a byte that the domain may access so, and how many bytes from there on follow one another (at least one).
    /// Nothing is checked if the domain's addresses are physical.
    fn physical(&self, address: Virt<A>, kind: AccessKind) -> Option<(Phys<A>, Len<A>)>;

    /// A step of a search for what was mapped at run time; `own` says of a virtual and a physical address whether the domain began with it,
    /// and how many bytes from there on, one behind the other (0: it did not).
    fn next_mapped(&self, shared: &Self::Shared, from: Virt<A>, own: impl Fn(Virt<A>, Phys<A>) -> Len<A>) -> Next<A>;

    /// Adds memory for the domain's tables; returns how much could be mapped with it, at least.
    fn give(&mut self, base: Phys<A>, bytes: Len<A>) -> u32;

    /// Forgets what the domain has used, as at its restart.
    fn evict(&mut self, hardware: Hardware<'_, A>);
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
