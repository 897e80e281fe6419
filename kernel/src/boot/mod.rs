//! From validated tables to running threads: every object is made from memory that is set aside for it, once.

mod pool;
mod records;
mod start;

use core::mem::{align_of, size_of};

pub use abi::BootError;
use abi::trace::{Event, IDLE, header, status_at_end};
use memory::frames::{Chunk, Domain as Owner, FrameTable, FrameType, Place, Purpose};
use system::NotExact;
use system::objects::{self, Size, Sizes, held_ranges, holds_frames};
use system::{Area, Section, System, area};
use units::{Bytes, Instant, PhysAddr, PhysRange};

use crate::alarm::Alarm;
use crate::arch::{Arch, Len, Phys};
use crate::arch::{BootContext, Protection, Shared};
pub use crate::boot::pool::Pool;
use crate::boot::records::{activations, new_budget, new_interrupt};
use crate::kernel::Kernel;
use crate::objects::{Activation, Budget, Cap, Domain, FaultReport, Interrupt, Life, Notification, Thread};
use crate::queue::{Entry, Ready, Times};
use crate::ranges::{self, FrameRange, Marks};
use crate::ranks::{MAX_THREADS, Ranks};
use crate::slice::Slice;
use crate::table::{Ref, Table};
pub use system::objects::Words as SizeWords;

pub(crate) const fn not_exact(_: NotExact) -> BootError {
    BootError::NotExact
}

/// Says on the trace port why the kernel stops for good, whatever state it is in; the status with which the run ends. Without an error it went
/// wrong, at about `pc` (0: unknown); otherwise it does not start. Inline, because not all code need be mapped yet.
///
/// # Safety
/// It is the kernel's trace port, and the kernel does not go on.
#[inline(always)]
pub unsafe fn stopped(port: *mut [u32; 2], error: Option<BootError>, pc: u32) -> u32 {
    let last = header(Event::KernelFailed, IDLE, error.map_or(0, |error| error as u16));
    let words = port.cast::<u32>();
    // SAFETY: the port has two words, which the caller says are the kernel's.
    unsafe {
        words.write_volatile(pc);
        words.add(1).write_volatile(last);
    }
    status_at_end(last, pc).unwrap_or(u32::MAX)
}

/// Input from which a kernel starts.
pub struct Boot<A: Arch> {
    /// The tables.
    pub tables: System<'static>,
    /// Memory for kernel objects: base and bytes.
    pub objects: (Phys<A>, Len<A>),
    /// Memory that the idle loop may access.
    pub idle: <A::Protection as Protection<A>>::Idle,
}

/// The domains, and one more for the idle loop, which the table does not hold.
type Domains<A> = (Table<Domain<A>>, Ref<Domain<A>>);

impl<A: Arch> Boot<A> {
    /// Makes the kernel and all its objects.
    ///
    /// # Errors
    /// [`BootError`]; nothing has run then.
    ///
    /// # Time complexity
    /// Linear in the tables and the memory to initialise; runs once, before anything that has a deadline.
    pub fn kernel(self, mut arch: A) -> Result<Kernel<A>, BootError> {
        let tables = self.tables;
        let count = tables.count::<system::Thread>();
        if count > MAX_THREADS || tables.count::<system::Budget>() > MAX_THREADS {
            return Err(BootError::TooMany);
        }
        // Low words of times are trusted for 2^30 ticks, so `Kernel::sweep` must have looked at
        // every budget by then. It looks at one in three quarters of a second at least.
        let turn = (MAX_THREADS as u64 + 1) * u64::from(tables.ticks_per_second()) * 3 / 4;
        if turn > u64::from(sched::budget::Budget::FRESH) {
            return Err(BootError::BadTables);
        }
        let mut pool = self.pool()?;
        let mut shared = A::Protection::shared(&mut pool)?;
        let (domains, idle) = self.domains(&mut arch, &mut shared, &mut pool)?;
        let mut budgets = pool.table(&mut arch, tables.count::<system::Budget>(), |i| new_budget(&tables.get(i)))?;
        for thread in tables.all::<system::Thread>() {
            let priority = &mut budgets[thread.budget as usize].priority;
            *priority = (*priority).min(thread.priority as u8);
        }
        let switching = tables.switching();
        let (activations, mut threads) = activations(&tables, &mut arch, &mut pool, &domains, idle, &budgets)?;
        let ranks = Ranks::new(count, |thread| tables.get::<system::Thread>(thread).priority as u8);
        for rank in 0..count as u8 {
            threads[usize::from(ranks.thread(rank))].rank = rank;
        }
        let notifications = pool.table(&mut arch, tables.count::<system::Notification>(), |i| {
            Ok(Notification::new(tables.get::<system::Notification>(i).initial))
        })?;
        let idle = activations.find(activations.len() - 1).ok_or(BootError::NoMemory)?;
        let mut kernel = Kernel {
            domains,
            activations,
            threads,
            budgets,
            interrupts: pool.array(&mut arch, tables.count::<system::Interrupt>(), |i| {
                new_interrupt(&tables.get(i), &notifications)
            })?,
            notifications,
            times: Times::new(
                pool.table(&mut arch, count + tables.count::<system::Budget>(), |_| Ok(Entry::NONE))?,
                count as u8,
            ),
            ranks,
            ranges: ranges(&tables, &mut arch, &mut pool)?,
            frames: self.frames(&mut arch, &mut pool)?,
            edit: None,
            shared,
            resume: idle,
            slice: Slice::new(),
            alarm: Alarm::new(),
            recheck: false,
            arch,
            since: 0,
            entered: None,
            ready: Ready::new(),
            tables,
            path: switching.path(),
            early: switching.early,
            yielding: switching.yielding(),
            activation: switching.activation(),
            slack: switching.activation() + tables.overrun(),
            sweep_at: Instant::of(0),
            sweep_next: 0,
            ticks_per_second: tables.ticks_per_second(),
            awaited: 0,
            status: 0,
        };
        if !pool.is_empty() {
            return Err(BootError::OtherMemory);
        }
        kernel.fill_domains()?;
        Ok(kernel)
    }

    /// Takes exactly as much memory as the objects need. The host has computed the same, and a
    /// difference would mean that the two count differently.
    fn pool(&self) -> Result<Pool<A>, BootError> {
        let (base, bytes) = self.objects;
        let word = base.wide().to_u32().ok_or(BootError::OtherMemory)?;
        let needs = objects::needs::<<A::Protection as Protection<A>>::Scheme>(&self.tables, &sizes::<A>(), word)
            .map_err(not_exact)?;
        let taken = Bytes(needs.end - u64::from(word));
        if taken > bytes.wide() {
            return Err(BootError::NoMemory);
        }
        Ok(Pool::new(base, Bytes::narrow(taken)))
    }

    fn domains(&self, arch: &mut A, shared: &mut Shared<A>, pool: &mut Pool<A>) -> Result<Domains<A>, BootError> {
        let tables = self.tables;
        if tables.scheme() != <A::Protection as Protection<A>>::Scheme::SCHEME {
            return Err(BootError::BadTables);
        }
        let count = tables.count::<system::Domain>();
        if count > abi::MAX_DOMAINS {
            return Err(BootError::TooMany);
        }
        let mut domains = pool.reserve(arch, count)?;
        for index in 0..count {
            let entry: system::Domain = tables.get(index);
            if A::Protection::set_aside(&tables, index).any(|part| self.is_objects(part)) {
                return Err(BootError::BadTables);
            }
            let protection = A::Protection::make(&mut BootContext { arch, shared, pool, tables: &tables }, index)?;
            let caps = pool.array(arch, entry.cap_slots as usize, |_| Ok(Cap::EMPTY))?;
            domains.push(domain(&entry, protection, caps));
        }
        let mut idle = pool.reserve(arch, 1)?;
        idle.push(idle_domain(A::Protection::idle(shared, &self.idle)?));
        Ok((domains.table()?, idle.find(0)?))
    }

    /// Returns true if a range overlaps the memory for kernel objects: tables that a domain's
    /// memory was set aside for must not lie there.
    fn is_objects(&self, (base, bytes): (Phys<A>, Len<A>)) -> bool {
        let (first, size) = self.objects;
        PhysRange::at(base, bytes).overlaps(PhysRange::at(first, size))
    }

    /// Clears all that domains begin with, but for constants, and all that they can map: it may
    /// hold what another system left there before boot. Types all memory, if any domain holds
    /// frames.
    fn frames(&self, arch: &mut A, pool: &mut Pool<A>) -> Result<FrameTable<'static>, BootError> {
        let count = FrameTable::chunks_for(objects::marks(&self.tables));
        let chunks = pool.array(arch, count, |_| Ok(Chunk::EMPTY))?;
        let places = pool.array(arch, count, |_| Ok(Place::EMPTY))?;
        let mut table = FrameTable::new(chunks, places).ok_or(BootError::TooMany)?;
        if holds_frames(&self.tables) {
            self.types(&mut table)?;
        }
        for entry in self.tables.all::<Area>().filter(|entry| entry.flags & area::CLEAR != 0) {
            // Handlers' memory may be Non-secure already; then the kernel finds it at the handlers'
            // address only.
            let place = if entry.flags & area::OPEN == 0 { entry.physical } else { entry.base };
            // SAFETY: memory of domains alone, as the validated tables say, and none of them has begun.
            unsafe { arch.zero(place.into(), entry.bytes.into()) };
        }
        for range in held_ranges(&self.tables) {
            clear_unused(arch, &table, PhysRange::at(PhysAddr(range.base), Bytes(range.bytes)));
        }
        Ok(table)
    }

    /// Types all memory: what domains were given is theirs, the rest is untyped.
    fn types(&self, table: &mut FrameTable<'_>) -> Result<(), BootError> {
        for entry in self.tables.all::<system::Frames>() {
            let range = PhysRange::at(PhysAddr(entry.base), Bytes(entry.bytes));
            table.add(range, true).map_err(|_| BootError::TooMany)?;
            if entry.marks > 0 {
                table.fence(range).map_err(|_| BootError::TooMany)?;
            }
            if entry.kind == system::frames::KERNEL {
                table.retype(range, Purpose::Kernel).map_err(|_| BootError::TooMany)?;
                table.place_object(range).map_err(|_| BootError::TooMany)?;
            }
        }
        for entry in self.tables.all::<Area>() {
            let range = PhysRange::at(PhysAddr(entry.physical), Bytes(entry.bytes));
            let owner = Owner(entry.domain as u16);
            // The heaps of several domains can be interleaved in one range, which is typed once.
            let shared = entry.flags & (area::SHARED | area::WOVEN) != 0;
            let purpose = if shared { Purpose::Shared } else { Purpose::User(owner) };
            let typed = table.at(range.base()).is_some_and(|found| found.kind == FrameType::Typed(purpose));
            if !(shared && typed) {
                table.retype(range, purpose).map_err(|_| BootError::Areas)?;
            }
            table.map(range, owner).map_err(|_| BootError::Areas)?;
        }
        Ok(())
    }
}

fn clear_unused<A: Arch>(arch: &mut A, table: &FrameTable<'_>, range: PhysRange) {
    let unused = table.entries().filter(|entry| matches!(entry.kind, FrameType::Untyped));
    for part in unused.filter_map(|entry| entry.range.common(range)) {
        // SAFETY: memory that nobody uses yet, which is no object of the kernel.
        unsafe { arch.zero(PhysAddr::narrow(part.base()), Bytes::narrow(part.size())) };
    }
}

fn domain<A: Arch>(entry: &system::Domain, protection: A::Protection, caps: &'static mut [Cap]) -> Domain<A> {
    Domain {
        protection,
        caps,
        life: Life::Stopped,
        epoch: 0,
        living: 0,
        restarts: 0,
        fault: FaultReport::default(),
        fault_notification: entry.fault_notification.checked_sub(1).map(|index| index as u16),
        awaited: entry.awaited != 0,
        info: entry.info.into(),
        gate_return: entry.gate_return.into(),
        generation: 0,
    }
}

fn idle_domain<A: Arch>(protection: A::Protection) -> Domain<A> {
    Domain { life: Life::Running, ..domain(&system::Domain::default(), protection, &mut []) }
}

fn ranges<A: Arch>(
    tables: &System<'static>,
    arch: &mut A,
    pool: &mut Pool<A>,
) -> Result<&'static mut [FrameRange<A::Width>], BootError> {
    let given = if holds_frames(tables) { tables.count::<system::Frames>() } else { 0 };
    let ranges = pool.array(arch, given, |index| {
        let entry: system::Frames = tables.get(index);
        let marks = Marks { most: entry.marks.min(objects::MAX_MARKS as u32) as i32, used: 0 };
        Ok(FrameRange { base: entry.base.into(), bytes: entry.bytes.into(), generation: 0, ordered: 0, marks })
    })?;
    ranges::order(ranges);
    Ok(ranges)
}

/// Memory of one object of each kind on a processor. The image holds it for the host: [`objects::SYMBOL`].
pub const fn sizes<A: Arch>() -> Sizes {
    const fn of<T>() -> Size {
        Size { bytes: size_of::<T>() as u32, align: align_of::<T>() as u32 }
    }
    Sizes::new([
        A::Protection::LEAF,
        A::Protection::NODE,
        of::<Domain<A>>(),
        of::<Cap>(),
        of::<Budget>(),
        of::<Activation<A>>(),
        of::<Thread<A>>(),
        of::<Notification<A>>(),
        of::<Interrupt<A>>(),
        of::<Entry>(),
        of::<FrameRange<A::Width>>(),
        of::<Chunk>(),
        of::<Place>(),
    ])
}
