//! The kernel's interface to a processor. The kernel decides, `Arch` encodes and applies.

use units::{Bytes, PhysAddr, VirtAddr, Width};

use crate::protection::Protection;

/// A physical address of a processor. Domains never see one, unless they see no other.
pub type Phys<A> = PhysAddr<<A as Arch>::Width>;

/// An address of a processor as a domain uses it.
pub type Virt<A> = VirtAddr<<A as Arch>::Width>;

/// A size in a processor's memory.
pub type Len<A> = Bytes<<A as Arch>::Width>;

/// The number and arguments of a system call as the calling thread passed them: words of 32 bits on every processor (`abi`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// Number of the call.
    pub number: u32,
    /// Its four arguments.
    pub args: [u32; 4],
}

/// How a thread, or a gate's callee, starts.
#[derive(Clone, Copy, Debug)]
pub struct Start<W> {
    /// Address of the first instruction, in the form the processor wants (Thumb bit).
    pub entry: VirtAddr<W>,
    /// Address to which the first function returns.
    pub link: VirtAddr<W>,
    /// Lowest address of the stack.
    pub stack_base: VirtAddr<W>,
    /// Bytes of the stack.
    pub stack_bytes: Bytes<W>,
    /// Arguments of the first function.
    pub args: [W; 4],
}

/// A processor (with its board) as the kernel sees it.
///
/// # Safety
/// An implementation promises that
/// * [`Arch::object_memory`] returns memory that nothing else uses, for as long as the kernel runs;
/// * unprivileged code can access exactly what its [`Arch::Protection`] was last told to load;
/// * contexts never give a thread privileges.
pub unsafe trait Arch: Sized + 'static {
    /// The unsigned integer that holds an address.
    type Width: Width;

    /// The registers of a thread that is not running.
    type Context: Copy + 'static;

    /// Memory that a domain may access, as the processor wants it.
    type Protection: Protection<Self>;

    /// State that is kept to start the callee of a gate quickly.
    type Entry: Copy + 'static;

    /// A context that was never started.
    const EMPTY: Self::Context;

    /// An entry that leads nowhere.
    const NO_ENTRY: Self::Entry;

    /// The registers of the idle loop.
    fn idle(&mut self) -> Self::Context;

    /// Ticks since boot, asked at the start only: from then on the kernel counts what [`Arch::ticks`] says.
    fn now(&mut self) -> u64;

    /// The low word of the ticks since boot. It may wrap, but not between two timer interrupts; the timer is always armed.
    fn ticks(&mut self) -> u32;

    /// The entry code takes every call that has an entry point of its own to that ([`crate::entry_points`]); [`crate::Kernel::on_call`] then
    /// need not know them, but for gates.
    const SHORT_WAYS: bool;

    /// Delays of more ticks than this the timer takes as they are; it may lengthen shorter ones.
    const SHORT: u32;

    /// Asks for one timer interrupt at or soon after `at` (low word of ticks), which is at most half a second away. An earlier request
    /// is replaced. The delay has the granularity that the board documents; a time in the past fires at once.
    fn arm_timer(&mut self, at: u32);

    /// As [`Arch::arm_timer`], for a time so many ticks from now: more than [`Arch::SHORT`], and at most half a second.
    fn arm_timer_in(&mut self, delay: u32);

    /// Makes the timer interrupt as soon as the kernel is left, besides when it was asked for.
    fn timer_again(&mut self);

    /// Prepares a context so that resuming it starts `start`.
    ///
    /// # Safety
    /// The stack lies in memory of the domain in which the context will run, and nobody else writes there now.
    unsafe fn prepare(&mut self, context: &mut Self::Context, start: Start<Self::Width>);

    /// Entry that is kept of a gate's start, whose arguments mean nothing. `context` is left as it
    /// is in a callee that starts, but for what the hardware takes from the stack.
    fn entry(&self, context: &mut Self::Context, start: Start<Self::Width>) -> Self::Entry;

    /// Notes which badge the callee is to see; for who starts it without [`Arch::enter`].
    fn introduce(entry: &mut Self::Entry, badge: u32);

    /// Prepares a context so that resuming it starts a gate's callee.
    ///
    /// # Safety
    /// As for [`Arch::prepare`].
    unsafe fn enter(&mut self, context: &mut Self::Context, entry: &Self::Entry, args: [u32; 4]);

    /// Reads the request of a context that has just performed a system call.
    fn request(&self, context: &Self::Context) -> Request;

    /// Stores the result of a system call where the resumed thread will find it: at most two values; the registers of those that the call does
    /// not have keep what the thread had in them.
    fn respond<const N: usize>(&mut self, context: &mut Self::Context, status: u32, values: [u32; N]);

    /// Makes a context perform its system call again when it is resumed.
    fn repeat(&mut self, context: &mut Self::Context);

    /// Writes one record to the trace port.
    fn trace(&mut self, header: u32, payload: u32);

    /// Allows an interrupt line to interrupt.
    fn unmask(&mut self, line: u32);

    /// Keeps an interrupt line from interrupting.
    fn mask(&mut self, line: u32);

    /// Copies bytes between two ranges of physical memory that do not overlap.
    ///
    /// # Safety
    /// The caller has checked both ranges against what the domains that own them may access, or, for the source of initial data, against
    /// the validated tables.
    unsafe fn copy(&mut self, dst: Phys<Self>, src: Phys<Self>, bytes: Len<Self>);

    /// Sets bytes of physical memory to zero.
    ///
    /// # Safety
    /// As for [`Arch::copy`].
    unsafe fn zero(&mut self, dst: Phys<Self>, bytes: Len<Self>);

    /// Memory for kernel objects.
    ///
    /// # Safety
    /// The range is typed as kernel memory and is asked for once only.
    unsafe fn object_memory(&mut self, base: Phys<Self>, bytes: Len<Self>) -> *mut u8;

    /// Ends the run: a simulator exits, silicon stops. `status` 0 means success.
    fn end(&mut self, status: u32);
}
