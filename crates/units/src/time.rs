//! Time in its units, and conversions that name their rate and their rounding.

use crate::quantity;

quantity! {
    /// Processor clock cycles.
    Cycles, "cycles"
}
quantity! {
    /// Counts of a timer, whose rate is stated where it is configured.
    Ticks, "ticks"
}
quantity! {
    /// Microseconds.
    Micros, "us"
}

/// A rate in events per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[repr(transparent)]
pub struct Hz(pub core::num::NonZeroU64);

const MICROS_PER_SECOND: u64 = 1_000_000;

/// `value * to / from`, rounded up or down; `None` when it cannot be represented.
const fn rescale(value: u64, to: u64, from: u64, up: bool) -> Option<u64> {
    // Below 2^128: the product of two 64-bit numbers, plus less than 2^64.
    let product = value as u128 * to as u128;
    let scaled = if up { product.div_ceil(from as u128) } else { product / from as u128 };
    if scaled <= u64::MAX as u128 { Some(scaled as u64) } else { None }
}

impl Hz {
    /// A rate; `None` for zero.
    pub const fn new(per_second: u64) -> Option<Self> {
        match core::num::NonZeroU64::new(per_second) {
            Some(rate) => Some(Self(rate)),
            None => None,
        }
    }

    /// `n` MHz.
    ///
    /// # Panics
    /// When `n` is zero or the rate overflows.
    pub const fn mhz(n: u64) -> Self {
        match n.checked_mul(1_000_000) {
            Some(rate) => match Self::new(rate) {
                Some(rate) => rate,
                None => panic!("a rate of zero"),
            },
            None => panic!("rate in MHz overflows"),
        }
    }

    /// Events per second.
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

macro_rules! counted {
    ($name:ident, $from_floor:ident, $from_ceil:ident) => {
        impl $name {
            /// The time of this many at `rate`, rounded down; `None` when it cannot be represented.
            pub const fn to_micros_floor(self, rate: Hz) -> Option<Micros> {
                match rescale(self.0, MICROS_PER_SECOND, rate.get(), false) {
                    Some(value) => Some(Micros(value)),
                    None => None,
                }
            }

            /// The time of this many at `rate`, rounded up; `None` when it cannot be represented.
            pub const fn to_micros_ceil(self, rate: Hz) -> Option<Micros> {
                match rescale(self.0, MICROS_PER_SECOND, rate.get(), true) {
                    Some(value) => Some(Micros(value)),
                    None => None,
                }
            }
        }

        impl Micros {
            #[doc = concat!("[`", stringify!($name), "`] in this time at `rate`, rounded down; `None` when it cannot be represented.")]
            pub const fn $from_floor(self, rate: Hz) -> Option<$name> {
                match rescale(self.0, rate.get(), MICROS_PER_SECOND, false) {
                    Some(value) => Some($name(value)),
                    None => None,
                }
            }

            #[doc = concat!("[`", stringify!($name), "`] in this time at `rate`, rounded up; `None` when it cannot be represented.")]
            pub const fn $from_ceil(self, rate: Hz) -> Option<$name> {
                match rescale(self.0, rate.get(), MICROS_PER_SECOND, true) {
                    Some(value) => Some($name(value)),
                    None => None,
                }
            }
        }
    };
}
counted!(Cycles, to_cycles_floor, to_cycles_ceil);
counted!(Ticks, to_ticks_floor, to_ticks_ceil);

impl Cycles {
    /// Timer counts (at `timer`) in this many cycles (at `core`), rounded up; `None` when not representable.
    pub const fn to_ticks_ceil(self, core: Hz, timer: Hz) -> Option<Ticks> {
        match rescale(self.0, timer.get(), core.get(), true) {
            Some(value) => Some(Ticks(value)),
            None => None,
        }
    }

    /// Timer counts (at `timer`) in this many cycles (at `core`), rounded down; `None` when not representable.
    pub const fn to_ticks_floor(self, core: Hz, timer: Hz) -> Option<Ticks> {
        match rescale(self.0, timer.get(), core.get(), false) {
            Some(value) => Some(Ticks(value)),
            None => None,
        }
    }

    /// The time of this many cycles at `rate` in nanoseconds, rounded down; `None` when not representable.
    pub const fn to_nanos_floor(self, rate: Hz) -> Option<u64> {
        rescale(self.0, 1_000_000_000, rate.get(), false)
    }
}

impl Ticks {
    /// Cycles (at `core`) in this many timer counts (at `timer`), rounded up; `None` when not representable.
    pub const fn to_cycles_ceil(self, timer: Hz, core: Hz) -> Option<Cycles> {
        match rescale(self.0, core.get(), timer.get(), true) {
            Some(value) => Some(Cycles(value)),
            None => None,
        }
    }
}
