//! The markers by which the console service tells an observer how much of a client's text it has sent. Without them an observer could only guess from
//! when the console waits, which it never does while others write.

use crate::SERVICE_CLIENTS;

/// Id of the marker. Its value is [`Printed`].
pub const PRINTED: u16 = 0x7072;

const WRITES_BITS: u32 = 28;
const WRITES: u32 = (1 << WRITES_BITS) - 1;
const _: () = assert!(SERVICE_CLIENTS <= 1 << (32 - WRITES_BITS));

/// All that a client had written by then is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The client's badge, below [`SERVICE_CLIENTS`].
    pub badge: u32,
    /// Writes that the console had accepted from it since its start, modulo 2^28.
    pub writes: u32,
}

impl Printed {
    /// The marker's value.
    pub const fn value(self) -> u32 {
        self.badge << WRITES_BITS | self.writes & WRITES
    }

    /// Reads a marker's value.
    pub const fn of(value: u32) -> Printed {
        Printed { badge: value >> WRITES_BITS, writes: value & WRITES }
    }

    /// Returns how many of a client's `writes` are not sent yet. Counts are told apart if fewer than 2^27 writes have come since.
    pub const fn left(self, writes: u64) -> u64 {
        let left = (writes as u32).wrapping_sub(self.writes) & WRITES;
        // The console counts a write before its caller signals it.
        if left > WRITES / 2 { 0 } else { left as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_says_what_it_was_made_of() {
        for (badge, writes) in [(0, 0), (15, WRITES), (3, 70_000)] {
            assert_eq!(Printed::of(Printed { badge, writes }.value()), Printed { badge, writes });
        }
        let told = |writes| Printed { badge: 1, writes };
        assert_eq!((told(5).left(7), told(7).left(7), told(8).left(7)), (2, 0, 0));
        assert_eq!(told(WRITES).left(1 + (1 << WRITES_BITS)), 2, "the count wraps");
    }
}
