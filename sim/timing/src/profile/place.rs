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
        self.memory.iter().position(|memory| memory.chip_window().contains(addr)).map(MemoryId)
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
