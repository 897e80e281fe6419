//! Which memory an address belongs to, and whether an image fits it.

use alloc::string::String;

use units::{Bytes, PhysAddr, PhysRange};

use super::{MemoryKind, MemoryParams, Profile};

/// Index of a memory in its profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryId(pub usize);

/// Why a range cannot be placed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CapacityError {
    /// The range begins in no memory of the profile.
    NoMemory {
        /// What was asked.
        asked: PhysRange,
    },
    /// The range begins in a memory and ends beyond what the chip has of it.
    ChipCapacity {
        /// Name of the memory.
        memory: String,
        /// What was asked.
        asked: PhysRange,
        /// What the chip has, at board addresses.
        chip: PhysRange,
        /// By how much it is exceeded.
        excess: Bytes,
        /// Whether the board would have held it.
        board_would_hold: bool,
    },
    /// The chip has it but the board that QEMU models does not.
    BoardCapacity {
        /// Name of the memory.
        memory: String,
        /// What was asked.
        asked: PhysRange,
        /// What the board has.
        board: PhysRange,
        /// By how much it is exceeded.
        excess: Bytes,
    },
    /// The range lies in a device window.
    Device {
        /// Name of the window.
        memory: String,
        /// What was asked.
        asked: PhysRange,
    },
}

impl core::fmt::Display for CapacityError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoMemory { asked } => write!(f, "{asked} begins in no memory of the chip"),
            Self::ChipCapacity { memory, asked, chip, excess, board_would_hold } => {
                write!(f, "{asked} does not fit the chip's {memory} at {chip}: {excess} too many")?;
                if *board_would_hold { f.write_str(" (the board would have held it)") } else { Ok(()) }
            }
            Self::BoardCapacity { memory, asked, board, excess } => {
                write!(f, "{asked} fits the chip's {memory} but not the board's at {board}: {excess} too many")
            }
            Self::Device { memory, asked } => write!(f, "{asked} lies in the device window {memory}"),
        }
    }
}

impl core::error::Error for CapacityError {}

impl MemoryParams {
    fn window(&self, size: u64) -> PhysRange {
        let base = PhysAddr(self.board_base.value);
        PhysRange::new(base, Bytes(size)).unwrap_or_else(|| {
            PhysRange::from_bounds(base, PhysAddr(u64::MAX)).unwrap_or_else(|| unreachable!("no address is above this"))
        })
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

    /// Where `asked` lies, if chip and board both hold all of it in one memory.
    ///
    /// # Errors
    /// [`CapacityError`] says what is exceeded and by how much.
    pub fn place(&self, asked: PhysRange) -> Result<MemoryId, CapacityError> {
        let found = self.memory.iter().enumerate().find(|(_, memory)| {
            memory.chip_window().contains(asked.base()) || memory.board_window().contains(asked.base())
        });
        let Some((index, memory)) = found else { return Err(CapacityError::NoMemory { asked }) };
        let (chip, board) = (memory.chip_window(), memory.board_window());
        let name = || memory.name.clone();
        if memory.kind == MemoryKind::Device {
            return Err(CapacityError::Device { memory: name(), asked });
        }
        if !chip.contains_range(asked) {
            let excess = Bytes(asked.end().get() - chip.end().get());
            let board_would_hold = board.contains_range(asked) || self.board_holds(asked);
            return Err(CapacityError::ChipCapacity { memory: name(), asked, chip, excess, board_would_hold });
        }
        if !board.contains_range(asked) {
            let excess = Bytes(asked.end().get() - board.end().get());
            return Err(CapacityError::BoardCapacity { memory: name(), asked, board, excess });
        }
        Ok(MemoryId(index))
    }

    /// Whether the board windows together cover `asked` without a gap.
    fn board_holds(&self, asked: PhysRange) -> bool {
        let mut at = asked.base();
        for _ in 0..=self.memory.len() {
            if at >= asked.end() {
                return true;
            }
            match self.memory.iter().map(MemoryParams::board_window).find(|window| window.contains(at)) {
                Some(window) => at = window.end(),
                None => return false,
            }
        }
        false
    }
}
