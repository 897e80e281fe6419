//! The questions of an observer to a simulator. All that it is told comes through the functions of [`crate::Observer`].

use std::sync::atomic::AtomicU32;

/// A register of the processor, as its simulator names it; [`Register::default`] is one that it does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Register(pub usize);

/// A processor inside a simulator. Asked only while the simulator tells the observer something about that processor.
pub trait Target {
    /// The register of this name. Asked only when the processor starts.
    fn find(&mut self, name: &str) -> Register;

    /// A 32-bit register's value; 0 for one that the processor does not have.
    fn register(&mut self, register: Register) -> u32;

    /// `len` bytes of memory as the processor would load them now; `None` when it could not.
    fn memory(&mut self, address: u32, len: usize) -> Option<&[u8]>;

    /// A device was accessed: what it read of the clock belongs to the access.
    fn device_accessed(&mut self) {}

    /// Runs the timers that have expired by now. The cycle of the next deadline, `u64::MAX` when no timer is armed; `None`
    /// when the simulator does not answer.
    fn meet_deadline(&mut self) -> Option<u64>;

    /// A word of the registers that a [`record::CounterWatch`] stands for, by its offset; `None`: there are none.
    fn counter_word(&self, _offset: u32) -> Option<&AtomicU32> {
        None
    }

    /// The counter of Non-secure cycles matches: its interrupt is asked for, and is there when a deadline has been met.
    fn counter_matches(&mut self) {}

    /// Asks for the timers that have expired by now to be run soon, without waiting for it. `false`: what was asked last is still under way.
    fn advance(&mut self) -> bool;

    /// A word of memory, little-endian; `None` when the processor could not load it.
    fn word(&mut self, address: u32) -> Option<u32> {
        self.memory(address, 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
    }
}

/// An access, while the simulator tells of it.
pub trait Seen {
    /// Bytes accessed, 1 to 16.
    fn bytes(&self) -> u32;

    /// The value loaded or stored.
    fn value(&self) -> u128;

    /// The physical address that its byte at a virtual address went to, where the simulator knows it.
    fn physical(&self, address: u32) -> Option<u32>;
}
