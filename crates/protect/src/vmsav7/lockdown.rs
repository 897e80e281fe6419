//! The sequences that lock entries of the main TLB and ways of the second-level cache, as data: what is written where, in order. A
//! port performs the steps one by one, with interrupts masked, and adds nothing.
//!
//! A Cortex-A9 places *every* walk into the chosen lock slot while the preserve bit is set (ARM DDI 0388I 4.3.15). So between the two
//! writes of that register nothing else may miss: the code of the sequence runs from one section that it has just fetched
//! from, uses registers only, and touches one address.

use units::VirtAddr;

use super::owed::Asid;
use super::{LOCK_SLOTS, PAGE_BYTES};

/// A step. Its kind says what a port does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `DSB`: everything before has happened.
    Dsb,
    /// `ISB`: what follows is fetched after it.
    Isb,
    /// `MCR p15, 0, value, c8, c7, 1`: `TLBIMVA` (DDI 0388I table 4-26: takes a locked entry out, too).
    InvalidateEntry {
        /// Virtual address, with the identifier in bits 7..0.
        value: u32,
    },
    /// `MCR p15, 0, value, c10, c0, 0`: TLB lockdown register, slot in bits 29..28, preserve in bit 0 (DDI 0388I 4.3.15).
    TlbLockdown {
        /// The word to write.
        value: u32,
    },
    /// A load from a virtual address of the domain whose tables are in `TTBR0`.
    Touch {
        /// The address.
        address: VirtAddr<u32>,
    },
    /// Clean and invalidate the first-level data cache by address, every line of the range (`DCCIMVAC`, ARM DDI 0406C B4.2.1).
    CleanFirstLevel(Lines),
    /// Clean and invalidate ways: a store to 0x7FC, then loads until the same bits are 0 (ARM DDI 0246 3.3.10). A controller works on ways
    /// in the background; nothing else is written to it before that.
    CleanWays {
        /// The ways, one bit each.
        ways: u16,
    },
    /// Clean and invalidate by physical address, every line of the range: stores to 0x7F0 (DDI 0246 3.3.10).
    CleanSecondLevel(Lines),
    /// Cache sync: a store of 0 to 0x730, which drains its buffers (DDI 0246 3.3.10).
    Sync,
    /// Lockdown by way: a store to a register (DDI 0246 3.3.11, at 0x900 + 8 n for data and 0x904 + 8 n for instructions of master n).
    Lock {
        /// Offset of the register.
        offset: u16,
        /// Ways in which nothing is allocated, one bit each.
        ways: u16,
    },
    /// A load from every line of the range.
    Load(Lines),
}

/// Lines of 32 bytes at addresses that are the same virtually and physically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// First address, a multiple of the line.
    pub base: u32,
    /// How many.
    pub count: u32,
}

/// Bytes of a line of both levels.
pub const LINE_BYTES: u32 = 32;
/// Masters that the lockdown registers know.
pub const MASTERS: u16 = 8;
/// Bytes of a way of the second-level cache: other sizes, which the controller can have, are not supported.
pub const WAY_BYTES: u32 = 64 << 10;
/// Ways of that cache, at most (ARM DDI 0246 3.3.4); a chip can have eight.
pub const WAYS: u32 = 16;

/// Locks the entry that translates `address` for the domain with this identifier, whose tables and identifier are in place, into a slot.
/// `None` unless there is such a slot.
///
/// The old entry is taken out first, so that the load is a miss; it is a data access, which brings in the entry of the unified main
/// TLB for fetches, too.
pub const fn lock_entry(slot: usize, asid: Asid, address: VirtAddr<u32>) -> Option<[Step; 10]> {
    if slot >= LOCK_SLOTS {
        return None;
    }
    Some([
        Step::Dsb,
        invalidate(asid, address),
        Step::Dsb,
        Step::Isb,
        Step::TlbLockdown { value: (slot as u32) << 28 | 1 },
        Step::Isb,
        Step::Touch { address },
        Step::Dsb,
        Step::TlbLockdown { value: 0 },
        Step::Isb,
    ])
}

const fn invalidate(asid: Asid, address: VirtAddr<u32>) -> Step {
    Step::InvalidateEntry { value: address.0 & !(PAGE_BYTES - 1) | asid.number() as u32 }
}

/// Brings page tables into ways and locks them there, or only closes the ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockWays {
    /// Ways that hold something already and stay locked, one bit each.
    pub locked: u16,
    /// The ways to fill, one bit each.
    pub fill: u16,
    /// Physical address of the tables, a multiple of [`LINE_BYTES`].
    pub base: u32,
    /// Their bytes, a multiple of [`LINE_BYTES`], at most [`WAY_BYTES`] for each way to fill. Lines that they do not fill stay empty.
    pub bytes: u32,
}

/// Why ways are not locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaysError {
    /// No way is to be filled.
    Nothing,
    /// A way is to be filled that is locked already.
    Locked,
    /// The ways to fill do not hold the tables.
    TooMuch,
    /// The tables are not made of lines, or pass the end of the address space.
    Misaligned,
}

impl LockWays {
    /// The steps. The tables are lines that follow one another, no more than the ways to fill hold: of each set there are no more of
    /// them than there are ways.
    ///
    /// The ways are emptied, the lines are thrown out of both caches, everything but the ways to fill is closed to data and every way
    /// to instructions, the lines are loaded, and then the ways are closed for good and the others opened. When all ways are closed, what
    /// is not in them is not kept in this cache at all.
    ///
    /// # Errors
    /// [`WaysError`].
    pub fn steps(self) -> Result<impl Iterator<Item = Step>, WaysError> {
        let Self { locked, fill, base, bytes } = self;
        if fill == 0 {
            return Err(WaysError::Nothing);
        }
        if fill & locked != 0 {
            return Err(WaysError::Locked);
        }
        if bytes > fill.count_ones() * WAY_BYTES {
            return Err(WaysError::TooMuch);
        }
        if !(base | bytes).is_multiple_of(LINE_BYTES) || u64::from(base) + u64::from(bytes) > 1 << 32 {
            return Err(WaysError::Misaligned);
        }
        let lines = Lines { base, count: bytes / LINE_BYTES };
        let empty = [
            Step::CleanFirstLevel(lines),
            Step::Dsb,
            Step::CleanSecondLevel(lines),
            Step::CleanWays { ways: fill },
            Step::Sync,
        ];
        let filled = [Step::Sync, Step::Load(lines), Step::Dsb];
        let end = [Step::Sync, Step::Dsb];
        let fill_only = lock_all(!fill, u16::MAX);
        let closed = lock_all(locked | fill, locked | fill);
        Ok(empty.into_iter().chain(fill_only).chain(filled).chain(closed).chain(end))
    }
}

/// The lockdown registers of every master.
fn lock_all(data: u16, instructions: u16) -> impl Iterator<Item = Step> {
    (0..MASTERS).flat_map(move |master| {
        let offset = 0x900 + 8 * master;
        [Step::Lock { offset, ways: data }, Step::Lock { offset: offset + 4, ways: instructions }]
    })
}
