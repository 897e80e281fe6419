//! Sets of registers.

/// A set of core registers (bits 0 to 15), the condition flags (bit 16) and single floating-point registers (bits 32
/// to 63; a double register is two of them).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct RegSet(pub u64);

impl RegSet {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// Stack pointer.
    pub const SP: Self = Self(1 << 13);
    /// Link register.
    pub const LR: Self = Self(1 << 14);
    /// Program counter.
    pub const PC: Self = Self(1 << 15);
    /// Condition flags.
    pub const FLAGS: Self = Self(1 << 16);

    /// Core register `n`, of which the low four bits count.
    pub const fn core(n: u32) -> Self {
        Self(1 << (n & 15))
    }

    /// Core register `n`, where 15 means "none" instead of the PC.
    pub const fn core_or_none(n: u32) -> Self {
        if n & 15 == 15 { Self::NONE } else { Self::core(n) }
    }

    /// The core registers of a 16-bit list.
    pub const fn list(list: u32) -> Self {
        Self((list & 0xFFFF) as u64)
    }

    /// `count` single floating-point registers from `first`; what would lie beyond the last one is left out.
    pub const fn singles(first: u32, count: u32) -> Self {
        let mut set = 0u64;
        let mut n = first;
        while n < first + count && n < 32 {
            set |= 1 << (32 + n);
            n += 1;
        }
        Self(set)
    }

    /// All of both.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` are in it.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the two have a register in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// How many registers are in it.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The bit numbers of its registers, ascending.
    pub fn indices(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let index = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            Some(index)
        })
    }
}
