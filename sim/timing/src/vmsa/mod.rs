//! Address translation of Armv7-A with short descriptors (DDI 0406 B3.5): registers, descriptors, and the walk as a pure
//! function over a copy of the tables.
//!
//! This decoding shares no code with the kernel's encoding, on purpose: it judges what the kernel wrote.

mod registers;

pub use registers::{Registers, Root, WalkMemory};

use crate::attr::{MemAttr, Outer};

/// Translation tables, as an observer of the program keeps a copy of them: walks read descriptors here.
pub trait Tables {
    /// The word at this physical address; `None` when the copy does not have it.
    fn descriptor(&self, addr: u32) -> Option<u32>;

    /// A number that changes whenever any descriptor of the copy changes.
    fn generation(&self) -> u64;
}

/// The translation of a block of virtual addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// First virtual address of the block.
    pub virt: u32,
    /// First physical address.
    pub phys: u32,
    /// Logarithm of its size: 12, 16, 20 or 24.
    pub size_log2: u32,
    /// Whether it holds for every address space (nG = 0).
    pub global: bool,
    /// Domain.
    pub domain: u8,
    /// AP[2:0].
    pub access: u8,
    /// Execute never.
    pub never: bool,
    /// Memory type and inner policy.
    pub attr: MemAttr,
    /// Outer policy.
    pub outer: Outer,
}

impl Mapping {
    /// Whether it covers `addr`.
    pub const fn covers(&self, addr: u32) -> bool {
        addr >> self.size_log2 == self.virt >> self.size_log2
    }

    /// The physical address of `addr`, which it covers.
    pub const fn translate(&self, addr: u32) -> u32 {
        self.phys | addr & ((1 << self.size_log2) - 1)
    }
}

/// Why a walk gives no translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Walks of this base register are disabled (TTBCR.PD0, PD1).
    Disabled,
    /// The first-level descriptor is invalid or reserved.
    FirstLevel,
    /// The second-level descriptor is invalid.
    SecondLevel,
    /// The access flag is in use and not set.
    AccessFlag,
    /// The copy of the tables does not have the descriptor at this address.
    Unknown(u32),
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Disabled => f.write_str("walks are disabled"),
            Self::FirstLevel => f.write_str("no valid first-level descriptor"),
            Self::SecondLevel => f.write_str("no valid second-level descriptor"),
            Self::AccessFlag => f.write_str("the access flag is not set"),
            Self::Unknown(addr) => write!(f, "no table is known at {addr:#010x}"),
        }
    }
}

/// A walk: which descriptors it read, and what they say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// Physical addresses of the descriptors in the order of their reads.
    pub reads: [u32; 2],
    /// How many of them were read.
    pub levels: u32,
    /// Physical address of the first-level table.
    pub root: u32,
    /// The memory type of the tables.
    pub memory: WalkMemory,
    /// The translation.
    pub outcome: Result<Mapping, Fault>,
}

const fn bit(word: u32, n: u32) -> bool {
    word >> n & 1 != 0
}

/// Walks the tables for `addr`. Time: constant, two descriptors.
pub fn walk(registers: &Registers, tables: &impl Tables, addr: u32) -> Walk {
    let root = registers.root(addr);
    let mut walk =
        Walk { reads: [0; 2], levels: 0, root: root.base, memory: root.memory, outcome: Err(Fault::Disabled) };
    if root.disabled {
        return walk;
    }
    walk.outcome = descend(registers, tables, addr, root.index, &mut walk);
    walk
}

fn descend(
    registers: &Registers,
    tables: &impl Tables,
    addr: u32,
    index: u32,
    walk: &mut Walk,
) -> Result<Mapping, Fault> {
    let mut read = |at: u32| {
        walk.reads[walk.levels as usize] = at;
        walk.levels += 1;
        tables.descriptor(at).ok_or(Fault::Unknown(at))
    };
    let first = read(walk.root + index * 4)?;
    match first & 3 {
        1 => {
            let domain = (first >> 5 & 15) as u8;
            let second = read((first & 0xFFFF_FC00) + (addr >> 12 & 0xFF) * 4)?;
            page(registers, addr, second, domain)
        }
        2 => section(registers, addr, first),
        // 0b11 is reserved on a core without the large physical address extension.
        _ => Err(Fault::FirstLevel),
    }
}

/// The fields that every final descriptor has, wherever they lie in it.
struct Fields {
    size_log2: u32,
    global: bool,
    domain: u8,
    access: u8,
    never: bool,
    tex: u32,
    c: bool,
    b: bool,
    s: bool,
}

fn section(registers: &Registers, addr: u32, d: u32) -> Result<Mapping, Fault> {
    let large = bit(d, 18);
    let fields = Fields {
        size_log2: if large { 24 } else { 20 },
        global: !bit(d, 17),
        domain: if large { 0 } else { (d >> 5 & 15) as u8 },
        access: (d >> 10 & 3 | d >> 13 & 4) as u8,
        never: bit(d, 4),
        tex: d >> 12 & 7,
        c: bit(d, 3),
        b: bit(d, 2),
        s: bit(d, 16),
    };
    finish(registers, addr, d, &fields)
}

fn page(registers: &Registers, addr: u32, d: u32, domain: u8) -> Result<Mapping, Fault> {
    let small = bit(d, 1);
    if d & 3 == 0 {
        return Err(Fault::SecondLevel);
    }
    let fields = Fields {
        size_log2: if small { 12 } else { 16 },
        global: !bit(d, 11),
        domain,
        access: (d >> 4 & 3 | d >> 7 & 4) as u8,
        never: bit(d, if small { 0 } else { 15 }),
        tex: d >> (if small { 6 } else { 12 }) & 7,
        c: bit(d, 3),
        b: bit(d, 2),
        s: bit(d, 10),
    };
    finish(registers, addr, d, &fields)
}

fn finish(registers: &Registers, addr: u32, d: u32, f: &Fields) -> Result<Mapping, Fault> {
    if registers.access_flag && f.access & 1 == 0 {
        return Err(Fault::AccessFlag);
    }
    let (attr, outer) = registers.attributes(f.tex, f.c, f.b, f.s, f.never);
    let mask = u32::MAX << f.size_log2;
    Ok(Mapping {
        virt: addr & mask,
        phys: d & mask,
        size_log2: f.size_log2,
        global: f.global,
        domain: f.domain,
        access: f.access,
        never: f.never,
        attr,
        outer,
    })
}

#[cfg(test)]
pub(crate) mod tests;
