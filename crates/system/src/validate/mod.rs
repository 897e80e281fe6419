//! The semantic checks of a block. Each rule here has a rejecting test.

pub(crate) mod regions;
pub(crate) mod rtmmu;
pub(crate) mod vmsav7;

use sched::switching::Switching;

use crate::block::{HEADER_WORDS, MAGIC, MAX_ENTRIES, SCHEME, TABLES, VERSION, checksum};
use crate::{
    AnyScheme, Area, Budget, Cap, Domain, Frames, Gate, Interrupt, Known, Notification, Record, Scheme, System, Table,
    TableError, Thread, Words, area, frames, policy,
};

impl<'a> System<'a> {
    /// Checks the whole block, for any scheme, and returns a view of it: for the host.
    ///
    /// # Errors
    /// As [`System::parse_of`].
    pub fn parse(words: &'a [u32]) -> Result<System<'a>, TableError> {
        System::parse_of::<AnyScheme>(words)
    }

    /// Checks the whole block of a scheme and returns a view of it.
    ///
    /// # Errors
    /// [`TableError`] names the first field that is wrong.
    ///
    /// # Time complexity
    /// O(words + areas * domains); runs once, at boot.
    pub fn parse_of<K: Known>(words: &'a [u32]) -> Result<System<'a>, TableError> {
        if words.len() < HEADER_WORDS || words[0] != MAGIC || words[1] != VERSION {
            return Err(TableError::Header);
        }
        let total = words[2] as usize;
        if total < HEADER_WORDS || total > words.len() {
            return Err(TableError::Header);
        }
        let system = System { words: &words[..total] };
        if checksum(&system.words[HEADER_WORDS..]) != words[3] {
            return Err(TableError::Checksum);
        }
        validate::<K>(&system)?;
        Ok(system)
    }
}

fn validate<K: Known>(system: &System) -> Result<(), TableError> {
    bounds(system)?;
    section::<K>(system)?;
    if system.ticks_per_second() == 0 || system.cpu_hz() == 0 {
        return Err(TableError::Header);
    }
    each(system, frames_entry)?;
    if !K::scheme(system).system(system) {
        return Err(TableError::Scheme);
    }
    let Switching { entry, exit, early } = system.switching();
    if [entry, exit, early].iter().any(|path| *path > Switching::LONGEST) {
        return Err(TableError::Switching);
    }
    // A call's end is compared in low words, with this added to its bound.
    if system.overrun() > i32::MAX as u32 / 4 {
        return Err(TableError::Switching);
    }
    each(system, domain_entry::<K>)?;
    each(system, area_entry::<K>)?;
    each(system, budget_entry)?;
    each(system, thread_entry::<K>)?;
    each(system, gate_entry::<K>)?;
    each(system, interrupt_entry)?;
    each(system, cap_entry::<K>)?;
    if K::scheme(system).complete(system) { Ok(()) } else { Err(TableError::Scheme) }
}

fn bounds(system: &System) -> Result<(), TableError> {
    const ORDER: [(Table, usize); TABLES] = [
        (Table::Frames, Frames::WORDS),
        (Table::Domains, Domain::WORDS),
        (Table::Areas, Area::WORDS),
        (Table::Budgets, Budget::WORDS),
        (Table::Threads, Thread::WORDS),
        (Table::Gates, Gate::WORDS),
        (Table::Notifications, Notification::WORDS),
        (Table::Interrupts, Interrupt::WORDS),
        (Table::Caps, Cap::WORDS),
    ];
    for (index, (table, record_words)) in ORDER.into_iter().enumerate() {
        let offset = system.words[6 + 2 * index] as usize;
        let count = system.words[7 + 2 * index] as usize;
        let fits = count <= MAX_ENTRIES
            && offset >= HEADER_WORDS
            && offset <= system.words.len()
            && count * record_words <= system.words.len() - offset;
        if !fits {
            return Err(TableError::Bounds(table));
        }
    }
    Ok(())
}

/// The section is that of a known scheme, with a record for each domain and area.
fn section<K: Known>(system: &System) -> Result<(), TableError> {
    let (offset, words) = (system.words[SCHEME] as usize, system.words[SCHEME + 1] as usize);
    let (domains, areas) = (system.count::<Domain>(), system.count::<Area>());
    let inside = offset >= HEADER_WORDS && offset < system.words.len() && words <= system.words.len() - offset;
    let needs = match inside.then(|| Scheme::from_number(system.words[offset])).flatten() {
        Some(scheme) if scheme == K::scheme(system) => K::scheme(system).words(domains, areas),
        _ => return Err(TableError::Scheme),
    };
    if words == needs { Ok(()) } else { Err(TableError::Scheme) }
}

/// Runs a check over all entries of a table; the check returns the name of the first wrong field.
fn each<R: Record>(
    system: &System,
    check: fn(&System, usize, R) -> Result<(), &'static str>,
) -> Result<(), TableError> {
    for (index, entry) in system.all::<R>().enumerate() {
        check(system, index, entry).map_err(|field| TableError::Entry { table: R::TABLE, index, field })?;
    }
    Ok(())
}

pub(crate) fn require(holds: bool, field: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(field) }
}

fn range_ends(base: u32, bytes: u32) -> bool {
    bytes > 0 && base.checked_add(bytes - 1).is_some()
}

pub(crate) fn overlaps(a: (u32, u32), b: (u32, u32)) -> bool {
    let end = |(base, bytes): (u32, u32)| u64::from(base) + u64::from(bytes);
    u64::from(a.0) < end(b) && u64::from(b.0) < end(a)
}

fn frames_entry(system: &System, index: usize, entry: Frames) -> Result<(), &'static str> {
    require(entry.base.is_multiple_of(32), "base")?;
    require(entry.bytes.is_multiple_of(32) && range_ends(entry.base, entry.bytes), "bytes")?;
    require(entry.kind <= frames::DEVICE, "kind")?;
    for other in (0..index).map(|other| system.get::<Frames>(other)) {
        require(!overlaps((entry.base, entry.bytes), (other.base, other.bytes)), "base")?;
    }
    Ok(())
}

fn domain_entry<K: Known>(system: &System, index: usize, entry: Domain) -> Result<(), &'static str> {
    require(entry.data_bytes.is_multiple_of(4), "data_bytes")?;
    require(entry.zero_bytes.is_multiple_of(4), "zero_bytes")?;
    require(entry.policy <= policy::REPORT, "policy")?;
    require(entry.cap_slots as usize <= MAX_ENTRIES, "cap_slots")?;
    require(entry.awaited <= 1, "awaited")?;
    K::scheme(system).domain(system, index)?;
    require(entry.fault_notification as usize <= system.count::<Notification>(), "fault_notification")?;
    let areas = system.count::<Area>();
    let (first, count) = (entry.first_area as usize, entry.areas as usize);
    require(first <= areas && count <= areas - first, "areas")?;
    for owned in first..first + count {
        require(system.get::<Area>(owned).domain as usize == index, "first_area")?;
    }
    let initialised = entry.data_bytes.checked_add(entry.zero_bytes).ok_or("zero_bytes")?;
    if initialised > 0 {
        // Boot clears the area, and then only copies.
        let begins_clear = |flags: u32| flags & (area::WRITE | area::CLEAR | area::DEMAND) == area::WRITE | area::CLEAR;
        require(inside_area(system, &entry, entry.data_base, initialised, begins_clear), "data_base")?;
    }
    if entry.data_bytes > 0 {
        require(entry.data_base.is_multiple_of(4), "data_base")?;
        require(entry.data_source.is_multiple_of(4), "data_source")?;
        require(inside_rom(system, entry.data_source, entry.data_bytes), "data_source")?;
    }
    // The domain reads it itself; the kernel only passes the address on.
    let holds = |flags: u32| flags & area::READ != 0;
    require(inside_area(system, &entry, entry.info, 4, holds), "info")
}

/// Returns true if the range lies within memory of the kernel.
fn is_kernel(system: &System, base: u32, bytes: u32) -> bool {
    let end = u64::from(base) + u64::from(bytes);
    let holds = |range: Frames| base >= range.base && end <= u64::from(range.base) + u64::from(range.bytes);
    system.all::<Frames>().any(|range| range.kind == frames::KERNEL && holds(range))
}

/// Returns true if the range lies within read-only memory, so that what a restart restores is what
/// the tool wrote.
pub(crate) fn inside_rom(system: &System, base: u32, bytes: u32) -> bool {
    let end = u64::from(base) + u64::from(bytes);
    let holds = |range: Frames| base >= range.base && end <= u64::from(range.base) + u64::from(range.bytes);
    system.all::<Frames>().any(|range| range.kind == frames::ROM && holds(range))
}

/// Returns true if the range lies within one area of the domain whose flags satisfy the predicate.
pub(crate) fn inside_area(system: &System, domain: &Domain, base: u32, bytes: u32, holds: fn(u32) -> bool) -> bool {
    let first = domain.first_area as usize;
    (first..first + domain.areas as usize).map(|index| system.get::<Area>(index)).any(|entry| {
        holds(entry.flags)
            && base >= entry.base
            && u64::from(base) + u64::from(bytes) <= u64::from(entry.base) + u64::from(entry.bytes)
    })
}

fn area_entry<K: Known>(system: &System, index: usize, entry: Area) -> Result<(), &'static str> {
    require((entry.domain as usize) < system.count::<Domain>(), "domain")?;
    require(range_ends(entry.base, entry.bytes), "bytes")?;
    require(entry.flags & area::READ != 0, "flags")?;
    require(entry.flags & (area::WRITE | area::EXECUTE) != area::WRITE | area::EXECUTE, "flags")?;
    require(entry.memory <= area::DEVICE, "memory")?;
    require(entry.memory != area::DEVICE || entry.flags & area::EXECUTE == 0, "flags")?;
    let known = if K::scheme(system) == Scheme::Rtmmu { 2 * area::DEMAND } else { 2 * area::CLEAR };
    require(entry.flags < known, "flags")?;
    K::scheme(system).area(system, index, &entry)?;
    let (base, end) = (entry.physical, u64::from(entry.physical) + u64::from(entry.bytes));
    let home =
        system.all::<Frames>().find(|range| overlaps((base, entry.bytes), (range.base, range.bytes))).ok_or("base")?;
    require(base >= home.base && end <= u64::from(home.base) + u64::from(home.bytes), "base")?;
    require(home.kind != frames::KERNEL, "base")?;
    require((home.kind == frames::DEVICE) == (entry.memory == area::DEVICE), "memory")?;
    require(home.kind != frames::ROM || entry.flags & (area::WRITE | area::CLEAR) == 0, "flags")?;
    require(
        entry.memory != area::DEVICE && entry.flags & area::DEMAND == 0 || entry.flags & area::CLEAR == 0,
        "flags",
    )?;
    for (at, other) in (0..index).map(|other| (other, system.get::<Area>(other))) {
        let is_same = (base, entry.bytes) == (other.physical, other.bytes);
        let both_shared = entry.flags & other.flags & area::SHARED != 0 && entry.domain != other.domain && is_same;
        let woven = entry.flags & other.flags & area::WOVEN != 0 && K::scheme(system).are_apart(system, index, at);
        let apart = !overlaps((base, entry.bytes), (other.physical, other.bytes)) || woven;
        require(apart || both_shared, "base")?;
    }
    Ok(())
}

fn budget_entry(_: &System, _: usize, entry: Budget) -> Result<(), &'static str> {
    require(entry.period > 0, "period")?;
    require(entry.capacity > 0 && entry.capacity <= entry.period, "capacity")
}

/// Checks a stack: it must be memory of the domain's threads alone, not of its handlers, and pinned
/// if the scheme asks for it.
fn stack<K: Known>(system: &System, domain: u32, base: u32, bytes: u32) -> Result<(), &'static str> {
    require(base.is_multiple_of(8), "stack_base")?;
    require(bytes.is_multiple_of(8) && bytes >= 256, "stack_bytes")?;
    let owner = system.get::<Domain>(domain as usize);
    let pages = |flags: u32| flags & area::WRITE != 0 && flags & (area::SHARED | area::OPEN | area::DEMAND) == 0;
    let pinned =
        |flags: u32| flags & area::WRITE != 0 && flags & area::PINNED != 0 && flags & (area::SHARED | area::OPEN) == 0;
    let holds = if K::scheme(system).pins_stacks() { pinned } else { pages };
    require(inside_area(system, &owner, base, bytes, holds), "stack_base")
}

/// Checks an entry: it must be in executable memory of the domain, where an instruction can begin.
/// Code may be pinned or paged.
fn code_entry<K: Known>(system: &System, domain: u32, entry: u32) -> Result<(), &'static str> {
    let owner = system.get::<Domain>(domain as usize);
    let holds = |flags: u32| flags & area::EXECUTE != 0;
    let begins = K::scheme(system).begins(entry);
    require(begins.is_some_and(|address| inside_area(system, &owner, address, 2, holds)), "entry")
}

fn thread_entry<K: Known>(system: &System, _: usize, entry: Thread) -> Result<(), &'static str> {
    require((entry.domain as usize) < system.count::<Domain>(), "domain")?;
    code_entry::<K>(system, entry.domain, entry.entry)?;
    stack::<K>(system, entry.domain, entry.stack_base, entry.stack_bytes)?;
    require(entry.priority < 32, "priority")?;
    require((entry.budget as usize) < system.count::<Budget>(), "budget")?;
    require(entry.deadline <= entry.period, "deadline")
}

fn gate_entry<K: Known>(system: &System, _: usize, entry: Gate) -> Result<(), &'static str> {
    require((entry.domain as usize) < system.count::<Domain>(), "domain")?;
    code_entry::<K>(system, entry.domain, entry.entry)?;
    stack::<K>(system, entry.domain, entry.stack_base, entry.stack_bytes)?;
    let owner = system.get::<Domain>(entry.domain as usize);
    code_entry::<K>(system, entry.domain, owner.gate_return).map_err(|_| "domain")?;
    require(entry.ceiling < 32, "ceiling")?;
    require(entry.bound > 0, "bound")
}

fn interrupt_entry(system: &System, index: usize, entry: Interrupt) -> Result<(), &'static str> {
    require(entry.line < crate::objects::MAX_LINES, "line")?;
    require((0..index).all(|other| system.get::<Interrupt>(other).line != entry.line), "line")?;
    require((entry.notification as usize) < system.count::<Notification>(), "notification")?;
    require(entry.bits != 0, "bits")?;
    require(entry.direct == 0 || system.scheme() == Scheme::Pmsav8, "direct")
}

fn cap_entry<K: Known>(system: &System, index: usize, entry: Cap) -> Result<(), &'static str> {
    require((entry.domain as usize) < system.count::<Domain>(), "domain")?;
    require(entry.slot < system.get::<Domain>(entry.domain as usize).cap_slots, "slot")?;
    let same_slot = |other: Cap| other.domain == entry.domain && other.slot == entry.slot;
    require(!(0..index).any(|other| same_slot(system.get(other))), "slot")?;
    let objects = match entry.kind {
        1 => system.count::<Domain>(),
        2 => system.count::<Thread>(),
        3 => system.count::<Budget>() + K::scheme(system).servers(system),
        4 => system.count::<Gate>(),
        5 => system.count::<Notification>(),
        6 => system.count::<Interrupt>(),
        7 => system.count::<Frames>(),
        _ => return Err("kind"),
    };
    require((entry.object as usize) < objects, "object")?;
    // Frames that are not RAM of domains cannot be typed, cleared or mapped, nor become a table.
    let frames = |object: u32| system.get::<Frames>(object as usize).kind == frames::USER;
    require(entry.kind != 7 || frames(entry.object), "object")?;
    require(entry.rights != 0 && entry.rights < 8, "rights")
}
