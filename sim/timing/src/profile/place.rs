//! The memory that an address belongs to.

use units::{Bytes, PhysAddr, PhysRange};

use super::{MemoryParams, Profile};

/// Index of a memory in its profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryId(pub usize);

impl MemoryParams {
    fn window(&self, size: u64) -> PhysRange {
        PhysRange::at(PhysAddr(self.board_base.value), Bytes(size))
    }

    /// The same at its other address, if it has one.
    pub fn alias_window(&self) -> Option<PhysRange> {
        let base = self.board_alias.as_ref()?.value;
        Some(PhysRange::at(PhysAddr(base), Bytes(self.capacity.value)))
    }

    /// Whether a board address is one of what the chip has.
    fn holds(&self, addr: PhysAddr) -> bool {
        self.chip_window().contains(addr) || self.alias_window().is_some_and(|window| window.contains(addr))
    }

    /// Board addresses of what the chip has.
    pub fn chip_window(&self) -> PhysRange {
        self.window(self.capacity.value)
    }

    /// Board addresses of what the board has.
    pub fn board_window(&self) -> PhysRange {
        self.window(self.board_capacity.value)
    }

    /// Board addresses that exist on both.
    pub fn usable_window(&self) -> PhysRange {
        self.window(self.capacity.value.min(self.board_capacity.value))
    }
}

impl Profile {
    /// The memory that the board address `addr` belongs to on the chip. Time: proportional to the memories.
    pub fn locate(&self, addr: PhysAddr) -> Option<MemoryId> {
        self.memory.iter().position(|memory| memory.holds(addr)).map(MemoryId)
    }

    /// The memory with this name.
    pub fn by_name(&self, name: &str) -> Option<MemoryId> {
        self.memory.iter().position(|memory| memory.name == name).map(MemoryId)
    }

    /// The parameters of a memory; `None` for an identifier of another profile.
    pub fn memory(&self, id: MemoryId) -> Option<&MemoryParams> {
        self.memory.get(id.0)
    }
}
