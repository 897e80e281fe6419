//! The description of a placed system that reports are made from.

use manifest::resolved::{Budget, Gate, Interrupt, Output, System, Thread};
use manifest::{Bound, FaultPolicy, MemoryKind, Time};
use place::{Placed, PlacedArea};
use report::SystemDescription;
use report::describe;

use crate::load::Loaded;

/// Describes a placed system.
pub fn describe(loaded: &Loaded, system: &System, placed: &Placed, bounds: &[Bound]) -> SystemDescription {
    let rate = u64::from(system.ticks_per_second);
    SystemDescription {
        system: system.name.clone(),
        board: system.board.clone(),
        profile: loaded.profile.describe(),
        ticks_per_second: rate,
        cpu_hz: loaded.profile.cpu_hz(),
        timer_exception: Some(loaded.board.core.exceptions.timer),
        regions: loaded.board.core.regions,
        enforcement_ticks: Time(loaded.board.enforcement_ns).ticks(system.ticks_per_second).unwrap_or(0),
        masked_bound_cycles: Some(system.masked_cycles(&loaded.board.kernel)),
        costs: costs(loaded),
        own_spaces: loaded.board.core.targets.linked_at.is_some(),
        stacks: stacks(system, placed).map(|(stack, _)| stack).collect(),
        ends_at_limit: !system.domains.iter().any(|domain| domain.awaited),
        domains: domains(loaded, system, placed),
        threads: threads(system, bounds),
        budgets: system.budgets.iter().enumerate().map(budget).collect(),
        gates: gates(system),
        interrupts: interrupts(system),
        handlers: handlers(loaded, system),
        copies: placed.layout.handlers.iter().flat_map(copies).collect(),
        outputs: system.outputs.iter().map(output).collect(),
        memories: memories(loaded, placed),
        checks: checks(loaded),
        keeping: placed.layout.keeping.clone(),
        effort: placed.layout.effort.clone(),
        manager: placed.layout.manager,
        console: console(loaded, system),
        kernel_areas: kernel_areas(loaded, placed),
        kernel_image: sizes(&placed.layout.kernel),
        symbols: placed
            .layout
            .symbols
            .iter()
            .map(|symbol| describe::Symbol {
                address: u64::from(symbol.address),
                size: u64::from(symbol.bytes),
                name: symbol.name.clone(),
                domain: symbol.domain,
            })
            .collect(),
    }
}

fn console(loaded: &Loaded, system: &System) -> Option<describe::Console> {
    let domain = loaded.console()?;
    let number = |name: &str| system.domains.iter().position(|domain| domain.name == name);
    let callers = system.domains.get(domain)?.callers.iter();
    let clients = callers.filter_map(|(name, badge)| Some((number(name)? as u8, *badge))).collect();
    Some(describe::Console { domain: domain as u8, clients })
}

fn costs(loaded: &Loaded) -> describe::Costs {
    let kernel = loaded.board.kernel;
    describe::Costs {
        entry_cycles: kernel.entry_cycles,
        exit_cycles: kernel.exit_cycles(),
        early_cycles: kernel.early_cycles,
    }
}

fn budget((index, budget): (usize, &Budget)) -> describe::Budget {
    describe::Budget {
        index: index as u16,
        name: budget.name.clone(),
        period_ticks: budget.period.into(),
        capacity_ticks: budget.capacity.into(),
    }
}

/// The stacks of all threads and gates in a fixed order, and where they lie.
pub(crate) fn stacks<'a>(
    system: &'a System,
    placed: &'a Placed,
) -> impl Iterator<Item = (describe::Stack, (u32, u32))> + 'a {
    let mut first = 0;
    system.domains.iter().zip(&placed.layout.domains).enumerate().flat_map(move |(index, (domain, placed))| {
        let (threads, base) = (domain.threads.len(), first);
        first += threads;
        placed.stacks.iter().enumerate().map(move |(place, at)| {
            let thread = (place < threads).then_some((base + place) as u16);
            (describe::Stack { domain: index as u8, thread, base: at.0.into(), bytes: at.1.into() }, *at)
        })
    })
}

fn sizes(sizes: &place::ImageSizes) -> describe::ImageSizes {
    describe::ImageSizes { text: sizes.text, rodata: 0, data: sizes.data, bss: sizes.bss }
}

/// An area for each piece.
fn areas(placed: &PlacedArea, walks: bool) -> impl Iterator<Item = describe::Area> + '_ {
    let (bytes, each) = (placed.bytes / placed.pieces.max(1), placed.regions.div_ceil(placed.pieces.max(1)));
    (0..placed.pieces).map(move |piece| describe::Area {
        name: placed.name.clone(),
        base: u64::from(placed.base) + u64::from(piece) * u64::from(placed.stride),
        bytes: u64::from(bytes),
        spec: placed.spec.clone(),
        level: placed.level.clone(),
        bound_cycles: placed.bound_cycles,
        bound_method: placed.bound_method.clone(),
        access: placed.access.clone(),
        memory: placed.memory.clone(),
        pinned: placed.pinned,
        shared: placed.shared,
        pages: if placed.pinned && !walks { 0 } else { each },
        kept: placed.kept.clone(),
        on_demand: placed.on_demand,
    })
}

/// The words for how accesses are checked.
fn checks(loaded: &Loaded) -> describe::Checks {
    let &spec::Wording { slot, part, tables, .. } = manifest::platform(&loaded.board).wording();
    let [slot, part, tables] = [slot, part, tables].map(|words| words.map(str::to_owned));
    describe::Checks { slot, part, tables, walks: loaded.board.protection.facts().walked }
}

fn account(placed: &place::PlacedAccount) -> describe::Account {
    describe::Account {
        pinned: placed.pinned,
        paged: placed.paged,
        table: placed.table.clone(),
        table_bytes: placed.table_bytes,
        table_used: placed.table_used,
        promises: placed.promises.clone(),
        envelopes: placed.envelopes.clone(),
    }
}

fn domains(loaded: &Loaded, system: &System, placed: &Placed) -> Vec<describe::Domain> {
    let declared = system.domains.iter().enumerate().zip(&placed.layout.domains);
    declared
        .map(|((index, domain), placed)| describe::Domain {
            index: index as u8,
            name: domain.name.clone(),
            color: index as u8,
            hostile: domain.hostile,
            fault_policy: match domain.fault {
                FaultPolicy::Stop => describe::FaultPolicy::Stop,
                FaultPolicy::Restart => describe::FaultPolicy::Restart,
                FaultPolicy::Report => describe::FaultPolicy::Report,
            },
            areas: placed.areas.iter().flat_map(|area| areas(area, loaded.board.protection.facts().walked)).collect(),
            account: account(&placed.account),
            image: sizes(&placed.sizes),
        })
        .collect()
}

fn threads(system: &System, bounds: &[Bound]) -> Vec<describe::Thread> {
    let thread = |(index, (domain, thread)): (usize, (usize, &Thread))| describe::Thread {
        index: index as u16,
        name: match (&system.domains[domain].name, thread.name.as_str()) {
            (domain, "main") => domain.clone(),
            (domain, name) => format!("{domain}.{name}"),
        },
        domain: domain as u8,
        priority: thread.priority as u8,
        budget: thread.budget as u16,
        period_ticks: thread.period.map(u64::from),
        deadline_ticks: thread.deadline.map(u64::from),
        wcet_ticks: thread.wcet.map(u64::from),
        reload_ticks: thread.reload.map_or(0, u64::from),
        response_bound_ticks: bounds.iter().find(|b| b.thread == index).map(|b| b.response),
    };
    system.threads().enumerate().map(thread).collect()
}

fn gates(system: &System) -> Vec<describe::Gate> {
    let gate = |(index, (domain, gate)): (usize, (usize, &Gate))| describe::Gate {
        index: index as u32,
        name: format!("{}.{}", system.domains[domain].name, gate.name),
        domain: domain as u8,
        ceiling: gate.ceiling as u8,
        bound_ticks: gate.bound.into(),
    };
    system.gates().enumerate().map(gate).collect()
}

fn interrupts(system: &System) -> Vec<describe::Interrupt> {
    let line = |(domain, line): (usize, &Interrupt)| describe::Interrupt {
        line: line.line as u16,
        name: line.name.clone(),
        domain: domain as u8,
        separation_ticks: line.direct.as_ref().map(|direct| direct.separation.into()),
    };
    system.interrupts().map(line).collect()
}

fn copies(placed: &place::PlacedHandlers) -> impl Iterator<Item = describe::Copied> + '_ {
    placed.copies.iter().map(|(at, of, bytes)| describe::Copied {
        domain: placed.domain,
        at: (*at).into(),
        of: (*of).into(),
        bytes: (*bytes).into(),
    })
}

fn handlers(loaded: &Loaded, system: &System) -> Vec<describe::Handlers> {
    let given = |(domain, handlers): (usize, manifest::resolved::Handlers)| describe::Handlers {
        domain: domain as u8,
        period_ticks: handlers.period.into(),
        capacity_ticks: handlers.capacity.into(),
        beyond_ticks: handlers.beyond(&loaded.board),
    };
    system.handlers().map(given).collect()
}

fn output(output: &Output) -> describe::Output {
    let declared = output.declared.clone();
    describe::Output {
        name: output.name.clone(),
        device: declared.device,
        offset: declared.offset,
        bits: declared.bits,
        baud: declared.baud,
        text: declared.text,
        sequence: declared.sequence,
    }
}

fn memories(loaded: &Loaded, placed: &Placed) -> Vec<describe::Memory> {
    let own = loaded.board.memory.iter().filter(|(_, m)| m.kind == MemoryKind::Kernel);
    let own = own.map(|(name, m)| describe::Memory {
        name: name.clone(),
        base: u64::from(m.base),
        stands_in_for: Vec::new(),
        capacity: u64::from(m.bytes),
        used: image_bytes(loaded, placed, m),
        offset: 0,
    });
    let others = placed.layout.memories.iter().map(|m| describe::Memory {
        name: m.name.clone(),
        base: u64::from(m.base),
        stands_in_for: loaded.board.memory.get(&m.name).map(|m| m.stands_in_for.clone()).unwrap_or_default(),
        capacity: u64::from(m.bytes),
        used: m.used,
        offset: u64::from(m.offset),
    });
    own.chain(others).collect()
}

/// The end of the kernel's last symbol in a memory of its own: what it uses of it.
fn image_bytes(loaded: &Loaded, placed: &Placed, memory: &manifest::Memory) -> u64 {
    let base = loaded.board.protection.seen(memory.base);
    let inside = |s: &&place::Symbol| s.domain.is_none() && s.address >= base && s.address - base <= memory.bytes;
    let end = placed.layout.symbols.iter().filter(inside).map(|s| s.address - base + s.bytes).max();
    u64::from(end.unwrap_or(0))
}

/// Areas that the kernel keeps for itself in each memory.
fn kernel_areas(loaded: &Loaded, placed: &Placed) -> Vec<describe::Area> {
    let mut areas = Vec::new();
    for (name, memory) in &loaded.board.memory {
        let (what, bytes, access) = match memory.kind {
            MemoryKind::Kernel => ("kernel image", image_bytes(loaded, placed, memory), "rx"),
            MemoryKind::Rom => {
                ("code", u64::from(placed.layout.kernel_end.map_or(0, |end| end.saturating_sub(memory.base))), "rx")
            }
            MemoryKind::Ram | MemoryKind::Loaded => ("data, stack, objects", u64::from(memory.reserved), "rw"),
        };
        if bytes > 0 {
            areas.push(describe::Area {
                name: what.into(),
                base: u64::from(memory.base),
                bytes,
                access: access.into(),
                memory: name.clone(),
                pinned: true,
                ..describe::Area::default()
            });
        }
    }
    areas.extend(tables(loaded, placed));
    let locked = placed.layout.locked_ways;
    areas.extend(tables_of_domains(placed, "tables of domains", placed.layout.near_tables));
    areas.extend(tables_of_domains(placed, "tables, locked ways", (locked.base, locked.bytes)));
    areas
}

/// The tables that the kernel boots from, unless they lie in memory that is counted as a whole.
fn tables(loaded: &Loaded, placed: &Placed) -> Option<describe::Area> {
    let (base, bytes) = placed.layout.tables;
    let holds =
        |memory: &manifest::Memory| memory.kind == MemoryKind::Rom && base.wrapping_sub(memory.base) < memory.bytes;
    let (name, _) = loaded.board.memory.iter().find(|(_, memory)| holds(memory))?;
    Some(describe::Area {
        name: "tables".into(),
        base: u64::from(base),
        bytes: u64::from(bytes),
        access: "r".into(),
        memory: name.clone(),
        pinned: true,
        ..describe::Area::default()
    })
}

/// A range with tables of domains: on the chip, or locked in ways of the second-level cache.
fn tables_of_domains(placed: &Placed, name: &str, (base, bytes): (u32, u32)) -> Option<describe::Area> {
    let holds = |memory: &&place::PlacedMemory| base.wrapping_sub(memory.base) < memory.bytes;
    let memory = placed.layout.memories.iter().find(holds).filter(|_| bytes > 0)?;
    Some(describe::Area {
        name: name.into(),
        base: u64::from(base),
        bytes: u64::from(bytes),
        access: "rw".into(),
        memory: memory.name.clone(),
        pinned: true,
        ..describe::Area::default()
    })
}
