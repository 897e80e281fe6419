//! The regions that a domain begins with: those that are pinned, its table, and where both come from.

use abi::trace::{Event, header};
use protect::regions::pctrie::{NODE_BYTES, Trie};
use protect::regions::slots::{Replacement, Slots, min_paged_slots};
use protect::regions::{REGIONS, Registers, Unit};
use protect::{Access, MemType, Span};
use system::area;
use system::regions::{self, Paging};

use super::nodes::{NODE, NOWHERE};
use super::{EmptyLeaf, NodeMemory, RegionArch, Regions, Regs, layout};
use crate::arch::BootContext;
use crate::boot::{BootError, Pool, not_exact};

/// Pinned regions on their way into slots.
struct Pinned<R> {
    regs: [R; REGIONS],
    count: usize,
}

impl<R: Registers> Default for Pinned<R> {
    fn default() -> Self {
        Pinned { regs: [R::DISABLED; REGIONS], count: 0 }
    }
}

impl<R: Registers> Pinned<R> {
    fn push(&mut self, region: R) -> Result<(), BootError> {
        *self.regs.get_mut(self.count).ok_or(BootError::NoSlots)? = region;
        self.count += 1;
        Ok(())
    }

    fn regions(&self) -> &[R] {
        &self.regs[..self.count]
    }
}

/// The leaf that stands for nothing.
pub(super) fn empty_leaf<A: RegionArch>(pool: &mut Pool<A>) -> Result<EmptyLeaf, BootError> {
    let empty_leaf = pool.take_one(NOWHERE)?;
    NodeMemory::<A>::new(empty_leaf).prepare();
    Ok(EmptyLeaf(empty_leaf))
}

/// An empty table with the memory that a domain's regions need.
fn table<A: RegionArch<Protection = Regions<A>>>(
    context: &mut BootContext<'_, A>,
    index: usize,
) -> Result<Trie<NodeMemory<A>>, BootError> {
    let tables = context.tables;
    let Paging { table_base, table_bytes, .. } = tables.own_domain::<A::Unit>(index);
    let mut trie = Trie::empty(NodeMemory::new(context.shared.0));
    if table_bytes == 0 {
        let own = regions::shaped::<A::Unit>(tables, &tables.get(index));
        let nodes = regions::table_nodes::<A::Unit>(own, system::can_be_mapped(tables, index)).map_err(not_exact)?;
        // A node at a time, because the memory need not be in one piece.
        for _ in 0..nodes {
            trie.give_node(context.pool.take_one(NODE)?.0);
        }
    }
    for number in 0..table_bytes / NODE_BYTES {
        trie.give_node(table_base + number * NODE_BYTES);
    }
    Ok(trie)
}

pub(super) fn make<A: RegionArch<Protection = Regions<A>>>(
    context: &mut BootContext<'_, A>,
    index: usize,
) -> Result<Regions<A>, BootError> {
    let mut trie = table(context, index)?;
    let tables = context.tables;
    let Paging { paged_slots, replacement, .. } = tables.own_domain::<A::Unit>(index);
    let mut pinned = Pinned::default();
    let mut paged_code = 0;
    for (own, shape) in regions::shaped::<A::Unit>(tables, &tables.get(index)) {
        for regs in regions::regions::<A::Unit>(&own, shape) {
            if own.flags & area::PINNED != 0 {
                pinned.push(regs.map_err(not_exact)?)?;
            } else {
                trie.insert(regs.map_err(not_exact)?).map_err(|_| BootError::NoMemory)?;
                paged_code += u16::from(own.flags & area::EXECUTE != 0);
            }
        }
    }
    if overlap(&pinned, &trie) {
        return Err(BootError::Areas);
    }
    // Code needs a slot for data, too: it holds constants, which are read as data.
    let needed = min_paged_slots(paged_code > 0, !trie.is_empty());
    // The tables are validated, so the number is one of a policy.
    let policy = Replacement::from_number(replacement).unwrap_or(Replacement::Random);
    let slots = Slots::new(pinned.regions(), needed, policy).map_err(|_| BootError::NoSlots)?;
    let most = if paged_slots == 0 { REGIONS } else { paged_slots as usize };
    let slots = slots.limited(most, needed).map_err(|_| BootError::NoSlots)?.seeded(index as u32);
    let own = tables.all::<system::Thread>().filter(|thread| thread.domain as usize == index);
    let counts_misses =
        own.map(|thread| tables.get::<system::Budget>(thread.budget as usize)).any(|budget| budget.misses > 0);
    const { assert!(layout::holds::<A>(), "the entry code knows where these are") };
    let countdown = if counts_misses { 1 } else { u32::MAX };
    Ok(Regions { slots, header: header(Event::Miss, index as u8, 0), countdown, trie, paged_code, counts_misses })
}

pub(super) fn idle<A: RegionArch>(
    empty_leaf: &EmptyLeaf,
    idle: &[(Span, Access, MemType); 2],
) -> Result<Regions<A>, BootError> {
    let mut pinned = Pinned::default();
    for (span, access, memory) in *idle {
        pinned.push(A::Unit::exact(span, access, memory).ok_or(BootError::NotExact)?)?;
    }
    let slots = Slots::new(pinned.regions(), 0, Replacement::RoundRobin).map_err(|_| BootError::NoSlots)?;
    let header = header(Event::Miss, abi::trace::IDLE, 0);
    let trie = Trie::empty(NodeMemory::new(empty_leaf.0));
    Ok(Regions { slots, header, countdown: u32::MAX, trie, paged_code: 0, counts_misses: false })
}

/// Returns true if a byte belongs to two regions: what it may be used for would depend on their
/// order. (The tables see to it, except within a region and its disabled eighths.)
fn overlap<A: RegionArch>(pinned: &Pinned<Regs<A>>, trie: &Trie<NodeMemory<A>>) -> bool {
    let own = pinned.regions();
    let twice = own.iter().enumerate().any(|(at, one)| own[..at].iter().any(|other| one.meets(*other)));
    twice || own.iter().any(|one| trie.overlapping(*one).is_some())
}
