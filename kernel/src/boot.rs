//! From validated tables to running threads: every object is made from memory that is retyped for it, once.

use core::mem::{align_of, size_of};
use core::ptr::NonNull;

use abi::Kind;
use memory::frames::{Domain as Owner, FrameTable, FrameType, Purpose};
use protect::access::{self, AccessMap, Residence};
use protect::pctrie::{NODE_WORDS, Node, PcTrie, SHIFTS};
use protect::pmsav7::{Access, Data, MemType, REGIONS, RegionRegs, Span, cover};
use protect::slots::{RegionImage, Replacement, Slots, min_paged_slots};
use system::{Area, System, area};

use crate::arch::{Arch, Start};
use crate::frames::{FrameRange, physical};
use crate::kernel::{Kernel, MAX_RANGES};
use crate::objects::{
    Budget, Cap, Domain, FaultReport, Interrupt, Level, Life, MAX_AREAS, Notification, State, Thread,
};
use crate::queue::{MAX_THREADS, NONE, Ready, Times};
use crate::table::{Ref, Table};

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

/// What a kernel starts from.
pub struct Boot {
    /// The tables.
    pub tables: System<'static>,
    /// Memory for kernel objects: base and bytes.
    pub objects: (u32, u32),
    /// What the idle loop may access: its code and its stack.
    pub idle_regions: [(Span, Access, MemType); 2],
}

/// Hands out object memory from one end.
struct Pool {
    next: u32,
    end: u32,
}

impl Pool {
    /// Sets memory for `count` objects aside.
    fn reserve<A: Arch, T>(&mut self, arch: &mut A, count: usize) -> Result<Building<T>, BootError> {
        let base = self.next.next_multiple_of(align_of::<T>() as u32);
        let bytes = (size_of::<T>() * count) as u32;
        if bytes > self.end.saturating_sub(base) {
            return Err(BootError::NoMemory);
        }
        self.next = base + bytes;
        // SAFETY: the range is part of the object memory and `next` has moved past it, so it is handed out once.
        let first = unsafe { arch.object_memory(base, bytes).cast::<T>() };
        Ok(Building { first, made: 0, count })
    }

    /// Makes an array of objects.
    fn array<A: Arch, T>(
        &mut self,
        arch: &mut A,
        count: usize,
        mut make: impl FnMut(usize) -> Result<T, BootError>,
    ) -> Result<&'static mut [T], BootError> {
        let mut array = self.reserve(arch, count)?;
        for index in 0..count {
            array.push(make(index)?);
        }
        Ok(array.finish())
    }

    /// As [`Pool::array`], as a table.
    fn table<A: Arch, T>(
        &mut self,
        arch: &mut A,
        count: usize,
        mut make: impl FnMut(usize) -> Result<T, BootError>,
    ) -> Result<Table<T>, BootError> {
        let mut array = self.reserve(arch, count)?;
        for index in 0..count {
            array.push(make(index)?);
        }
        array.table()
    }
}

/// An array whose elements are made one after the other, in place: boot has little stack.
struct Building<T> {
    first: *mut T,
    made: usize,
    count: usize,
}

impl<T> Building<T> {
    fn push(&mut self, value: T) {
        assert!(self.made < self.count);
        // SAFETY: the memory was set aside for `count` elements, aligned for T.
        unsafe { self.first.add(self.made).write(value) };
        self.made += 1;
    }

    /// A reference to an element, made or yet to be made.
    fn find(&self, index: usize) -> Result<Ref<T>, BootError> {
        let first = NonNull::new(self.first).ok_or(BootError::NoMemory)?;
        if index >= self.count {
            return Err(BootError::BadTables);
        }
        // SAFETY: the memory was set aside for `count` elements, of which a table is made before anything runs.
        Ok(unsafe { Ref::new(first.add(index)) })
    }

    fn table(self) -> Result<Table<T>, BootError> {
        assert!(self.made == self.count);
        let first = NonNull::new(self.first).ok_or(BootError::NoMemory)?;
        // SAFETY: all elements were made; the memory is used for nothing else from now on.
        Ok(unsafe { Table::new(first, self.made) })
    }

    fn finish(self) -> &'static mut [T] {
        if self.made == 0 {
            return &mut [];
        }
        // SAFETY: `made` elements were written; the memory is used for nothing else from now on.
        unsafe { core::slice::from_raw_parts_mut(self.first, self.made) }
    }
}

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
        let mut pool = Pool { next: self.objects.0, end: self.objects.0 + self.objects.1 };
        let domains = self.domains(&mut arch, &mut pool)?;
        let budgets = pool.table(&mut arch, tables.count::<system::Budget>(), |i| Ok(new_budget(&tables.get(i))))?;
        let (levels, threads) = activations(&tables, &mut arch, &mut pool, &domains, &budgets)?;
        let mut kernel = Kernel {
            resume: levels.find(levels.len() - 1).ok_or(BootError::NoMemory)?,
            domains,
            levels,
            threads,
            budgets,
            notifications: pool.table(&mut arch, tables.count::<system::Notification>(), |i| {
                Ok(Notification::new(tables.get::<system::Notification>(i).initial))
            })?,
            interrupts: pool
                .array(&mut arch, tables.count::<system::Interrupt>(), |i| Ok(new_interrupt(&tables.get(i))))?,
            ranges: ranges(&tables, &mut arch, &mut pool)?,
            frames: self.frames(&mut arch, &mut pool)?,
            idle_image: self.idle_image()?,
            arch,
            tables,
            ready: Ready::new(),
            times: Times::new(),
            loaded: None,
            limit: 0,
            recheck: false,
            rearm: false,
            since: 0,
            armed: u64::MAX,
            ticks_per_second: tables.ticks_per_second(),
            awaited: 0,
            status: 0,
        };
        kernel.fill_domains();
        Ok(kernel)
    }

    fn domains<A: Arch>(&self, arch: &mut A, pool: &mut Pool) -> Result<Table<Domain>, BootError> {
        let tables = self.tables;
        let count = tables.count::<system::Domain>();
        if count > MAX_DOMAINS {
            return Err(BootError::TooMany);
        }
        let mut domains = pool.reserve(arch, count)?;
        for index in 0..count {
            let parts = Parts::new(&tables, index, arch, pool)?;
            domains.push(new_domain(&tables.get(index), parts));
        }
        domains.table()
    }

    /// Types all memory: what domains were given is theirs, the rest is untyped.
    fn frames<A: Arch>(&self, arch: &mut A, pool: &mut Pool) -> Result<&'static mut FrameTable<MAX_RANGES>, BootError> {
        let table = pool.array(arch, 1, |_| Ok(FrameTable::new()))?;
        let table: &'static mut FrameTable<MAX_RANGES> = table.first_mut().ok_or(BootError::NoMemory)?;
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

    fn idle_image(&self) -> Result<RegionImage, BootError> {
        let mut pinned = Pinned::default();
        for (span, access, memory) in self.idle_regions {
            pinned.push(span, access, memory)?;
        }
        Ok(*pinned.slots(0, 0, Replacement::BitPlru)?.image())
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

/// Room for memory that is mapped at run time, for each domain with paged memory.
const SPARE_NODES: usize = 3;
const SPARE_PIECES: usize = 8;

/// Most domains: their numbers must fit a trace record, and the supervisor's notification word.
pub const MAX_DOMAINS: usize = 32;

/// Pinned regions on their way into slots.
#[derive(Default)]
struct Pinned {
    regs: [Option<RegionRegs>; REGIONS],
    count: usize,
}

impl Pinned {
    /// Adds the registers that cover a range exactly.
    fn push(&mut self, span: Span, access: Access, memory: MemType) -> Result<(), BootError> {
        let mut regs = [RegionRegs::DISABLED; REGIONS];
        let count = cover(span, access, memory, &mut regs).map_err(|_| BootError::NotExact)?;
        for region in &regs[..count] {
            *self.regs.get_mut(self.count).ok_or(BootError::NoSlots)? = Some(*region);
            self.count += 1;
        }
        Ok(())
    }

    fn slots(&self, paged_needed: usize, most: u32, policy: Replacement) -> Result<Slots, BootError> {
        let mut regs = [RegionRegs::DISABLED; REGIONS];
        for (slot, region) in regs.iter_mut().zip(self.regs.iter().flatten()) {
            *slot = *region;
        }
        let slots = Slots::new(&regs[..self.count], paged_needed, policy).map_err(|_| BootError::NoSlots)?;
        match most {
            0 => Ok(slots),
            most => slots.limited(most as usize, paged_needed).map_err(|_| BootError::NoSlots),
        }
    }
}

/// What a domain needs memory for.
struct Parts {
    slots: Slots,
    trie: PcTrie<'static>,
    access: AccessMap<MAX_AREAS>,
    caps: &'static mut [Cap],
}

impl Parts {
    fn new<A: Arch>(tables: &System<'static>, index: usize, arch: &mut A, pool: &mut Pool) -> Result<Parts, BootError> {
        let entry: system::Domain = tables.get(index);
        let own = (entry.first_area..entry.first_area + entry.areas).map(|i| tables.get::<Area>(i as usize));
        let paged = own.clone().filter(|area| area.flags & area::PINNED == 0);
        let mut map = AccessMap::new();
        let mut pinned = Pinned::default();
        let (mut code_paged, mut data_paged, mut pieces, mut nodes) = (false, false, 0, 0);
        let whole = own.clone().filter(|area| area.disabled == 0);
        for area in whole.chain(own.filter(|area| area.disabled != 0)) {
            for run in runs(&area) {
                // Pointers into the pieces of an interleaved heap for which there is no room are refused.
                let full = map.insert(run).is_err();
                if full && area.disabled == 0 {
                    return Err(BootError::Areas);
                }
            }
            let (rights, memory) = decode(&area);
            if area.flags & area::PINNED != 0 {
                pinned.push(Span::new(area.base, u64::from(area.bytes)), rights, memory)?;
            } else {
                code_paged |= rights.exec;
                // Code holds constants, which are read as data.
                data_paged = true;
                let (own_pieces, own_nodes) = trie_needs(&area)?;
                pieces += own_pieces;
                nodes += own_nodes;
            }
        }
        let policy = replacement(entry.replacement)?;
        let slots = pinned.slots(min_paged_slots(code_paged, data_paged), entry.paged_slots, policy)?;
        // A node for the root, those in which an area's own regions part, and one for each area that parts from another.
        let (more_nodes, more_pieces) = if holds_frames(tables) { (SPARE_NODES, SPARE_PIECES) } else { (0, 0) };
        let nodes = if pieces == 0 { 0 } else { 1 + nodes + paged.clone().count() + more_nodes };
        let pieces = if pieces == 0 { 0 } else { pieces + more_pieces };
        let nodes = pool.array(arch, nodes, |_| -> Result<Node, BootError> { Ok([0; NODE_WORDS]) })?;
        let leaves = pool.array(arch, pieces, |_| Ok(RegionRegs::DISABLED))?;
        let mut trie = PcTrie::new(nodes, leaves);
        for area in paged {
            for_each_piece(&area, |regs| trie.insert(regs).map(|_| ()).map_err(|_| BootError::NoMemory))?;
        }
        let caps = pool.array(arch, entry.cap_slots as usize, |_| Ok(Cap::EMPTY))?;
        Ok(Parts { slots, trie, access: map, caps })
    }
}

/// Regions of a paged area, and the most trie nodes in which two of its keys part: no more than there are windows that the area
/// touches at the levels above its smallest key, and one less than it has keys (see `protect::pctrie`).
fn trie_needs(area: &Area) -> Result<(usize, usize), BootError> {
    let (mut pieces, mut keys, mut smallest) = (0, 0, u32::BITS);
    for_each_piece(area, |regs| {
        let parts = regs.srd() != 0;
        pieces += 1;
        keys += if parts { 8 } else { 1 };
        smallest = smallest.min(regs.size_log2() - if parts { 3 } else { 0 });
        Ok(())
    })?;
    let first = u64::from(area.base);
    let last = first + u64::from(area.bytes) - 1;
    let levels = SHIFTS.iter().map(|shift| shift + 6).filter(|window| *window > smallest);
    let windows: u64 = levels.map(|window| (last >> window) - (first >> window) + 1).sum();
    Ok((pieces, (windows as usize).min(keys - 1)))
}

/// The pieces of an area without a gap, as pointers are checked against them.
fn runs(entry: &Area) -> impl Iterator<Item = access::Area> + use<> {
    let whole = access_area(entry);
    let (disabled, eighth_log2) = if entry.disabled == 0 { (0, 32) } else { (entry.disabled, entry.page_log2 - 3) };
    let eighths = u64::from(entry.bytes).div_ceil(1 << eighth_log2) as u32;
    let enabled = (0..eighths).filter(move |index| disabled >> (index % 8) & 1 == 0);
    enabled.map(move |index| {
        let first = whole.first + ((u64::from(index)) << eighth_log2) as u32;
        let last = (u64::from(first) + (1 << eighth_log2) - 1).min(u64::from(whole.last)) as u32;
        access::Area { first, last, ..whole }
    })
}

/// An area as pointers are checked against it.
fn access_area(entry: &Area) -> access::Area {
    let residence = if entry.memory == area::DEVICE {
        Residence::Device
    } else if entry.flags & area::PINNED != 0 {
        Residence::Pinned
    } else {
        Residence::Paged
    };
    access::Area {
        first: entry.base,
        last: entry.base + (entry.bytes - 1),
        // The tables use the same bits.
        rights: (entry.flags & (area::READ | area::WRITE | area::EXECUTE)) as u8,
        residence,
    }
}

fn replacement(number: u32) -> Result<Replacement, BootError> {
    match number {
        system::replacement::BIT_PLRU => Ok(Replacement::BitPlru),
        system::replacement::ROUND_ROBIN => Ok(Replacement::RoundRobin),
        _ => Err(BootError::BadTables),
    }
}

/// Rights and memory type of an area.
fn decode(entry: &Area) -> (Access, MemType) {
    let data = if entry.flags & area::WRITE != 0 { Data::Rw } else { Data::Ro };
    let memory = match entry.memory {
        area::NORMAL => MemType::WriteBack,
        area::WRITE_THROUGH => MemType::WriteThrough,
        area::UNCACHED => MemType::NonCacheable,
        _ => MemType::Device,
    };
    (Access { data, exec: entry.flags & area::EXECUTE != 0 }, memory)
}

/// The regions of a paged area: of the page size where one is given, otherwise as large as they can be.
fn for_each_piece(area: &Area, mut each: impl FnMut(RegionRegs) -> Result<(), BootError>) -> Result<(), BootError> {
    let (access, memory) = decode(area);
    let end = u64::from(area.base) + u64::from(area.bytes);
    let mut base = u64::from(area.base);
    while base < end {
        // Up to the next page boundary, so that pages are aligned even where the area is not.
        let step = match area.page_log2 {
            0 => end - base,
            log2 => (base + 1).next_multiple_of(1 << log2).min(end) - base,
        };
        let mut regs = [RegionRegs::DISABLED; REGIONS];
        let span = Span::new(base as u32, step);
        let count = cover(span, access, memory, &mut regs).map_err(|_| BootError::NotExact)?;
        for region in &regs[..count] {
            // The tables give eighths only to areas that are made of whole regions.
            each(RegionRegs { rasr: region.rasr | area.disabled << 8, ..*region })?;
        }
        base += step;
    }
    Ok(())
}

fn new_domain(entry: &system::Domain, parts: Parts) -> Domain {
    Domain {
        slots: parts.slots,
        trie: parts.trie,
        access: parts.access,
        caps: parts.caps,
        life: Life::Stopped,
        epoch: 0,
        living: 0,
        restarts: 0,
        fault: FaultReport::default(),
        fault_notification: entry.fault_notification.checked_sub(1).map(|index| index as u16),
        awaited: entry.awaited != 0,
        info: entry.info,
        gate_return: entry.gate_return,
        generation: 0,
    }
}

/// Every level, and the threads.
type Activations<A> = (Table<Level<A>>, Table<Thread<A>>);

/// The threads, and all that they can be in.
fn activations<A: Arch>(
    tables: &System<'static>,
    arch: &mut A,
    pool: &mut Pool,
    domains: &Table<Domain>,
    budgets: &Table<Budget>,
) -> Result<Activations<A>, BootError> {
    let (count, gates) = (tables.count::<system::Thread>(), tables.count::<system::Gate>());
    let mut levels = pool.reserve::<A, Level<A>>(arch, count + gates + 1)?;
    let mut threads = pool.reserve::<A, Thread<A>>(arch, count)?;
    let domain = |number: u32| domains.find(number as usize).ok_or(BootError::BadTables);
    for index in 0..count {
        let entry: system::Thread = tables.get(index);
        let (thread, base) = (threads.find(index)?, levels.find(index)?);
        let budget = budgets.find(entry.budget as usize).ok_or(BootError::BadTables)?;
        levels.push(Level {
            tag: entry.domain << 8 | (index as u32) << 16,
            priority: entry.priority as u8,
            thread: Some(thread),
            ..new_level(domain(entry.domain)?)
        });
        threads.push(new_thread(&entry, index as u8, thread, base, budget));
    }
    for index in 0..gates {
        let entry: system::Gate = tables.get(index);
        let callee = domain(entry.domain)?;
        let start = Start {
            entry: entry.entry,
            link: domains.at(callee).gate_return,
            stack_base: entry.stack_base,
            stack_bytes: entry.stack_bytes,
            args: [0; 4],
        };
        let mut level = new_level(callee);
        level.entry = arch.entry(start);
        arch.fresh(&mut level.context, &level.entry);
        level.tag = entry.domain << 8;
        level.priority = entry.ceiling as u8;
        level.number = index as u32;
        level.bound = entry.bound.min(i32::MAX as u32) as i32;
        levels.push(level);
    }
    levels.push(Level { context: arch.idle(), ..new_level(domain(0)?) });
    Ok((levels.table()?, threads.table()?))
}

fn new_level<A: Arch>(domain: Ref<Domain>) -> Level<A> {
    Level {
        context: A::EMPTY,
        entry: A::NO_ENTRY,
        domain,
        thread: None,
        outer: None,
        epoch: 0,
        until: 0,
        tag: 0,
        priority: 0,
        disturbed: false,
        generation: 0,
        number: 0,
        bound: 0,
    }
}

fn new_thread<A: Arch>(
    entry: &system::Thread,
    number: u8,
    own: Ref<Thread<A>>,
    base: Ref<Level<A>>,
    budget: Ref<Budget>,
) -> Thread<A> {
    Thread {
        base,
        top: base,
        next: own,
        prev: own,
        budget,
        away: 0,
        number,
        queue: entry.priority as u8,
        state: State::Ended,
        next_throttled: NONE,
        pending: None,
        mask: 0,
        period: entry.period,
        release: 0,
        open: false,
        generation: 0,
    }
}

fn new_budget(entry: &system::Budget) -> Budget {
    let capacity = entry.capacity.min(i32::MAX as u32) as i32;
    Budget { period: entry.period, capacity, left: capacity, next: 0, waiting: NONE, generation: 0 }
}

fn new_interrupt(entry: &system::Interrupt) -> Interrupt {
    Interrupt { line: entry.line as u16, notification: entry.notification as u16, bits: entry.bits, generation: 0 }
}

impl<A: Arch> Kernel<A> {
    /// Initial data, capabilities and threads of every domain.
    fn fill_domains(&mut self) {
        for index in 0..self.domains.len() {
            let entry: system::Domain = self.tables.get(index);
            // SAFETY: the validated tables say that the ranges are the domain's own writable memory, and flash.
            unsafe {
                self.arch.copy(entry.data_base, entry.data_source, entry.data_bytes);
                self.arch.zero(entry.data_base + entry.data_bytes, entry.zero_bytes);
            }
            self.domains[index].life = Life::Running;
            self.awaited += u16::from(self.domains[index].awaited);
        }
        for record in self.tables.all::<system::Cap>() {
            self.install(record.domain as u8, &record);
        }
        for thread in 0..self.threads.len() {
            let entry: system::Thread = self.tables.get(thread);
            let domain = &mut self.domains[entry.domain as usize];
            domain.living += 1;
            self.init_thread(thread as u8, &entry);
            self.make_ready(thread as u8);
        }
    }

    /// Puts a thread that is in no queue at its entry; it is not ready yet.
    pub(crate) fn init_thread(&mut self, index: u8, entry: &system::Thread) {
        let domain = &self.domains[entry.domain as usize];
        let (epoch, info, restarts) = (domain.epoch, domain.info, domain.restarts);
        let start = Start {
            entry: entry.entry,
            link: 0,
            stack_base: entry.stack_base,
            stack_bytes: entry.stack_bytes,
            args: [info, entry.argument, u32::from(restarts), 0],
        };
        let record = &mut self.threads[usize::from(index)];
        record.pending = None;
        record.release = 0;
        record.open = false;
        let level = self.levels.at_mut(record.base);
        // SAFETY: the tables guarantee that the stack is pinned memory of the domain; no activation of the thread is alive.
        unsafe { self.arch.prepare(&mut level.context, start) };
        level.epoch = epoch;
    }

    /// Chooses the first thread and starts the clock.
    pub fn start(&mut self) {
        let now = self.arch.now();
        self.since = now;
        self.arm_before(now + u64::from(self.ticks_per_second / 2));
        for budget in self.budgets.iter_mut() {
            budget.next = now + u64::from(budget.period);
        }
        self.arch.load_image(&self.idle_image);
        self.recheck = true;
        self.dispatch();
    }
}
