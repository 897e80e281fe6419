//! The domain whose handlers interrupts reach without the kernel, in a block for Armv8-M: its handlers run in Non-secure state, everything else is
//! Secure. Memory and devices of the domain that handlers use, too, are Non-secure: areas with [`area::OPEN`].

pub use crate::regions::Direct;
use crate::validate::{inside_area, inside_rom, overlaps, require};
use crate::{Area, Domain, Interrupt, System, area, objects};
use protect::pmsav8::Pmsav8;

/// Priorities of handlers: three levels, 1 the most important. Below them is everything of the kernel (docs/interrupts.md).
pub const LEVELS: u32 = 3;
/// Lines that reach handlers, at most: the kernel looks at each when it cuts handlers off.
pub const MAX_DIRECT: usize = 8;
/// Ranges of open memory, open devices and code of handlers together, at most: region registers of attribution less the one of the way into the
/// kernel.
pub const MAX_OPEN: usize = 7;
/// Entries of a vector table in front of those of lines.
const SYSTEM_VECTORS: u32 = 16;

impl Direct {
    /// Number of the domain.
    pub const fn owner(&self) -> Option<u32> {
        self.domain.checked_sub(1)
    }

    /// So many cycles pass in so many ticks, if handlers' cycles are counted.
    pub const fn rate(&self) -> Option<(u32, u32)> {
        if self.counted == 0 { None } else { Some((self.counted >> 16, self.counted & 0xffff)) }
    }
}

/// The lines that reach handlers, each with its level.
pub fn lines<'a>(system: &System<'a>) -> impl Iterator<Item = (u32, u32)> + use<'a> {
    system.all::<Interrupt>().filter(|entry| entry.direct != 0).map(|entry| (entry.line, entry.direct))
}

/// Base and bytes of everything that is Non-secure, as Non-secure addresses: the code of handlers first.
pub fn open<'a>(system: &System<'a>) -> impl Iterator<Item = (u32, u32, bool)> + use<'a> {
    let direct = system.own::<Pmsav8>();
    let areas = system.all::<Area>().filter(|entry| entry.flags & area::OPEN != 0);
    let text = (direct.text_base, direct.text_bytes, false);
    [text]
        .into_iter()
        .filter(move |_| direct.domain != 0)
        .chain(areas.map(|entry| (entry.base, entry.bytes, entry.memory == area::DEVICE)))
}

/// Whether the record is sound.
pub(crate) fn is_sound(system: &System) -> bool {
    let direct = system.own::<Pmsav8>();
    let Some(owner) = direct.owner() else {
        return direct == Direct::default() && lines(system).next().is_none();
    };
    check(system, &direct, owner).is_ok()
}

fn check(system: &System, direct: &Direct, owner: u32) -> Result<(), &'static str> {
    let Direct { alias, text_base, text_bytes, vectors, quiet, stack_top, period, capacity, counted, .. } = *direct;
    require((owner as usize) < system.count::<Domain>(), "domain")?;
    require(alias.is_power_of_two() && alias >= 1 << 20 && (text_base | stack_top) & alias == 0, "alias")?;
    require((text_base | text_bytes).is_multiple_of(32) && text_bytes > 0, "text_base")?;
    require(inside_rom(system, text_base | alias, text_bytes), "text_base")?;
    let is_apart = |entry: Area| !overlaps((text_base | alias, text_bytes), (entry.physical, entry.bytes));
    require(system.all::<Area>().all(is_apart), "text_base")?;
    let end = u64::from(text_base) + u64::from(text_bytes);
    let is_table = |base: u32, entries: u32| {
        let align = (4 * entries).next_power_of_two().max(128);
        base.is_multiple_of(align) && base >= text_base && u64::from(base) + u64::from(4 * entries) <= end
    };
    let last = lines(system).map(|(line, _)| line).max().ok_or("direct")?;
    require(last < objects::MAX_LINES && is_table(vectors, SYSTEM_VECTORS + last + 1), "vectors")?;
    require(is_table(quiet, SYSTEM_VECTORS), "quiet")?;
    require(lines(system).all(|(_, level)| level <= LEVELS), "direct")?;
    require(lines(system).count() <= MAX_DIRECT && open(system).count() <= MAX_OPEN, "direct")?;
    let domain = system.get::<Domain>(owner as usize);
    let is_open = |flags: u32| flags & area::OPEN != 0 && flags & area::WRITE != 0;
    require(
        stack_top.is_multiple_of(8) && inside_area(system, &domain, stack_top.wrapping_sub(8), 8, is_open),
        "stack_top",
    )?;
    require(counted == 0 || counted >> 16 >= counted & 0xffff && counted & 0xffff > 0, "counted")?;
    require(period > 0 && capacity > 0 && capacity <= period, "capacity")
}

/// An area of the domain that handlers use, too, lies where Non-secure code finds it, and is nobody else's; any other one lies where it is.
pub(crate) fn place(system: &System, entry: &Area) -> Result<(), &'static str> {
    let Area { base, physical, flags, domain, .. } = *entry;
    if flags & area::OPEN == 0 {
        return require(physical == base, "physical");
    }
    let direct = system.own::<Pmsav8>();
    require(direct.owner() == Some(domain) && flags & (area::SHARED | area::EXECUTE) == 0, "flags")?;
    require(flags & area::PINNED != 0 && base & direct.alias == 0 && physical == base | direct.alias, "physical")
}
