//! One domain: its pinned regions, its table, and where both come from.

use abi::trace::{Event, header};
use protect::pctrie::Trie;
use protect::pmsav7::{REGIONS, RegionRegs};
use protect::slots::{Replacement, Slots, min_paged_slots};
use system::{System, area, regions, replacement};

use crate::arch::Arch;
use crate::boot::BootError;
use crate::nodes::NodeMemory;
use crate::objects::{Cap, Domain, FaultReport, Life};
use crate::regions::{Regions, layout};

/// Pinned regions on their way into slots.
pub(super) struct Pinned {
    regs: [RegionRegs; REGIONS],
    count: usize,
}

impl Default for Pinned {
    fn default() -> Self {
        Pinned { regs: [RegionRegs::DISABLED; REGIONS], count: 0 }
    }
}

impl Pinned {
    /// Adds a region.
    pub(super) fn push(&mut self, region: RegionRegs) -> Result<(), BootError> {
        *self.regs.get_mut(self.count).ok_or(BootError::NoSlots)? = region;
        self.count += 1;
        Ok(())
    }

    /// All of them.
    pub(super) fn regions(&self) -> &[RegionRegs] {
        &self.regs[..self.count]
    }
}

/// Makes a domain whose table has the memory that it needs.
pub(super) fn make<A: Arch>(
    tables: &System<'static>,
    index: usize,
    mut trie: Trie<NodeMemory<A>>,
    caps: &'static mut [Cap],
) -> Result<Domain<A>, BootError> {
    let entry: system::Domain = tables.get(index);
    let mut pinned = Pinned::default();
    let mut paged_code = 0;
    for own in regions::areas_of(tables, &entry) {
        for regs in regions::regions(&own) {
            if own.flags & area::PINNED != 0 {
                pinned.push(regs?)?;
            } else {
                trie.insert(regs?).map_err(|_| BootError::NoMemory)?;
                paged_code += u16::from(own.flags & area::EXECUTE != 0);
            }
        }
    }
    if overlap(&pinned, &trie) {
        return Err(BootError::Areas);
    }
    // Code holds constants, which are read as data.
    let needed = min_paged_slots(paged_code > 0, !trie.is_empty());
    let policy = match entry.replacement {
        replacement::BIT_PLRU => Replacement::BitPlru,
        replacement::ROUND_ROBIN => Replacement::RoundRobin,
        _ => Replacement::Random,
    };
    let slots = Slots::new(pinned.regions(), needed, policy).map_err(|_| BootError::NoSlots)?;
    let most = if entry.paged_slots == 0 { REGIONS } else { entry.paged_slots as usize };
    let slots = slots.limited(most, needed).map_err(|_| BootError::NoSlots)?.seeded(index as u32);
    let own = tables.all::<system::Thread>().filter(|thread| thread.domain as usize == index);
    let counts_misses =
        own.map(|thread| tables.get::<system::Budget>(thread.budget as usize)).any(|budget| budget.misses > 0);
    const { assert!(layout::holds::<A>(), "the entry code knows where these are") };
    let miss = header(Event::Miss, index as u8, 0);
    Ok(Domain {
        protection: Regions::new(slots, trie, paged_code, miss, counts_misses),
        caps,
        life: Life::Stopped,
        epoch: 0,
        living: 0,
        restarts: 0,
        fault: FaultReport::default(),
        fault_notification: entry.fault_notification.checked_sub(1).map(|index| index as u16),
        awaited: entry.awaited != 0,
        info: entry.info,
        gate_return: entry.gate_return,
        generation: 0,
    })
}

/// What the idle loop runs in.
pub(super) fn idle<A: Arch>(slots: Slots, trie: Trie<NodeMemory<A>>) -> Domain<A> {
    Domain {
        protection: Regions::new(slots, trie, 0, header(Event::Miss, abi::trace::IDLE, 0), false),
        caps: &mut [],
        life: Life::Running,
        epoch: 0,
        living: 0,
        restarts: 0,
        fault: FaultReport::default(),
        fault_notification: None,
        awaited: false,
        info: 0,
        gate_return: 0,
        generation: 0,
    }
}

/// Whether a byte belongs to two regions: what it may be used for would depend on their order. (The tables see to it, except within a
/// region and its disabled eighths.)
fn overlap<A: Arch>(pinned: &Pinned, trie: &Trie<NodeMemory<A>>) -> bool {
    let own = pinned.regions();
    let twice = own.iter().enumerate().any(|(at, one)| own[..at].iter().any(|other| one.meets(*other)));
    twice || own.iter().any(|one| trie.overlapping(*one).is_some())
}
