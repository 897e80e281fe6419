//! From an image to a run.

use manifest::{Board, Grant, Object};
use record::{
    AreaWatch, ClockWatch, ClusterWatch, ContextWatch, CounterWatch, DomainWatch, FrameWatch, HandlersOwner,
    HandlersWatch, MemoryWindow, MeterWatch, OutputWatch, Range, StackWatch,
};
use report::describe;
use runner::{ImageFacts, Machine, Mode, ProfileSource, Run, RunError, Watch};
use units::Rate;

use crate::pipeline::Built;

/// A run of an image with everything that is to be watched; its files go into the system's directory.
///
/// # Errors
/// When the kernel's ELF cannot be read.
pub fn prepare(built: &Built, exact: bool) -> Result<Run, RunError> {
    let facts = ImageFacts::read(&built.kernel)?;
    let loaded = &built.loaded;
    let limit = built.system.limit_ns;
    let watch = Watch {
        profile: ProfileSource::Text(loaded.profile.text.clone()),
        mode: if exact || built.system.exact { Mode::Exact } else { Mode::Quantum },
        trace_port: facts.trace_port,
        saved: facts.symbol("COFFERDAM_CPU"),
        kernel_text: kernel_text(built, &facts),
        kernel_devices: kernel_devices(built),
        kernel_stack: between(&facts, ["__kernel_stack_bottom", "__kernel_stack_top"]),
        clock: Some(clock(&loaded.board)),
        protection: loaded.board.protection.divided(&loaded.board.core),
        attribution: loaded.board.protection.attribution(),
        handlers: handlers(built, &facts),
        outputs: built.system.outputs.iter().map(|output| addresses(built, output.address)).collect(),
        cluster: cluster(&loaded.board),
        vectors: facts.vectors,
        areas: allocations(built),
        windows: windows(built),
        frames: frames(built),
        meter: Some(meter(built)),
        domains: built.description.domains.iter().map(|domain| watched(built, domain)).collect(),
        cycle_limit: Rate::hz(loaded.profile.cpu_hz()).counts_in(limit).floor(),
        ..Watch::default()
    };
    let run = Run::new(machine(&loaded.board), &built.image, built.dir.join("run"), watch);
    Ok(run)
}

/// The register of the kernel's clock.
pub fn clock(board: &Board) -> ClockWatch {
    ClockWatch { register: board.clock_register(), down: board.core.image.clock.counts == manifest::Counts::Down }
}

/// Code that runs privileged: of a kernel that is mapped, what its linker script names.
fn kernel_text(built: &Built, facts: &ImageFacts) -> Vec<Range> {
    if built.loaded.board.protection.facts().translated {
        let named = KERNEL_CODE.into_iter().filter_map(|symbols| between(facts, symbols));
        return named.filter(|range| range.start < range.end).collect();
    }
    let code = built.description.kernel_areas.iter().filter(|area| area.access.contains('x'));
    code.map(|area| range(area.base, area.bytes)).collect()
}

/// Devices that no domain can have; none where addresses are translated.
fn kernel_devices(built: &Built) -> Vec<Range> {
    let board = &built.loaded.board;
    if board.protection.facts().translated {
        return Vec::new();
    }
    let own = board.device.values().filter(|device| device.kernel);
    own.map(|device| range(device.base.into(), device.bytes.into())).collect()
}

/// The range between two symbols of the kernel.
fn between(facts: &ImageFacts, [start, end]: [&str; 2]) -> Option<Range> {
    Some(Range { start: facts.symbol(start)?, end: facts.symbol(end)? })
}

const HARD_FAULT: u16 = 3;
/// The entry code's label; a kernel without handlers has none.
const SERVED: &str = "cofferdam_served";

/// Handlers that interrupts reach without the kernel.
fn handlers(built: &Built, facts: &ImageFacts) -> Option<HandlersWatch> {
    let owner = |placed: &place::PlacedHandlers| HandlersOwner {
        domain: placed.domain,
        code: range(placed.base.into(), placed.bytes.into()),
        entries: placed.entries.clone(),
    };
    let owners: Vec<HandlersOwner> = built.placed.layout.handlers.iter().map(owner).collect();
    if owners.is_empty() {
        return None;
    }
    let way_in = between(facts, ["cofferdam_wake", "__cofferdam_wake_end"])?;
    let sampler = built.loaded.board.sampler.map(|line| record::FIRST_LINE + line as u16);
    let is_counted = built.system.handlers().any(|(_, handlers)| handlers.counted);
    let counter = built.loaded.board.counter.filter(|_| is_counted);
    let line = counter.map(|counter| record::FIRST_LINE + counter.line as u16);
    let above = [HARD_FAULT].into_iter().chain(sampler).chain(line).collect();
    let counter = counter.map(|manifest::Counter { registers, memory, serial, .. }| CounterWatch {
        registers,
        memory,
        serial,
        ..CounterWatch::default()
    });
    let direct = built.system.domains.iter().flat_map(|domain| &domain.interrupts).filter(|line| line.direct.is_some());
    let exceptions = direct.map(|interrupt| record::FIRST_LINE + interrupt.line as u16).collect();
    let served = facts.symbol(SERVED)?;
    Some(HandlersWatch { owners, way_in, served, above, exceptions, counter })
}

/// The addresses of a device's register: in both security states, where there are two.
fn addresses(built: &Built, address: u32) -> OutputWatch {
    let other = built.system.secure.map(|bit| address & !bit).filter(|other| *other != address);
    OutputWatch { addresses: [address].into_iter().chain(other).collect() }
}

/// Symbols around the kernel's code.
const KERNEL_CODE: [[&str; 2]; 2] =
    [["__kernel_code_start", "__kernel_code_end"], ["__kernel_cold_start", "__kernel_cold_end"]];

/// Every area, so that the table walks for it are counted; none where hardware does not walk tables.
fn allocations(built: &Built) -> Vec<AreaWatch> {
    if !built.loaded.board.protection.facts().walked {
        return Vec::new();
    }
    let of = |domain: &describe::Domain| {
        let index = domain.index;
        let watch = move |area: &describe::Area| AreaWatch {
            name: area.name.clone(),
            domain: index,
            range: range(area.base, area.bytes),
        };
        domain.areas.iter().map(watch).collect::<Vec<_>>()
    };
    built.description.domains.iter().flat_map(of).collect()
}

/// How the observer tells whose code runs: by address space where there are such.
fn meter(built: &Built) -> MeterWatch {
    let context = |domain: &describe::Domain| {
        let code = domain.areas.iter().filter(|area| area.access.contains('x') && !area.shared);
        ContextWatch {
            domain: domain.index,
            space: built.placed.tables.scheme.space(domain.index.into()),
            code: code.map(|area| range(area.base, area.bytes)).collect(),
        }
    };
    let stack = |(stack, (base, bytes)): (describe::Stack, (u32, u32))| StackWatch {
        domain: stack.domain,
        thread: stack.thread,
        range: range(u64::from(base), u64::from(bytes)),
    };
    MeterWatch {
        contexts: built.description.domains.iter().map(context).collect(),
        stacks: crate::describe::stacks(&built.system, &built.placed).map(stack).collect(),
        clock: Vec::new(),
    }
}

/// Memory that each domain may access from the start, or be given while the system runs; a simulator with a model of time does not compare it.
fn frames(built: &Built) -> Vec<FrameWatch> {
    if built.loaded.profile.is_modelled {
        return Vec::new();
    }
    let tables = &built.placed.tables;
    let own = tables.areas.iter().filter_map(|area| {
        let space = tables.scheme.space(area.domain as usize)?;
        let has = |bit: u32| area.flags & bit != 0;
        let range = range(area.physical.into(), area.bytes.into());
        let at = if has(system::area::DEMAND) { 0 } else { area.base };
        Some(FrameWatch { space, range, at, write: has(system::area::WRITE), execute: has(system::area::EXECUTE) })
    });
    let given = (0..built.system.domains.len()).flat_map(|domain| {
        let watch = |space| move |range| FrameWatch { space, range, at: 0, write: true, execute: false };
        let space = tables.scheme.space(domain);
        space.into_iter().flat_map(move |space| mappable(built, domain).into_iter().map(watch(space)))
    });
    own.chain(given).collect()
}

/// Domains have a memory, or devices, at addresses that are less by this.
fn offset(built: &Built, memory: &str) -> u64 {
    let devices = || built.loaded.board.protection.device_offset();
    let placed = built.placed.layout.memories.iter().find(|placed| placed.name == memory);
    placed.map_or_else(devices, |placed| placed.offset).into()
}

/// The kernel's mappings of the memories of domains.
fn windows(built: &Built) -> Vec<MemoryWindow> {
    let board = &built.loaded.board;
    if !board.protection.facts().translated {
        return Vec::new();
    }
    let window = |memory: &manifest::Memory| MemoryWindow {
        range: range(u64::from(memory.base), u64::from(memory.bytes)),
        at: board.protection.seen(memory.base),
    };
    board.memory.values().filter(|memory| memory.kind != manifest::MemoryKind::Kernel).map(window).collect()
}

fn range(base: u64, bytes: u64) -> Range {
    Range { start: base as u32, end: (base + bytes) as u32 }
}

/// A domain's own memory, and other memory that it may store to.
fn watched(built: &Built, domain: &describe::Domain) -> DomainWatch {
    // Code is in memory that can be written where no chip is modelled, and each store is seen there.
    let kept = |area: &&describe::Area| area.access.contains('w') || !built.loaded.profile.is_modelled;
    let own = |area: &describe::Area| !area.shared && area.memory != "device";
    let ranges = |keep: &dyn Fn(&describe::Area) -> bool| {
        let areas = domain.areas.iter().filter(kept).filter(|area| keep(area));
        areas.map(|area| physical(built, domain.index, area)).collect()
    };
    DomainWatch {
        domain: domain.index,
        hostile: domain.hostile,
        ram: ranges(&own),
        may_store: [ranges(&|area| !own(area) && area.access.contains('w')), mappable(built, domain.index.into())]
            .concat(),
    }
}

/// The physical addresses of an area, by which stores are compared.
fn physical(built: &Built, domain: u8, area: &describe::Area) -> Range {
    let entries = &built.placed.tables.areas;
    let is_it = |entry: &&system::Area| entry.domain == u32::from(domain) && u64::from(entry.base) == area.base;
    match entries.iter().find(is_it) {
        Some(entry) if !built.loaded.profile.is_modelled => range(entry.physical.into(), entry.bytes.into()),
        _ => range(area.base + offset(built, &area.memory), area.bytes),
    }
}

/// Memory that a domain can be given while the system runs: the frames that it holds, or that somebody holds who also holds the
/// domain.
fn mappable(built: &Built, domain: usize) -> Vec<Range> {
    let gives =
        |giver: usize, caps: &[Grant]| giver == domain || caps.iter().any(|cap| cap.object == Object::Domain(domain));
    let held = built.system.domains.iter().enumerate().filter(|(giver, holder)| gives(*giver, &holder.caps));
    let frames = |cap: &Grant| if let Object::Frames(index) = cap.object { Some(index) } else { None };
    let indices = held.flat_map(|(_, holder)| holder.caps.iter().filter_map(frames));
    let ranges = indices.filter_map(|index| built.placed.layout.frames.get(index));
    ranges.map(|(base, bytes)| range(u64::from(*base), u64::from(*bytes))).collect()
}

/// A board as QEMU emulates it.
pub fn machine(board: &manifest::Board) -> Machine {
    let name = board.model.as_ref().unwrap_or(&board.machine).clone();
    Machine { name, memory: board.machine_memory.clone() }
}

/// Addresses of an application core's own devices: those that the kernel's image for it names, too.
pub fn cluster(board: &manifest::Board) -> Option<ClusterWatch> {
    let base = |name: &str| board.device.get(name).map(|device| device.base);
    board.protection.facts().translated.then_some(())?;
    Some(ClusterWatch { private: base(&board.clock.device)?, controller: base("l2")? })
}
