//! How accesses are checked on a board, and what follows from it for whoever prepares and observes a system. Code outside of the schemes asks
//! for what follows, never for the scheme.

use serde::Deserialize;

/// How accesses are checked, with what the board's file says of it.
#[derive(Clone, Debug)]
pub enum Scheme {
    /// Region registers.
    Regions(Protection),
    /// Page tables.
    Pages(Translation),
}

impl Scheme {
    /// Whether addresses of domains are translated; otherwise they are physical.
    pub const fn translates(&self) -> bool {
        matches!(self, Self::Pages(_))
    }

    /// Whether an area is any whole pages; otherwise it has to be what region registers cover exactly.
    pub const fn has_whole_pages(&self) -> bool {
        matches!(self, Self::Pages(_))
    }

    /// Whether software loads the slots that check a domain's accesses, so that it can be told how many of them serve paged memory, and
    /// that heaps of domains may alternate in the regions that it loads.
    pub const fn loads_slots(&self) -> bool {
        matches!(self, Self::Regions(_))
    }

    /// Whether the processor saves registers on a domain's stack when an exception comes; that must not miss.
    pub const fn saves_on_stacks(&self) -> bool {
        matches!(self, Self::Regions(_))
    }

    /// Whether what is pinned shares slots: one entry of the TLB holds several areas with the same rights.
    pub const fn shares_slots(&self) -> bool {
        matches!(self, Self::Pages(_))
    }

    /// Whether hardware walks tables, so that an area can be found in time without a slot of its own.
    pub const fn walks(&self) -> bool {
        matches!(self, Self::Pages(_))
    }
}

/// Where tables of domains can lie, and where memory and devices are in them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Translation {
    /// Name of the memory on the chip of which tables of domains take what areas leave.
    pub tables: String,
    /// Devices, and memory in the kernel's half of the address space, are in domains at their physical addresses less this.
    pub device_offset: u32,
    /// The kernel has the memories of domains mapped at their physical addresses and this, unless they lie in its half of the address space.
    pub kernel_offset: u32,
    /// Ways of the second-level cache in which the kernel's image stays, where its memory is off the chip.
    #[serde(default)]
    pub kernel_ways: u32,
    /// First address of the windows in which domains map memory while they run; there is no memory in them.
    pub windows: u32,
    /// What mapping takes at most in all steps together: cycles, and cycles for each descriptor.
    pub map_cycles: [u32; 2],
    /// What unmapping takes.
    pub unmap_cycles: [u32; 2],
    /// Whether these four are largest observed times; otherwise they follow from the description.
    pub cycles_observed: bool,
}

impl Translation {
    /// The address at which the kernel has physical memory mapped.
    pub fn seen(&self, physical: u32) -> u32 {
        if self.is_kernels_half(physical) { physical } else { physical + self.kernel_offset }
    }

    /// Domains have memory that begins at this physical address lower by so much.
    pub fn lower(&self, physical: u32) -> u32 {
        if self.is_kernels_half(physical) { self.device_offset } else { 0 }
    }

    fn is_kernels_half(&self, physical: u32) -> bool {
        physical >= self.kernel_offset
    }
}

/// A protection unit with region registers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protection {
    /// Cycles that a miss adds to one access at most, from the access that faults to the one that is restarted, with the nodes of
    /// the domain's table in TCM. The benchmark compares it with the largest observed time.
    pub l1_cycles: u32,
    /// The same with the nodes in on-chip SRAM.
    pub l2_cycles: u32,
}
