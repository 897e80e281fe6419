//! Attacks that only memory in pages has: translations that are left over, tables that a domain writes, memory that was somebody else's.
//!
//! Names beyond those of the others: domains `myself`, `accomplice`; gate `touch` (the accomplice's); frames `pool`, `lost`.

use cofferdam::abi::{Kind, Mapping, access};
use cofferdam::{Error, Gate, Info, now, sys};
use repertoire::Chip;
use repertoire::lethal::{jump, read, write};
use repertoire::refused::Outcome;

use crate::lethal;
use crate::marks::{LEAK, mark};
use crate::refused;
use crate::world::World;

/// A page.
pub(crate) const PAGE: u32 = 4096;
/// Page of the pool that tables are made of, a KiB each.
const TABLES: u32 = 15;
/// Size of a table.
const TABLE_BYTES: u32 = 1024;

/// To read, and to read and write.
const R: u32 = access::READ;
const RW: u32 = access::READ | access::WRITE;

/// The attacks that are refused or have no effect.
pub const REFUSED: &[refused::Attack] = &[
    ("read memory that was somebody else's", |_| inherit()),
    ("map what is both written and executed", |_| both()),
    ("map where the own memory is, or the kernel", |world| elsewhere(world)),
    ("map memory that was given for tables", |_| tables()),
    ("copy across two pages of which one is mapped", |world| across(world)),
    ("have an accomplice use what was unmapped for it", |_| share(RW)),
    ("have an accomplice use what was unmapped for it, locked", |_| share(RW | access::PINNED)),
];

/// The attacks that end in a fault.
pub const LETHAL: &[lethal::Attack] = &[
    ("read what was unmapped", |_| unmapped(RW, 0)),
    ("read what was unmapped, locked", |_| unmapped(RW | access::PINNED, 1)),
    ("write what is mapped for reading", |_| only(R, 2, write)),
    ("execute what is mapped for writing", |_| only(RW, 3, jump)),
    ("die with memory mapped", |_| leave()),
    ("read what the former life had mapped", |_| read(there() + 4 * PAGE)),
    ("write the own tables", |_| own_tables()),
    ("write a victim's memory on the chip", victim_on_chip),
];

/// The capabilities that the attacker was given for this.
pub(crate) struct Means {
    pub(crate) myself: u32,
    accomplice: u32,
    touch: Gate,
    pub(crate) pool: u32,
    lost: u32,
}

/// A page of frames, by its number.
pub(crate) fn one_page(domain: u32, frames: u32, at: u32, page: u32, access: u32) -> Mapping {
    Mapping { target: domain as u16, frames: frames as u16, at, access, offset: page * PAGE, bytes: PAGE }
}

impl Means {
    fn find(info: Info) -> Option<Means> {
        let slot = |name, kind| info.cap(name, kind).map(|cap| cap.slot);
        Some(Means {
            myself: slot("myself", Kind::Domain)?,
            accomplice: slot("accomplice", Kind::Domain)?,
            touch: Gate::named(info, "touch")?,
            pool: slot("pool", Kind::Frames)?,
            lost: slot("lost", Kind::Frames)?,
        })
    }

    /// Maps a page of frames behind [`there`]; it keeps its number.
    fn map(&self, domain: u32, frames: u32, page: u32, access: u32) -> Result<u32, Error> {
        // Frames that an earlier life has retyped stay so.
        let _ = sys::frames_retype(frames, page * PAGE, PAGE);
        let at = there() + page * PAGE;
        for table in 0..PAGE / TABLE_BYTES {
            match sys::frames_map(&one_page(domain, frames, at, page, access)) {
                Err(Error::Full) => drop(self.give(domain, TABLES * PAGE + table * TABLE_BYTES)),
                done => return done.map(|()| at),
            }
        }
        Err(Error::Full)
    }

    fn unmap(&self, domain: u32, frames: u32, page: u32, access: u32) -> Result<(), Error> {
        sys::frames_unmap(&one_page(domain, frames, there() + page * PAGE, page, access))
    }

    fn give(&self, domain: u32, offset: u32) -> Result<(u32, u32), Error> {
        sys::nodes_give(domain, self.pool, offset, TABLE_BYTES)
    }
}

/// Address from which pages are mapped, as boards with page tables name it: nothing else of a domain is there.
fn there() -> u32 {
    cofferdam::info().and_then(Chip::find).and_then(|chip| chip.foreign.window).unwrap_or_default()
}

pub(crate) fn means() -> Option<Means> {
    cofferdam::info().and_then(Means::find)
}

pub(crate) const NO_MEANS: &str = "the manifest gives me something else";

pub(crate) fn refused_all(tries: &[Result<(), Error>]) -> Outcome {
    if tries.iter().all(Result::is_err) { Ok(()) } else { Err("something was not refused") }
}

/// The warden wrote secrets there, unmapped and cleared it.
fn inherit() -> Outcome {
    let means = means().ok_or(NO_MEANS)?;
    let at = means.map(means.myself, means.lost, 0, R).map_err(|_| "not mapped")?;
    // SAFETY: just mapped.
    let words = (0..PAGE / 4).map(|index| unsafe { (at as *const u32).add(index as usize).read_volatile() });
    mark(LEAK, words.fold(0, |all, word| all | word));
    means.unmap(means.myself, means.lost, 0, R).map_err(|_| "not unmapped")
}

fn both() -> Outcome {
    let means = means().ok_or(NO_MEANS)?;
    let _ = sys::frames_retype(means.pool, 5 * PAGE, PAGE);
    let with = |access| means.map(means.myself, means.pool, 5, access).map(|_| ());
    refused_all(&[
        with(RW | access::EXECUTE),
        with(access::WRITE | access::EXECUTE),
        with(access::WRITE),
        with(access::EXECUTE),
        with(0),
    ])
}

fn elsewhere(world: &World) -> Outcome {
    let means = means().ok_or(NO_MEANS)?;
    let _ = sys::frames_retype(means.pool, 6 * PAGE, PAGE);
    let at = |base: u32| sys::frames_map(&one_page(means.myself, means.pool, base & !(PAGE - 1), 6, RW));
    let own = [at(world.own.code.base), at(world.own.stack.base), at(world.heap.base), at(world.device)];
    refused_all(&own)?;
    let foreign = world.own.chip.foreign;
    refused_all(&[at(0x8000_0000), at(foreign.kernel_objects), at(foreign.kernel_tables), at(0xffff_f000)])
}

/// A page of which a part is a table is nobody's to map.
fn tables() -> Outcome {
    let means = means().ok_or(NO_MEANS)?;
    let _ = means.give(means.myself, 7 * PAGE);
    let first = means.map(means.myself, means.pool, 7, RW);
    let clean = sys::frames_clean(means.pool, 7 * PAGE, PAGE);
    refused_all(&[first.map(|_| ()), clean.map(|_| ())])
}

/// The service copies from the caller's memory, all of it or nothing.
fn across(world: &World) -> Outcome {
    let means = means().ok_or(NO_MEANS)?;
    let at = means.map(means.myself, means.pool, 8, RW).map_err(|_| "not mapped")?;
    let beyond = [(at + PAGE - 8, 16), (at + PAGE - 1, 2), (at - 4, 8), (at - 1, 64)];
    let tries = beyond.map(|(address, bytes)| world.service.call(address, bytes, 0).map(|_| ()));
    means.unmap(means.myself, means.pool, 8, RW).map_err(|_| "not unmapped")?;
    refused_all(&tries)
}

/// The accomplice has used the page, so that its translation is in the TLB under the accomplice's identifier, and this domain's too.
fn share(access: u32) -> Outcome {
    let means = means().ok_or(NO_MEANS)?;
    // The last attack may have stopped it: the warden restarts it.
    let alive = (0..50).any(|_| means.touch.call(0, 0, 0).is_ok() || sys::sleep_until(now() + 50_000).is_err());
    if !alive {
        return Err("the accomplice is not restarted");
    }
    let page = 9 + (access >> 3);
    let at = means.map(means.accomplice, means.pool, page, access).map_err(|_| "not mapped")?;
    means.map(means.myself, means.pool, page, RW).map_err(|_| "not mapped for me")?;
    write(at);
    means.touch.call(at, 0, 0).map_err(|_| "the accomplice cannot use what it has")?;
    means.unmap(means.accomplice, means.pool, page, access).map_err(|_| "not unmapped")?;
    let used = means.touch.call(at, 0xbad, 0);
    means.unmap(means.myself, means.pool, page, RW).map_err(|_| "not unmapped for me")?;
    if used == Err(Error::CalleeFault) { Ok(()) } else { Err("the accomplice used what it has not") }
}

fn unmapped(access: u32, page: u32) {
    let Some(means) = means() else { return };
    let Ok(at) = means.map(means.myself, means.pool, page, access) else { return };
    write(at);
    read(at);
    if means.unmap(means.myself, means.pool, page, access).is_ok() {
        read(at);
    }
}

fn only(access: u32, page: u32, not: fn(u32)) {
    let Some(means) = means() else { return };
    let Ok(at) = means.map(means.myself, means.pool, page, access) else { return };
    if access & access::WRITE != 0 {
        write(at);
    }
    read(at);
    not(at);
}

fn leave() {
    let Some(means) = means() else { return };
    let Ok(at) = means.map(means.myself, means.pool, 4, RW) else { return };
    write(at);
    write(0x7fff_fffc);
}

/// Writes data of the victim in memory on the chip, where manifests place some.
fn victim_on_chip(world: &World) {
    if let Some(data) = world.own.chip.foreign.placed_on_chip {
        write(data);
    }
}

/// Gives memory for a table, has the table used, and writes it through a mapping of its own: a descriptor that leads to the kernel.
fn own_tables() {
    let Some(means) = means() else { return };
    let _ = (0..PAGE)
        .step_by(TABLE_BYTES as usize)
        .try_for_each(|part| means.give(means.myself, 12 * PAGE + part).map(drop));
    let _ = means.map(means.myself, means.pool, 12, RW);
    write(there() + 12 * PAGE);
}
