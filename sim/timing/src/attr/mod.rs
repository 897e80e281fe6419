//! Memory attributes of one access, as the MPU in force or the architecture's default map gives them.

/// The memory type in force permits the caches and buffers this much with an access. It is passed with every access, and aligned so that it
/// is read from a table in one piece.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(align(8))]
pub struct MemAttr {
    /// Normal memory that a cache may hold.
    pub cacheable: bool,
    /// A store to a cached line stays in the cache until the line is evicted or cleaned.
    pub write_back: bool,
    /// A store that misses brings the line into the cache.
    pub write_allocate: bool,
    /// Device memory: never cached, one transfer per access.
    pub device: bool,
    /// Strongly ordered: like device memory, and a store is not buffered.
    pub strongly_ordered: bool,
    /// Shared with another observer. The Cortex-M7 does not hold shareable data in its data cache.
    pub shareable: bool,
    /// Instructions may be fetched.
    pub executable: bool,
}

const NONE: MemAttr = MemAttr {
    cacheable: false,
    write_back: false,
    write_allocate: false,
    device: false,
    strongly_ordered: false,
    shareable: false,
    executable: true,
};

impl MemAttr {
    /// Normal, not cacheable.
    pub const NON_CACHEABLE: Self = NONE;
    /// Normal, write-through, no write allocation.
    pub const WRITE_THROUGH: Self = Self { cacheable: true, ..NONE };
    /// Normal, write-back, no write allocation.
    pub const WRITE_BACK: Self = Self { cacheable: true, write_back: true, ..NONE };
    /// Normal, write-back, write and read allocation.
    pub const WRITE_BACK_ALLOCATE: Self = Self { cacheable: true, write_back: true, write_allocate: true, ..NONE };
    /// Device.
    pub const DEVICE: Self = Self { device: true, executable: false, ..NONE };
    /// Strongly ordered.
    pub const STRONGLY_ORDERED: Self =
        Self { device: true, strongly_ordered: true, shareable: true, executable: false, ..NONE };

    /// The same memory type without permission to fetch instructions.
    pub const fn execute_never(self) -> Self {
        Self { executable: false, ..self }
    }

    /// The same memory type, shareable.
    pub const fn shared(self) -> Self {
        Self { shareable: true, ..self }
    }

    /// Whether the data cache may hold it.
    pub const fn data_cacheable(self) -> bool {
        self.cacheable & !self.shareable
    }

    /// Decodes TEX, C, B and S of a region or descriptor and its execute-never bit (DDI 0403 table B3-13; DDI 0406 table
    /// B3-10 is the same). With TEX = 0b1xx the inner policy (C, B) is taken, which governs the level-1 caches. A reserved
    /// encoding is treated as strongly ordered, the most restrictive type.
    pub const fn from_tex(tex: u32, c: bool, b: bool, shareable: bool, never: bool) -> Self {
        let kind = match (tex, c, b) {
            (0, false, false) => Self::STRONGLY_ORDERED,
            (0, false, true) => Self::DEVICE.shared(),
            (0, true, false) => Self::WRITE_THROUGH,
            (0, true, true) => Self::WRITE_BACK,
            (1, false, false) => Self::NON_CACHEABLE,
            (1, true, true) => Self::WRITE_BACK_ALLOCATE,
            (2, false, false) => Self::DEVICE,
            (4..=7, false, false) => Self::NON_CACHEABLE,
            (4..=7, false, true) => Self::WRITE_BACK_ALLOCATE,
            (4..=7, true, false) => Self::WRITE_THROUGH,
            (4..=7, true, true) => Self::WRITE_BACK,
            _ => Self::STRONGLY_ORDERED,
        };
        // The S bit has a meaning for normal memory only.
        let shareable = if kind.device { kind.shareable } else { shareable };
        Self { executable: !kind.device && !never, shareable, ..kind }
    }

    /// Decodes the attribute fields of an Armv7-M `MPU_RASR` (DDI 0403 B3.5.9): TEX in bits 21 to 19, S in 18, C in 17, B
    /// in 16, XN in 28.
    pub const fn from_rasr(rasr: u32) -> Self {
        let (c, b) = (rasr & (1 << 17) != 0, rasr & (1 << 16) != 0);
        let (s, xn) = (rasr & (1 << 18) != 0, rasr & (1 << 28) != 0);
        Self::from_tex((rasr >> 19) & 7, c, b, s, xn)
    }
}

/// Outer cache policy of normal memory: what a level-2 cache may do. Device memory has none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outer {
    /// It may not hold it.
    NonCacheable,
    /// Write-back, allocates on reads and writes.
    WriteBackAllocate,
    /// Write-through.
    WriteThrough,
    /// Write-back, allocates on reads.
    WriteBack,
}

impl Outer {
    /// The two-bit encoding of descriptors and of the walk attributes of TTBR (DDI 0406 table B3-11).
    pub const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::NonCacheable,
            1 => Self::WriteBackAllocate,
            2 => Self::WriteThrough,
            _ => Self::WriteBack,
        }
    }

    /// The outer policy that TEX, C and B of a descriptor give (DDI 0406 table B3-10).
    pub const fn from_tex(tex: u32, c: bool, b: bool) -> Self {
        match (tex, c, b) {
            (0, true, false) => Self::WriteThrough,
            (0, true, true) => Self::WriteBack,
            (1, true, true) => Self::WriteBackAllocate,
            (4..=7, _, _) => Self::from_bits(tex),
            _ => Self::NonCacheable,
        }
    }

    /// Whether a level-2 cache may hold it.
    pub const fn cacheable(self) -> bool {
        !matches!(self, Self::NonCacheable)
    }

    /// Whether a changed line may stay there.
    pub const fn write_back(self) -> bool {
        matches!(self, Self::WriteBack | Self::WriteBackAllocate)
    }
}

#[cfg(test)]
mod tests;
