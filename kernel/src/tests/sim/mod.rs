//! A simulated processor: time is set by the test, contexts hold what a thread asked for and what it was told.

mod pages;
mod registers;
mod sample;
mod spaces;
mod tables;

use core::cell::Cell;
use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU16;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::vec::Vec;

use abi::Call;
use abi::trace::{Event, IDLE};
use protect::AccessKind;
use system::System;
use system::build::Builder;
use units::{Bytes, Instant, PhysAddr, VirtAddr};

use crate::arch::{Arch, Physical, Protection, Request, Start};
use crate::boot::{Boot, BootError};
use crate::objects::Activation;
use crate::virtual_processor::VirtualProcessor;
use crate::{Kernel, NOBODY};

pub use pages::{Pager, WAYS, forget_tables, units};
pub use registers::Registers;
pub use sample::*;
pub use spaces::{DEMAND_PAGES, DEVICES, Direct, R, RW, Rtmmu, Sv32, own, rights};
pub use tables::{Entry, forget_spaces, mapped};

#[derive(Clone, Copy, Debug, Default)]
pub struct SimContext {
    pub start: Option<Start<u32>>,
    pub request: Request,
    pub response: Option<(u32, [u32; 2])>,
    pub repeated: u32,
    pub again: bool,
}

/// Mechanism by which a simulated processor protects memory.
pub trait Guard: Sized + Default + 'static {
    type Protection: Protection<Machine<Self>>;

    /// Some of a mapping may be accessible while it is on its way, so that tests must not count on
    /// either.
    const PARTLY: bool;

    /// log2 of the smallest that can be mapped at run time.
    const SMALLEST_LOG2: u32;

    fn idle() -> <Self::Protection as Protection<Machine<Self>>>::Idle;

    /// Address at which domains have on this processor what tests and [`sample`] say to be at another.
    fn address(address: u32) -> u32 {
        address
    }

    /// The same system for a processor of this kind.
    fn adapt(builder: &Builder) -> Builder;

    fn is_loaded(&self, protection: &Self::Protection) -> bool;

    /// How often a domain can reach a physical address.
    fn uses(protection: &Self::Protection, physical: u32) -> usize;

    fn touches(kernel: &mut Kernel<Machine<Self>>, address: u32);

    /// The running thread accesses bytes as one instruction does, and again when a miss or a first touch was answered: physical addresses of the
    /// first and the last byte, or `None` when it is denied for good.
    fn accesses(kernel: &mut Kernel<Machine<Self>>, address: u32, bytes: u32, kind: AccessKind) -> Option<[u32; 2]>;

    /// Checks what must hold of the hardware after every kernel entry.
    fn check(kernel: &mut Kernel<Machine<Self>>);

    /// Checks what must hold of what domains may access.
    fn check_memory(kernel: &Kernel<Machine<Self>>);

    /// Address and bytes of a mapping of memory that begins near a physical address: `2^log2` bytes, or, by a number, something like it.
    fn mapping(physical: u32, log2: u32, odd: u32) -> Part;
}

/// A part of physical memory, and the address at which a domain asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub at: u32,
    pub physical: u32,
    pub bytes: u32,
}

pub type Sim = Machine<Registers>;

/// Handlers that interrupts reach without the kernel.
#[derive(Default)]
pub struct Handlers {
    /// Ticks for which they have run that the kernel does not know.
    pub displaced: Cell<u32>,
    /// Domains that have some.
    pub of: &'static [u8],
    /// Their servers: the generation, ticks that are left, and those to the next boundary.
    pub servers: Vec<(&'static AtomicU16, (u32, u32))>,
}

impl VirtualProcessor for Handlers {
    const PRESENT: bool = true;

    fn acknowledge(&self, _: u32) -> bool {
        false
    }

    fn occupy(&self, domain: u8) -> bool {
        self.of.contains(&domain)
    }

    fn stopped(&self, _: u8) {}

    fn is_displaced(&self) -> bool {
        self.displaced.get() != 0
    }

    fn displaced(&self) -> u32 {
        self.displaced.take()
    }

    fn server(&self, place: usize) -> Option<&'static AtomicU16> {
        self.servers.get(place).map(|(generation, _)| *generation)
    }

    fn server_left(&self, place: usize) -> (u32, u32) {
        self.servers[place].1
    }
}

#[derive(Default)]
pub struct Machine<K> {
    pub kind: K,
    pub now: u64,
    pub shortest: u64,
    pub timer: Option<u64>,
    /// The timer interrupts at once, besides.
    pub again: bool,
    pub handlers: Handlers,
    pub trace: Vec<(u32, u32)>,
    /// Bytes that were stored; any other is 0.
    pub memory: BTreeMap<u32, u8>,
    /// Memory that the kernel has cleared, in order.
    pub zeroed: Vec<Range<u32>>,
    pub masked: BTreeMap<u32, bool>,
    pub ended: Option<u32>,
    /// Nothing that is quicker than the general system call is tried, so that both ways can be
    /// compared.
    pub long_way: bool,
    /// A call that is made in steps is left after each, so that a test can look at what is there
    /// between them.
    pub stepwise: bool,
    pub calls: u64,
    /// Those of them that were not refused, by number.
    pub taken: BTreeMap<u32, u64>,
    /// Memory of the kernel's objects, kept so that [`release`] can give it back: thousands of
    /// systems run in one test.
    pub blocks: Vec<(*mut u8, Layout)>,
}

// SAFETY: each block is allocated anew.
unsafe impl<K: Guard> Physical for Machine<K> {
    type Width = u32;

    unsafe fn object_memory(&mut self, _: PhysAddr<u32>, Bytes(bytes): Bytes<u32>) -> *mut u8 {
        let layout = Layout::from_size_align(2 * bytes as usize + 4096, 64).unwrap();
        // SAFETY: the layout is not empty. Twice the size, because pointers are wider here than on the chip.
        let block = unsafe { alloc_zeroed(layout) };
        self.blocks.push((block, layout));
        block
    }
}

// SAFETY: object memory is leaked from the heap, so nobody else uses it; the rest only records.
unsafe impl<K: Guard> Arch for Machine<K> {
    type Context = SimContext;
    type Entry = Option<Start<u32>>;
    type Virtual = Handlers;
    type Protection = K::Protection;
    const NO_ENTRY: Option<Start<u32>> = None;
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
    const SHORT_WAYS: bool = false;
    const SHORT: u32 = 250;
    fn arm_timer(&mut self, at: Instant) {
        let delay = i64::from(self.ticks().until(at));
        self.timer = Some(self.now.wrapping_add_signed(delay).max(self.now + self.shortest));
    }
    fn timer_again(&mut self) {
        self.again = true;
    }
    fn arm_timer_in(&mut self, delay: u32) {
        assert!(delay > Self::SHORT);
        self.timer = Some(self.now + u64::from(delay));
    }
    fn ticks(&mut self) -> Instant {
        Instant::of(self.now)
    }
    fn virtual_processor(&self) -> &Handlers {
        &self.handlers
    }
    unsafe fn prepare(&mut self, context: &mut SimContext, start: Start<u32>) {
        *context = SimContext { start: Some(start), ..Self::EMPTY };
    }
    fn idle(&mut self) -> SimContext {
        Self::EMPTY
    }
    fn entry(&self, _: &mut SimContext, start: Start<u32>) -> Option<Start<u32>> {
        Some(start)
    }
    fn introduce(entry: &mut Option<Start<u32>>, badge: u32) {
        entry.as_mut().unwrap().args[0] = badge;
    }
    unsafe fn enter(&mut self, context: &mut SimContext, entry: &Option<Start<u32>>, args: [u32; 4]) {
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
    unsafe fn copy(&mut self, PhysAddr(dst): PhysAddr<u32>, PhysAddr(src): PhysAddr<u32>, Bytes(bytes): Bytes<u32>) {
        for offset in 0..bytes {
            let byte = self.memory.get(&(src + offset)).copied().unwrap_or(0);
            self.memory.insert(dst + offset, byte);
        }
    }
    unsafe fn zero(&mut self, PhysAddr(dst): PhysAddr<u32>, Bytes(bytes): Bytes<u32>) {
        self.memory.retain(|at, _| !(dst..dst + bytes).contains(at));
        self.zeroed.push(dst..dst + bytes);
    }
    fn end(&mut self, status: u32) {
        self.ended = Some(status);
    }
}

impl<K> Machine<K> {
    /// When the timer interrupts next, if it does so until `end`; it does then.
    pub fn fires(&mut self, end: u64) -> Option<u64> {
        if core::mem::take(&mut self.again) {
            return Some(self.now);
        }
        let at = self.timer.filter(|at| *at <= end)?;
        self.timer = None;
        Some(at)
    }
}

pub fn boot(builder: &Builder) -> Kernel<Sim> {
    boot_with(builder, Sim { now: 1000, ..Sim::default() })
}

/// As [`boot`], on a processor in a given state.
pub fn boot_with<K: Guard>(builder: &Builder, processor: Machine<K>) -> Kernel<Machine<K>> {
    let mut kernel = try_boot(builder, processor).unwrap();
    kernel.start();
    kernel
}

/// Makes the kernel, or says why it does not start.
pub fn try_boot<K: Guard>(builder: &Builder, processor: Machine<K>) -> Result<Kernel<Machine<K>>, BootError> {
    let words: &'static [u32] = Vec::leak(K::adapt(builder).encode().unwrap());
    boot_tables(System::parse(words).unwrap(), (0x2000_0000, 0x10_0000), processor)
}

/// As [`try_boot`], from tables and with memory for objects.
pub fn boot_tables<K: Guard>(
    tables: System<'static>,
    (base, bytes): (u32, u32),
    processor: Machine<K>,
) -> Result<Kernel<Machine<K>>, BootError> {
    let objects = (PhysAddr(base), Bytes(bytes));
    Boot { tables, objects, idle: K::idle() }.kernel(processor)
}

/// Ends a system whose memory would otherwise stay: tests that make thousands of them need it.
pub fn release<K: Guard>(mut kernel: Kernel<Machine<K>>) {
    let blocks = std::mem::take(&mut kernel.arch.blocks);
    drop(kernel);
    for (block, layout) in blocks {
        // SAFETY: allocated with this layout; the kernel, which alone used it, is gone.
        unsafe { dealloc(block, layout) };
    }
}

impl<K: Guard> Kernel<Machine<K>> {
    /// The running thread performs a call; returns what it was told, if it was.
    pub fn asks(&mut self, number: u32, args: [u32; 4]) -> Option<(u32, [u32; 2])> {
        let caller = self.current();
        let args = match Call::from_number(number) {
            Some(Call::GateCopyIn | Call::GateCopyOut) => [K::address(args[0]), K::address(args[1]), args[2], args[3]],
            _ => args,
        };
        let (activation, outer) = (self.resume, self.top().outer);
        let context = &mut self.activations.at_mut(activation).context;
        context.request = Request { number, args };
        (context.response, context.again) = (None, false);
        self.arch.calls += 1;
        let repeated = |kernel: &Self| kernel.activations.at(activation).context.repeated;
        loop {
            let before = repeated(self);
            self.enters(number, args);
            // An edit of what is mapped goes in steps.
            let frames = Call::FramesRetype as u32..=Call::NodesGive as u32;
            // So does the first touch of a page that a copy meets.
            let copies = Call::GateCopyIn as u32..=Call::GateCopyOut as u32;
            let again = (frames.contains(&number) || copies.contains(&number)) && repeated(self) != before;
            if again && self.arch.stepwise {
                return None;
            }
            if !again || self.resume != activation || self.current() != caller {
                break;
            }
        }
        let thread = self.threads.find(usize::from(caller)).unwrap();
        let back = self.activations.at(activation).thread != Some(thread);
        let told = self.activations.at(if back { outer.unwrap() } else { activation }).context.response;
        if told.is_none_or(|(status, _)| abi::Error::from_status(status).is_none()) {
            *self.arch.taken.entry(number).or_default() += 1;
        }
        told
    }

    /// Does what the entry code does: the short ways first.
    fn enters(&mut self, number: u32, args: [u32; 4]) {
        match Call::from_number(number) {
            _ if self.arch.long_way => {
                let next = self.on_call();
                self.loads_if(next);
            }
            Some(Call::GateCall) if self.pass_in(args[0]).is_some() => {
                let activation = self.activations.at_mut(self.resume);
                let entry = activation.entry;
                let badge = entry.unwrap().args[0];
                // SAFETY: the kernel has just let the thread in.
                unsafe { self.arch.enter(&mut activation.context, &entry, [badge, args[1], args[2], args[3]]) };
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

    /// A line interrupts, and the kernel masks it.
    pub fn interrupts(&mut self, line: u32) {
        let next = self.on_interrupt(line, true);
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
        let activation = self.activations.iter().position(|activation| activation.domain == domain).unwrap();
        self.resume = self.activations.find(activation).unwrap();
        self.load_top();
    }

    /// The innermost activation of a thread: `top` is not up to date while the thread runs.
    pub fn activation(&self, thread: u8) -> &Activation<Machine<K>> {
        self.activations.at(self.innermost(self.threads.find(usize::from(thread)).unwrap()))
    }

    /// The registers of a thread in its innermost activation.
    pub fn context(&self, thread: u8) -> &SimContext {
        &self.activation(thread).context
    }

    /// How many gates a thread is inside.
    pub fn depth(&self, thread: u8) -> usize {
        self.depth_of(self.innermost(self.threads.find(usize::from(thread)).unwrap()))
    }

    /// Number of the thread in a gate, or [`NOBODY`](crate::NOBODY).
    pub fn inside(&self, gate: usize) -> u8 {
        let activation = &self.activations[self.gate_activation(gate).unwrap()];
        activation.thread.map_or(NOBODY, |thread| self.threads.at(thread).number)
    }

    /// Physical address of something that a domain can write.
    pub fn place(&self, domain: u8, address: u32) -> u32 {
        self.domain(domain).protection.physical(self.address(address), AccessKind::Write).unwrap().0.0
    }

    /// As [`Guard::address`].
    pub fn address(&self, address: u32) -> VirtAddr<u32> {
        VirtAddr(K::address(address))
    }

    /// The domain that is in force.
    pub fn loaded(&self) -> u8 {
        let position = self.domains.iter().position(|domain| self.arch.kind.is_loaded(&domain.protection));
        position.map_or(IDLE, |domain| domain as u8)
    }

    /// Time passes; the timer fires when it was due.
    pub fn passes(&mut self, ticks: u64) {
        let end = self.arch.now + ticks;
        while let Some(at) = self.arch.fires(end) {
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
