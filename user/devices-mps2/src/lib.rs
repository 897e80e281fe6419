//! Drivers for the devices of Arm's MPS2 boards: what a domain that owns one stores to its registers. The crates `devices-*` offer the
//! same types, each for its board.
#![no_std]

mod timer;
mod uart;

pub use timer::Timer;
pub use uart::Uart;

/// The registers of a device that this domain owns.
#[derive(Clone, Copy)]
struct Registers(*mut u32);

impl Registers {
    fn read(self, register: usize) -> u32 {
        // SAFETY: who made the driver vouches that the area is the device's, and this domain's.
        unsafe { self.0.add(register).read_volatile() }
    }

    fn write(self, register: usize, value: u32) {
        // SAFETY: as for `read`.
        unsafe { self.0.add(register).write_volatile(value) }
    }
}
