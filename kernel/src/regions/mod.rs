//! Protection of a domain on a processor with region registers: the registers' image, the table of
//! the regions behind those that page, and how both change, in steps.

mod arch;
mod boot;
mod miss;
mod nodes;
mod protection;
mod region;

use abi::Error;
use protect::regions::pctrie::{self, Trie};
use protect::regions::slots::{RegionImage, Slots, min_paged_slots};
use units::PhysAddr;

pub use arch::{RegionArch, Regs};
pub use miss::Resolution;
pub use nodes::NodeMemory;
pub use region::Region;

use crate::arch::{Hardware, Step};

/// The regions of one domain.
#[repr(C)]
pub struct Regions<A: RegionArch> {
    /// The region registers, ready for a block load, and which of them are paged. They come first,
    /// because the entry code loads them at each switch.
    pub(crate) slots: Slots<Regs<A>>,
    /// Word that a miss writes to the trace, but for the slot. It is made once, because each
    /// instruction lengthens every miss.
    header: u32,
    /// Misses until somebody counts them: see `Kernel::on_counted`.
    countdown: u32,
    /// The regions behind the paged slots.
    pub(crate) trie: Trie<NodeMemory<A>>,
    /// Regions of the trie that permit to execute: as long as there is one, a slot is kept for
    /// code.
    paged_code: u16,
    /// A thread of the domain has a budget of misses, so every miss is counted.
    counts_misses: bool,
}

/// Offsets at which the entry code finds what a miss needs in a domain, in bytes.
pub mod layout {
    use protect::regions::slots;

    use super::{RegionArch, Regions};

    /// Word that a miss writes to the trace.
    pub const HEADER: usize = slots::layout::BYTES;
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

/// Costs of steps, in tens of instructions, roughly: they decide how many steps one kernel entry
/// takes (`edit`).
mod cost {
    pub const COMPARE_PINNED: u32 = 8;
    pub const COMPARE_KEY: u32 = 20;
    pub const NODE: u32 = 60;
    pub const SMALL: u32 = 4;
}

/// How far a region has come into a domain's regions, or out of them.
#[derive(Debug)]
pub struct Progress<R> {
    /// Pinned regions, and after them keys, that were compared with it: one comparison is a step.
    compared: u8,
    /// The edit of the table, once a paged region is on its way.
    table: Option<pctrie::Edit<R>>,
}

impl<R> Default for Progress<R> {
    fn default() -> Self {
        Progress { compared: 0, table: None }
    }
}

impl<A: RegionArch> Regions<A> {
    /// Image to load at a switch to the domain.
    #[inline(always)]
    pub(crate) fn image(&self) -> &RegionImage<Regs<A>> {
        self.slots.image()
    }

    fn page_step(&mut self, region: &Region<Regs<A>>, progress: &mut Progress<Regs<A>>) -> Result<Step, Error> {
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

    fn pin_step(
        &mut self,
        region: &Region<Regs<A>>,
        progress: &mut Progress<Regs<A>>,
        hardware: Hardware<'_, A>,
    ) -> Result<Step, Error> {
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

    /// Loads all registers if the domain is in force. Otherwise the next switch to it does.
    fn reload(&self, hardware: Hardware<'_, A>) {
        if hardware.loaded {
            hardware.arch.load_image(self.image());
        }
    }
}
