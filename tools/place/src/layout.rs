//! Location of everything, for people and reports.

use manifest::resolved::{Domain, Part, System};
use report::describe::{Effort, Envelope, Keeping};
use report::names::readable;
use serde::{Deserialize, Serialize};
use system::area;

use crate::elf::{Kernel, Program};
use crate::handlers::{Handlers, HandlersSpot};
use crate::keeping;
use crate::placed::{
    ImageSizes, Objects, PlacedAccount, PlacedArea, PlacedDomain, PlacedHandlers, PlacedMemory, PlacedWays, Symbol,
};
use crate::plan::{Plan, TABLES_BYTES};
use crate::spot::{DomainSpot, Spot};

/// Location of everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Domains in the order of their numbers.
    pub domains: Vec<PlacedDomain>,
    /// Memories.
    pub memories: Vec<PlacedMemory>,
    /// The ways in which checks of accesses are kept on the platform, strongest first.
    pub keeping: Vec<Keeping>,
    /// With page tables, what it takes to change them while the system runs.
    pub effort: Option<Effort>,
    /// Index of the domain that the ledger is handed over to.
    pub manager: Option<u8>,
    /// Base and size of each untyped range, in the order of the manifest.
    pub frames: Vec<(u32, u32)>,
    /// With page tables, the range on the chip in which tables of domains lie: base and bytes.
    pub near_tables: (u32, u32),
    /// Contents locked in the second-level cache.
    pub locked_ways: PlacedWays,
    /// Sizes of the kernel.
    pub kernel: ImageSizes,
    /// Its memory for objects.
    pub objects: Objects,
    /// Address and bytes of the tables that the kernel boots from.
    pub tables: (u32, u32),
    /// End of the kernel's code in flash, where it runs from there.
    pub kernel_end: Option<u32>,
    /// Bytes of each stack that handlers can take.
    #[serde(default)]
    pub frame_bytes: u32,
    /// All that handlers execute, of each domain that has any, the first occupant of Non-secure state first.
    #[serde(default)]
    pub handlers: Vec<PlacedHandlers>,
    /// Symbols in ascending order.
    pub symbols: Vec<Symbol>,
}

impl Layout {
    /// A way of keeping checks, as a phrase; empty for a code that the platform does not have.
    pub fn keeping_text(&self, kept: &str) -> &str {
        self.keeping.iter().find(|way| way.kept == kept).map_or("", |way| way.text.as_str())
    }

    pub(crate) fn new(system: &System, plan: &Plan, programs: &[Program], kernel: &Kernel, objects: Objects) -> Layout {
        let domains = system.domains.iter().zip(&plan.domains).zip(programs);
        let memories = system.memories.iter().zip(&plan.spaces).map(|(memory, space)| PlacedMemory {
            name: memory.name.clone(),
            base: memory.base,
            bytes: memory.bytes,
            used: space.used(),
            offset: memory.offset,
        });
        Layout {
            domains: domains
                .map(|((domain, spot), program)| PlacedDomain {
                    name: domain.name.clone(),
                    areas: spot.areas.iter().map(|area| placed_area(system, area)).collect(),
                    sizes: program.sizes,
                    account: account(system, plan, domain, spot),
                    stacks: stacks(domain, spot.stacks),
                })
                .collect(),
            memories: memories.collect(),
            keeping: keeping::keeping(&system.platform),
            effort: keeping::effort(&system.platform),
            manager: system.domains.iter().position(|domain| domain.ledger).map(|index| index as u8),
            frames: plan.frames.clone(),
            near_tables: plan.near_tables,
            locked_ways: plan.locked,
            kernel: kernel.sizes,
            objects,
            tables: (plan.tables, TABLES_BYTES as u32),
            kernel_end: kernel.symbol("__kernel_flash_end").ok(),
            frame_bytes: system.frame_bytes,
            handlers: Vec::new(),
            symbols: symbols(plan, programs, kernel),
        }
    }

    /// Adds what handlers execute, with the names of what is there.
    pub(crate) fn add_handlers(&mut self, handlers: &Handlers, spot: &HandlersSpot, domain: &DomainSpot) {
        let (direct, owner) = (spot.direct, handlers.owner as u8);
        let data = domain.areas.iter().find(|area| area.part == Part::Data);
        let stack = data.map_or((0, 0), |data| (data.base, direct.stack_top - data.base));
        let (base, bytes, alias) = (direct.text_base, direct.text_bytes, direct.alias);
        let entries = handlers.entries(spot);
        let moved = |address: u32| (i64::from(address) + domain.code_delta) as u32;
        let copies = handlers.pieces(spot).map(|copy| (copy.at, moved(copy.of), copy.bytes)).collect();
        self.handlers.push(PlacedHandlers { domain: owner, base, bytes, alias, stack, entries, copies });
        self.symbols.extend(handlers.pieces(spot).map(|copy| Symbol {
            address: copy.at,
            bytes: copy.bytes,
            name: readable(copy.name),
            domain: Some(owner),
        }));
        self.symbols.sort_by_key(|symbol| symbol.address);
    }

    /// The symbol that contains an address.
    ///
    /// # Time complexity
    /// O(log symbols).
    pub fn symbol_at(&self, address: u32) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = &self.symbols[..after].last()?;
        (symbol.bytes == 0 || address - symbol.address < symbol.bytes).then_some(*symbol)
    }
}

/// The stacks of a domain, from the lowest on: threads first, then gates.
pub(crate) fn stacks(domain: &Domain, lowest: u32) -> Vec<(u32, u32)> {
    let threads = domain.threads.iter().map(|thread| thread.stack_bytes);
    let sizes = threads.chain(domain.gates.iter().map(|gate| gate.stack_bytes)).map(|bytes| bytes.next_multiple_of(8));
    let placed = sizes.scan(lowest, |next, bytes| {
        let base = *next;
        *next += bytes;
        Some((base, bytes))
    });
    placed.collect()
}

fn account(system: &System, plan: &Plan, domain: &Domain, spot: &DomainSpot) -> PlacedAccount {
    let index = system.domains.iter().position(|other| other.name == domain.name).unwrap_or(0);
    let account = plan.ledger.accounts()[index];
    let arenas = spot.areas.iter().filter_map(|area| Some((area, area.envelope(domain)?.envelope)));
    let near = spot.table.2;
    PlacedAccount {
        pinned: account.slots.used,
        paged: if matches!(system.platform.slots(), spec::Slots::OfDomain(_)) { account.slots.left() } else { 0 },
        table: account.root.name().into(),
        table_bytes: account.tables[near as usize].total,
        far_bytes: spot.far.1,
        table_used: account.tables[near as usize].used,
        promises: keeping::promises(&plan.ledger, &system.platform, index as u8),
        envelopes: arenas
            .map(|(area, envelope)| Envelope {
                arena: area.part.name(),
                spec: envelope.spec.to_string(),
                live: envelope.live,
                largest: envelope.largest,
                count: envelope.count,
                bytes: area.bytes,
            })
            .collect(),
    }
}

fn placed_area(system: &System, spot: &Spot) -> PlacedArea {
    let letter = |bit: u32, letter: char| (spot.flags & bit != 0).then_some(letter);
    let access = [letter(area::READ, 'r'), letter(area::WRITE, 'w'), letter(area::EXECUTE, 'x')];
    let memory = system.memory_at(spot.physical);
    let pinned = spot.flags & area::PINNED != 0;
    let (base, pieces, piece_bytes, stride) = spot.pieces();
    PlacedArea {
        name: spot.part.name(),
        base,
        bytes: pieces * piece_bytes,
        on_demand: spot.on_demand.is_some(),
        pieces,
        stride,
        access: access.into_iter().flatten().collect(),
        memory: memory.map_or_else(|| "device".into(), |memory| memory.name.clone()),
        pinned,
        shared: spot.flags & area::SHARED != 0,
        open: spot.flags & area::OPEN != 0,
        regions: spot.slots,
        kept: spot.place.map_or("", |place| keeping::code((pinned, place))).into(),
        spec: spot.spec.to_string(),
        level: spot.bound.map_or("", |bound| bound.level.text()).into(),
        bound_cycles: spot.bound.map(|bound| bound.cycles),
        bound_method: spot.bound.map_or("", |bound| bound.method.text()).into(),
    }
}

fn symbols(plan: &Plan, programs: &[Program], kernel: &Kernel) -> Vec<Symbol> {
    let mut all = Vec::new();
    let mut push = |symbol: &crate::elf::Symbol, delta: i64, domain: Option<u8>| {
        // Mapping symbols ($t, $d) say nothing to people.
        if !symbol.named || symbol.section.is_none() || symbol.name.is_empty() || symbol.name.starts_with('$') {
            return;
        }
        all.push(Symbol {
            address: (i64::from(symbol.value & !1) + delta) as u32,
            bytes: symbol.bytes,
            name: readable(&symbol.name),
            domain,
        });
    };
    for symbol in &kernel.symbols {
        push(symbol, 0, None);
    }
    for (index, (program, spot)) in programs.iter().zip(&plan.domains).enumerate() {
        for symbol in &program.symbols {
            let section = symbol.section.and_then(|section| program.sections.get(section));
            if let Some(section) = section.filter(|section| section.allocated) {
                let delta = if section.writable { spot.data_delta } else { spot.code_delta };
                push(symbol, delta, Some(index as u8));
            }
        }
    }
    all.sort_by_key(|symbol| symbol.address);
    all
}
