//! The memory of page tables, by physical address.

use units::PhysAddr;

/// Location of a table, and so the farthest memory that a walk through it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Placement {
    /// On-chip memory.
    OnChip = 0,
    /// Memory off the chip whose lines are in locked ways of the second-level cache.
    LockedWays = 1,
    /// Memory off the chip.
    OffChip = 2,
}

impl Placement {
    /// All of them.
    pub const ALL: [Placement; 3] = [Self::OnChip, Self::LockedWays, Self::OffChip];

    /// Returns true if a walk through tables placed so stays on the chip.
    pub const fn stays_on_chip(self) -> bool {
        !matches!(self, Self::OffChip)
    }

    /// Returns true if a first-level table that is placed so keeps what second-level tables in
    /// `other` promise.
    pub const fn serves(self, other: Placement) -> bool {
        self.stays_on_chip() || !other.stays_on_chip()
    }
}

/// Memory that holds tables. Memory that is given to [`Tables`](super::Tables) was typed as kernel
/// memory before, so that nothing else writes it and no domain can map it.
pub trait TableMemory {
    /// Reads the descriptor at a physical address, a multiple of four.
    fn word(&self, at: PhysAddr<u32>) -> u32;

    /// Writes the descriptor at a physical address, in one store.
    fn set_word(&mut self, at: PhysAddr<u32>, value: u32);

    /// Location of the memory. The answer for an address does not change while a table is there.
    fn placement(&self, at: PhysAddr<u32>) -> Placement;
}
