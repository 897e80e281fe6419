//! What a domain may access, on a processor with region registers: the registers' image, the table of the regions behind those that
//! page, and how both change, in steps. Pure but for the memory of the table; whoever changes a domain that is in force loads the registers
//! afterwards ([`Reload`]).

use abi::Error;
use protect::pctrie::{self, LEAVES_PER_NODE, NODE_BYTES, Next, Trie};
use protect::pmsav7::{Access, AccessKind, Data, MemType, RegionRegs, Span, encode_one};
use protect::slots::{Miss, RegionImage, Slots, min_paged_slots};

use crate::arch::Arch;
use crate::nodes::NodeMemory;

/// The regions of one domain.
#[repr(C)]
pub struct Regions<A: Arch> {
    /// The region registers, ready for a block load, and which of them are paged.
    pub(crate) slots: Slots,
    /// What a miss writes to the trace, but for the slot.
    pub(crate) header: u32,
    /// Misses until somebody counts them: see `Kernel::on_counted`.
    pub(crate) countdown: u32,
    /// The regions behind the paged slots.
    pub(crate) trie: Trie<NodeMemory<A>>,
    /// Regions of the trie that permit to execute.
    paged_code: u16,
    /// A thread of the domain has a budget of misses.
    counts_misses: bool,
}

/// Where the entry code finds what a miss needs in a domain, in bytes.
pub mod layout {
    use protect::slots::{self, Slots};

    use super::{Arch, Regions};

    /// What a miss writes to the trace.
    pub const HEADER: usize = size_of::<Slots>();
    /// Misses until somebody counts them.
    pub const COUNTDOWN: usize = HEADER + 4;
    /// The root of the table, which comes first in it.
    pub const ROOT: usize = HEADER + 8;
    /// State of the generator of random victims.
    pub const RANDOM: usize = slots::layout::RANDOM;
    /// Slots that can be victims.
    pub const CANDIDATES: usize = slots::layout::CANDIDATES;
    /// What a new generation keeps.
    pub const KEEP: usize = slots::layout::KEEP;
    /// Paged slots.
    pub const PAGED: usize = slots::layout::PAGED;

    /// The numbers above are right.
    pub(crate) const fn holds<A: Arch>() -> bool {
        core::mem::offset_of!(Regions<A>, slots) == 0
            && core::mem::offset_of!(Regions<A>, header) == HEADER
            && core::mem::offset_of!(Regions<A>, countdown) == COUNTDOWN
            && core::mem::offset_of!(Regions<A>, trie) == ROOT
    }
}

/// A region that is mapped or unmapped at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    /// Its registers, without a slot.
    pub regs: RegionRegs,
    /// It has a register of its own.
    pub pinned: bool,
    /// It permits to execute.
    pub execute: bool,
}

/// Bits of the access to a region, as a call has them.
pub(crate) mod access {
    pub const READ: u32 = 1;
    pub const WRITE: u32 = 2;
    pub const EXECUTE: u32 = 4;
    pub const PINNED: u32 = 8;
}

impl Region {
    /// The region that the words of a call describe.
    ///
    /// # Errors
    /// `BAD_ARGUMENT`: no register can hold it exactly, or it could be written and executed.
    pub fn decode(bits: u32, base: u32, shape: u32) -> Result<Region, Error> {
        let (write, execute) = (bits & access::WRITE != 0, bits & access::EXECUTE != 0);
        let pinned = bits & access::PINNED != 0;
        let (log2, srd) = (shape & 0xff, shape >> 8);
        // Regions with eighths, and keys of the trie, begin at 256 bytes.
        let smallest = if pinned && srd == 0 { 5 } else { 8 };
        let aligned = (smallest..32).contains(&log2) && base & ((1 << log2) - 1) == 0;
        if bits & access::READ == 0 || bits > 15 || (write && execute) || srd >= 0xff || !aligned {
            return Err(Error::BadArgument);
        }
        let data = if write { Data::Rw } else { Data::Ro };
        let whole = Span::new(base, 1 << log2);
        let rights = Access { data, exec: execute };
        let regs = encode_one(whole, rights, MemType::WriteBack).map_err(|_| Error::BadArgument)?;
        Ok(Region { regs: RegionRegs { rasr: regs.rasr | srd << 8, ..regs }, pinned, execute })
    }

    /// Base and bytes of each run that it permits.
    pub fn runs(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        self.regs.runs().map(|run| (run.base, run.len as u32))
    }
}

/// What the registers of a domain that is in force lack after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reload {
    /// Nothing.
    Nothing,
    /// One of them.
    Slot(RegionRegs),
    /// All of them.
    Image,
}

/// What steps cost, in tens of instructions, roughly.
pub(crate) mod cost {
    pub const COMPARE_PINNED: u32 = 8;
    pub const COMPARE_KEY: u32 = 20;
    pub const NODE: u32 = 60;
    pub const SMALL: u32 = 4;
}

/// How far entering a region has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// Take another step; this one's cost.
    Not(u32),
    /// It is there from now on.
    All(Reload),
}

/// A region on its way into a domain's regions, or out of them.
#[derive(Debug)]
pub(crate) struct Edit {
    region: Region,
    /// Pinned regions, and after them keys, that were compared with it.
    compared: u8,
    /// Of a paged region, once it is on its way.
    table: Option<pctrie::Edit>,
}

impl Edit {
    /// Of a region that is to be mapped.
    pub fn new(region: Region) -> Edit {
        Edit { region, compared: 0, table: None }
    }
}

impl<A: Arch> Regions<A> {
    /// The regions that a domain begins with. Of the table `paged_code` regions permit to execute.
    pub(crate) fn new(
        slots: Slots,
        trie: Trie<NodeMemory<A>>,
        paged_code: u16,
        header: u32,
        counts_misses: bool,
    ) -> Regions<A> {
        let countdown = if counts_misses { 1 } else { u32::MAX };
        Regions { slots, header, countdown, trie, paged_code, counts_misses }
    }

    /// What to load at a switch to the domain.
    #[inline(always)]
    pub(crate) fn image(&self) -> &RegionImage {
        self.slots.image()
    }

    /// Whether the kernel may access `len` bytes from `base` on the domain's behalf: see [`Slots::permits`].
    pub(crate) fn permits(&self, base: u32, len: u32, kind: AccessKind) -> bool {
        self.slots.permits(&self.trie, base, len, kind)
    }

    /// Answers a miss: the register to load. See [`Slots::fill`].
    #[inline(always)]
    pub(crate) fn fill(&mut self, address: u32) -> Result<RegionRegs, Miss> {
        self.slots.fill(&mut self.trie, address)
    }

    /// Counting begins anew.
    pub(crate) fn count_again(&mut self) {
        self.countdown = if self.counts_misses { 1 } else { u32::MAX };
    }

    /// Empties what pages, as at a restart of the domain.
    pub(crate) fn evict(&mut self) {
        self.slots.evict_all();
    }

    /// Adds kernel memory for nodes of the table; how many, and the regions that could be kept in them instead.
    pub(crate) fn give(&mut self, base: u32, bytes: u32) -> (u32, u32) {
        let nodes = bytes / NODE_BYTES;
        for index in 0..nodes {
            self.trie.give_node(base + index * NODE_BYTES);
        }
        (nodes, nodes * LEAVES_PER_NODE)
    }

    /// One that was pinned at run time.
    pub(crate) fn pinned_later(&self) -> Option<RegionRegs> {
        self.slots.pinned_later().next()
    }

    /// The next one in the table from an address on: a step of a walk.
    pub(crate) fn next_paged(&self, from: u32) -> Next {
        self.trie.next_step(from)
    }

    /// Compares a region with one that is pinned; whether it was compared with all of them.
    ///
    /// # Errors
    /// `BAD_STATE`: they have a byte in common.
    pub(crate) fn compare_step(&self, edit: &mut Edit) -> Result<bool, Error> {
        let Some(pinned) = self.slots.pinned().nth(usize::from(edit.compared)) else {
            edit.compared = 0;
            return Ok(true);
        };
        if pinned.meets(edit.region.regs) {
            return Err(Error::BadState);
        }
        edit.compared += 1;
        Ok(false)
    }

    /// One step of entering a region into the table; or, if it is to be pinned, of comparing a key of it with the table and pinning it when
    /// all were.
    ///
    /// # Errors
    /// `BAD_STATE`: a byte of it is mapped already. `FULL`: there is no slot for it, or no node. What was done so far is for
    /// [`Regions::leave_step`].
    ///
    /// # Bound
    /// Of [`pctrie::Trie::insert_step`].
    pub(crate) fn enter_step(&mut self, edit: &mut Edit) -> Result<Entered, Error> {
        if edit.region.pinned { self.pin_step(edit) } else { self.page_step(edit) }
    }

    fn page_step(&mut self, edit: &mut Edit) -> Result<Entered, Error> {
        let Region { regs, execute, .. } = edit.region;
        let Some(table) = &mut edit.table else {
            // The slots that every instruction needs to make progress.
            let needed = min_paged_slots(self.paged_code > 0 || execute, true);
            self.slots.require(needed).map_err(|_| Error::Full)?;
            edit.table = Some(self.trie.begin(regs).map_err(|_| Error::Full)?);
            return Ok(Entered::Not(cost::COMPARE_KEY));
        };
        let before = self.trie.free_nodes();
        match self.trie.insert_step(table) {
            Ok(true) => {
                self.paged_code += u16::from(execute);
                Ok(Entered::All(Reload::Nothing))
            }
            Ok(false) if self.trie.free_nodes() == before => Ok(Entered::Not(cost::COMPARE_KEY)),
            Ok(false) => Ok(Entered::Not(cost::NODE)),
            Err(pctrie::Obstacle::Occupied) => Err(Error::BadState),
            Err(pctrie::Obstacle::NoNodes) => Err(Error::Full),
        }
    }

    fn pin_step(&mut self, edit: &mut Edit) -> Result<Entered, Error> {
        let regs = edit.region.regs;
        match self.trie.meets_key(regs, edit.compared) {
            Some(false) => edit.compared += 1,
            Some(true) => return Err(Error::BadState),
            None => {
                let needed = min_paged_slots(self.paged_code > 0, !self.trie.is_empty());
                self.slots.pin(regs, needed).map_err(|_| Error::Full)?;
                return Ok(Entered::All(Reload::Image));
            }
        }
        Ok(Entered::Not(cost::COMPARE_KEY))
    }

    /// Takes a region out of the slots and out of sight of misses; what is left to do for [`Regions::leave_step`], and what to load. `None` when
    /// exactly this region is not there.
    pub(crate) fn withdraw(&mut self, region: Region) -> Option<(Edit, Reload)> {
        let mut edit = Edit::new(region);
        if region.pinned {
            return self.slots.unpin(region.regs).then_some((edit, Reload::Image));
        }
        let (table, off) = self.slots.withdraw(&mut self.trie, region.regs).ok()?;
        self.paged_code -= u16::from(region.execute);
        edit.table = Some(table);
        Some((edit, off.map_or(Reload::Nothing, Reload::Slot)))
    }

    /// One step of taking a region out of the table, complete or not; whether nothing of it is left there.
    ///
    /// # Bound
    /// Of [`pctrie::Trie::remove_step`].
    pub(crate) fn leave_step(&mut self, edit: &mut Edit) -> bool {
        edit.table.as_mut().is_none_or(|table| self.trie.remove_step(table))
    }
}
