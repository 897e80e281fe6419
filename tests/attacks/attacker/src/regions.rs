//! Attacks on memory that is mapped at its first touch, region by region (RTMMU): what is left in the tables of a region that was freed, and regions, frames and
//! tables that are not the own ones.
//!
//! Names beyond those of the others: envelope `arena0`, on demand; and those of [`crate::pages`].

use cofferdam::{Area, demand, sys};
use repertoire::lethal::{read, write};
use repertoire::refused::Outcome;

use crate::lethal;
use crate::pages::{NO_MEANS, PAGE, means, one_page, refused_all};
use crate::refused;
use crate::world::World;

/// The attacks that are refused or have no effect.
pub const REFUSED: &[refused::Attack] = &[
    ("make regions that are not the own ones", foreign_regions),
    ("free regions that are not the own ones", foreign_freed),
    ("map frames where regions are", frames_over_regions),
    ("copy across the end of a region", across),
    ("call a gate whose code has the addresses of the own", same_addresses),
];

/// The attacks that end in a fault.
pub const LETHAL: &[lethal::Attack] = &[
    ("touch a page of no region", |_| with(|area| read(area.base))),
    ("read a page of a region that was freed", |_| with(freed)),
    ("read a page of a region that was freed and made again, smaller", |_| with(smaller)),
    ("read a page that another region took the frame of", |_| with(taken)),
    ("load across the end of a region", |_| with(|area| unaligned(area, 2 * PAGE - 2, false))),
    ("store across the end of a region", |_| with(|area| unaligned(area, 2 * PAGE - 2, true))),
    ("store across the beginning of a region", |_| with(|area| unaligned(area, PAGE - 2, true))),
    ("touch more pages than there are frames", |_| with(greedy)),
    ("touch a page behind the own demand area", |_| with(|area| write(area.base + area.bytes))),
    ("write the stack pointers of regions", |world| write(world.own.chip.foreign.kernel_tables)),
    ("write the links of freed frames", |world| write(world.own.chip.foreign.kernel_objects)),
];

fn arena() -> Option<Area> {
    cofferdam::info()?.area("arena0")
}

fn with(attack: fn(Area)) {
    if let Some(area) = arena() {
        attack(area);
    }
}

/// Makes a region and touches its pages.
fn make(area: Area, first: u32, pages: u32) -> bool {
    let base = area.base + first * PAGE;
    let made = sys::region_map(base, pages, 0).is_ok();
    if made {
        (0..pages).for_each(|page| write(base + page * PAGE));
    }
    made
}

fn free(area: Area, first: u32) -> bool {
    demand::unmap(area.base + first * PAGE, 1).is_ok()
}

fn freed(area: Area) {
    if make(area, 0, 4) && free(area, 0) {
        read(area.base + 2 * PAGE);
    }
}

/// The words of `c`, `h` and `s` for the last pages are those of before.
fn smaller(area: Area) {
    if make(area, 0, 4) && free(area, 0) && make(area, 0, 2) {
        read(area.base + 3 * PAGE);
    }
}

/// The new region begins within the old one, and takes the frames that were freed.
fn taken(area: Area) {
    if make(area, 0, 3) && free(area, 0) && make(area, 1, 2) {
        read(area.base);
    }
}

/// The page of [`area.base`] + 1 is the only one of its region; the access begins so far from the area's beginning.
fn unaligned(area: Area, offset: u32, stores: bool) {
    let at = (area.base + offset) as *mut u32;
    if make(area, 1, 1) {
        // SAFETY: there is none; this is the attack.
        unsafe {
            if stores {
                at.write_unaligned(0xbad0_bad0);
            } else {
                core::hint::black_box(at.read_unaligned());
            }
        }
    }
}

fn greedy(area: Area) {
    make(area, 0, area.bytes / PAGE);
}

fn foreign_regions(world: &World) -> Outcome {
    let area = arena().ok_or(NO_MEANS)?;
    let make = |place: u32, pages: u32| sys::region_map(place, pages, 0);
    let own = make(area.base, 2).is_ok();
    let tries = [
        make(area.base - PAGE, 1),
        make(area.base + area.bytes, 1),
        make(area.base + area.bytes - PAGE, 2),
        make(world.own.code.base, 1),
        make(world.own.chip.foreign.heaps, 1),
        make(area.base, u32::MAX),
        make(area.base, 1 << 20),
        make(area.base + PAGE, 1),
        make(area.base + 2, 1),
    ];
    let freed = demand::unmap(area.base, 1).is_ok();
    refused_all(&tries)?;
    if own && freed { Ok(()) } else { Err("the own region was refused") }
}

fn foreign_freed(world: &World) -> Outcome {
    let area = arena().ok_or(NO_MEANS)?;
    let free = |place: u32, regions: u32| sys::region_unmap(place, regions).map(drop);
    let tries = [
        free(world.own.code.base, 1),
        free(world.own.stack.base, 1),
        free(world.heap.base, 1),
        free(world.requests.base() as u32, 1),
        free(world.own.chip.foreign.kernel_tables, 1),
        free(area.base, 1),
        free(area.base, 0),
        free(area.base, u32::MAX),
        free(area.base + area.bytes, 1),
    ];
    refused_all(&tries)
}

fn frames_over_regions(world: &World) -> Outcome {
    let means = means().ok_or(NO_MEANS)?;
    let area = arena().ok_or(NO_MEANS)?;
    const R: u32 = cofferdam::abi::access::READ;
    let _ = sys::frames_retype(means.pool, 6 * PAGE, PAGE);
    let at = |base: u32| sys::frames_map(&one_page(means.myself, means.pool, base & !(PAGE - 1), 6, R));
    let foreign = world.own.chip.foreign;
    refused_all(&[
        at(world.own.code.base),
        at(world.own.stack.base),
        at(world.heap.base),
        at(world.device),
        at(area.base),
        at(area.base + area.bytes - PAGE),
        at(foreign.kernel_objects),
        at(foreign.kernel_tables),
        at(0xffff_f000),
    ])
}

/// The service copies from the caller's memory, all of it or nothing.
fn across(world: &World) -> Outcome {
    let area = arena().ok_or(NO_MEANS)?;
    if !make(area, 1, 1) {
        return Err("the own region was refused");
    }
    let begin = area.base + PAGE;
    let beyond = [(begin + PAGE - 8, 16), (begin + PAGE - 1, 2), (begin - 4, 8), (begin - 1, 64)];
    let tries = beyond.map(|(address, bytes)| world.service.call(address, bytes, 0).map(|_| ()));
    if !free(area, 1) {
        return Err("the own region was not freed");
    }
    refused_all(&tries)
}

/// All programs are linked for the same addresses: the service's gate is code of the own program where the spaces are not told apart.
fn same_addresses(world: &World) -> Outcome {
    let own = [7_u32; 4];
    let before = own;
    let taken = world.service.call(own.as_ptr() as u32, 16, 0);
    if taken.is_ok() && own == before { Ok(()) } else { Err("the service did not take what is ours") }
}
