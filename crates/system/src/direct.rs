//! Domains whose handlers interrupts reach without the kernel, in a block for Armv8-M. Handlers run in Non-secure state, which one of these domains
//! *occupies* at a time; everything else is Secure. Memory and devices that the occupant's handlers use, too, are Non-secure while it occupies: areas with
//! [`area::OPEN`].

pub use crate::regions::{Direct, MAX_OWNERS};
use crate::validate::{inside_area, inside_rom, overlaps, require};
use crate::{Area, Domain, Interrupt, System, area};
use protect::pmsav8::Pmsav8;

/// Priorities of handlers: three levels, 1 the most important. Below them is everything of the kernel (docs/interrupts.md).
pub const LEVELS: u32 = 3;
/// Lines that reach handlers, at most, of all domains: the kernel looks at each when it cuts handlers off.
pub const MAX_DIRECT: usize = 8;
/// Ranges of open memory, open devices and code of a domain's handlers together, at most: region registers of attribution less the one of the way
/// into the kernel.
pub const MAX_OPEN: usize = 7;
/// Lines that reach handlers have numbers below this: the kernel's way in has a byte for each.
pub const MAX_LINE: u32 = 128;
/// Entries of a vector table in front of those of lines.
const SYSTEM_VECTORS: u32 = 16;

impl Direct {
    /// Number of the domain.
    pub const fn owner(&self) -> Option<u32> {
        self.domain.checked_sub(1)
    }

    /// Returns the cycles and the ticks in which they pass, if handlers' cycles are counted.
    pub const fn rate(&self) -> Option<(u32, u32)> {
        if self.counted == 0 { None } else { Some((self.counted >> 16, self.counted & 0xffff)) }
    }
}

/// The domains with handlers, the first occupant first.
pub fn owners(system: &System<'_>) -> impl Iterator<Item = Direct> + use<> {
    system.own::<Pmsav8>().into_iter().take_while(|direct| direct.domain != 0)
}

/// The lines that reach handlers, each with its level and the place of its domain among [`owners`].
pub fn lines<'a>(system: &System<'a>) -> impl Iterator<Item = (u32, u32, usize)> + use<'a> {
    system.all::<Interrupt>().filter_map(|entry| entry.handler().map(|(level, owner)| (entry.line, level, owner)))
}

/// Base and bytes of everything that is Non-secure while a domain occupies that state, as Non-secure addresses: the code of its handlers first. With each,
/// whether it is a device.
pub fn open<'a>(system: &System<'a>, direct: &Direct) -> impl Iterator<Item = (u32, u32, bool)> + use<'a> {
    let owner = direct.domain.wrapping_sub(1);
    let areas = system.all::<Area>().filter(move |entry| entry.flags & area::OPEN != 0 && entry.domain == owner);
    let text = (direct.text_base, direct.text_bytes, false);
    [text].into_iter().chain(areas.map(|entry| (entry.base, entry.bytes, entry.memory == area::DEVICE)))
}

/// Returns true if the records are sound.
pub(crate) fn is_sound(system: &System) -> bool {
    let all = system.own::<Pmsav8>();
    let count = all.iter().position(|direct| direct.domain == 0).unwrap_or(MAX_OWNERS);
    let own = &all[..count];
    for (index, direct) in all.iter().enumerate() {
        let is_once = |direct: &Direct| own[..index].iter().all(|other| other.domain != direct.domain);
        let is_sound = if index < count {
            is_once(direct) && direct.alias == all[0].alias && check(system, own, index).is_ok()
        } else {
            *direct == Direct::default()
        };
        if !is_sound {
            return false;
        }
    }
    let mut ways = 0;
    lines(system).all(|(_, level, owner)| {
        ways += 1;
        (1..=LEVELS).contains(&level) && owner < count && ways <= MAX_DIRECT
    })
}

/// Checks one of the domains with handlers.
fn check(system: &System, all: &[Direct], index: usize) -> Result<(), &'static str> {
    let direct = &all[index];
    let Direct { alias, text_base, text_bytes, vectors, quiet, stack_top, period, capacity, counted, .. } = *direct;
    let owner = direct.owner().ok_or("domain")?;
    require((owner as usize) < system.count::<Domain>(), "domain")?;
    require(alias.is_power_of_two() && alias >= 1 << 20 && (text_base | stack_top) & alias == 0, "alias")?;
    require((text_base | text_bytes).is_multiple_of(32) && text_bytes > 0, "text_base")?;
    require(inside_rom(system, text_base | alias, text_bytes), "text_base")?;
    let is_apart = |entry: Area| !overlaps((text_base | alias, text_bytes), (entry.physical, entry.bytes));
    require(system.all::<Area>().all(is_apart), "text_base")?;
    let mut others = all.iter().enumerate().filter(|(other, _)| *other != index);
    let is_alone = |other: &Direct| !overlaps((text_base, text_bytes), (other.text_base, other.text_bytes));
    require(others.all(|(_, other)| is_alone(other)), "text_base")?;
    let end = u64::from(text_base) + u64::from(text_bytes);
    let is_table = |base: u32, entries: u32| {
        let align = (4 * entries).next_power_of_two().max(128);
        base.is_multiple_of(align) && base >= text_base && u64::from(base) + u64::from(4 * entries) <= end
    };
    let own = lines(system).filter(|(_, _, owner)| *owner == index);
    let last = own.map(|(line, ..)| line).max().ok_or("direct")?;
    require(last < MAX_LINE && is_table(vectors, SYSTEM_VECTORS + last + 1), "vectors")?;
    require(is_table(quiet, SYSTEM_VECTORS), "quiet")?;
    require(open(system, direct).count() <= MAX_OPEN, "direct")?;
    let domain = system.get::<Domain>(owner as usize);
    let is_open = |flags: u32| flags & area::OPEN != 0 && flags & area::WRITE != 0;
    require(
        stack_top.is_multiple_of(8) && inside_area(system, &domain, stack_top.wrapping_sub(8), 8, is_open),
        "stack_top",
    )?;
    require(counted == 0 || counted >> 16 >= counted & 0xffff && counted & 0xffff > 0, "counted")?;
    require(period > 0 && capacity > 0 && capacity <= period, "capacity")
}

/// Checks an area that handlers of its domain use, too: it must lie where Non-secure code finds it,
/// and no other domain may have it. Any other area must lie at its own address.
pub(crate) fn place(system: &System, entry: &Area) -> Result<(), &'static str> {
    let Area { base, physical, flags, domain, .. } = *entry;
    if flags & area::OPEN == 0 {
        return require(physical == base, "physical");
    }
    let direct = owners(system).find(|direct| direct.owner() == Some(domain)).ok_or("flags")?;
    require(flags & (area::SHARED | area::EXECUTE) == 0, "flags")?;
    require(flags & area::PINNED != 0 && base & direct.alias == 0, "flags")?;
    // A device may be Non-secure for good, and has no other address then.
    let is_there = physical == base | direct.alias || physical == base && entry.memory == area::DEVICE;
    require(is_there, "physical")
}
