//! The tables that the kernel boots from, and each domain's information block.

use abi::info::{self, word};
use manifest::resolved::{Budget, Interrupt, Part, System};
use manifest::{FaultPolicy, Object};
use spec::TemporalSpec;
use system::build::Builder;
use system::{MAX_ENTRIES, area, frames};

use crate::elf::Program;
use crate::entries;
use crate::error::PlaceError;
use crate::local;
use crate::plan::{Plan, TABLES_BYTES};
use crate::spot::{DomainSpot, Spot};

pub(crate) fn build(system: &System, plan: &Plan, programs: &[Program]) -> Result<Builder, PlaceError> {
    let budget = |b: &Budget| system::Budget { period: b.period, capacity: b.capacity, misses: b.misses };
    let line = |(domain, i): (usize, &Interrupt)| system::Interrupt {
        line: i.line,
        notification: i.notification as u32,
        bits: i.bits,
        direct: i.direct.as_ref().map_or(0, |direct| direct.level | (place_of(system, domain) as u32) << 8),
    };
    let mut tables = Builder {
        ticks_per_second: system.ticks_per_second,
        cpu_hz: system.cpu_hz,
        switching: system.switching,
        overrun: system.overrun,
        budgets: system.budgets.iter().map(budget).collect(),
        notifications: system.notifications.iter().map(|&initial| system::Notification { initial }).collect(),
        scheme: plan.scheme.clone(),
        ..Builder::default()
    };
    tables.interrupts = system.interrupts().map(line).collect();
    frame_ranges(system, plan, &mut tables);
    for (index, (spot, program)) in plan.domains.iter().zip(programs).enumerate() {
        domain_tables(&mut tables, system, index, spot, program)?;
    }
    Ok(tables)
}

/// Whether the kernel reads so many entries, and they have room. What is counted in the manifest was looked at before.
///
/// # Errors
/// [`PlaceError::TooMany`].
pub(crate) fn few(tables: &Builder) -> Result<(), PlaceError> {
    let Builder { frames, areas, caps, .. } = tables;
    let (most, room) = (MAX_ENTRIES, TABLES_BYTES as usize);
    let counted = [("ranges of memory", frames.len()), ("areas", areas.len()), ("capabilities", caps.len())];
    let counted = counted.map(|(what, asked)| (what, asked, most));
    // Other things lie behind their room.
    let bytes = ("bytes", 4 * tables.encode_unchecked().len(), room);
    let over = counted.into_iter().chain([bytes]).find(|(_, asked, most)| asked > most);
    over.map_or(Ok(()), |(what, asked, most)| Err(PlaceError::TooMany { what, asked, most }))
}

/// Every range of physical memory with its kind: untyped ranges first, so that their numbers are those of the request.
fn frame_ranges(system: &System, plan: &Plan, tables: &mut Builder) {
    let mut push =
        |base: u32, bytes: u32, kind: u32| tables.frames.push(system::Frames { base, bytes, kind, marks: 0 });
    for &(base, bytes) in &plan.frames {
        push(base, bytes, frames::USER);
    }
    let (objects, objects_end) = plan.objects;
    push(objects, objects_end - objects, frames::KERNEL);
    let locked = (plan.locked.base, plan.locked.bytes);
    // Locked memory is one range, whoever's tables lie in it.
    let apart = |(base, _): &(u32, u32)| !(locked.0..locked.0 + locked.1).contains(base);
    let tables_of = plan.domains.iter().flat_map(DomainSpot::tables).filter(apart);
    let tables_of: Vec<(u32, u32)> = tables_of.chain([locked].into_iter().filter(|range| range.1 > 0)).collect();
    for &(base, bytes) in &tables_of {
        push(base, bytes, frames::KERNEL);
    }
    for &(base, bytes) in &plan.read_only {
        push(base, bytes, frames::ROM);
    }
    for memory in &system.memories {
        let mut from = memory.base + memory.reserved;
        let end = memory.base + memory.bytes;
        let kind = if memory.rom { frames::ROM } else { frames::USER };
        // Memory that is left around the untyped ranges, which are ranges of their own.
        let apart = plan.frames.iter().chain(&tables_of).chain(&plan.read_only).copied();
        let mut holes: Vec<(u32, u32)> = apart.filter(|f| f.0 >= from && f.0 < end).collect();
        holes.sort_unstable();
        for (base, bytes) in holes.into_iter().chain([(end, 0)]) {
            if base > from {
                push(from, base - from, kind);
            }
            from = base + bytes;
        }
    }
    let mut devices: Vec<(u32, u32)> =
        system.domains.iter().flat_map(|domain| domain.devices.iter().map(|d| (d.base, d.bytes))).collect();
    devices.sort_unstable();
    devices.dedup();
    for (base, bytes) in devices {
        push(base, bytes, frames::DEVICE);
    }
}

fn domain_tables(
    tables: &mut Builder,
    system: &System,
    index: usize,
    spot: &DomainSpot,
    program: &Program,
) -> Result<(), PlaceError> {
    let (domain, index) = (&system.domains[index], index as u32);
    let moved = |address: u32| (i64::from(address) + spot.code_delta) as u32;
    let initial = program.data.file_bytes.next_multiple_of(4);
    let total = program.data.bytes.next_multiple_of(4);
    let first_area = tables.areas.len() as u32;
    tables.areas.extend(spot.entries(index));
    let gate_return = if domain.gates.is_empty() { 0 } else { moved(program.function(entries::GATE_RETURN)?) };
    tables.domains.push(system::Domain {
        data_base: spot.data_base,
        data_source: spot.source,
        data_bytes: initial,
        zero_bytes: total - initial,
        info: spot.info,
        gate_return,
        policy: match domain.fault {
            FaultPolicy::Stop => system::policy::STOP,
            FaultPolicy::Restart => system::policy::RESTART,
            FaultPolicy::Report => system::policy::REPORT,
        },
        cap_slots: domain.cap_slots,
        first_area,
        areas: tables.areas.len() as u32 - first_area,
        awaited: u32::from(domain.awaited),
        fault_notification: domain.fault_notification.map_or(0, |notification| notification as u32 + 1),
    });
    let mut stack = spot.stacks;
    let mut next_stack = |bytes: u32| {
        let bytes = bytes.next_multiple_of(8);
        let base = stack;
        stack += bytes;
        (base, bytes)
    };
    let entries = local::entries(domain, program)?;
    let entry = |number: usize| {
        let entry = entries[number];
        local::begin(domain, program, spot.info, (number, entry)).unwrap_or_else(|| moved(entry))
    };
    for (number, thread) in domain.threads.iter().enumerate() {
        let (stack_base, stack_bytes) = next_stack(thread.stack_bytes);
        tables.threads.push(system::Thread {
            domain: index,
            entry: entry(number),
            argument: thread.argument,
            stack_base,
            stack_bytes,
            priority: thread.priority,
            budget: thread.budget as u32,
            period: thread.period.unwrap_or(0),
            deadline: thread.deadline.unwrap_or(0),
        });
    }
    for (number, gate) in domain.gates.iter().enumerate() {
        let (stack_base, stack_bytes) = next_stack(gate.stack_bytes);
        let entry = entry(domain.threads.len() + number);
        let (ceiling, bound) = (gate.ceiling, gate.bound);
        tables.gates.push(system::Gate { domain: index, entry, stack_base, stack_bytes, ceiling, bound });
    }
    for (slot, cap) in domain.caps.iter().enumerate() {
        let (kind, object) = object(system, cap.object);
        tables.caps.push(system::Cap {
            domain: index,
            slot: slot as u32,
            kind: kind as u32,
            object: object as u32,
            rights: cap.rights,
            badge: cap.badge,
        });
    }
    Ok(())
}

/// The place of a domain among those with handlers.
fn place_of(system: &System, domain: usize) -> usize {
    system.handlers().position(|(owner, _)| owner == domain).unwrap_or(0)
}

/// An object as the kernel numbers it: the untyped ranges are before its own, servers of handlers behind all budgets.
fn object(system: &System, object: Object) -> (abi::Kind, usize) {
    match object {
        Object::Gate(index) => (abi::Kind::Gate, index),
        Object::Notification(index) => (abi::Kind::Notification, index),
        Object::Domain(index) => (abi::Kind::Domain, index),
        Object::Thread(index) => (abi::Kind::Thread, index),
        Object::Budget(index) => (abi::Kind::Budget, index),
        Object::Handlers(domain) => (abi::Kind::Budget, system.budgets.len() + place_of(system, domain)),
        Object::Interrupt(index) => (abi::Kind::Interrupt, index),
        Object::Frames(index) => (abi::Kind::Frames, index),
    }
}

/// A domain's information block.
pub(crate) fn information(system: &System, index: usize, spot: &DomainSpot, wake: u32) -> Vec<u8> {
    let domain = &system.domains[index];
    let mut header = [0u32; info::HEADER_WORDS];
    let heap = spot.areas.iter().find(|area| area.part == Part::Heap).map(Spot::pieces);
    header[word::MAGIC] = info::MAGIC;
    header[word::VERSION] = info::VERSION;
    header[word::CPU_HZ] = system.cpu_hz;
    header[word::TICKS_PER_SECOND] = system.ticks_per_second;
    header[word::CAPS] = (domain.caps.len() + domain.callers.len()) as u32;
    header[word::AREAS] = spot.areas.len() as u32;
    header[word::HEAP_BASE] = heap.map_or(0, |(base, ..)| base);
    header[word::HEAP_BYTES] = heap.map_or(0, |(_, _, bytes, _)| bytes);
    header[word::ENVELOPES] = domain.envelopes.len() as u32;
    header[word::BOARD] = info::name_hash(&system.board);
    header[word::DOMAIN] = index as u32;
    header[word::THREADS] = domain.threads.len() as u32;
    header[word::WAKE] = if domain.handlers.is_some() { wake } else { 0 };
    for (slot, bytes) in padded(&domain.name).chunks_exact(4).enumerate() {
        header[word::NAME + slot] = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut block: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    let caps =
        domain.caps.iter().enumerate().map(|(slot, cap)| (&cap.name, slot as u32, object(system, cap.object).0 as u32));
    let callers = domain.callers.iter().map(|(name, badge)| (name, *badge, 0));
    for (name, first, second) in caps.chain(callers) {
        block.extend(padded(name));
        block.extend(first.to_le_bytes());
        block.extend(second.to_le_bytes());
    }
    for spot in &spot.areas {
        block.extend(padded(&spot.part.name()));
        block.extend(area_words(spot).iter().flat_map(|word| word.to_le_bytes()));
    }
    for (index, area) in spot.areas.iter().enumerate() {
        let Some(declared) = area.envelope(domain) else { continue };
        let spec::Envelope { spec, live, largest, count } = declared.envelope;
        let words = [known(spec).bits(), index as u32, live, largest, count, u32::from(declared.default)];
        block.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    block
}

/// An area entry behind its name, in the order of `abi::info::area`.
fn area_words(spot: &Spot) -> [u32; info::area::WORDS] {
    let visible = area::READ | area::WRITE | area::EXECUTE | area::PINNED;
    let (base, pieces, bytes, stride) = spot.pieces();
    let bound = spot.bound.map_or(info::UNBOUNDED, |bound| bound.cycles);
    let derived = spot.bound.is_some_and(|bound| bound.method == spec::Method::Derived);
    let on_demand = if spot.on_demand.is_some() { info::area::DEMAND } else { 0 };
    let access = spot.flags & visible | if derived { info::area::DERIVED } else { 0 } | on_demand;
    [base, bytes, access, known(spot.spec).bits(), bound, pieces, stride, spot.kind]
}

/// A specification as programs know it: that part of it was accepted is between manifest and platform.
fn known(spec: TemporalSpec) -> TemporalSpec {
    TemporalSpec { allow_partial: false, ..spec }
}

fn padded(name: &str) -> [u8; info::NAME_BYTES] {
    let mut bytes = [0; info::NAME_BYTES];
    for (slot, byte) in bytes[..info::NAME_BYTES - 1].iter_mut().zip(name.bytes()) {
        *slot = byte;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_is_longer_than_the_kernel_reads_and_all_have_room() {
        let of = |areas: usize, caps: usize, gates: usize| {
            let (areas, caps) = (vec![system::Area::default(); areas], vec![system::Cap::default(); caps]);
            few(&Builder { areas, caps, gates: vec![system::Gate::default(); gates], ..Builder::default() })
        };
        let refused = |what, asked, most| Err(PlaceError::TooMany { what, asked, most });
        assert_eq!((of(256, 256, 0), of(0, 0, 256)), (Ok(()), Ok(())));
        assert_eq!(of(257, 0, 0), refused("areas", 257, 256));
        assert_eq!(of(0, 257, 0), refused("capabilities", 257, 256));
        let Err(PlaceError::TooMany { what, asked, most }) = of(256, 256, 256) else { panic!("they have no room") };
        assert!(what == "bytes" && asked > most && most == 16 * 1024, "{what} {asked} {most}");
    }
}
