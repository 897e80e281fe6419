//! Symbol and memory that an address belongs to.

pub use crate::fault::sources;

use serde::{Deserialize, Serialize};

use crate::describe::{Area, Domain, Symbol, SystemDescription};

/// The memory nearest to an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nearest {
    /// Name of the area.
    pub area: String,
    /// Its owners: names of the domains that may access it, or `kernel`.
    pub owners: Vec<String>,
    /// First address of the area.
    pub base: u64,
    /// Size of the area in bytes.
    pub bytes: u64,
    /// Position of the address.
    pub relation: Relation,
    /// Bytes from the area's start when inside or below, from its last byte when above.
    pub distance: u64,
}

/// Position of an address relative to an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Inside the area.
    Inside,
    /// Below its first byte.
    Below,
    /// Above its last byte.
    Above,
}

/// The symbol that covers an address of a domain's, as `name` or `name+0x12`; the Thumb bit is ignored. In a space of its own a domain has its own
/// symbols alone.
///
/// # Time complexity
/// O(symbols); they must be sorted by address.
pub fn symbol_of(system: &SystemDescription, domain: u8, address: u64) -> Option<String> {
    let is_there = |symbol: &&Symbol| !system.own_spaces || symbol.domain == Some(domain);
    named(system.symbols.iter().filter(is_there).take_while(|symbol| symbol.address <= address & !1).last(), address)
}

/// The symbol that covers an address, wherever there is one address space.
///
/// # Time complexity
/// O(log symbols); `symbols` must be sorted by address.
pub fn symbol_at(symbols: &[Symbol], address: u64) -> Option<String> {
    let after = symbols.partition_point(|symbol| symbol.address <= address & !1);
    named(symbols[..after].last(), address)
}

/// The name of the last symbol before an address, unless it ends before that.
fn named(symbol: Option<&Symbol>, address: u64) -> Option<String> {
    let (symbol, address) = (symbol?, address & !1);
    let offset = address - symbol.address;
    if symbol.size != 0 && offset >= symbol.size {
        return None;
    }
    Some(if offset == 0 { symbol.name.clone() } else { format!("{}+{offset:#x}", symbol.name) })
}

/// The area that contains the address, or otherwise the one with the smallest distance, domains' before the kernel's.
/// `None` when the description names no area at all. In a space of its own the domain has its own areas alone.
pub fn nearest(system: &SystemDescription, domain: u8, address: u64) -> Option<Nearest> {
    let is_there = |other: &&Domain| !system.own_spaces || other.index == domain;
    let owned = system
        .domains
        .iter()
        .filter(is_there)
        .flat_map(|domain| domain.areas.iter().map(move |area| (area, &*domain.name)));
    let kernel = system.kernel_areas.iter().map(|area| (area, "kernel"));
    let all: Vec<(&Area, &str)> = owned.chain(kernel).filter(|(area, _)| area.bytes != 0).collect();
    let (best, _) = all.iter().min_by_key(|(area, _)| {
        let (relation, distance) = relation(area, address);
        (if relation == Relation::Inside { 0 } else { distance }, relation)
    })?;
    let (relation, distance) = relation(best, address);
    let same = all.iter().filter(|(area, _)| area.base == best.base && area.bytes == best.bytes);
    Some(Nearest {
        area: best.name.clone(),
        owners: same.map(|(_, owner)| (*owner).to_owned()).collect(),
        base: best.base,
        bytes: best.bytes,
        relation,
        distance,
    })
}

fn relation(area: &Area, address: u64) -> (Relation, u64) {
    if address < area.base {
        (Relation::Below, area.base - address)
    } else if address >= area.end() {
        (Relation::Above, address - (area.end() - 1))
    } else {
        (Relation::Inside, address - area.base)
    }
}
