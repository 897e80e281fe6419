//! The one compiler from byte ranges to PMSAv7 region registers. It is exact or it refuses; it never widens.

use super::placement;
use super::regs::{RASR_ENABLE, RegionRegs, SUBREGION_MIN_LOG2};
use crate::regions::GRANULE_BYTES;
use crate::{Access, Data, MemType, Span};

/// No range of 32-byte granules needs more regions than this: see [`cover`].
pub const MAX_COVER: usize = 18;

/// The rule that a request breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A region has at least one byte.
    Empty,
    /// The range ends at or below 2^32.
    AddressSpace,
    /// Base and end are multiples of 32.
    Granule,
    /// The range is a power of two in size, aligned to it, or a run of eighths of such a block of at least 256 bytes.
    OneRegion,
    /// The exact cover fits the number of registers offered (`limit`).
    Registers,
    /// Device and strongly-ordered memory is never executed (ARM DDI 0403 B3.1).
    DeviceExecute,
    /// Code must be readable to be executed.
    ExecuteUnreadable,
}

/// The nearest requests that would be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The smallest range around the one asked that one region expresses.
    pub grown: Option<Span>,
    /// A range of the same or the least larger length, starting at or above the base asked, that one region expresses.
    pub moved: Option<Span>,
    /// Regions that an exact cover of the range asked takes; 0 if none exists.
    pub regions: usize,
}

/// A refusal: what was asked, which rule it breaks, that rule's limit, and what would be granted instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionError {
    /// The range asked.
    pub asked: Span,
    /// The rule broken.
    pub rule: Rule,
    /// The limit of that rule: bytes (granule, address space) or registers.
    pub limit: u64,
    /// Nearest legal alternatives.
    pub nearest: Nearest,
}

/// One region that permits exactly `asked`, or the reason why none does.
///
/// # Errors
/// [`RegionError`]; see [`Rule`] for the cases.
///
/// # Time complexity
/// Constant; fit for `const` evaluation, so that a static region that breaks a rule fails the build.
pub const fn encode_one(asked: Span, access: Access, mem: MemType) -> Result<RegionRegs, RegionError> {
    if let Err(error) = well_formed(asked, access, mem) {
        return Err(error);
    }
    match one_region(asked) {
        Some((n, srd)) => Ok(regs(asked.base, n, srd, access, mem)),
        None => Err(refuse(asked, Rule::OneRegion, 1)),
    }
}

/// As [`encode_one`], without the search for what would be possible: for the kernel.
///
/// # Time complexity
/// O(1).
pub const fn exact(asked: Span, access: Access, mem: MemType) -> Option<RegionRegs> {
    if broken(asked, access, mem).is_some() {
        return None;
    }
    match one_region(asked) {
        Some((n, srd)) => Some(regs(asked.base, n, srd, access, mem)),
        None => None,
    }
}

/// The fewest regions whose union is exactly `asked`, written to the front of `out`; returns how many. Regions may
/// overlap one another, with equal attributes, so their order does not matter.
///
/// Minimal: every region inside the range covers an interval of it, so this is interval covering, where taking, from the first
/// byte not yet covered, the interval that reaches furthest is optimal.
///
/// At most [`MAX_COVER`]: from a base aligned to 2^a, a block of 2^(a+3) bytes has eighths that begin there, so one region reaches
/// a multiple of 2^(a+3), or the range ends before that; the same holds downwards from the end. With 27 bits between granule
/// and address space that is nine steps up and nine down.
///
/// # Errors
/// [`Rule::Registers`] when `out` is too short, with the number that would do; otherwise as for [`encode_one`].
///
/// # Time complexity
/// At most 28 candidate sizes for each region returned.
pub fn cover(asked: Span, access: Access, mem: MemType, out: &mut [RegionRegs]) -> Result<usize, RegionError> {
    well_formed(asked, access, mem)?;
    let mut at = u64::from(asked.base);
    let mut count = 0;
    while at < asked.end() {
        let Some(slot) = out.get_mut(count) else {
            return Err(refuse(asked, Rule::Registers, out.len() as u64));
        };
        let (piece, n, srd) = furthest(asked, at as u32);
        *slot = regs(piece.base, n, srd, access, mem);
        at = piece.end();
        count += 1;
    }
    Ok(count)
}

/// How many regions [`cover`] takes for a range; `None` if it is not made of whole granules.
pub const fn cover_count(asked: Span) -> Option<usize> {
    if asked.len == 0 || asked.end() > 1 << 32 || !granular(asked) {
        return None;
    }
    let mut at = asked.base as u64;
    let mut count = 0;
    while at < asked.end() {
        at = furthest(asked, at as u32).0.end();
        count += 1;
    }
    Some(count)
}

const fn granular(asked: Span) -> bool {
    let granule = GRANULE_BYTES as u64;
    (asked.base as u64).is_multiple_of(granule) && asked.len.is_multiple_of(granule)
}

const fn well_formed(asked: Span, access: Access, mem: MemType) -> Result<(), RegionError> {
    match broken(asked, access, mem) {
        Some((rule, limit)) => Err(refuse(asked, rule, limit)),
        None => Ok(()),
    }
}

/// Returns the rule that a request breaks whatever the number of regions, and its limit.
const fn broken(asked: Span, access: Access, mem: MemType) -> Option<(Rule, u64)> {
    Some(if asked.len == 0 {
        (Rule::Empty, 1)
    } else if asked.end() > 1 << 32 {
        (Rule::AddressSpace, 1 << 32)
    } else if !granular(asked) {
        (Rule::Granule, GRANULE_BYTES as u64)
    } else if access.exec && mem.is_device() {
        (Rule::DeviceExecute, 0)
    } else if access.exec && matches!(access.data, Data::None) {
        (Rule::ExecuteUnreadable, 0)
    } else {
        return None;
    })
}

/// log2 of the smallest aligned block that encloses the non-empty range.
const fn enclosing_log2(asked: Span) -> u32 {
    32 - (asked.base ^ (asked.end() - 1) as u32).leading_zeros()
}

/// Returns size and sub-region bits of the one region that is exactly the range. Only the smallest
/// enclosing block need be tried: a larger one has larger eighths, whose multiples are a subset.
/// Below 256 bytes there are no eighths, so 256 is tried as well.
const fn one_region(asked: Span) -> Option<(u32, u32)> {
    let n = enclosing_log2(asked);
    if asked.len == 1 << n {
        return Some((n, 0));
    }
    let n = if n < SUBREGION_MIN_LOG2 { SUBREGION_MIN_LOG2 } else { n };
    let eighth = 1u64 << (n - 3);
    if !(asked.base as u64).is_multiple_of(eighth) || !asked.len.is_multiple_of(eighth) {
        return None;
    }
    Some((n, srd_of(asked, n)))
}

/// Disable bits of everything but `piece` in its block of 2^n bytes (n >= 8).
const fn srd_of(piece: Span, n: u32) -> u32 {
    let first = (piece.base as u64 & ((1 << n) - 1)) >> (n - 3);
    let count = piece.len >> (n - 3);
    !(((1 << count) - 1) << first) as u32 & 0xff
}

/// Among all regions inside `asked` that contain `at`, the one that reaches furthest.
const fn furthest(asked: Span, at: u32) -> (Span, u32, u32) {
    let mut best = (Span::new(at, 0), 0, 0);
    let mut n = 5;
    while n <= 32 {
        let block = at as u64 & !((1 << n) - 1);
        let step = if n < SUBREGION_MIN_LOG2 { 1u64 << n } else { 1 << (n - 3) };
        let low = if asked.base as u64 > block { (asked.base as u64).next_multiple_of(step) } else { block };
        let high = if asked.end() < block + (1 << n) { asked.end() / step * step } else { block + (1 << n) };
        if low <= at as u64 && high > best.0.end() && high > low {
            let piece = Span::new(low as u32, high - low);
            best = (piece, n, if n < SUBREGION_MIN_LOG2 { 0 } else { srd_of(piece, n) });
        }
        n += 1;
    }
    best
}

const fn regs(base: u32, n: u32, srd: u32, access: Access, mem: MemType) -> RegionRegs {
    let block = (base as u64 & !((1 << n) - 1)) as u32;
    RegionRegs { rbar: block, rasr: access.bits() | mem.bits() | srd << 8 | (n - 1) << 1 | RASR_ENABLE }
}

const fn refuse(asked: Span, rule: Rule, limit: u64) -> RegionError {
    let legal = asked.len > 0 && asked.end() <= 1 << 32;
    let nearest = Nearest {
        grown: if legal { grown(asked) } else { None },
        moved: if legal { moved(asked) } else { None },
        regions: match cover_count(asked) {
            Some(count) => count,
            None => 0,
        },
    };
    RegionError { asked, rule, limit, nearest }
}

/// The smallest expressible range around `asked`: its ends rounded out to the eighths of the smallest enclosing block.
const fn grown(asked: Span) -> Option<Span> {
    let n = enclosing_log2(asked);
    let n = if n < SUBREGION_MIN_LOG2 { SUBREGION_MIN_LOG2 } else { n };
    let eighth = 1u64 << (n - 3);
    let low = asked.base as u64 / eighth * eighth;
    let high = asked.end().next_multiple_of(eighth);
    Some(Span::new(low as u32, high - low))
}

/// The next place at or above the base asked where the (rounded) length is one region.
const fn moved(asked: Span) -> Option<Span> {
    let Some(placement) = placement::placement_for(asked.len) else { return None };
    match placement.next_base(asked.base as u64) {
        Some(base) => Some(Span::new(base as u32, placement.size_bytes)),
        None => None,
    }
}
