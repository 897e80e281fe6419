//! Where everything lies, for people and reports.

use manifest::resolved::{Domain, System};
use report::describe::{Effort, Envelope, Keeping, Promise};
use serde::{Deserialize, Serialize};
use system::area;

use crate::elf::{Kernel, Program};
use crate::keeping;
use crate::objects::Objects;
use crate::plan::{DomainSpot, Plan, Spot, TABLES_BYTES};

/// Sizes of an image in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageSizes {
    /// Code and constants.
    pub text: u64,
    /// Initialised data.
    pub data: u64,
    /// Data that starts as zero.
    pub bss: u64,
}

/// An area of a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedArea {
    /// Name: `code`, `data`, `stack`, `heap`, or that of the device, file or shared memory.
    pub name: String,
    /// First address.
    pub base: u32,
    /// Bytes, over all pieces.
    pub bytes: u32,
    /// Pieces of equal size; 1 unless the area alternates with others.
    pub pieces: u32,
    /// Bytes from one piece to the next; 0 for a single one.
    pub stride: u32,
    /// Letters of `rwx`.
    pub access: String,
    /// Name of the memory, or `device`.
    pub memory: String,
    /// Pinned or paged.
    pub pinned: bool,
    /// Shared with another domain.
    pub shared: bool,
    /// Region registers (pinned) or paged regions. With page tables: entries of a TLB that hold what is mapped for it.
    pub regions: u32,
    /// How the check of its accesses is kept: [`Keeping::kept`].
    pub kept: String,
    /// The specification.
    pub spec: String,
    /// Level at which the check of an access ends at the latest.
    pub level: String,
    /// Cycles that the check adds to one access at most.
    pub bound_cycles: Option<u32>,
    /// How that was found.
    pub bound_method: String,
}

/// A domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedDomain {
    /// Name.
    pub name: String,
    /// Areas.
    pub areas: Vec<PlacedArea>,
    /// Sizes of its program.
    pub sizes: ImageSizes,
    /// What it has been promised.
    pub account: PlacedAccount,
    /// Base and size of the stack of each thread, then of each gate.
    #[serde(default)]
    pub stacks: Vec<(u32, u32)>,
}

/// What the ledger has promised a domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedAccount {
    /// Region registers that are pinned.
    pub pinned: u32,
    /// Region registers that serve paged memory, or would.
    pub paged: u32,
    /// Class of memory of its table.
    pub table: String,
    /// Bytes of its table. With page tables: of its second-level tables on the chip.
    pub table_bytes: u32,
    /// With page tables, bytes of its second-level tables off the chip.
    pub far_bytes: u32,
    /// Bytes of it that are promised.
    pub table_used: u32,
    /// What each way of keeping a check promises it.
    pub promises: Vec<Promise>,
    /// Its envelopes.
    pub envelopes: Vec<Envelope>,
}

/// A memory of the chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedMemory {
    /// Name.
    pub name: String,
    /// First address.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// Bytes in use.
    pub used: u64,
    /// Domains have it at its addresses less this.
    pub offset: u32,
}

/// What is locked in the second-level cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedWays {
    /// Ways that are closed to everything else.
    pub ways: u32,
    /// First address of the tables in them.
    pub base: u32,
    /// Their bytes.
    pub bytes: u32,
}

/// A function or object at its final address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Address, Thumb bit clear.
    pub address: u32,
    /// Bytes; 0 when unknown.
    pub bytes: u32,
    /// Name, demangled.
    pub name: String,
    /// Index of the domain; `None`: the kernel.
    pub domain: Option<u8>,
}

/// Where everything lies.
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
    /// What is locked in the second-level cache.
    pub locked_ways: PlacedWays,
    /// Sizes of the kernel.
    pub kernel: ImageSizes,
    /// Its memory for objects.
    pub objects: Objects,
    /// Address and bytes of the tables that the kernel boots from.
    pub tables: (u32, u32),
    /// End of the kernel's code in flash, where it runs from there.
    pub kernel_end: Option<u32>,
    /// Symbols in ascending order.
    pub symbols: Vec<Symbol>,
}

impl Layout {
    /// What a way of keeping checks is, as a phrase; empty for a code that the platform does not have.
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
            symbols: symbols(plan, programs, kernel),
        }
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
fn stacks(domain: &Domain, lowest: u32) -> Vec<(u32, u32)> {
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
        pieces,
        stride,
        access: access.into_iter().flatten().collect(),
        memory: memory.map_or_else(|| "device".into(), |memory| memory.name.clone()),
        pinned,
        shared: spot.flags & area::SHARED != 0,
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
            name: format!("{:#}", rustc_demangle::demangle(&symbol.name)),
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
