//! Placed areas and domains.

use memory::demand::PAGE;

use manifest::resolved::{Domain, Envelope, Part, System};
use spec::{AccessLevel, Bound, TablePlace, TemporalSpec};
use system::area;

use crate::elf::Program;
use crate::error::PlaceError;

/// Base and bytes.
pub(crate) type Range = (u32, u32);

/// A placed area.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub part: Part,
    pub base: u32,
    pub bytes: u32,
    /// Bits of `system::area`.
    pub flags: u32,
    /// Memory type of `system::area`.
    pub memory: u32,
    pub page_log2: u32,
    /// Eighths of each region that are not the domain's.
    pub disabled: u32,
    pub spec: TemporalSpec,
    /// Of a device: what kind it is, as in `abi::info::area::KIND`; otherwise 0.
    pub kind: u32,
    /// Promise of the ledger.
    pub bound: Option<Bound>,
    /// Place of the tables that its check may read, once the ledger has granted it.
    pub place: Option<TablePlace>,
    /// Slots of the hardware that check it, all at once if it is pinned, or that it is loaded into in turn.
    pub slots: u32,
    /// First physical address.
    pub physical: u32,
    /// Pages of addresses, some of which have frames at any time, if they get them at their first touch: then `bytes` are those of the frames.
    pub on_demand: Option<u32>,
    /// With page tables, the range that is mapped for it if that is not its own: all of the unit that it begins, or nothing (0 bytes) in one
    /// that another area begins. Of a demand area, likewise: the first arena has the frames of all.
    pub mapped: Option<(u32, u32)>,
}

impl Spot {
    /// An area that is mapped where it lies, in regions of any size.
    pub(crate) fn new(part: Part, (base, bytes): Range, flags: u32, spec: TemporalSpec) -> Spot {
        Spot {
            part,
            base,
            bytes,
            flags,
            memory: area::NORMAL,
            page_log2: 0,
            disabled: 0,
            spec,
            kind: 0,
            bound: None,
            place: None,
            slots: 0,
            physical: base,
            on_demand: None,
            mapped: None,
        }
    }

    /// The same, Non-secure: domain and handlers have it where Non-secure code finds it.
    pub(crate) fn opened(self, system: &System) -> Spot {
        let base = self.base & !system.secure.unwrap_or(0);
        Spot { base, flags: self.flags | area::OPEN, ..self }
    }

    /// The area as the tables of domain number `domain` have it; none if another one's entry covers it.
    pub(crate) fn entry(&self, domain: u32) -> Option<system::Area> {
        let Spot { flags, memory, physical, .. } = *self;
        let flags = flags
            | if self.disabled == 0 { 0 } else { area::WOVEN }
            | if self.begins_clear() { area::CLEAR } else { 0 };
        let (base, bytes) = self.mapped.unwrap_or((self.base, self.bytes));
        (bytes > 0).then_some(system::Area { domain, base, bytes, flags, memory, physical })
    }

    /// Whether boot clears it: all that is no device and no constant, and has its frames from the start.
    fn begins_clear(&self) -> bool {
        let is_shared = matches!(self.part, Part::Shared(..));
        (is_shared || self.flags & area::WRITE != 0) && self.memory != area::DEVICE && self.flags & area::DEMAND == 0
    }

    /// Bytes of its addresses.
    pub(crate) fn reach(&self) -> u32 {
        self.on_demand.map_or(self.bytes, |pages| pages * PAGE)
    }

    /// The envelope of which it is the arena.
    pub(crate) fn envelope<'a>(&self, domain: &'a Domain) -> Option<&'a Envelope> {
        if let Part::Envelope(index) = self.part { domain.envelopes.get(index) } else { None }
    }

    /// Its pieces without a gap: how many, bytes of each, and bytes from one to the next. The first begins at the returned base.
    pub(crate) fn pieces(&self) -> (u32, u32, u32, u32) {
        if self.disabled == 0 {
            return (self.base, 1, self.reach(), 0);
        }
        let own = !self.disabled & 0xff;
        let eighth = 1 << (self.page_log2 - 3);
        let first = own.trailing_zeros();
        let length = (own >> first).trailing_ones();
        let next = own >> (first + length);
        let stride = if next == 0 { 8 } else { length + next.trailing_zeros() };
        (self.base + first * eighth, self.bytes / (stride * eighth), length * eighth, stride * eighth)
    }
}

/// A placed domain.
#[derive(Clone, Debug)]
pub(crate) struct DomainSpot {
    pub areas: Vec<Spot>,
    pub code_delta: i64,
    pub data_delta: i64,
    pub code_base: u32,
    pub data_base: u32,
    /// Lowest address of the stacks: threads first, then gates.
    pub stacks: u32,
    /// Address of the initial data in read-only memory.
    pub source: u32,
    pub info: u32,
    /// Memory of its tables whose reads stay on the chip: base, bytes, where.
    pub table: (u32, u32, TablePlace),
    /// The first-level table, where that is one of its own: base, bytes, where.
    pub root: (u32, u32, TablePlace),
    /// Memory of its tables off the chip: base, bytes.
    pub far: (u32, u32),
}

impl DomainSpot {
    /// The areas as the tables of domain number `domain` have them.
    pub(crate) fn entries(&self, domain: u32) -> impl Iterator<Item = system::Area> + Clone + '_ {
        self.areas.iter().filter_map(move |spot| spot.entry(domain))
    }

    /// Physical address of an address in one of its areas.
    pub(crate) fn physical(&self, address: u32) -> u32 {
        let holds = |spot: &&Spot| address.wrapping_sub(spot.base) < spot.bytes;
        self.areas
            .iter()
            .find(holds)
            .map_or(address, |spot| address.wrapping_sub(spot.base).wrapping_add(spot.physical))
    }

    /// Memory of its tables: base and bytes of each part.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let parts = [(self.root.0, self.root.1), (self.table.0, self.table.1), self.far];
        parts.into_iter().filter(|part| part.1 > 0)
    }
}

/// Bytes of the stacks of a domain.
pub(crate) fn stack_bytes(domain: &Domain) -> u32 {
    let threads: u32 = domain.threads.iter().map(|thread| thread.stack_bytes.next_multiple_of(8)).sum();
    let gates: u32 = domain.gates.iter().map(|gate| gate.stack_bytes.next_multiple_of(8)).sum();
    threads + gates
}

/// Bytes of a domain's information block.
pub(crate) fn info_bytes(domain: &Domain) -> u32 {
    let own = 3 + domain.heap.iter().count() + domain.envelopes.len() + usize::from(domain.ledger);
    let areas = own + domain.devices.len() + domain.shared.len() + domain.files.len();
    let caps = domain.caps.len() + domain.callers.len();
    abi::info::block_bytes(caps, areas, domain.envelopes.len()) as u32
}

/// The bit of an area with this specification.
pub(crate) fn pin(spec: TemporalSpec) -> u32 {
    if spec.access == AccessLevel::Deterministic { area::PINNED } else { 0 }
}

/// A program that cannot be moved says so, rather than that an address is taken.
pub(crate) fn fixed_error(program: &Program, address: u32, error: PlaceError) -> PlaceError {
    if program.relocations.is_empty() {
        return PlaceError::Fixed { domain: program.name.clone(), address, reason: error.to_string() };
    }
    error
}
