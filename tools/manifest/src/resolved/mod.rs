//! The system that a manifest describes, with everything settled: names are numbers, times are ticks, defaults are applied, memories are the
//! board's. Whatever comes after the checks reads this, and never the manifest again. Everything is numbered in the order of the manifest.

mod item;
mod resolve;

pub use item::{Item, Part};
pub use resolve::resolve;

use sched::response::Costs;
use sched::switching::Switching;
use spec::{MemoryClass, Platform, TemporalSpec};
use units::Rate;

use crate::board::Board;
use crate::board_file::KernelCosts;
use crate::grant::{Grant, Object};
use crate::schema::{FaultPolicy, Replacement, Slips};
use crate::scheme::SchemeName;

/// A memory of the chip that domains can be given.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Name, as in the manifest.
    pub name: String,
    /// First address.
    pub base: u32,
    /// Bytes that chip and board both have.
    pub bytes: u32,
    /// Bytes at its start that the kernel keeps.
    pub reserved: u32,
    /// Areas of code are whole pages of so many bytes.
    pub code_page: u32,
    /// Read-only at run time: code, constants and initial data live here.
    pub rom: bool,
    /// How near it is to the processor; `None` for what cannot hold tables.
    pub class: Option<MemoryClass>,
    /// Domains have it at its addresses less this.
    pub offset: u32,
    /// Handlers use whole blocks of so many bytes of it; `None` if all of it is Secure for good.
    pub block: Option<u32>,
    /// Addresses in it at which another controller's range begins: what handlers use lies on one side of each.
    pub gates: Vec<u32>,
}

/// A register whose stores are recorded, and what is expected of them.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name in the manifest.
    pub name: String,
    /// What the manifest says of it.
    pub declared: crate::schema::Output,
    /// Its physical address.
    pub address: u32,
}

/// An area of a domain.
#[derive(Clone, Debug)]
pub struct Area {
    /// Number of the memory.
    pub memory: usize,
    /// Its specification.
    pub spec: TemporalSpec,
    /// Fixed address, if any.
    pub at: Option<u32>,
    /// Bytes beyond what the program itself needs.
    pub extra: u32,
}

/// A domain's heap.
#[derive(Clone, Debug)]
pub struct Heap {
    /// Its area.
    pub area: Area,
    /// log2 of the size of one paged region; `None`: as large as possible.
    pub page_log2: Option<u32>,
    /// The heaps with which it alternates in frames, if any.
    pub interleave: Option<Interleave>,
}

/// A group of heaps of which each owns every n-th frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interleave {
    /// Name of the group.
    pub group: String,
    /// Position of this heap among them, counted in the order of domains.
    pub position: u32,
    /// Heaps in the group: 2, 4 or 8.
    pub members: u32,
    /// log2 of the size of one frame.
    pub frame_log2: u32,
    /// One region for each frame; otherwise one register covers as many as it can.
    pub one_each: bool,
}

impl Interleave {
    /// log2 of the region that covers the frames of all heaps, from which each heap's are selected by eighths.
    pub fn region_log2(&self) -> u32 {
        self.frame_log2 + if self.one_each { self.members.ilog2() } else { 3 }
    }

    /// The eighths of such a region that belong to other heaps.
    pub fn disabled(&self) -> u32 {
        let eighths_each = if self.one_each { 8 / self.members } else { 1 };
        let own = |eighth: &u32| eighth / eighths_each % self.members == self.position;
        0xff & !(0..8).filter(own).map(|eighth| 1 << eighth).sum::<u32>()
    }
}

/// Memory that a domain may have allocated at once, and the arena for it.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// Area of the arena; `extra` is its size, or that of its frames.
    pub area: Area,
    /// Pages of the arena, if they get frames at their first touch.
    pub on_demand: Option<u32>,
    /// The figures.
    pub envelope: spec::Envelope,
    /// Plain `malloc` uses the arena.
    pub default: bool,
}

/// A thread of a domain.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Name within the domain.
    pub name: String,
    /// Symbol of its entry; `None`: the entry of the ELF file.
    pub entry: Option<String>,
    /// Passed in r1.
    pub argument: u32,
    /// Bytes of its stack.
    pub stack_bytes: u32,
    /// Priority, 0 the most important.
    pub priority: u32,
    /// Number of the budget.
    pub budget: usize,
    /// Ticks from release to release.
    pub period: Option<u32>,
    /// The deadline in force, in ticks: the period's end when none is given.
    pub deadline: Option<u32>,
    /// The manifest gives the deadline.
    pub own_deadline: bool,
    /// Execution time of a job, in ticks.
    pub wcet: Option<u32>,
    /// Misses of a job.
    pub misses: u32,
    /// How often a job calls which gate, by number over all domains.
    pub calls: Vec<(usize, u32)>,
    /// How often a job signals or acknowledges an interrupt.
    pub activations: u32,
    /// Ticks that it loses at most each time that it goes on after others have run.
    pub reload: Option<u32>,
}

/// A gate of a domain.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Name within the domain.
    pub name: String,
    /// Symbol of the entry function.
    pub entry: String,
    /// Ceiling priority.
    pub ceiling: u32,
    /// Bound in ticks: the declared one, and what handlers can take of it.
    pub bound: u32,
    /// The latter.
    pub handlers: u32,
    /// Bytes of its stack.
    pub stack_bytes: u32,
}

/// An interrupt line.
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// Device and line, as in the manifest.
    pub name: String,
    /// Number of the line.
    pub line: u32,
    /// Number of the notification.
    pub notification: usize,
    /// Bits to set.
    pub bits: u32,
    /// It reaches a handler without the kernel.
    pub direct: Option<Direct>,
}

/// A handler that an interrupt line reaches without the kernel.
#[derive(Clone, Debug)]
pub struct Direct {
    /// Name of the interrupt among those of the domain.
    pub key: String,
    /// Symbol of its function.
    pub handler: String,
    /// Its level, from 1, the most important, to `system::direct::LEVELS`.
    pub level: u32,
    /// Ticks from one interrupt to the next, at least.
    pub separation: u32,
}

/// The common part of the handlers of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handlers {
    /// Bytes of their stack.
    pub stack_bytes: u32,
    /// Ticks after which their capacity is full again.
    pub period: u32,
    /// Ticks that they use in a period at most.
    pub capacity: u32,
    /// Their domain occupies Non-secure state when the system starts.
    pub occupies: bool,
    /// Their cycles are counted; otherwise a timer looks whether they run.
    pub counted: bool,
    /// Whether bounds count the faults that they can have others' threads take.
    pub slips: Slips,
}

impl Handlers {
    /// Ticks by which they can exceed their capacity before they are ended: until a counter's interrupt, or until the next look.
    pub fn beyond(&self, board: &Board) -> u64 {
        let counter = board.counter.filter(|_| self.counted);
        counter.map_or(sched::sampling::LONGEST_TICKS.into(), |counter| board.ticks_in(counter.beyond_cycles))
    }
}

/// A budget.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Name.
    pub name: String,
    /// Period in ticks.
    pub period: u32,
    /// Capacity in ticks; the period where budgets are not enforced.
    pub capacity: u32,
    /// Misses in a period; 0: any number.
    pub misses: u32,
}

/// A domain's use of shared memory.
#[derive(Clone, Debug)]
pub struct SharedUse {
    /// Name of the shared memory.
    pub name: String,
    /// Its number.
    pub shared: usize,
    /// May write.
    pub write: bool,
    /// Its specification.
    pub spec: TemporalSpec,
}

/// Memory of the memory manager that a domain shares while the system runs.
#[derive(Clone, Debug)]
pub struct Share {
    /// Its name among the owner's.
    pub name: String,
    /// Domains that may map it to read, by number.
    pub readers: u32,
    /// Domains that may map it to read and write, by number.
    pub writers: u32,
}

/// A device of a domain.
#[derive(Clone, Debug)]
pub struct Device {
    /// Name, as in the manifest.
    pub name: String,
    /// First physical address of its registers.
    pub base: u32,
    /// Bytes of its window.
    pub bytes: u32,
    /// `abi::info::name_hash` of its kind; 0 for a device without one.
    pub kind: u32,
    /// Handlers use it, too: a line of it reaches one.
    pub open: bool,
}

/// A domain's use of a constant file.
#[derive(Clone, Debug)]
pub struct FileUse {
    /// Name of the file.
    pub name: String,
    /// Its number.
    pub file: usize,
    /// Its specification.
    pub spec: TemporalSpec,
}

/// A protection domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Name.
    pub name: String,
    /// Code and constants.
    pub code: Area,
    /// Initialised and zeroed data.
    pub data: Area,
    /// Stacks (always pinned).
    pub stack: Area,
    /// Heap.
    pub heap: Option<Heap>,
    /// Envelopes.
    pub envelopes: Vec<Envelope>,
    /// The ledger is handed over to it, in a read-only area named `ledger`.
    pub ledger: bool,
    /// Misses in a period that its budgets allow (`u32::MAX` without a limit), and those that its threads declare.
    pub misses: (u32, u32),
    /// Devices.
    pub devices: Vec<Device>,
    /// Shared memory.
    pub shared: Vec<SharedUse>,
    /// Memory of the manager that it shares.
    pub shares: Vec<Share>,
    /// Constant files.
    pub files: Vec<FileUse>,
    /// Policy for its faults.
    pub fault: FaultPolicy,
    /// Number of the notification that its faults signal.
    pub fault_notification: Option<usize>,
    /// It is expected to attack others.
    pub hostile: bool,
    /// Slots that serve paged memory at most; 0: all that are not pinned.
    pub paged_slots: u32,
    /// How the victim among those is chosen.
    pub replacement: Replacement,
    /// Slots of its capability table; at least as many as `caps`.
    pub cap_slots: u32,
    /// The run waits for it.
    pub awaited: bool,
    /// Threads, the first one starts at the ELF's entry unless it names another.
    pub threads: Vec<Thread>,
    /// Gates.
    pub gates: Vec<Gate>,
    /// Interrupt lines.
    pub interrupts: Vec<Interrupt>,
    /// The common part of its handlers, if interrupts reach any without the kernel.
    pub handlers: Option<Handlers>,
    /// Capabilities that it starts with, in the order of their slots.
    pub caps: Vec<Grant>,
    /// Callers of its gates: name of the caller, badge. For the information block.
    pub callers: Vec<(String, u32)>,
}

impl Domain {
    /// Whether the stacks can lie with the data: they are in the same memory, and nobody has said where.
    pub fn stacks_join_data(&self) -> bool {
        self.stack.memory == self.data.memory && self.stack.at.is_none()
    }
}

/// Memory that several domains may use.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Name.
    pub name: String,
    /// Bytes.
    pub bytes: u32,
    /// Number of the memory.
    pub memory: usize,
    /// Fixed address, if any.
    pub at: Option<u32>,
}

/// A constant file, placed in read-only memory.
#[derive(Clone, Debug)]
pub struct File {
    /// Name.
    pub name: String,
    /// Path as in the manifest.
    pub path: String,
    /// Number of the memory.
    pub memory: usize,
}

/// Untyped memory held as a capability.
#[derive(Clone, Debug)]
pub struct Frames {
    /// Name.
    pub name: String,
    /// Bytes.
    pub bytes: u32,
    /// Marks of the kernel's frame table that can be inside it; `None`: as many as its use needs.
    pub marks: Option<u32>,
    /// Number of a domain, and bytes that are kept for it, if the memory manager holds the range.
    pub quotas: Vec<(usize, u32)>,
    /// Number of the memory.
    pub memory: usize,
}

/// Resources for page tables, on a board that checks accesses with them.
#[derive(Clone, Debug)]
pub struct Pages {
    /// Number of the memory on the chip of which tables take what areas leave; `None` where tables lie only in locked ways.
    pub tables: Option<usize>,
    /// The manifest names the one place where near tables may lie.
    pub one_place: bool,
    /// Ways of the second-level cache that are closed to everything but tables.
    pub locked_ways: u32,
    /// Bytes of tables that can lie in them at most.
    pub locked_bytes: u32,
    /// Whether the processor's data prefetcher is on.
    pub prefetch: bool,
    /// Devices are in domains at their addresses less this.
    pub device_offset: u32,
}

/// A whole system.
#[derive(Clone, Debug)]
pub struct System {
    /// Name.
    pub name: String,
    /// Name of the board.
    pub board: String,
    /// Clock of the processor in Hz.
    pub cpu_hz: u32,
    /// Ticks of the board's clock in a second.
    pub ticks_per_second: u32,
    /// The kernel's charges for switches.
    pub switching: Switching,
    /// Ticks by which a call can exceed its bound before the kernel ends it: G + M of docs/time.md.
    pub overrun: u32,
    /// Meaning that the chip gives to specifications.
    pub platform: Platform,
    /// Memories that domains can be given.
    pub memories: Vec<Memory>,
    /// How accesses are checked.
    pub protection: SchemeName,
    /// The bit of an address that says Secure, where the processor has a second security state.
    pub secure: Option<u32>,
    /// Bytes that handlers can take of the stack of whatever they interrupt, in Secure state: more than the processor saves for the kernel. The
    /// sizes of all stacks contain them.
    pub frame_bytes: u32,
    /// Resources for page tables, where these check accesses.
    pub pages: Option<Pages>,
    /// Tables that the hardware has for all domains together, if it has such.
    pub table_memory: Option<system::TableMemory>,
    /// Domains.
    pub domains: Vec<Domain>,
    /// Shared memory.
    pub shared: Vec<Shared>,
    /// Constant files.
    pub files: Vec<File>,
    /// Untyped memory.
    pub frames: Vec<Frames>,
    /// Budgets.
    pub budgets: Vec<Budget>,
    /// Notifications: bits set at the start.
    pub notifications: Vec<u32>,
    /// Longest run in nanoseconds.
    pub limit_ns: u64,
    /// Time advances after every instruction.
    pub exact: bool,
    /// Registers whose stores are recorded.
    pub outputs: Vec<Output>,
}

impl System {
    /// Rate of the kernel's clock.
    pub fn rate(&self) -> Rate {
        Rate::hz(self.ticks_per_second.into())
    }

    /// So many times what is counted can the handlers of a domain use, if they set their counter back: 1 unless the domain is declared hostile.
    pub fn times_counted(&self, domain: usize, handlers: &Handlers) -> u64 {
        let can_lie = handlers.counted && self.domains[domain].hostile;
        if can_lie { sched::sampling::COUNTED_WEIGHS.into() } else { 1 }
    }

    /// Ticks that the handlers of a domain can use in a window beyond all that is charged, in 998 of 1000: what their counter hides, if they set it back, or what looks
    /// miss. 0 where the counter is believed.
    pub fn hidden_ticks(&self, domain: usize, handlers: &Handlers) -> u64 {
        match (handlers.counted, self.domains[domain].hostile) {
            (true, true) => sched::sampling::COUNTED_HIDDEN_TICKS.into(),
            (true, false) => 0,
            (false, _) => sched::sampling::SAMPLED_HIDDEN_TICKS.into(),
        }
    }

    /// Ticks of others' time that handlers of a hostile domain can waste by slips while they use so many ticks themselves. Looks stop a domain that slips, but by
    /// chance, so that only what each slip costs the handlers bounds them (docs/interrupts.md, Non-secure Thread mode).
    pub fn slip_ticks(&self, domain: usize, costs: &KernelCosts, used: u64) -> u64 {
        if !self.domains[domain].hostile || costs.slip_least_cycles == 0 {
            return 0;
        }
        used.saturating_mul(costs.slip_cycles).div_ceil(costs.slip_least_cycles)
    }

    /// Number of each domain with handlers that interrupts reach without the kernel, and what they share: the first occupant of their state first.
    pub fn handlers(&self) -> impl Iterator<Item = (usize, Handlers)> + '_ {
        let all = || self.domains.iter().enumerate().filter_map(|(index, domain)| Some((index, domain.handlers?)));
        all().filter(|(_, own)| own.occupies).chain(all().filter(|(_, own)| !own.occupies))
    }

    /// Whether interrupts reach handlers of any domain without the kernel.
    pub fn has_handlers(&self) -> bool {
        self.handlers().next().is_some()
    }

    /// Ticks for which handlers can hold the kernel off, at most: until the sampler finds what they have left set.
    pub fn held_off_ticks(&self) -> u64 {
        if self.has_handlers() { sched::sampling::LONGEST_TICKS.into() } else { 0 }
    }

    /// The longest time with interrupts masked, in cycles, on a kernel with these costs.
    pub fn masked_cycles(&self, costs: &KernelCosts) -> u64 {
        let held_off = self.held_off_ticks() * u64::from(self.cpu_hz) / u64::from(self.ticks_per_second.max(1));
        costs.masked_in(self.holds_frames(), self.handlers().count()) + held_off
    }

    /// Costs that kernel and board add, in ticks, rounded up.
    pub fn costs(&self, board: &Board) -> Costs {
        Costs {
            switching: board.switching(),
            miss: board.ticks_in(board.kernel.miss_cycles),
            masked: board.ticks_in(self.masked_cycles(&board.kernel)),
            late: board.rate().counts_in(board.enforcement_ns).ceil(),
            look: u64::from(board.ticks_per_second) / 2,
        }
    }

    /// Whether somebody holds frames.
    pub fn holds_frames(&self) -> bool {
        self.domains.iter().flat_map(|domain| &domain.caps).any(|cap| matches!(cap.object, Object::Frames(_)))
    }

    /// The memory that contains a physical address.
    pub fn memory_at(&self, physical: u32) -> Option<&Memory> {
        self.memories.iter().find(|memory| physical.wrapping_sub(memory.base) < memory.bytes)
    }

    /// All threads in the order of their numbers, each with its domain's number.
    pub fn threads(&self) -> impl Iterator<Item = (usize, &Thread)> {
        self.domains
            .iter()
            .enumerate()
            .flat_map(|(index, domain)| domain.threads.iter().map(move |thread| (index, thread)))
    }

    /// All gates in the order of their numbers, each with its domain's number.
    pub fn gates(&self) -> impl Iterator<Item = (usize, &Gate)> {
        self.domains.iter().enumerate().flat_map(|(index, domain)| domain.gates.iter().map(move |gate| (index, gate)))
    }

    /// All interrupt lines in the order of their numbers, each with its domain's number.
    pub fn interrupts(&self) -> impl Iterator<Item = (usize, &Interrupt)> {
        self.domains
            .iter()
            .enumerate()
            .flat_map(|(index, domain)| domain.interrupts.iter().map(move |line| (index, line)))
    }
}
