//! Schemes with region registers: their words in the block, and what the kernel makes of areas: regions, and memory for the tables of paged
//! ones. The host asks here, too, so that both agree.

use protect::Span;
use protect::pmsav7::Pmsav7;
use protect::pmsav8::Pmsav8;
use protect::regions::pctrie::{LEAVES_PER_NODE, NODE_BYTES, SHIFTS, window_log2};
use protect::regions::{LEAST_PAGED_LOG2, REGIONS, Registers, Unit};

use crate::areas::can_be_mapped;
use crate::records::words;
use crate::{Area, Domain, Scheme, Section, System, area, attributes};

/// The smallest paged area, and the smallest page.
pub const LEAST_PAGED_BYTES: u32 = 1 << LEAST_PAGED_LOG2;

/// Location of the nodes of a domain's table: values of [`Paging::nodes`].
pub mod nodes {
    /// On-chip SRAM: the bound of level L2.
    pub const SRAM: u32 = 0;
    /// Tightly coupled memory: the bound of level L1.
    pub const TCM: u32 = 1;
}

words! {
    /// How a domain's memory pages.
    Paging {
        /// Slots that serve paged memory at most; 0: all that are not pinned.
        paged_slots,
        /// How the victim among its paged slots is chosen: a number of [`Replacement`](protect::regions::slots::Replacement).
        replacement,
        /// One of the constants in [`nodes`].
        nodes,
        /// Memory for its table, within a range of kernel memory; a multiple of 32.
        table_base,
        /// Its bytes, as [`table_bytes`] says; 0: the kernel uses its own object memory.
        table_bytes,
    }
}

words! {
    /// The regions of an area.
    Shape {
        /// log2 of the size of one paged region, or 0: as large as the range allows. 0 when pinned.
        page_log2,
        /// Eighths of every region of `2^page_log2` bytes that are not the domain's (bit 0 the lowest eighth), as in a region register;
        /// 0: all are. Not 0 only for paged memory whose base and size are multiples of that region, where regions have eighths.
        disabled,
    }
}

/// Domains with handlers, at most. The first one occupies Non-secure state when the system starts.
pub const MAX_OWNERS: usize = 4;

words! {
    /// A domain with handlers, and where its handlers are.
    Direct {
        /// Its number, plus one; 0: there is none, and all other words are 0.
        domain,
        /// The bit of an address that is set where Secure code finds what is at the address without it.
        alias,
        /// Non-secure address of all that handlers execute, with their constants; a multiple of 32.
        text_base,
        /// Its bytes, a multiple of 32.
        text_bytes,
        /// Address, in it, of the vectors of handlers.
        vectors,
        /// Address, in it, of the vectors while handlers are cut off.
        quiet,
        /// Address behind the stack of handlers.
        stack_top,
        /// Ticks after which handlers may use their capacity again; not 0.
        period,
        /// Ticks that handlers may use in a period; not 0, at most `period`.
        capacity,
        /// Their cycles are counted: so many (upper half) pass in so many ticks (lower half), neither 0. 0: a timer looks whether they run.
        counted,
    }
}

/// A scheme with region registers, and its section.
pub trait RegionScheme: Unit + Section<Domain = Paging, Area = Shape> {}

impl<S: Unit + Section<Domain = Paging, Area = Shape>> RegionScheme for S {}

impl Section for Pmsav7 {
    const SCHEME: Scheme = Scheme::Pmsav7;
    type System = ();
    type Domain = Paging;
    type Area = Shape;
}

impl Section for Pmsav8 {
    const SCHEME: Scheme = Scheme::Pmsav8;
    type System = [Direct; MAX_OWNERS];
    type Domain = Paging;
    type Area = Shape;
}

/// A domain's areas, each with its shape.
pub fn shaped<'a, U: RegionScheme>(
    system: &System<'a>,
    domain: &Domain,
) -> impl Iterator<Item = (Area, Shape)> + Clone + use<'a, U> {
    let (view, first, count) = (*system, domain.first_area as usize, domain.areas as usize);
    (first..first + count).map(move |index| (view.get(index), view.own_area::<U>(index)))
}

/// An area that registers cannot express exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotExact;

/// The regions of an area: of the page size where one is given, otherwise as large as they can be.
pub fn regions<U: Unit>(entry: &Area, shape: Shape) -> impl Iterator<Item = Result<U::Regs, NotExact>> + use<U> {
    let entry = *entry;
    let (access, memory) = attributes(&entry);
    let end = u64::from(entry.base) + u64::from(entry.bytes);
    let mut base = u64::from(entry.base);
    let mut found = [U::Regs::DISABLED; REGIONS];
    let (mut next, mut count) = (0, 0);
    core::iter::from_fn(move || {
        if next == count {
            if base >= end {
                return None;
            }
            // Up to the next page boundary, so that pages are aligned even where the area is not.
            let step = match shape.page_log2 {
                0 => end - base,
                log2 => (base + 1).next_multiple_of(1 << log2).min(end) - base,
            };
            let Some(covered) = U::cover(Span::new(base as u32, step), access, memory, &mut found) else {
                base = end;
                return Some(Err(NotExact));
            };
            (next, count) = (0, covered);
            base += step;
        }
        next += 1;
        // The tables give eighths only to areas that are made of whole regions.
        Some(U::without(found[next - 1], shape.disabled).ok_or(NotExact))
    })
}

/// Nodes of memory for the table of a domain, regions included: 0 for one that can have no paged memory. `mapped`: whether memory can
/// be mapped to it while it runs.
///
/// # Errors
/// [`NotExact`].
pub fn table_nodes<U: Unit>(
    areas: impl Iterator<Item = (Area, Shape)> + Clone,
    mapped: bool,
) -> Result<usize, NotExact> {
    let paged = areas.filter(|(entry, _)| entry.flags & area::PINNED == 0);
    // One for the root, those in which an area's own regions part, and one for each area that parts from another.
    let (mut nodes, mut leaves) = (0, 0);
    for (entry, shape) in paged {
        let (own_regions, own_nodes) = needs::<U>(&entry, shape)?;
        nodes += own_nodes + 1;
        leaves += own_regions;
    }
    if leaves > 0 {
        nodes += 1;
    }
    if mapped {
        // One region that is mapped while the domain runs.
        nodes += U::MOST_KEYS - 1;
        leaves += 1;
    }
    Ok(nodes + leaves.div_ceil(LEAVES_PER_NODE as usize))
}

/// Bytes of memory for the table of a domain; see [`table_nodes`].
///
/// # Errors
/// [`NotExact`].
pub fn table_bytes<U: Unit>(areas: impl Iterator<Item = (Area, Shape)> + Clone, mapped: bool) -> Result<u32, NotExact> {
    Ok(table_nodes::<U>(areas, mapped)? as u32 * NODE_BYTES)
}

/// Nodes of a domain's table that lie among the kernel's objects: all, unless the domain has memory of its own for them.
///
/// # Errors
/// [`NotExact`].
pub(crate) fn own_nodes<U: RegionScheme>(tables: &System<'_>, index: usize) -> Result<usize, NotExact> {
    if tables.own_domain::<U>(index).table_bytes != 0 {
        return Ok(0);
    }
    table_nodes::<U>(shaped::<U>(tables, &tables.get::<Domain>(index)), can_be_mapped(tables, index))
}

/// Regions of a paged area, and the most trie nodes in which two of its keys part: no more than there are windows that the area
/// touches at the levels above its smallest key, and one less than it has keys (see `protect::regions::pctrie`).
fn needs<U: Unit>(entry: &Area, shape: Shape) -> Result<(usize, usize), NotExact> {
    let (mut pieces, mut keys, mut smallest) = (0, 0, u32::BITS);
    for regs in regions::<U>(entry, shape) {
        let regs = regs?;
        pieces += 1;
        for key in regs.keys() {
            keys += 1;
            smallest = smallest.min(key.block_log2());
        }
    }
    let first = u64::from(entry.base);
    let last = first + u64::from(entry.bytes) - 1;
    let levels = SHIFTS.into_iter().map(window_log2).filter(|window| *window > smallest);
    let windows: u64 = levels.map(|window| (last >> window) - (first >> window) + 1).sum();
    Ok((pieces, (windows as usize).min(keys - 1)))
}
