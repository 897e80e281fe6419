//! Attacks as far as they are the same on every architecture: their targets, and the registers that are looked at and held meanwhile. Built for domains that attack
//! on purpose, and for their victims.
#![no_std]

use core::cell::UnsafeCell;

/// Addresses for the attacks that only some architectures have.
#[derive(Clone, Copy, Debug)]
pub struct Targets {
    /// The own code.
    pub code: u32,
    /// The own memory.
    pub data: u32,
    /// The first address behind it.
    pub behind: u32,
    /// The lowest address of the own stack.
    pub stack: u32,
    /// The kernel's code.
    pub kernel_code: u32,
    /// The kernel's memory.
    pub kernel_data: u32,
    /// A victim's memory.
    pub victim: u32,
    /// The first address of the core's registers.
    pub core: u32,
}

/// Registers that assembly stores.
#[repr(transparent)]
pub struct Seen<const REGISTERS: usize>(UnsafeCell<[u32; REGISTERS]>);

// SAFETY: every access is one volatile word.
unsafe impl<const REGISTERS: usize> Sync for Seen<REGISTERS> {}

impl<const REGISTERS: usize> Seen<REGISTERS> {
    /// Before any assembly has stored.
    pub const fn zeroed() -> Self {
        Self(UnsafeCell::new([0; REGISTERS]))
    }

    /// The words.
    pub fn words(&self) -> [u32; REGISTERS] {
        // SAFETY: the array is this domain's own, and whole.
        core::array::from_fn(|index| unsafe { (self.0.get() as *const u32).add(index).read_volatile() })
    }
}

/// The arguments that [`hold`] passes to the kernel, and its observations.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// Registers that the call does not use hold this and the numbers behind it during the call.
    pub pattern: u32,
    /// Number of the call.
    pub number: u32,
    /// Its arguments.
    pub args: [u32; 4],
    /// The status that it returned.
    pub status: u32,
    /// Its first value.
    pub value: u32,
    /// 0 when every register held its number afterwards, and floating point rounds as it should.
    pub changed: u32,
}

unsafe extern "C" {
    // Each processor's own: it fills and compares the registers that there are.
    fn cofferdam_hold(held: *mut Held);
}

/// Performs a system call with a pattern in every register that the call does not use, and checks
/// that it is still there afterwards. Victims do this, while others try to read or to change their
/// registers.
///
/// # Safety
/// The caller upholds the contract of the call; the call returns.
pub unsafe fn hold(mut held: Held) -> Held {
    // SAFETY: the block is this function's own.
    unsafe { cofferdam_hold(&raw mut held) };
    held
}
