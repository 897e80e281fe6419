//! Drivers of devices: what a domain that owns one stores to its registers. The kind of the device, which the board file names and the
//! area of the information block tells, chooses the driver when the program runs, so that one binary serves every board of its processor.
//!
//! A new driver is a module of its own, and a line in the table of `uart.rs` or `timer.rs`.
#![no_std]

mod cadence_ttc;
mod cadence_uart;
mod cmsdk_timer;
mod cmsdk_uart;
mod imx_epit;
mod imx_uart;
mod interval;
mod soc_console;
mod timer;
mod transmit;
mod uart;

use cofferdam::abi::info::name_hash;

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

/// A class of devices: an enum of its drivers, each for the kind that board files name. `$does` is the trait that they implement.
macro_rules! drivers {
    ($(#[$about:meta])* $class:ident: $does:ident { $($kind:literal => $variant:ident($driver:ty),)* }) => {
        $(#[$about])*
        pub struct $class(Known);

        enum Known {
            $($variant($driver)),*
        }

        const _: () = assert!($crate::all_differ(&[$($kind),*]), "two kinds have the same hash");

        impl $class {
            /// The device of an area, driven as its kind asks; `None` for memory, and for a device of a kind without a driver here.
            ///
            /// # Safety
            /// The area is one of this domain's information block, and nothing else in this domain drives the device.
            pub unsafe fn open(area: cofferdam::Area) -> Option<$class> {
                let registers = $crate::Registers(area.base as *mut u32);
                Some($class(match area.kind {
                    $(kind if kind == const { $crate::name_hash($kind) } => Known::$variant(<$driver>::open(registers)),)*
                    _ => return None,
                }))
            }

            fn driver(&self) -> &dyn $does {
                match &self.0 {
                    $(Known::$variant(driver) => driver,)*
                }
            }
        }
    };
}
use drivers;

/// Whether programs can tell these kinds apart, and from no kind.
const fn all_differ(kinds: &[&str]) -> bool {
    let mut first = 0;
    while first < kinds.len() {
        let hash = name_hash(kinds[first]);
        let mut second = first + 1;
        while second < kinds.len() {
            if name_hash(kinds[second]) == hash {
                return false;
            }
            second += 1;
        }
        if hash == 0 {
            return false;
        }
        first += 1;
    }
    true
}
