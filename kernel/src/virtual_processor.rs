//! A virtual processor: state of the machine that interrupts reach without the kernel. Domains occupy it one at a time; the interrupts of the
//! occupant's lines run its handlers there, and a server pays for them instead of the thread that they interrupt.

use core::sync::atomic::AtomicU16;

/// The virtual processor of a machine. Its words can change at any time, because what runs there comes between any two instructions of the
/// kernel, so an implementation keeps them in atomics.
pub trait VirtualProcessor: 'static {
    /// There is one: interrupts can reach handlers of domains without the kernel.
    const PRESENT: bool;

    /// A thread allows a line. Returns true if the line reaches a handler from now on, so that the kernel need not open it.
    fn acknowledge(&self, line: u32) -> bool;

    /// Interrupts reach the handlers of this domain without the kernel from now on, and no other's. Returns false if it has none.
    fn occupy(&self, domain: u8) -> bool;

    /// No thread of a domain runs any more until it is restarted, so none of its handlers must run either.
    fn stopped(&self, domain: u8);

    /// Returns true if handlers have run since the last call of [`VirtualProcessor::displaced`]. Always false where their time is not counted.
    fn is_displaced(&self) -> bool;

    /// Returns the ticks spent in handlers since the last call. The interrupted thread is not charged for them. All of them together are never
    /// more than the handlers' own capacities.
    fn displaced(&self) -> u32;

    /// Generation of capabilities to a server of handlers' time, if there is one: that of the domain at this place among those with handlers.
    fn server(&self, place: usize) -> Option<&'static AtomicU16>;

    /// Returns the ticks that are left in this server, and those to its next replenishment. Both are of one moment, although handlers can
    /// interrupt the kernel between them.
    fn server_left(&self, place: usize) -> (u32, u32);
}

/// There is none: every interrupt enters the kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Absent;

impl VirtualProcessor for Absent {
    const PRESENT: bool = false;

    #[inline(always)]
    fn acknowledge(&self, _: u32) -> bool {
        false
    }

    #[inline(always)]
    fn occupy(&self, _: u8) -> bool {
        false
    }

    #[inline(always)]
    fn stopped(&self, _: u8) {}

    #[inline(always)]
    fn is_displaced(&self) -> bool {
        false
    }

    #[inline(always)]
    fn displaced(&self) -> u32 {
        0
    }

    #[inline(always)]
    fn server(&self, _: usize) -> Option<&'static AtomicU16> {
        None
    }

    #[inline(always)]
    fn server_left(&self, _: usize) -> (u32, u32) {
        (0, 0)
    }
}
