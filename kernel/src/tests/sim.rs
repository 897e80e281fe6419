//! A simulated processor: time is set by the test, contexts hold what a thread asked for and what it was told.

use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::boxed::Box;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::vec::Vec;

use abi::Call;
use abi::trace::{Event, IDLE};
use protect::pmsav7::RegionRegs;
use protect::slots::RegionImage;
use system::build::Builder;
use system::{Area, Budget, Cap, Domain, Frames, Gate, Interrupt, Notification, System, Thread, area, frames, policy};

use crate::arch::{Arch, RegionArch, Request, Start};
use crate::boot::Boot;
use crate::objects::{self, Level};
use crate::regions::Regions;
use crate::{Kernel, NOBODY};

#[derive(Clone, Copy, Debug, Default)]
pub struct SimContext {
    pub start: Option<Start>,
    pub request: Request,
    pub response: Option<(u32, [u32; 2])>,
    pub repeated: u32,
    /// The call is to be made again.
    pub again: bool,
}

#[derive(Default)]
pub struct Sim {
    pub now: u64,
    /// Shortest delay of the timer.
    pub shortest: u64,
    pub timer: Option<u64>,
    pub trace: Vec<(u32, u32)>,
    pub memory: BTreeMap<u32, u8>,
    pub masked: BTreeMap<u32, bool>,
    pub loaded: [u32; 16],
    pub ended: Option<u32>,
    /// Nothing that is quicker than the general system call is tried.
    pub long_way: bool,
    /// A call that is made in steps is left after each.
    pub stepwise: bool,
    /// System calls so far.
    pub calls: u64,
    /// Of these, not refused, by number.
    pub taken: BTreeMap<u32, u64>,
    /// Memory of the kernel's objects, for [`release`].
    pub blocks: Vec<(*mut u8, Layout)>,
}

// SAFETY: object memory is leaked from the heap, so nobody else uses it; the rest only records.
unsafe impl Arch for Sim {
    type Context = SimContext;
    type Entry = Option<Start>;
    type Protection = Regions<Sim>;
    const NO_ENTRY: Option<Start> = None;
    const EMPTY: SimContext = SimContext {
        start: None,
        request: Request { number: 0, args: [0; 4] },
        response: None,
        repeated: 0,
        again: false,
    };

    fn now(&mut self) -> u64 {
        self.now
    }
    const SHORT: u32 = 250;
    fn arm_timer(&mut self, at: u32) {
        let delay = i64::from(at.wrapping_sub(self.now as u32) as i32);
        self.timer = Some(self.now.wrapping_add_signed(delay).max(self.now + self.shortest));
    }
    fn arm_timer_in(&mut self, delay: u32) {
        assert!(delay > Self::SHORT);
        self.timer = Some(self.now + u64::from(delay));
    }
    fn ticks(&mut self) -> u32 {
        self.now as u32
    }
    unsafe fn prepare(&mut self, context: &mut SimContext, start: Start) {
        *context = SimContext { start: Some(start), ..Self::EMPTY };
    }
    fn idle(&mut self) -> SimContext {
        Self::EMPTY
    }
    fn entry(&self, _: &mut SimContext, start: Start) -> Option<Start> {
        Some(start)
    }
    fn introduce(entry: &mut Option<Start>, badge: u32) {
        entry.as_mut().unwrap().args[0] = badge;
    }
    unsafe fn enter(&mut self, context: &mut SimContext, entry: &Option<Start>, args: [u32; 4]) {
        *context = SimContext { start: entry.map(|start| Start { args, ..start }), ..Self::EMPTY };
    }
    fn request(&self, context: &SimContext) -> Request {
        context.request
    }
    fn respond<const N: usize>(&mut self, context: &mut SimContext, status: u32, values: [u32; N]) {
        context.response = Some((status, core::array::from_fn(|index| values.get(index).copied().unwrap_or(0))));
        context.again = false;
    }
    fn repeat(&mut self, context: &mut SimContext) {
        context.repeated += 1;
        context.again = true;
    }
    fn trace(&mut self, header: u32, payload: u32) {
        self.trace.push((header, payload));
    }
    fn unmask(&mut self, line: u32) {
        self.masked.insert(line, false);
    }
    fn mask(&mut self, line: u32) {
        self.masked.insert(line, true);
    }
    unsafe fn copy(&mut self, dst: u32, src: u32, bytes: u32) {
        for offset in 0..bytes {
            let byte = self.memory.get(&(src + offset)).copied().unwrap_or(0);
            self.memory.insert(dst + offset, byte);
        }
    }
    unsafe fn zero(&mut self, dst: u32, bytes: u32) {
        for offset in 0..bytes {
            self.memory.insert(dst + offset, 0);
        }
    }
    unsafe fn object_memory(&mut self, _: u32, bytes: u32) -> *mut u8 {
        let layout = Layout::from_size_align(2 * bytes as usize + 4096, 64).unwrap();
        // SAFETY: the layout is not empty. Twice the size, because pointers are wider here than on the chip.
        let block = unsafe { alloc_zeroed(layout) };
        self.blocks.push((block, layout));
        block
    }
    fn end(&mut self, status: u32) {
        self.ended = Some(status);
    }
}

// SAFETY: it only records.
unsafe impl RegionArch for Sim {
    fn load_image(&mut self, image: &RegionImage) {
        self.loaded = core::array::from_fn(|index| image.words().nth(index).unwrap());
    }
    fn load_slot(&mut self, region: RegionRegs) {
        let slot = region.rbar as usize & 7;
        self.loaded[2 * slot] = region.rbar;
        self.loaded[2 * slot + 1] = region.rasr;
    }
    unsafe fn kernel_memory(at: u32) -> *mut u8 {
        const PAGE: u32 = 4096;
        thread_local! {
            /// Memory of tables: pages of 64-bit words, so that it is aligned, which stay where they are.
            static PAGES: RefCell<BTreeMap<u32, Box<[u64; PAGE as usize / 8]>>> = RefCell::default();
        }
        PAGES.with_borrow_mut(|pages| {
            let page = pages.entry(at / PAGE).or_insert_with(|| Box::new([u64::MAX; PAGE as usize / 8]));
            page.as_mut_ptr().cast::<u8>().wrapping_add((at % PAGE) as usize)
        })
    }
}

pub const PERIOD: u32 = 25_000;
pub const CAPACITY: u32 = 5_000;
pub const BOUND: u32 = 500;

/// Handles in the caller's and the callee's tables.
pub const GATE: u32 = 0;
pub const WORD: u32 = 1;
pub const PEER: u32 = 2;
pub const LINE: u32 = 3;

/// Threads of the sample.
pub const CALLER: u8 = 0;
pub const OTHER: u8 = 1;
pub const SERVANT: u8 = 2;

/// Two domains. Domain 0: CALLER (priority 3) and OTHER (priority 5). Domain 1: SERVANT (priority 4, periodic) and a gate with
/// ceiling 2.
pub fn sample() -> Builder {
    let code = |domain: u32, base: u32| Area {
        domain,
        base,
        bytes: 0x1000,
        flags: area::READ | area::EXECUTE | area::PINNED,
        memory: area::WRITE_THROUGH,
        page_log2: 0,
        disabled: 0,
        physical: 0,
    };
    let data = |domain: u32, base: u32| Area {
        domain,
        base,
        bytes: 0x1000,
        flags: area::READ | area::WRITE | area::PINNED,
        memory: area::NORMAL,
        page_log2: 0,
        disabled: 0,
        physical: 0,
    };
    let domain = |first_area: u32, base: u32| Domain {
        data_base: base + 0xc00,
        data_source: 0x20_4000,
        data_bytes: 64,
        zero_bytes: 256,
        info: 0x20_0000 + first_area * 0x800,
        gate_return: 0x20_0101 + first_area * 0x800,
        policy: policy::RESTART,
        cap_slots: 6,
        first_area,
        areas: 2,
        awaited: 1,
        fault_notification: 0,
        paged_slots: 0,
        replacement: 0,
        nodes: 0,
        table_base: 0,
        table_bytes: 0,
        root: 0,
        far_base: 0,
        far_bytes: 0,
    };
    let thread = |domain: u32, offset: u32, priority: u32, budget: u32| Thread {
        domain,
        entry: 0x20_0101 + domain * 0x1000,
        stack_base: 0x2002_0000 + domain * 0x1000 + offset,
        stack_bytes: 0x400,
        priority,
        budget,
        ..Thread::default()
    };
    let cap = |domain, slot, kind, object| Cap { domain, slot, kind, object, rights: 7, badge: 40 + domain };
    Builder {
        ticks_per_second: 25_000_000,
        cpu_hz: 216_000_000,
        frames: vec![
            Frames { base: 0x20_0000, bytes: 0x20_0000, kind: frames::ROM },
            Frames { base: 0x2000_0000, bytes: 0x1000, kind: frames::KERNEL },
            Frames { base: 0x2002_0000, bytes: 0x6_0000, kind: frames::USER },
        ],
        domains: vec![domain(0, 0x2002_0000), domain(2, 0x2002_1000)],
        areas: vec![code(0, 0x20_0000), data(0, 0x2002_0000), code(1, 0x20_1000), data(1, 0x2002_1000)],
        budgets: vec![
            Budget { period: PERIOD, capacity: CAPACITY, misses: 0 },
            Budget { period: PERIOD, capacity: CAPACITY, misses: 0 },
        ],
        threads: vec![
            thread(0, 0, 3, 0),
            thread(0, 0x400, 5, 1),
            Thread { period: PERIOD, deadline: PERIOD, ..thread(1, 0, 4, 1) },
        ],
        gates: vec![Gate {
            domain: 1,
            entry: 0x20_1201,
            stack_base: 0x2002_1400,
            stack_bytes: 0x400,
            ceiling: 2,
            bound: BOUND,
        }],
        notifications: vec![Notification { initial: 0 }],
        interrupts: vec![Interrupt { line: 9, notification: 0, bits: 4 }],
        caps: vec![
            cap(0, GATE, 4, 0),
            cap(0, WORD, 5, 0),
            cap(0, PEER, 1, 1),
            cap(0, LINE, 6, 0),
            cap(1, WORD, 5, 0),
            cap(1, PEER, 1, 0),
        ],
    }
}

/// Boots a system and lets the first thread run.
pub fn boot(builder: &Builder) -> Kernel<Sim> {
    boot_with(builder, Sim { now: 1000, ..Sim::default() })
}

/// As [`boot`], on a processor in a given state.
pub fn boot_with(builder: &Builder, processor: Sim) -> Kernel<Sim> {
    let mut kernel = try_boot(builder, processor).unwrap();
    kernel.start();
    kernel
}

/// Makes the kernel, or says why it does not start.
pub fn try_boot(builder: &Builder, processor: Sim) -> Result<Kernel<Sim>, crate::boot::BootError> {
    let words: &'static [u32] = Vec::leak(builder.encode().unwrap());
    let tables = System::parse(words).unwrap();
    let span = |base, len| protect::pmsav7::Span::new(base, len);
    let idle = [
        (span(0, 32), protect::pmsav7::Access::RX, protect::pmsav7::MemType::WriteThrough),
        (span(0x2000_0800, 256), protect::pmsav7::Access::RW, protect::pmsav7::MemType::WriteBack),
    ];
    let boot = Boot { tables, objects: (0x2000_0000, 0x10_0000), idle };
    boot.kernel(processor)
}

/// Ends a system whose memory would otherwise stay: tests that make thousands of them need it.
pub fn release(mut kernel: Kernel<Sim>) {
    let blocks = std::mem::take(&mut kernel.arch.blocks);
    drop(kernel);
    for (block, layout) in blocks {
        // SAFETY: allocated with this layout; the kernel, which alone used it, is gone.
        unsafe { dealloc(block, layout) };
    }
}

impl Kernel<Sim> {
    /// The running thread performs a call; returns what it was told, if it was.
    pub fn asks(&mut self, number: u32, args: [u32; 4]) -> Option<(u32, [u32; 2])> {
        let caller = self.current();
        let (level, outer) = (self.resume, self.top().outer);
        let context = &mut self.levels.at_mut(level).context;
        context.request = Request { number, args };
        (context.response, context.again) = (None, false);
        self.arch.calls += 1;
        let repeated = |kernel: &Self| kernel.levels.at(level).context.repeated;
        loop {
            let before = repeated(self);
            self.enters(number, args);
            // An edit of what is mapped goes in steps.
            let frames = Call::FramesRetype as u32..=Call::NodesGive as u32;
            let again = frames.contains(&number) && repeated(self) != before;
            if again && self.arch.stepwise {
                return None;
            }
            if !again || self.resume != level || self.current() != caller {
                break;
            }
        }
        let thread = self.threads.find(usize::from(caller)).unwrap();
        let back = self.levels.at(level).thread != Some(thread);
        let told = self.levels.at(if back { outer.unwrap() } else { level }).context.response;
        if told.is_none_or(|(status, _)| abi::Error::from_status(status).is_none()) {
            *self.arch.taken.entry(number).or_default() += 1;
        }
        told
    }

    /// What the entry code does: the short ways first.
    fn enters(&mut self, number: u32, args: [u32; 4]) {
        match Call::from_number(number) {
            _ if self.arch.long_way => {
                let next = self.on_call();
                self.loads_if(next);
            }
            Some(Call::GateCall) if self.pass_in(args[0]).is_some() => {
                let level = self.levels.at_mut(self.resume);
                let entry = level.entry;
                let badge = entry.unwrap().args[0];
                // SAFETY: the kernel has just let the thread in.
                unsafe { self.arch.enter(&mut level.context, &entry, [badge, args[1], args[2], args[3]]) };
                self.load_top();
            }
            Some(Call::GateReturn) if self.pass_out(args[0], args[1]).is_some() => self.load_top(),
            Some(Call::Yield) => {
                let next = self.on_yield();
                self.loads_if(next);
            }
            Some(Call::Signal) => {
                let next = self.on_signal(args[0], args[1]);
                self.loads_if(next);
            }
            Some(Call::Wait) => {
                let next = self.on_wait(args[0], args[1]);
                self.loads_if(next);
            }
            Some(Call::SleepUntil) => {
                let next = self.on_sleep(args[0], args[1]);
                self.loads_if(next);
            }
            Some(Call::WaitPeriod) => {
                let next = self.on_period();
                self.loads_if(next);
            }
            Some(Call::Exit) => {
                let next = self.on_exit(args[0]);
                self.loads_if(next);
            }
            Some(Call::Poll | Call::TimeNow | Call::Mark | Call::InterruptAck) => self.on_simple(number, &args),
            _ => {
                let next = self.on_call();
                self.loads_if(next);
            }
        }
    }

    /// The interrupt of a line.
    pub fn interrupts(&mut self, line: u32) {
        let next = self.on_interrupt(line);
        self.loads_if(next);
    }

    fn loads_if(&mut self, next: Option<NonNull<SimContext>>) {
        if let Some(next) = next {
            assert_eq!(next.as_ptr(), self.resume());
            self.load_top();
        }
    }

    /// Goes on in a domain's first thread, whoever should.
    pub fn loads(&mut self, domain: usize) {
        let domain = self.domains.find(domain).unwrap();
        let level = self.levels.iter().position(|level| level.domain == domain).unwrap();
        self.resume = self.levels.find(level).unwrap();
        self.load_top();
    }

    /// The level that a thread is in.
    pub fn level(&self, thread: u8) -> &Level<Sim> {
        self.levels.at(self.innermost(self.threads.find(usize::from(thread)).unwrap()))
    }

    /// The registers of a thread.
    pub fn context(&self, thread: u8) -> &SimContext {
        &self.level(thread).context
    }

    /// How many gates a thread is inside.
    pub fn depth(&self, thread: u8) -> usize {
        self.depth_of(self.innermost(self.threads.find(usize::from(thread)).unwrap()))
    }

    /// The thread in a gate.
    pub fn inside(&self, gate: usize) -> u8 {
        let level = &self.levels[self.gate_level(gate).unwrap()];
        level.thread.map_or(NOBODY, |thread| self.threads.at(thread).number)
    }

    /// The domain whose registers are loaded.
    pub fn loaded(&self) -> u8 {
        let holds = |domain: &objects::Domain<Sim>| domain.protection.slots.image().words().eq(self.arch.loaded);
        self.domains.iter().position(holds).map_or(IDLE, |domain| domain as u8)
    }

    /// Time passes; the timer fires when it was due.
    pub fn passes(&mut self, ticks: u64) {
        let end = self.arch.now + ticks;
        while let Some(at) = self.arch.timer.filter(|at| *at <= end) {
            self.arch.timer = None;
            self.arch.now = self.arch.now.max(at);
            self.on_timer();
        }
        self.arch.now = end;
    }

    /// Payloads of all records of an event.
    pub fn traced(&self, event: Event) -> Vec<u32> {
        self.arch.trace.iter().filter(|(head, _)| *head as u8 == event as u8).map(|record| record.1).collect()
    }
}
