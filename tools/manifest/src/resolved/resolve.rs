//! From a manifest that the checks of names have passed to the system that it describes.

use memory::demand::{Layout, PAGE};
use spec::TemporalSpec;

use super::{
    Area, Budget, Device, Direct, Domain, Envelope, File, FileUse, Frames, Gate, Handlers, Heap, Interleave, Interrupt,
    Memory, Output, Pages, Share, Shared, SharedUse, System, Thread,
};
use crate::analysis::jobs_in;
use crate::board::{Board, platform};
use crate::board_file::MemoryKind;
use crate::diagnostic::Refusal;
use crate::quantity::{Address, Size, Time};
use crate::references::{self, clients, grants};
use crate::schema::{self, AccessMode, Delivery, Geometry, HeapArea, Manifest, Meter, NearTables};
use crate::spec::Spec;

/// Slots of a capability table when the manifest does not say.
const HANDLES: u32 = 32;

/// When a handler interrupts Secure state, the processor saves ten words more than when the kernel does: the integrity signature, a reserved word,
/// and r4 to r11 (DDI 0553, B3.19).
const HANDLER_FRAME_BYTES: u32 = 40;

/// Settles everything that a manifest says, on its board. Without `enforced` budgets each may use all of its period.
///
/// # Errors
/// CF0316 for an envelope whose arena is larger than its memory, and what the checks of names refuse.
pub fn resolve(manifest: &Manifest, board: &Board, enforced: bool) -> Result<System, Box<Refusal>> {
    let memories = memories(board);
    let resolver = Resolver { manifest, board, memories: &memories };
    let shared = manifest.shared.iter().map(|(name, shared)| Shared {
        name: name.clone(),
        bytes: word(shared.size.0),
        memory: resolver.memory(&shared.memory),
        at: shared.at.map(|a| a.0),
    });
    let frames = manifest.frames.iter().map(|(name, frames)| Frames {
        name: name.clone(),
        bytes: word(frames.size.0),
        marks: frames.marks,
        quotas: frames.quota.iter().map(|(name, quota)| (resolver.number(name), word(quota.0))).collect(),
        memory: resolver.memory(&frames.memory),
    });
    let rom = memories.iter().position(|m| m.rom).unwrap_or(0);
    let files = manifest.file.iter();
    let files = files.map(|(name, file)| File { name: name.clone(), path: file.path.clone(), memory: rom });
    let mut system = System {
        name: manifest.system.name.clone(),
        board: board.name.clone(),
        cpu_hz: board.chip.cpu_hz as u32,
        ticks_per_second: board.ticks_per_second,
        switching: board.switching(),
        platform: platform(board),
        protection: board.core.protection,
        secure: board.secure(),
        frame_bytes: resolver.frame_bytes(),
        pages: resolver.pages(),
        table_memory: board.protection.table_memory(),
        domains: (0..manifest.domain.len()).map(|index| resolver.domain(index)).collect::<Result<_, _>>()?,
        shared: shared.collect(),
        files: files.collect(),
        frames: frames.collect(),
        budgets: resolver.budgets(enforced),
        notifications: manifest.notification.values().map(|n| n.initial).collect(),
        limit_ns: manifest.run.limit.0,
        exact: manifest.run.exact,
        outputs: manifest.run.output.iter().filter_map(|(name, output)| resolver.output(name, output)).collect(),
        memories,
        overrun: 0,
    };
    system.overrun = u32::try_from(system.costs(board).overrun()).unwrap_or(u32::MAX);
    Ok(system)
}

/// The memories that domains can be given: what board and chip both have.
fn memories(board: &Board) -> Vec<Memory> {
    let all = board.memory.iter().filter(|(_, m)| m.kind != MemoryKind::Kernel);
    all.map(|(name, m)| Memory {
        name: name.clone(),
        base: m.base,
        bytes: m.usable,
        reserved: m.reserved,
        code_page: m.code_page,
        rom: m.kind == MemoryKind::Rom,
        class: m.class,
        offset: board.protection.lower(m.base),
        block: m.block(),
        gates: m.gates.iter().map(|gate| gate.base).filter(|base| *base > m.base).collect(),
    })
    .collect()
}

/// A size that the checks have passed: it fits.
fn word(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

struct Resolver<'a> {
    manifest: &'a Manifest,
    board: &'a Board,
    memories: &'a [Memory],
}

impl Resolver<'_> {
    fn memory(&self, name: &str) -> usize {
        let own = self.board.memory_for(name).map(|(own, _)| own);
        self.memories.iter().position(|m| Some(m.name.as_str()) == own).unwrap_or(0)
    }

    /// Number of a domain.
    fn number(&self, domain: &str) -> usize {
        self.manifest.domain.get_index_of(domain).unwrap_or(0)
    }

    fn notification(&self, name: &str) -> usize {
        self.manifest.notification.get_index_of(name).unwrap_or(0)
    }

    fn ticks(&self, time: Time) -> u32 {
        time.ticks(self.board.ticks_per_second).and_then(|ticks| u32::try_from(ticks).ok()).unwrap_or(u32::MAX)
    }

    fn pages(&self) -> Option<Pages> {
        let (board, hardware) = (self.board, &self.manifest.hardware);
        let tables = board.protection.tables()?;
        let tables = self.memories.iter().position(|memory| memory.name == tables);
        let chip = *platform(board).pages()?;
        let in_ways = chip.way_bytes.saturating_mul(hardware.locked_ways).min(chip.lockable_bytes());
        let only = |place| hardware.near_tables == Some(place);
        Some(Pages {
            tables: tables.filter(|_| !only(NearTables::LockedWays)),
            one_place: hardware.near_tables.is_some(),
            locked_ways: hardware.locked_ways,
            locked_bytes: if only(NearTables::OnChip) { 0 } else { in_ways },
            prefetch: hardware.prefetch,
            device_offset: board.protection.device_offset(),
        })
    }

    fn budgets(&self, enforced: bool) -> Vec<Budget> {
        let budget = |(name, b): (&String, &schema::Budget)| Budget {
            name: name.clone(),
            period: self.ticks(b.period),
            capacity: self.ticks(if enforced { b.capacity } else { b.period }),
            misses: b.misses.filter(|_| enforced).unwrap_or(0),
        };
        self.manifest.budget.iter().map(budget).collect()
    }

    fn asked(&self, spec: &Spec) -> TemporalSpec {
        self.board.asked(spec)
    }

    fn area(&self, memory: &str, spec: &Spec, at: Option<Address>, extra: u64) -> Area {
        Area { memory: self.memory(memory), spec: self.asked(spec), at: at.map(|a| a.0), extra: word(extra) }
    }

    fn domain(&self, index: usize) -> Result<Domain, Box<Refusal>> {
        let (name, d) = &self.manifest.domain.get_index(index).expect("the number of a domain");
        let stacks = d.stack.memory.as_deref().unwrap_or(&d.data.memory);
        let envelopes = d.envelope.iter().enumerate();
        let caps = grants(self.manifest, index)?;
        let files = d.files.iter().filter_map(|used| {
            let file = self.manifest.file.get_index_of(&used.name)?;
            Some(FileUse { name: used.name.clone(), file, spec: self.asked(&used.spec) })
        });
        Ok(Domain {
            name: (*name).clone(),
            code: self.area(&d.code.memory, &d.code.spec, d.code.at, 0),
            data: self.area(&d.data.memory, &d.data.spec, d.data.at, d.data.extra.0),
            stack: self.area(stacks, &d.stack.spec, d.stack.at, 0),
            heap: d.heap.as_ref().map(|heap| Heap {
                area: self.area(&heap.memory, &heap.spec, heap.at, heap.size.0),
                page_log2: heap.page.filter(|_| heap.geometry() == Geometry::Page).map(|page| page.0.ilog2()),
                interleave: self.interleave(name, heap),
            }),
            envelopes: envelopes.map(|(i, e)| self.envelope(name, i, e)).collect::<Result<_, _>>()?,
            ledger: d.ledger,
            misses: self.misses(d),
            devices: d.devices.iter().filter_map(|name| self.device(d, name)).collect(),
            shared: d.shared.iter().filter_map(|used| self.shared(used)).collect(),
            shares: d.shares.iter().map(|(name, who)| self.share(name, who)).collect(),
            files: files.collect(),
            fault: d.fault,
            fault_notification: d.fault_notification.as_ref().map(|name| self.notification(name)),
            hostile: d.hostile,
            paged_slots: d.paging.slots.unwrap_or(0),
            replacement: d.paging.replacement,
            cap_slots: d.handles.unwrap_or(HANDLES).max(caps.len() as u32),
            awaited: self.manifest.run.awaited.iter().any(|awaited| awaited == *name),
            threads: d.thread.iter().enumerate().map(|(i, t)| self.thread(index, d, i, t)).collect(),
            gates: d.gate.iter().map(|(name, gate)| self.gate(name, gate)).collect(),
            interrupts: d.interrupt.iter().map(|(name, line)| self.interrupt(name, line)).collect(),
            handlers: d.handlers.as_ref().map(|declared| self.handlers(declared)),
            caps,
            callers: clients(self.manifest, index)?,
        })
    }

    /// Misses in a period that the budgets of a domain's threads allow (`u32::MAX`: any number), and those that its threads declare.
    fn misses(&self, domain: &schema::Domain) -> (u32, u32) {
        let mut budgets: Vec<&str> = domain.thread.iter().map(|thread| thread.budget.as_str()).collect();
        budgets.sort_unstable();
        budgets.dedup();
        let limits = budgets.iter().map(|name| self.manifest.budget.get(*name).and_then(|budget| budget.misses));
        let total = limits.map(|limit| limit.map(u64::from)).sum::<Option<u64>>().map(word);
        let total = total.filter(|_| !budgets.is_empty()).unwrap_or(u32::MAX);
        let declared = domain.thread.iter().map(|thread| {
            let budget = self.manifest.budget.get(&thread.budget).map_or(1, |budget| budget.period.0);
            let releases = thread.period.map_or(1, |period| jobs_in(budget, period.0.max(1)));
            u64::from(thread.misses).saturating_mul(releases)
        });
        (total, word(declared.fold(0, u64::saturating_add)))
    }

    /// Position of a heap among those with which it alternates.
    fn interleave(&self, domain: &str, heap: &HeapArea) -> Option<Interleave> {
        let group = heap.interleave.as_ref()?;
        let of_group = |d: &schema::Domain| d.heap.as_ref().is_some_and(|h| h.interleave.as_ref() == Some(group));
        let members: Vec<&String> = self.manifest.domain.iter().filter(|(_, d)| of_group(d)).map(|(n, _)| n).collect();
        Some(Interleave {
            group: group.clone(),
            position: members.iter().position(|member| *member == domain)? as u32,
            members: members.len() as u32,
            frame_log2: heap.page?.0.ilog2(),
            one_each: heap.geometry() == Geometry::Page,
        })
    }

    /// The arena of an envelope: as many bytes as the allocator's worst fragmentation can need.
    fn envelope(&self, domain: &str, index: usize, declared: &schema::Envelope) -> Result<Envelope, Box<Refusal>> {
        let (live, largest) = (word(declared.live.0), word(declared.largest.0));
        let envelope = spec::Envelope { spec: self.asked(&declared.spec), live, largest, count: declared.count };
        let memory = &self.memories[self.memory(&declared.memory)];
        let scheme = &*self.board.protection;
        let on_demand = scheme.is_on_demand(envelope.spec, declared.on_demand);
        let bytes = crate::arena::arena_bytes(&envelope, on_demand);
        let left = u64::from(memory.bytes.saturating_sub(memory.reserved));
        let Some(bytes) = bytes.filter(|bytes| *bytes <= left) else {
            let place = format!("domain.{domain}.envelope[{index}]");
            return Err(Box::new(crate::arena::too_big(
                place,
                &envelope,
                (left, &memory.name),
                false,
                (scheme, on_demand),
            )));
        };
        let area = self.area(&declared.memory, &declared.spec, None, bytes);
        let layout = Layout::new(live, largest, declared.count).filter(|_| on_demand);
        let on_demand = layout.map(|layout| layout.bytes() / PAGE);
        Ok(Envelope { area, on_demand, envelope, default: declared.default })
    }

    fn device(&self, domain: &schema::Domain, name: &str) -> Option<Device> {
        let device = self.board.device(name)?;
        let kind = device.kind.as_deref().map_or(0, abi::info::name_hash);
        Some(Device { name: name.to_owned(), base: device.base, bytes: device.bytes, kind, open: domain.is_open(name) })
    }

    fn output(&self, name: &str, declared: &schema::Output) -> Option<Output> {
        let address = self.board.device(&declared.device)?.base + declared.offset;
        Some(Output { name: name.to_owned(), declared: declared.clone(), address })
    }

    fn shared(&self, used: &schema::SharedUse) -> Option<SharedUse> {
        let shared = self.manifest.shared.get_index_of(&used.name)?;
        Some(SharedUse {
            name: used.name.clone(),
            shared,
            write: used.access == AccessMode::ReadWrite,
            spec: self.asked(&used.spec),
        })
    }

    fn share(&self, name: &str, who: &indexmap::IndexMap<String, AccessMode>) -> Share {
        let bits = |writes: bool| {
            let who = who.iter().filter(|(_, access)| !writes || **access == AccessMode::ReadWrite);
            who.fold(0, |bits, (other, _)| bits | 1 << self.number(other))
        };
        Share { name: name.to_owned(), readers: bits(false), writers: bits(true) }
    }

    fn thread(&self, index: usize, domain: &schema::Domain, inner: usize, thread: &schema::Thread) -> Thread {
        let call =
            |(gate, count): (&String, &u32)| Some((references::call(self.manifest, index, "", gate).ok()?, *count));
        Thread {
            name: thread.name.clone(),
            entry: thread.entry.clone(),
            argument: thread.argument.unwrap_or(inner as u32),
            stack_bytes: self.stack_bytes(thread.stack.unwrap_or(domain.stack.size)),
            priority: thread.priority,
            budget: self.manifest.budget.get_index_of(&thread.budget).unwrap_or(0),
            period: thread.period.map(|time| self.ticks(time)),
            deadline: thread.deadline().map(|time| self.ticks(time)),
            own_deadline: thread.deadline.is_some(),
            wcet: thread.wcet.map(|time| self.ticks(time)),
            misses: thread.misses,
            calls: thread.calls.iter().filter_map(call).collect(),
            activations: thread.activations,
            reload: thread.reload.map(|time| self.ticks(time)),
        }
    }

    fn gate(&self, name: &str, gate: &schema::Gate) -> Gate {
        Gate {
            name: name.to_owned(),
            entry: gate.entry.clone(),
            ceiling: gate.ceiling,
            bound: self.ticks(gate.bound),
            handlers: 0,
            stack_bytes: self.stack_bytes(gate.stack),
        }
    }

    fn interrupt(&self, key: &str, declared: &schema::InterruptLine) -> Interrupt {
        let device = self.board.device(&declared.device);
        Interrupt {
            name: format!("{} {}", declared.device, declared.line),
            line: device.and_then(|d| d.lines.get(&declared.line)).copied().unwrap_or(u32::MAX),
            notification: self.notification(&declared.notification),
            bits: 1 << declared.bit,
            direct: (declared.delivery == Delivery::Direct).then(|| Direct {
                key: key.to_owned(),
                handler: declared.handler.clone().unwrap_or_default(),
                level: declared.priority.unwrap_or(0) + 1,
                separation: declared.separation.map_or(0, |time| self.ticks(time)),
            }),
        }
    }

    fn handlers(&self, declared: &schema::Handlers) -> Handlers {
        Handlers {
            stack_bytes: word(declared.stack.0),
            period: self.ticks(declared.period),
            capacity: self.ticks(declared.capacity),
            occupies: declared.occupies,
            counted: declared.meter.unwrap_or(Meter::Counter) == Meter::Counter && self.board.counter.is_some(),
            slips: declared.slips,
        }
    }

    /// Bytes of a stack: those declared, in whole double words, and what handlers can take of it.
    fn stack_bytes(&self, declared: Size) -> u32 {
        word(declared.0.next_multiple_of(8)) + self.frame_bytes()
    }

    fn frame_bytes(&self) -> u32 {
        if self.manifest.domain.values().any(|domain| domain.handlers.is_some()) { HANDLER_FRAME_BYTES } else { 0 }
    }
}
