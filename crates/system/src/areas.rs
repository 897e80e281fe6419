//! Areas as every scheme sees them.

use abi::{Kind, rights};
use protect::{Access, Data, MemType};

use crate::{Area, Cap, Domain, System, area};

/// Rights and memory type of an area.
pub fn attributes(entry: &Area) -> (Access, MemType) {
    let data = if entry.flags & area::WRITE != 0 { Data::Rw } else { Data::Ro };
    let memory = match entry.memory {
        area::NORMAL => MemType::WriteBack,
        area::WRITE_THROUGH => MemType::WriteThrough,
        area::UNCACHED => MemType::NonCacheable,
        _ => MemType::Device,
    };
    (Access { data, exec: entry.flags & area::EXECUTE != 0 }, memory)
}

/// Kind of a capability to frames, as tables have it.
pub(crate) const FRAMES: u32 = Kind::Frames as u32;

/// Returns true if memory can be mapped to a domain while it runs: if a domain holds frames, and a
/// capability to this domain with the right to change it.
pub fn can_be_mapped(system: &System, domain: usize) -> bool {
    let is_to = |cap: &Cap| cap.kind == Kind::Domain as u32 && cap.object as usize == domain;
    let names = |cap: &Cap| is_to(cap) && cap.rights & u32::from(rights::WRITE) != 0;
    let frames = |holder: u32| system.all::<Cap>().any(|cap| cap.domain == holder && cap.kind == FRAMES);
    system.all::<Cap>().filter(names).any(|cap| frames(cap.domain))
}

/// A domain's areas.
pub fn areas_of(system: &System<'_>, domain: &Domain) -> impl Iterator<Item = Area> + Clone {
    let (first, count) = (domain.first_area as usize, domain.areas as usize);
    (first..first + count).map(|index| system.get::<Area>(index))
}
