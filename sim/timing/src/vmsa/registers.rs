//! The registers that translation depends on.

use crate::attr::{MemAttr, Outer};

/// The system control registers that concern translation (DDI 0406 B4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// SCTLR.M.
    pub enabled: bool,
    /// SCTLR.TRE: TEX[0], C and B name an entry of PRRR and NMRR.
    pub remap: bool,
    /// SCTLR.AFE: AP[0] is an access flag.
    pub access_flag: bool,
    /// TTBR0.
    pub ttbr0: u32,
    /// TTBR1.
    pub ttbr1: u32,
    /// TTBCR.
    pub ttbcr: u32,
    /// CONTEXTIDR; the ASID is in its lowest byte.
    pub contextidr: u32,
    /// PRRR.
    pub prrr: u32,
    /// NMRR.
    pub nmrr: u32,
}

impl Registers {
    /// As at reset: translation off.
    pub const RESET: Self = Self {
        enabled: false,
        remap: false,
        access_flag: false,
        ttbr0: 0,
        ttbr1: 0,
        ttbcr: 0,
        contextidr: 0,
        prrr: 0,
        nmrr: 0,
    };
}

/// How the walk reaches its tables (TTBR.IRGN and RGN).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WalkMemory {
    /// Whether descriptors are looked up in the level-1 data cache: only when the inner policy is write-back (DDI 0388I 6.3).
    pub level1: bool,
    /// The outer policy.
    pub outer: Outer,
}

/// The first-level table of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Root {
    /// Its physical address.
    pub base: u32,
    /// Index of the address's descriptor.
    pub index: u32,
    /// Whether a walk is not allowed.
    pub disabled: bool,
    /// Its memory type.
    pub memory: WalkMemory,
}

impl Registers {
    /// The current address space.
    pub const fn asid(&self) -> u8 {
        self.contextidr as u8
    }

    /// The first-level table that translates `addr` (DDI 0406 B3.5.4, B3.5.5): TTBR0 if the uppermost TTBCR.N bits are
    /// clear, otherwise TTBR1, whose table is always of full size.
    pub const fn root(&self, addr: u32) -> Root {
        let n = self.ttbcr & 7;
        let low = n == 0 || addr >> (32 - n) == 0;
        let (ttbr, shrink) = if low { (self.ttbr0, n) } else { (self.ttbr1, 0) };
        let disabled = self.ttbcr & (if low { 1 << 4 } else { 1 << 5 }) != 0;
        // IRGN[1] is bit 0 and IRGN[0] bit 6 on a core with the multiprocessing extensions.
        let inner = (ttbr & 1) << 1 | ttbr >> 6 & 1;
        Root {
            base: ttbr & (u32::MAX << (14 - shrink)),
            index: addr >> 20 & (0xFFF >> shrink),
            disabled,
            memory: WalkMemory { level1: inner & 1 != 0, outer: Outer::from_bits(ttbr >> 3) },
        }
    }

    /// The same with another first-level table for the part of the address space that `addr` lies in.
    #[must_use]
    pub const fn with_root(mut self, addr: u32, base: u32) -> Self {
        let n = self.ttbcr & 7;
        let ttbr = if n == 0 || addr >> (32 - n) == 0 { &mut self.ttbr0 } else { &mut self.ttbr1 };
        *ttbr = base | *ttbr & 0x7F;
        self
    }

    /// Memory type and outer policy of a descriptor's TEX, C, B, S and XN.
    pub const fn attributes(&self, tex: u32, c: bool, b: bool, s: bool, never: bool) -> (MemAttr, Outer) {
        if self.remap {
            return self.remapped(tex & 1, c, b, s, never);
        }
        (MemAttr::from_tex(tex, c, b, s, never), Outer::from_tex(tex, c, b))
    }

    /// With TEX remap (DDI 0406 B3.8.3, PRRR and NMRR in B4.1.127, B4.1.113).
    const fn remapped(&self, tex0: u32, c: bool, b: bool, s: bool, never: bool) -> (MemAttr, Outer) {
        let n = tex0 << 2 | (c as u32) << 1 | b as u32;
        let kind = self.prrr >> (2 * n) & 3;
        // DS0, DS1 (bits 16, 17) and NS0, NS1 (18, 19) say what the descriptor's S bit means.
        let attr = match kind {
            0 => MemAttr::STRONGLY_ORDERED,
            1 => {
                let shared = self.prrr >> (16 + s as u32) & 1 != 0;
                if shared { MemAttr::DEVICE.shared() } else { MemAttr::DEVICE }
            }
            _ => {
                let plain = match self.nmrr >> (2 * n) & 3 {
                    0 => MemAttr::NON_CACHEABLE,
                    1 => MemAttr::WRITE_BACK_ALLOCATE,
                    2 => MemAttr::WRITE_THROUGH,
                    _ => MemAttr::WRITE_BACK,
                };
                let shared = self.prrr >> (18 + s as u32) & 1 != 0;
                let typed = if shared { plain.shared() } else { plain };
                if never { typed.execute_never() } else { typed }
            }
        };
        let outer = if kind >= 2 { Outer::from_bits(self.nmrr >> (16 + 2 * n)) } else { Outer::NonCacheable };
        (attr, outer)
    }
}
