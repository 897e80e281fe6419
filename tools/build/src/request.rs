//! The manifest as plain data for placement: names become numbers, times become ticks.

use std::path::Path;

use manifest::{
    Board, Diagnostic, Domain, FaultPolicy, Geometry, Grant, Hardware, HeapArea, Manifest, MemoryKind, NearTables,
    Object, Refusal, Spec, Time,
};
use place::{
    AreaRequest, CapRequest, DeviceRequest, DomainRequest, EnvelopeRequest, FileRequest, FileUse, FramesRequest,
    GateRequest, HeapRequest, Interleave, InterruptRequest, Memory, Pages, Request, ShareRequest, SharedRequest,
    SharedUse, ThreadRequest,
};

use crate::install::{Install, unreadable};
use crate::load::{Loaded, resolve};

/// Slots of a capability table when the manifest does not say.
const HANDLES: u32 = 32;

/// Programs of a system: the kernel's and each domain's ELF.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The kernel.
    pub kernel: Vec<u8>,
    /// Domains in the order of their numbers.
    pub domains: Vec<Vec<u8>>,
}

struct Maker<'a> {
    loaded: &'a Loaded,
    manifest: &'a Manifest,
    memories: Vec<Memory>,
}

/// The memories that domains can be given: what board and chip both have.
pub(crate) fn memories(loaded: &Loaded) -> Vec<Memory> {
    let usable = |name: &str, base: u32, bytes: u32| {
        let profile = &loaded.profile.parameters;
        let chip = profile.by_name(name).and_then(|id| profile.memory(id));
        chip.map_or(bytes, |memory| {
            let window = memory.usable_window();
            let end = window.end().0.min(u64::from(base) + u64::from(bytes));
            end.saturating_sub(u64::from(base)) as u32
        })
    };
    let all = loaded.board.memory.iter().filter(|(_, m)| m.kind != MemoryKind::Kernel);
    all.map(|(name, m)| Memory {
        name: name.clone(),
        base: m.base,
        bytes: usable(name, m.base, m.bytes),
        reserved: m.reserved,
        rom: m.kind == MemoryKind::Rom,
        class: m.class,
        offset: loaded.board.protection.lower(m.base),
    })
    .collect()
}

/// What placement has to know of page tables, where there are some.
fn pages(board: &Board, memories: &[Memory], hardware: &Hardware) -> Option<Pages> {
    let tables = board.protection.tables()?;
    let tables = memories.iter().position(|memory| memory.name == tables);
    let chip = *manifest::platform(board).pages()?;
    let in_ways = chip.way_bytes.saturating_mul(hardware.locked_ways).min(chip.lockable_bytes());
    let only = |place| hardware.near_tables == Some(place);
    Some(Pages {
        tables: tables.filter(|_| !only(NearTables::LockedWays)),
        locked_ways: hardware.locked_ways,
        locked_bytes: if only(NearTables::OnChip) { 0 } else { in_ways },
        prefetch: hardware.prefetch,
        device_offset: board.protection.device_offset(),
    })
}

/// Makes the request for placement. Call it on what [`Loaded::admit`] has admitted.
///
/// # Errors
/// CF0501 for a file that cannot be read.
pub(crate) fn request<'a>(
    install: &Install,
    loaded: &'a Loaded,
    programs: &'a Programs,
    budgets: bool,
) -> Result<Request<'a>, Diagnostic> {
    let manifest = &loaded.document.manifest;
    let maker = Maker { loaded, manifest, memories: memories(loaded) };
    let domains = manifest.domain.iter().enumerate().zip(&programs.domains);
    let domains = domains.map(|((index, (name, domain)), elf)| maker.domain(index, name, domain, elf));
    let shared = manifest.shared.iter().map(|(name, shared)| SharedRequest {
        name: name.clone(),
        bytes: shared.size.0 as u32,
        memory: maker.memory(&shared.memory),
        at: shared.at.map(|a| a.0),
    });
    let frames = manifest.frames.iter().map(|(name, frames)| FramesRequest {
        name: name.clone(),
        bytes: frames.size.0 as u32,
        marks: frames.marks,
        quotas: quotas(manifest, frames),
        memory: maker.memory(&frames.memory),
    });
    Ok(Request {
        board: loaded.board.name.clone(),
        cpu_hz: loaded.profile.cpu_hz() as u32,
        ticks_per_second: loaded.board.ticks_per_second,
        switching: loaded.board.switching(),
        platform: manifest::platform(&loaded.board),
        pages: pages(&loaded.board, &maker.memories, &manifest.hardware),
        kernel: &programs.kernel,
        domains: domains.collect::<Result<_, Box<Refusal>>>().map_err(|refusal| loaded.document.locate(*refusal))?,
        shared: shared.collect(),
        files: maker.files(install)?,
        frames: frames.collect(),
        budgets: maker.budgets(budgets),
        notifications: manifest.notification.values().map(|n| n.initial).collect(),
        interrupts: maker.interrupts(),
        memories: maker.memories,
    })
}

/// Number of each domain that has a quota of a pool, and its bytes.
fn quotas(manifest: &Manifest, frames: &manifest::Frames) -> Vec<(usize, u32)> {
    frames.quota.iter().map(|(name, quota)| (number(manifest, name), quota.0 as u32)).collect()
}

/// Number of a domain that `check` has found.
fn number(manifest: &Manifest, domain: &str) -> usize {
    manifest.domain.get_index_of(domain).unwrap_or(0)
}

impl Maker<'_> {
    fn memory(&self, name: &str) -> usize {
        let own = self.loaded.board.memory_for(name).map(|(own, _)| own);
        self.memories.iter().position(|m| Some(m.name.as_str()) == own).unwrap_or(0)
    }

    fn ticks(&self, time: Time) -> u32 {
        time.ticks(self.loaded.board.ticks_per_second).and_then(|ticks| u32::try_from(ticks).ok()).unwrap_or(u32::MAX)
    }

    fn files(&self, install: &Install) -> Result<Vec<FileRequest>, Diagnostic> {
        let rom = self.memories.iter().position(|m| m.rom).unwrap_or(0);
        let directory: &Path = self.loaded.document.directory();
        let read = |(name, file): (&String, &manifest::File)| {
            let path = resolve(install, directory, &file.path);
            let contents = std::fs::read(&path).map_err(|error| {
                let refusal = unreadable(&path, &error).refusal().clone();
                self.loaded.document.locate(Refusal { place: format!("file.{name}.path"), ..refusal })
            })?;
            Ok(FileRequest { name: name.clone(), contents, memory: rom })
        };
        self.manifest.file.iter().map(read).collect()
    }

    /// Without enforcement every budget may use all of its period.
    fn budgets(&self, enforced: bool) -> Vec<(u32, u32, u32)> {
        let capacity = |b: &manifest::Budget| self.ticks(if enforced { b.capacity } else { b.period });
        let misses = |b: &manifest::Budget| b.misses.filter(|_| enforced).unwrap_or(0);
        self.manifest.budget.values().map(|b| (self.ticks(b.period), capacity(b), misses(b))).collect()
    }

    fn interrupts(&self) -> Vec<InterruptRequest> {
        let all = self.manifest.domain.values().flat_map(|d| d.interrupt.values());
        all.map(|i| {
            let device = self.loaded.board.device(&i.device);
            InterruptRequest {
                line: device.and_then(|d| d.lines.get(&i.line)).copied().unwrap_or(u32::MAX),
                notification: self.manifest.notification.get_index_of(&i.notification).unwrap_or(0) as u32,
                bits: 1 << i.bit,
            }
        })
        .collect()
    }

    fn domain<'a>(
        &self,
        index: usize,
        name: &str,
        d: &Domain,
        elf: &'a [u8],
    ) -> Result<DomainRequest<'a>, Box<Refusal>> {
        let area = |memory: &str, spec: &Spec, at: Option<manifest::Address>, extra: u64| AreaRequest {
            memory: self.memory(memory),
            spec: self.loaded.board.asked(spec),
            at: at.map(|a| a.0),
            extra: extra as u32,
        };
        let stacks = d.stack.memory.as_deref().unwrap_or(&d.data.memory);
        let devices = d.devices.iter().filter_map(|name| {
            let device = self.loaded.board.device(name)?;
            let kind = device.kind.as_deref().map_or(0, abi::info::name_hash);
            Some(DeviceRequest { name: name.clone(), base: device.base, bytes: device.bytes, kind })
        });
        let caps: Vec<CapRequest> = manifest::grants(self.manifest, index)?.into_iter().map(|g| self.cap(g)).collect();
        Ok(DomainRequest {
            name: name.to_owned(),
            elf,
            code: area(&d.code.memory, &d.code.spec, d.code.at, 0),
            data: area(&d.data.memory, &d.data.spec, d.data.at, d.data.extra.0),
            stack: area(stacks, &d.stack.spec, d.stack.at, 0),
            heap: d.heap.as_ref().map(|heap| HeapRequest {
                area: area(&heap.memory, &heap.spec, heap.at, heap.size.0),
                page_log2: heap.page.filter(|_| heap.geometry() == Geometry::Page).map(|page| page.0.ilog2()),
                interleave: self.interleave(name, heap),
            }),
            paged_slots: d.paging.slots.unwrap_or(0),
            replacement: d.paging.replacement.number(),
            envelopes: d
                .envelope
                .iter()
                .enumerate()
                .map(|(i, e)| self.envelope(name, i, e))
                .collect::<Result<_, _>>()?,
            ledger: d.ledger,
            misses: manifest::misses(self.manifest, d),
            devices: devices.collect(),
            shared: d.shared.iter().filter_map(|used| self.shared(used)).collect(),
            shares: self.shares(d),
            files: d.files.iter().filter_map(|used| self.file(used)).collect(),
            policy: match d.fault {
                FaultPolicy::Stop => system::policy::STOP,
                FaultPolicy::Restart => system::policy::RESTART,
                FaultPolicy::Report => system::policy::REPORT,
            },
            fault_notification: d
                .fault_notification
                .as_ref()
                .and_then(|name| self.manifest.notification.get_index_of(name))
                .map(|index| index as u32),
            cap_slots: d.handles.unwrap_or(HANDLES).max(caps.len() as u32),
            awaited: self.manifest.run.awaited.iter().any(|awaited| awaited == name),
            threads: d.thread.iter().enumerate().map(|(i, t)| self.thread(d, i, t)).collect(),
            gates: d.gate.iter().map(|(name, gate)| self.gate(name, gate)).collect(),
            caps,
            callers: manifest::clients(self.manifest, index)?,
        })
    }

    /// Position of a heap among those with which it alternates.
    fn interleave(&self, domain: &str, heap: &HeapArea) -> Option<Interleave> {
        let group = heap.interleave.as_ref()?;
        let of_group = |d: &Domain| d.heap.as_ref().is_some_and(|h| h.interleave.as_ref() == Some(group));
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
    fn envelope(
        &self,
        domain: &str,
        index: usize,
        declared: &manifest::Envelope,
    ) -> Result<EnvelopeRequest, Box<Refusal>> {
        let (live, largest) = (declared.live.0 as u32, declared.largest.0 as u32);
        let envelope =
            spec::Envelope { spec: self.loaded.board.asked(&declared.spec), live, largest, count: declared.count };
        let left = self.memories[self.memory(&declared.memory)].bytes;
        let bytes = crate::envelope::arena_bytes(live, largest, declared.count);
        let Some(bytes) = bytes.filter(|bytes| *bytes <= u64::from(left)) else {
            let place = format!("domain.{domain}.envelope[{index}]");
            return Err(Box::new(crate::envelope::too_big(
                &place,
                declared,
                u64::from(left),
                &self.loaded.board.protection,
            )));
        };
        let area =
            AreaRequest { memory: self.memory(&declared.memory), spec: envelope.spec, at: None, extra: bytes as u32 };
        Ok(EnvelopeRequest { area, envelope, default: declared.default })
    }

    fn shared(&self, used: &manifest::SharedUse) -> Option<SharedUse> {
        let shared = self.manifest.shared.get_index_of(&used.name)?;
        Some(SharedUse {
            shared,
            write: used.access == manifest::AccessMode::ReadWrite,
            spec: self.loaded.board.asked(&used.spec),
        })
    }

    fn shares(&self, domain: &Domain) -> Vec<ShareRequest> {
        let all = domain.shares.iter().map(|(name, who)| {
            let bits = |writes: bool| {
                let who = who.iter().filter(|(_, access)| !writes || **access == manifest::AccessMode::ReadWrite);
                who.fold(0, |bits, (other, _)| bits | 1 << number(self.manifest, other))
            };
            ShareRequest { name: name.clone(), readers: bits(false), writers: bits(true) }
        });
        all.collect()
    }

    fn file(&self, used: &manifest::FileUse) -> Option<FileUse> {
        Some(FileUse { file: self.manifest.file.get_index_of(&used.name)?, spec: self.loaded.board.asked(&used.spec) })
    }

    fn thread(&self, domain: &Domain, index: usize, thread: &manifest::Thread) -> ThreadRequest {
        ThreadRequest {
            name: thread.name.clone(),
            entry: thread.entry.clone(),
            argument: thread.argument.unwrap_or(index as u32),
            stack_bytes: thread.stack.unwrap_or(domain.stack.size).0 as u32,
            priority: thread.priority,
            budget: self.manifest.budget.get_index_of(&thread.budget).unwrap_or(0) as u32,
            period: thread.period.map_or(0, |time| self.ticks(time)),
            deadline: thread.deadline().map_or(0, |time| self.ticks(time)),
        }
    }

    fn gate(&self, name: &str, gate: &manifest::Gate) -> GateRequest {
        GateRequest {
            name: name.to_owned(),
            entry: gate.entry.clone(),
            ceiling: gate.ceiling,
            bound: self.ticks(gate.bound),
            stack_bytes: gate.stack.0 as u32,
        }
    }

    fn cap(&self, grant: Grant) -> CapRequest {
        let (kind, object) = match grant.object {
            Object::Gate(index) => (abi::Kind::Gate, index),
            Object::Notification(index) => (abi::Kind::Notification, index),
            Object::Domain(index) => (abi::Kind::Domain, index),
            Object::Thread(index) => (abi::Kind::Thread, index),
            Object::Budget(index) => (abi::Kind::Budget, index),
            Object::Interrupt(index) => (abi::Kind::Interrupt, index),
            // Placement numbers the untyped ranges first and the kernel's range behind them.
            Object::Frames(index) => (abi::Kind::Frames, index.unwrap_or(self.manifest.frames.len())),
        };
        CapRequest { name: grant.name, kind, object: object as u32, rights: grant.rights, badge: grant.badge }
    }
}
