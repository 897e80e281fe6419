//! The region compiler: exact, or refused with what would be granted.

use protect::Span;
use protect::pmsav7::placement::placement_for;
use protect::pmsav7::{self, RegionError, RegionRegs, Rule, cover, encode_one};
use protect::{Access, Data, MemType};

use crate::pointer::{Out, read, write_all};
use crate::status::{Status, status_of};

/// `CFM_READ`.
pub const READ: u32 = 1;
/// `CFM_WRITE`.
pub const WRITE: u32 = 2;
/// `CFM_EXECUTE`.
pub const EXECUTE: u32 = 4;
/// `CFM_COVER_MOST`: no range takes more regions.
pub const COVER_MOST: u32 = pmsav7::MAX_COVER as u32;

/// Memory types in the order of `CFM_WRITE_BACK` and what follows.
const MEMORY: [MemType; 5] =
    [MemType::WriteBack, MemType::WriteThrough, MemType::NonCacheable, MemType::Device, MemType::StronglyOrdered];

/// `cfm_span`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CfmSpan {
    /// Length in bytes.
    pub len: u64,
    /// First byte.
    pub base: u32,
    /// Zero.
    pub zero: u32,
}

/// `cfm_refusal`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CfmRefusal {
    /// The range asked.
    pub asked: CfmSpan,
    /// The smallest range around it that one region expresses; length 0: none.
    pub grown: CfmSpan,
    /// The next range at or above the base asked, of that length or the least larger one; length 0: none.
    pub moved: CfmSpan,
    /// The limit of the rule: bytes or registers.
    pub limit: u64,
    /// The rule: one of `CFM_RULE_...`.
    pub rule: u32,
    /// Regions that an exact cover takes; 0: there is none.
    pub regions: u32,
}

impl From<Span> for CfmSpan {
    fn from(span: Span) -> Self {
        Self { base: span.base, len: span.len, zero: 0 }
    }
}

impl From<CfmSpan> for Span {
    fn from(span: CfmSpan) -> Self {
        Self::new(span.base, span.len)
    }
}

/// The number of a rule in the header.
pub const fn rule_number(rule: Rule) -> u32 {
    match rule {
        Rule::Empty => 1,
        Rule::AddressSpace => 2,
        Rule::Granule => 3,
        Rule::OneRegion => 4,
        Rule::Registers => 5,
        Rule::DeviceExecute => 6,
        Rule::ExecuteUnreadable => 7,
    }
}

impl From<RegionError> for CfmRefusal {
    fn from(error: RegionError) -> Self {
        Self {
            asked: error.asked.into(),
            grown: error.nearest.grown.map(CfmSpan::from).unwrap_or_default(),
            moved: error.nearest.moved.map(CfmSpan::from).unwrap_or_default(),
            limit: error.limit,
            rule: rule_number(error.rule),
            regions: error.nearest.regions as u32,
        }
    }
}

fn attributes(access: u32, memory: u32) -> Result<(Access, MemType), Status> {
    let data = match access & (READ | WRITE) {
        0 => Data::None,
        READ => Data::Ro,
        WRITE => return Err(Status::Argument),
        _ => Data::Rw,
    };
    if access > READ | WRITE | EXECUTE {
        return Err(Status::Argument);
    }
    let memory = MEMORY.get(memory as usize).ok_or(Status::Argument)?;
    Ok((Access { data, exec: access & EXECUTE != 0 }, *memory))
}

/// Leaves the refusal where the caller wants it.
///
/// # Safety
/// As in [the crate's](crate) documentation.
unsafe fn refused(why: Option<Out<CfmRefusal>>, error: RegionError) -> Status {
    if let Some(why) = why {
        // SAFETY: the caller's duty.
        unsafe { why.put(error.into()) };
    }
    Status::Refused
}

/// `cfm_region_encode`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_region_encode(
    span: *const CfmSpan,
    access: u32,
    memory: u32,
    out: *mut RegionRegs,
    why: *mut CfmRefusal,
) -> Status {
    let body = || {
        // SAFETY: the caller's duty.
        let span = *unsafe { read(span) }?;
        let (out, why) = (Out::required(out)?, Out::optional(why)?);
        let (access, memory) = attributes(access, memory)?;
        // SAFETY: the caller's duty.
        let regs = encode_one(span.into(), access, memory).map_err(|error| unsafe { refused(why, error) })?;
        // SAFETY: the caller's duty.
        unsafe { out.put(regs) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_region_cover`.
///
/// # Safety
/// As in [the crate's](crate) documentation, with `capacity` values at `out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_region_cover(
    span: *const CfmSpan,
    access: u32,
    memory: u32,
    out: *mut RegionRegs,
    capacity: u32,
    count: *mut u32,
    why: *mut CfmRefusal,
) -> Status {
    let body = || {
        // SAFETY: the caller's duty.
        let span = *unsafe { read(span) }?;
        let (count, why) = (Out::required(count)?, Out::optional(why)?);
        let (access, memory) = attributes(access, memory)?;
        // SAFETY: the caller's duty.
        let out = unsafe { write_all(out, capacity.min(COVER_MOST)) }?;
        // SAFETY: the caller's duty.
        let regions = cover(span.into(), access, memory, out).map_err(|error| unsafe { refused(why, error) })?;
        // SAFETY: the caller's duty.
        unsafe { count.put(regions as u32) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_region_place`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_region_place(len: u64, from: u32, out: *mut CfmSpan) -> Status {
    let body = || {
        let out = Out::required(out)?;
        let placement = placement_for(len).ok_or(Status::Argument)?;
        let base = placement.next_base(u64::from(from)).ok_or(Status::Refused)?;
        // SAFETY: the caller's duty.
        unsafe { out.put(Span::new(base as u32, placement.size_bytes).into()) };
        Ok(())
    };
    status_of(body())
}
