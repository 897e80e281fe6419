//! The scheme as the kernel asks for it.

use abi::Error;
use protect::regions::pctrie::{LEAVES_PER_NODE, NODE_BYTES};
use protect::regions::{Registers, pctrie};
use protect::{Access, AccessKind, MemType, Span};
use system::System;
use system::objects::Size;
use units::{Bytes, PhysAddr, PhysRange, VirtAddr};

use super::{EmptyLeaf, Progress, Region, RegionArch, Regions, Regs, boot, cost, nodes};
use crate::arch::{Asked, BootContext, Hardware, Len, Next, NodeConstraints, Own, Phys, Protection, Step, Virt};
use crate::boot::{BootError, Pool};

impl<A: RegionArch<Protection = Self>> Protection<A> for Regions<A> {
    type Shared = EmptyLeaf;
    type Idle = [(Span, Access, MemType); 2];
    type Mapping = Region<Regs<A>>;
    type Progress = Progress<Regs<A>>;
    type Untouched = ();

    type Scheme = A::Unit;
    const PHYSICAL: bool = true;
    const PARTS: bool = false;
    const GIFT: NodeConstraints = NodeConstraints { align: nodes::NODE.align, least: NODE_BYTES, most: 4096 };
    const LEAF: Size = nodes::NOWHERE;
    const NODE: Size = nodes::NODE;

    fn shared(pool: &mut Pool<A>) -> Result<EmptyLeaf, BootError> {
        boot::empty_leaf::<A>(pool)
    }

    fn set_aside(tables: &System<'_>, index: usize) -> impl Iterator<Item = (Phys<A>, Len<A>)> + use<A> {
        let own = tables.own_domain::<A::Unit>(index);
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

    fn mapping(asked: &Asked<u32>) -> Result<Self::Mapping, Error> {
        Region::of::<A::Unit>(asked)
    }

    fn memory(region: &Self::Mapping) -> PhysRange {
        region.memory()
    }

    fn neighbours(&self, _: &Self::Mapping) -> [Option<PhysAddr>; 2] {
        [None; 2]
    }

    /// Compares with one region that is pinned. It is one a step, because a domain has up to eight.
    fn compare_step(&self, region: &Self::Mapping, progress: &mut Self::Progress) -> Result<Step, Error> {
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

    /// One step of entering a region into the table. If it is to be pinned, one key of the table is
    /// compared with it, and the last step pins it.
    ///
    /// # Bound
    /// That of [`pctrie::Trie::insert_step`].
    fn enter_step(
        &mut self,
        region: &Self::Mapping,
        progress: &mut Self::Progress,
        hardware: Hardware<'_, A>,
    ) -> Result<Step, Error> {
        if region.pinned { self.pin_step(region, progress, hardware) } else { self.page_step(region, progress) }
    }

    /// Takes a region out of the slots and out of sight of misses. That is one step: between two, a
    /// miss could load it again.
    fn withdraw_step(
        &mut self,
        region: &Self::Mapping,
        progress: &mut Self::Progress,
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
    /// That of [`pctrie::Trie::remove_step`].
    fn leave_step(&mut self, _: &Self::Mapping, progress: &mut Self::Progress, _: Hardware<'_, A>) -> Step {
        let gone = progress.table.as_mut().is_none_or(|table| self.trie.remove_step(table));
        if gone { Step::Done(cost::SMALL) } else { Step::More(cost::NODE) }
    }

    fn permits(&self, base: Virt<A>, len: Len<A>, kind: AccessKind) -> bool {
        self.slots.permits(&self.trie, base.0, len.0, kind)
    }

    /// A domain with region registers uses physical addresses, so there is nothing to translate.
    #[inline(always)]
    fn physical(&self, address: Virt<A>, _: AccessKind) -> Option<(Phys<A>, Len<A>)> {
        Some((PhysAddr(address.0), Bytes::ALL))
    }

    fn next_mapped(&self, _: &EmptyLeaf, from: Virt<A>, own: impl Own<A>) -> Next<A> {
        if let Some(regs) = self.slots.pinned_later().next() {
            return Next::Found(Region { regs, pinned: true, execute: false }, from);
        }
        let (at, regs) = match self.trie.next_step(from.0) {
            pctrie::Next::Found(at, regs) => (at, regs),
            pctrie::Next::From(later) => return Next::From(VirtAddr(later)),
            pctrie::Next::End => return Next::End,
        };
        let Some(bytes) = own(VirtAddr(at), PhysAddr(at)) else { return Next::Unsure(VirtAddr(at)) };
        if bytes > Bytes(0) {
            return regs.last_from(at).checked_add(1).map_or(Next::End, |later| Next::From(VirtAddr(later)));
        }
        Next::Found(Region::paged(regs), VirtAddr(at))
    }

    /// Returns how many regions the nodes can hold.
    fn give(&mut self, base: Phys<A>, bytes: Len<A>) -> u32 {
        let nodes = bytes.0 / NODE_BYTES;
        for index in 0..nodes {
            self.trie.give_node(base.0 + index * NODE_BYTES);
        }
        nodes * LEAVES_PER_NODE
    }

    /// Empties the paged slots: what the former life has loaded is none of the new one's.
    fn evict(&mut self, _: Hardware<'_, A>) {
        self.slots.evict_all();
    }
}
