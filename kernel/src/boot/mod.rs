//! From validated tables to running threads: every object is made from memory that is set aside for it, once.

mod domain;
mod pool;
mod records;
mod start;

use abi::Kind;
use memory::frames::{Chunk, Domain as Owner, FrameTable, FrameType, Purpose};
use protect::pctrie::{LEAF_BYTES, NODE_BYTES, Trie};
use protect::pmsav7::{Access, MemType, Span, encode_one};
use protect::slots::{Replacement, Slots};
use system::regions::{self, NotExact};
use system::{Area, System, area};

use crate::arch::Arch;
use crate::boot::domain::Pinned;
use crate::boot::pool::Pool;
use crate::boot::records::{activations, new_budget, new_interrupt};
use crate::frames::{FrameRange, physical};
use crate::kernel::{Kernel, MAX_MARKS};
use crate::nodes::NodeMemory;
use crate::objects::{Cap, Domain, Notification};
use crate::queue::{MAX_THREADS, Ready, Times};
use crate::table::{Ref, Table};

/// Alignment of a table's nodes.
pub(crate) const NODE_ALIGN: u32 = 32;

/// Most domains: their numbers must fit a trace record, and the supervisor's notification word.
pub const MAX_DOMAINS: usize = 32;

/// Why the kernel does not start. The number is part of the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BootError {
    /// No tables where the image says they are.
    NoTables = 1,
    /// The tables were rejected.
    BadTables = 2,
    /// The kernel's object memory is too small for the tables.
    NoMemory = 3,
    /// More threads or budgets than the queues hold.
    TooMany = 4,
    /// An area cannot be expressed exactly by region registers.
    NotExact = 5,
    /// A domain pins more regions than there are registers, or leaves too few for its paged areas.
    NoSlots = 6,
    /// Two areas of a domain overlap, or it has too many.
    Areas = 7,
}

impl From<NotExact> for BootError {
    fn from(_: NotExact) -> BootError {
        BootError::NotExact
    }
}

/// What a kernel starts from.
pub struct Boot {
    /// The tables.
    pub tables: System<'static>,
    /// Memory for kernel objects: base and bytes.
    pub objects: (u32, u32),
    /// What the idle loop may access: its code and its stack.
    pub idle_regions: [(Span, Access, MemType); 2],
}

/// The domains, and one more for the idle loop, which the table does not hold.
type Domains<A> = (Table<Domain<A>>, Ref<Domain<A>>);

impl Boot {
    /// Makes the kernel and all its objects.
    ///
    /// # Errors
    /// [`BootError`]; nothing has run then.
    ///
    /// # Time complexity
    /// Linear in the tables and the memory to initialise; runs once, before anything that has a deadline.
    pub fn kernel<A: Arch>(self, mut arch: A) -> Result<Kernel<A>, BootError> {
        let tables = self.tables;
        let threads = tables.count::<system::Thread>();
        if threads > MAX_THREADS || tables.count::<system::Budget>() > MAX_THREADS {
            return Err(BootError::TooMany);
        }
        let mut pool = Pool::new(self.objects.0, self.objects.1);
        let (domains, idle) = self.domains(&mut arch, &mut pool)?;
        let budgets = pool.table(&mut arch, tables.count::<system::Budget>(), |i| new_budget(&tables.get(i)))?;
        let (levels, threads) = activations(&tables, &mut arch, &mut pool, &domains, idle, &budgets)?;
        let notifications = pool.table(&mut arch, tables.count::<system::Notification>(), |i| {
            Ok(Notification::new(tables.get::<system::Notification>(i).initial))
        })?;
        let mut kernel = Kernel {
            resume: levels.find(levels.len() - 1).ok_or(BootError::NoMemory)?,
            domains,
            levels,
            threads,
            budgets,
            interrupts: pool.array(&mut arch, tables.count::<system::Interrupt>(), |i| {
                new_interrupt(&tables.get(i), &notifications)
            })?,
            notifications,
            ranges: ranges(&tables, &mut arch, &mut pool)?,
            frames: self.frames(&mut arch, &mut pool)?,
            edit: None,
            arch,
            tables,
            ready: Ready::new(),
            times: Times::new(),
            limit: 0,
            recheck: false,
            rearm: false,
            since: 0,
            armed: 0,
            ticks_per_second: tables.ticks_per_second(),
            awaited: 0,
            status: 0,
        };
        kernel.fill_domains();
        Ok(kernel)
    }

    fn domains<A: Arch>(&self, arch: &mut A, pool: &mut Pool) -> Result<Domains<A>, BootError> {
        let tables = self.tables;
        let count = tables.count::<system::Domain>();
        if count > MAX_DOMAINS {
            return Err(BootError::TooMany);
        }
        let nowhere = pool.take(LEAF_BYTES, LEAF_BYTES)?;
        NodeMemory::<A>::new(nowhere).prepare();
        let mut domains = pool.reserve(arch, count)?;
        for index in 0..count {
            let entry: system::Domain = tables.get(index);
            let mut trie = Trie::empty(NodeMemory::new(nowhere));
            if entry.table_bytes == 0 {
                let own = regions::areas_of(&tables, &entry);
                let nodes = regions::table_nodes(own, regions::can_be_mapped(&tables, index))?;
                // A node at a time: the memory need not be in one piece.
                for _ in 0..nodes {
                    trie.give_node(pool.take(NODE_BYTES, NODE_ALIGN)?);
                }
            }
            let (objects, end) = (self.objects.0, self.objects.0 + self.objects.1);
            if entry.table_bytes > 0 && entry.table_base < end && objects < entry.table_base + entry.table_bytes {
                return Err(BootError::BadTables);
            }
            for number in 0..entry.table_bytes / NODE_BYTES {
                trie.give_node(entry.table_base + number * NODE_BYTES);
            }
            let caps = pool.array(arch, entry.cap_slots as usize, |_| Ok(Cap::EMPTY))?;
            domains.push(domain::make(&tables, index, trie, caps)?);
        }
        let mut idle = pool.reserve(arch, 1)?;
        idle.push(domain::idle(self.idle_slots()?, Trie::empty(NodeMemory::new(nowhere))));
        Ok((domains.table()?, idle.find(0)?))
    }

    /// Types all memory: what domains were given is theirs, the rest is untyped.
    fn frames<A: Arch>(&self, arch: &mut A, pool: &mut Pool) -> Result<FrameTable<'static>, BootError> {
        // What does not change has two marks for each range.
        let ranges = self.tables.count::<system::Frames>() + self.tables.count::<Area>();
        let marks = if holds_frames(&self.tables) { MAX_MARKS } else { 2 * ranges + 1 };
        let chunks = pool.array(arch, FrameTable::chunks_for(marks), |_| Ok(Chunk::EMPTY))?;
        let mut table = FrameTable::new(chunks).ok_or(BootError::TooMany)?;
        for entry in self.tables.all::<system::Frames>() {
            let range = physical(entry.base, entry.bytes).ok_or(BootError::BadTables)?;
            // Memory is taken to be clear at reset; see CAVEATS.md.
            table.add(range, true).map_err(|_| BootError::TooMany)?;
            if entry.kind == system::frames::KERNEL {
                table.retype(range, Purpose::Kernel).map_err(|_| BootError::TooMany)?;
                table.place_object(range).map_err(|_| BootError::TooMany)?;
            }
        }
        for entry in self.tables.all::<Area>() {
            let range = physical(entry.base, entry.bytes).ok_or(BootError::BadTables)?;
            let owner = Owner(entry.domain as u16);
            // Interleaved heaps are typed together.
            let shared = entry.flags & area::SHARED != 0 || entry.disabled != 0;
            let purpose = if shared { Purpose::Shared } else { Purpose::User(owner) };
            let typed = table.at(range.base()).is_some_and(|found| found.kind == FrameType::Typed(purpose));
            if !(shared && typed) {
                table.retype(range, purpose).map_err(|_| BootError::Areas)?;
            }
            table.map(range, owner).map_err(|_| BootError::Areas)?;
        }
        Ok(table)
    }

    fn idle_slots(&self) -> Result<Slots, BootError> {
        let mut pinned = Pinned::default();
        for (span, access, memory) in self.idle_regions {
            pinned.push(encode_one(span, access, memory).map_err(|_| BootError::NotExact)?)?;
        }
        Slots::new(pinned.regions(), 0, Replacement::RoundRobin).map_err(|_| BootError::NoSlots)
    }
}

/// Ranges that capabilities can name, where there are any.
fn ranges<A: Arch>(
    tables: &System<'static>,
    arch: &mut A,
    pool: &mut Pool,
) -> Result<&'static mut [FrameRange], BootError> {
    let given = if holds_frames(tables) { tables.count::<system::Frames>() } else { 0 };
    pool.array(arch, given, |index| {
        let entry: system::Frames = tables.get(index);
        Ok(FrameRange { base: entry.base, bytes: entry.bytes, generation: 0 })
    })
}

/// Whether any domain can map memory at run time.
fn holds_frames(tables: &System<'static>) -> bool {
    tables.all::<system::Cap>().any(|cap| cap.kind == Kind::Frames as u32)
}
