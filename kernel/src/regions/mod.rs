//! Protection of a domain on a processor with region registers: the registers' image, the table of
//! the regions behind those that page, and how both change, in steps.

mod arch;
mod boot;
mod miss;
mod nodes;
mod region;

use abi::Error;
use protect::pmsav7::Span;
use protect::pmsav7::pctrie::{self, LEAVES_PER_NODE, NODE_BYTES, Trie};
use protect::pmsav7::slots::{RegionImage, Slots, min_paged_slots};
use protect::{Access, AccessKind, MemType};
use system::objects::Size;
use system::pmsav7::Pmsav7;
use system::{Scheme, System};
use units::{Bytes, PhysAddr, PhysRange, VirtAddr};

pub use arch::RegionArch;
pub use miss::Resolution;
pub use nodes::NodeMemory;
pub use region::Region;

use crate::arch::{Len, Phys, Virt};
use crate::boot::{BootError, Pool};
use crate::protection::{Asked, BootContext, Hardware, Next, NodeConstraints, Protection, Step};

/// The regions of one domain.
#[repr(C)]
pub struct Regions<A: RegionArch> {
    /// The region registers, ready for a block load, and which of them are paged.
    pub(crate) slots: Slots,
    /// Word that a miss writes to the trace, but for the slot.
    header: u32,
    /// Misses until somebody counts them: see `Kernel::on_counted`.
    countdown: u32,
    /// The regions behind the paged slots.
    pub(crate) trie: Trie<NodeMemory<A>>,
    /// Regions of the trie that permit to execute.
    paged_code: u16,
    /// A thread of the domain has a budget of misses.
    counts_misses: bool,
}

/// Offsets at which the entry code finds what a miss needs in a domain, in bytes.
pub mod layout {
    use protect::pmsav7::slots::{self, Slots};

    use super::{RegionArch, Regions};

    /// Word that a miss writes to the trace.
    pub const HEADER: usize = size_of::<Slots>();
    /// Misses until somebody counts them.
    pub const COUNTDOWN: usize = HEADER + 4;
    /// The root of the table, which comes first in it.
    pub const ROOT: usize = HEADER + 8;
    /// State of the generator of random victims.
    pub const RANDOM: usize = slots::layout::RANDOM;
    /// Slots that can be victims.
    pub const CANDIDATES: usize = slots::layout::CANDIDATES;
    /// Mask of what a new generation keeps.
    pub const KEEP: usize = slots::layout::KEEP;
    /// Paged slots.
    pub const PAGED: usize = slots::layout::PAGED;

    /// The numbers above are right.
    pub(crate) const fn holds<A: RegionArch>() -> bool {
        core::mem::offset_of!(Regions<A>, slots) == 0
            && core::mem::offset_of!(Regions<A>, header) == HEADER
            && core::mem::offset_of!(Regions<A>, countdown) == COUNTDOWN
            && core::mem::offset_of!(Regions<A>, trie) == ROOT
    }
}

/// Data that all domains have in common: where the leaf is that stands for nothing.
pub struct EmptyLeaf(PhysAddr<u32>);

/// Costs of steps, in tens of instructions, roughly.
mod cost {
    pub const COMPARE_PINNED: u32 = 8;
    pub const COMPARE_KEY: u32 = 20;
    pub const NODE: u32 = 60;
    pub const SMALL: u32 = 4;
}

/// How far a region has come into a domain's regions, or out of them.
#[derive(Debug, Default)]
pub struct Progress {
    /// Pinned regions, and after them keys, that were compared with it.
    compared: u8,
    /// Of a paged region, once it is on its way.
    table: Option<pctrie::Edit>,
}

impl<A: RegionArch> Regions<A> {
    /// Image to load at a switch to the domain.
    #[inline(always)]
    pub(crate) fn image(&self) -> &RegionImage {
        self.slots.image()
    }

    fn page_step(&mut self, region: &Region, progress: &mut Progress) -> Result<Step, Error> {
        let &Region { regs, execute, .. } = region;
        let Some(table) = &mut progress.table else {
            // The slots that every instruction needs to make progress.
            let needed = min_paged_slots(self.paged_code > 0 || execute, true);
            self.slots.require(needed).map_err(|_| Error::Full)?;
            progress.table = Some(self.trie.begin(regs).map_err(|_| Error::Full)?);
            return Ok(Step::More(cost::COMPARE_KEY));
        };
        let before = self.trie.free_nodes();
        match self.trie.insert_step(table) {
            Ok(true) => {
                self.paged_code += u16::from(execute);
                Ok(Step::Done(cost::SMALL))
            }
            Ok(false) if self.trie.free_nodes() == before => Ok(Step::More(cost::COMPARE_KEY)),
            Ok(false) => Ok(Step::More(cost::NODE)),
            Err(pctrie::Obstacle::Occupied) => Err(Error::BadState),
            Err(pctrie::Obstacle::NoNodes) => Err(Error::Full),
        }
    }

    fn pin_step(&mut self, region: &Region, progress: &mut Progress, hardware: Hardware<'_, A>) -> Result<Step, Error> {
        match self.trie.meets_key(region.regs, progress.compared) {
            Some(false) => progress.compared += 1,
            Some(true) => return Err(Error::BadState),
            None => {
                let needed = min_paged_slots(self.paged_code > 0, !self.trie.is_empty());
                self.slots.pin(region.regs, needed).map_err(|_| Error::Full)?;
                self.reload(hardware);
                return Ok(Step::Done(cost::SMALL));
            }
        }
        Ok(Step::More(cost::COMPARE_KEY))
    }

    /// Loads all registers if the domain is in force.
    fn reload(&self, hardware: Hardware<'_, A>) {
        if hardware.loaded {
            hardware.arch.load_image(self.image());
        }
    }
}

impl<A: RegionArch<Protection = Self>> Protection<A> for Regions<A> {
    type Shared = EmptyLeaf;
    type Idle = [(Span, Access, MemType); 2];
    type Mapping = Region;
    type Progress = Progress;

    const SCHEME: Scheme = Scheme::Pmsav7;
    const PHYSICAL: bool = true;
    const PARTS: bool = false;
    const GIFT: NodeConstraints = NodeConstraints { align: nodes::NODE.align, least: NODE_BYTES, most: 4096 };
    const LEAF: Size = nodes::NOWHERE;
    const NODE: Size = nodes::NODE;

    fn shared(pool: &mut Pool<A>) -> Result<EmptyLeaf, BootError> {
        boot::empty_leaf::<A>(pool)
    }

    fn set_aside(tables: &System<'_>, index: usize) -> impl Iterator<Item = (Phys<A>, Len<A>)> + use<A> {
        let own = tables.own_domain::<Pmsav7>(index);
        core::iter::once((own.table_base.into(), own.table_bytes.into()))
    }

    fn make(context: &mut BootContext<'_, A>, index: usize) -> Result<Self, BootError> {
        boot::make(context, index)
    }

    fn idle(empty_leaf: &mut EmptyLeaf, idle: &Self::Idle) -> Result<Self, BootError> {
        boot::idle(empty_leaf, idle)
    }

    #[inline(always)]
    fn load(&self, arch: &mut A) {
        arch.load_image(self.image());
    }

    fn mapping(asked: &Asked<u32>) -> Result<Region, Error> {
        Region::of(asked)
    }

    fn memory(region: &Region) -> PhysRange {
        region.memory()
    }

    fn neighbours(&self, _: &Region) -> [Option<PhysAddr>; 2] {
        [None; 2]
    }

    /// Compares with one region that is pinned.
    fn compare_step(&self, region: &Region, progress: &mut Progress) -> Result<Step, Error> {
        let Some(pinned) = self.slots.pinned().nth(usize::from(progress.compared)) else {
            progress.compared = 0;
            return Ok(Step::Done(cost::COMPARE_PINNED));
        };
        if pinned.meets(region.regs) {
            return Err(Error::BadState);
        }
        progress.compared += 1;
        Ok(Step::More(cost::COMPARE_PINNED))
    }

    /// One step of entering a region into the table; or, if it is to be pinned, of comparing a key of it with the table and pinning it when
    /// all were.
    ///
    /// # Bound
    /// Of [`pctrie::Trie::insert_step`].
    fn enter_step(
        &mut self,
        region: &Region,
        progress: &mut Progress,
        hardware: Hardware<'_, A>,
    ) -> Result<Step, Error> {
        if region.pinned { self.pin_step(region, progress, hardware) } else { self.page_step(region, progress) }
    }

    /// Takes a region out of the slots and out of sight of misses, in one step.
    fn withdraw_step(
        &mut self,
        region: &Region,
        progress: &mut Progress,
        hardware: Hardware<'_, A>,
    ) -> Result<Step, Error> {
        if region.pinned {
            if !self.slots.unpin(region.regs) {
                return Err(Error::BadState);
            }
            self.reload(hardware);
            return Ok(Step::Done(cost::SMALL));
        }
        let (table, off) = self.slots.withdraw(&mut self.trie, region.regs).map_err(|_| Error::BadState)?;
        self.paged_code -= u16::from(region.execute);
        progress.table = Some(table);
        if let Some(regs) = off
            && hardware.loaded
        {
            hardware.arch.load_slot(regs);
        }
        Ok(Step::Done(cost::SMALL))
    }

    /// One step of taking a region out of the table, complete or not.
    ///
    /// # Bound
    /// Of [`pctrie::Trie::remove_step`].
    fn leave_step(&mut self, _: &Region, progress: &mut Progress, _: Hardware<'_, A>) -> Step {
        let gone = progress.table.as_mut().is_none_or(|table| self.trie.remove_step(table));
        if gone { Step::Done(cost::SMALL) } else { Step::More(cost::NODE) }
    }

    /// See [`Slots::permits`].
    fn permits(&self, base: Virt<A>, len: Len<A>, kind: AccessKind) -> bool {
        self.slots.permits(&self.trie, base.0, len.0, kind)
    }

    /// Addresses are what they are.
    #[inline(always)]
    fn physical(&self, address: Virt<A>, _: AccessKind) -> Option<(Phys<A>, Len<A>)> {
        Some((PhysAddr(address.0), Bytes::ALL))
    }

    fn next_mapped(&self, _: &EmptyLeaf, from: Virt<A>, own: impl Fn(Virt<A>, Phys<A>) -> Len<A>) -> Next<A> {
        if let Some(regs) = self.slots.pinned_later().next() {
            return Next::Found(Region { regs, pinned: true, execute: false }, from);
        }
        let (at, regs) = match self.trie.next_step(from.0) {
            pctrie::Next::Found(at, regs) => (at, regs),
            pctrie::Next::From(later) => return Next::From(VirtAddr(later)),
            pctrie::Next::End => return Next::End,
        };
        if own(VirtAddr(at), PhysAddr(at)) > Bytes(0) {
            return regs.last_from(at).checked_add(1).map_or(Next::End, |later| Next::From(VirtAddr(later)));
        }
        Next::Found(Region::paged(regs), VirtAddr(at))
    }

    /// Regions that could be kept in the nodes instead.
    fn give(&mut self, base: Phys<A>, bytes: Len<A>) -> u32 {
        let nodes = bytes.0 / NODE_BYTES;
        for index in 0..nodes {
            self.trie.give_node(base.0 + index * NODE_BYTES);
        }
        nodes * LEAVES_PER_NODE
    }

    /// Empties what pages.
    fn evict(&mut self, _: Hardware<'_, A>) {
        self.slots.evict_all();
    }
}
