//! Memory as objects: typing, mapping and clearing parts of frames. The rules are those of
//! [`memory::frames::FrameTable`]; this file checks capabilities, applies what the rules permit, and never widens.

use abi::{Error, Kind, rights};
use memory::frames::{Domain as Owner, FrameError, FrameType, Purpose};
use protect::access::{Area, Residence};
use protect::pmsav7::{Access, Data, MemType, RegionRegs, Span, encode_one};
use protect::slots::min_paged_slots;
use units::{Bytes, PhysAddr, PhysRange};

use crate::arch::Arch;
use crate::kernel::{DONE, Kernel, Outcome};
use crate::objects::Cap;

/// A range of frames that capabilities can name.
#[derive(Debug)]
pub struct FrameRange {
    /// First address.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// Generation of capabilities to it.
    pub generation: u16,
}

impl FrameRange {
    fn range(&self) -> Result<PhysRange, Error> {
        physical(self.base, self.bytes).ok_or(Error::BadHandle)
    }
}

/// A half-open range of physical addresses.
pub(crate) fn physical(base: u32, bytes: u32) -> Option<PhysRange> {
    PhysRange::new(PhysAddr(u64::from(base)), Bytes(u64::from(bytes)))
}

/// The granule of all of it: the smallest region.
const GRANULE: u32 = 32;

fn refused(error: FrameError) -> Error {
    match error {
        FrameError::Full { .. } => Error::Full,
        _ => Error::BadState,
    }
}

/// A part of frames as a call names it.
fn part(frames: &FrameRange, offset: u32, bytes: u32) -> Result<PhysRange, Error> {
    let fits = bytes > 0 && offset.checked_add(bytes).is_some_and(|end| end <= frames.bytes);
    if !fits || !(offset | bytes).is_multiple_of(GRANULE) {
        return Err(Error::BadArgument);
    }
    physical(frames.base + offset, bytes).ok_or(Error::BadArgument)
}

/// What `FRAMES_MAP` and `FRAMES_UNMAP` are about.
struct Mapping {
    target: u8,
    regs: RegionRegs,
}

impl Mapping {
    /// The one run of bytes that the region permits.
    fn range(&self) -> Result<PhysRange, Error> {
        let span = protect::pmsav7::span_of(self.regs).ok_or(Error::BadArgument)?;
        physical(span.base, span.len as u32).ok_or(Error::BadArgument)
    }

    fn area(&self, access: u32) -> Result<Area, Error> {
        let range = self.range()?;
        let (first, last) = (range.base().0 as u32, (range.end().0 - 1) as u32);
        Ok(Area { first, last, rights: (access & 7) as u8, residence: Residence::Paged })
    }
}

impl<A: Arch> Kernel<A> {
    fn frames_of(&mut self, handle: u32, needed: u8) -> Result<(Cap, &mut FrameRange), Error> {
        let cap = self.lookup(handle, Kind::Frames, needed)?;
        let range = self.ranges.get_mut(usize::from(cap.object)).ok_or(Error::BadHandle)?;
        Ok((cap, range))
    }

    /// `FRAMES_RETYPE`.
    ///
    /// # Bound
    /// O(ranges).
    #[inline(never)]
    pub(crate) fn frames_retype(&mut self, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let range = part(self.frames_of(handle, rights::WRITE)?.1, offset, bytes)?;
        self.frames.retype(range, Purpose::Shared).map_err(refused)?;
        DONE
    }

    fn mapping(&mut self, target: u32, handle: u32, base: u32, shape: u32) -> Result<(Mapping, u32), Error> {
        let access = target >> 16;
        let target = self.lookup(target & 0xffff, Kind::Domain, rights::WRITE)?.object as u8;
        let (write, execute) = (access & 2 != 0, access & 4 != 0);
        let (log2, srd) = (shape & 0xff, shape >> 8);
        if access & 1 == 0
            || access > 7
            || (write && execute)
            || !(8..32).contains(&log2)
            || srd > 0xff
            || base & ((1 << log2) - 1) != 0
        {
            return Err(Error::BadArgument);
        }
        let frames = self.frames_of(handle, if write { rights::WRITE } else { rights::READ })?.1;
        let data = if write { Data::Rw } else { Data::Ro };
        let whole = Span::new(base, 1 << log2);
        let mut regs =
            encode_one(whole, Access { data, exec: execute }, MemType::WriteBack).map_err(|_| Error::BadArgument)?;
        regs.rasr |= srd << 8;
        let mapping = Mapping { target, regs };
        let range = mapping.range()?;
        if !frames.range()?.contains_range(range) {
            return Err(Error::BadAddress);
        }
        Ok((mapping, access))
    }

    /// `FRAMES_MAP`: as paged memory of the domain.
    ///
    /// # Bound
    /// O(areas) and a trie insertion.
    #[inline(never)]
    pub(crate) fn frames_map(&mut self, target: u32, handle: u32, base: u32, shape: u32) -> Result<Outcome, Error> {
        let (mapping, access) = self.mapping(target, handle, base, shape)?;
        self.room_for_paging(mapping.target, access & 4 != 0)?;
        let (range, area, owner) = (mapping.range()?, mapping.area(access)?, Owner(u16::from(mapping.target)));
        self.frames.map(range, owner).map_err(refused)?;
        let domain = self.domain_mut(mapping.target);
        let entered = domain.access.insert(area).is_ok();
        if entered && domain.trie.insert(mapping.regs).is_ok() {
            return DONE;
        }
        if entered {
            let _ = domain.access.remove(area.first, area.last);
        }
        // Cannot fail: the mapping was counted just now.
        let _ = self.frames.unmap(range, owner);
        Err(Error::Full)
    }

    /// Whether the domain has the paged slots that every instruction needs to make progress.
    fn room_for_paging(&self, target: u8, execute: bool) -> Result<(), Error> {
        let domain = self.domain(target);
        let paged = |area: &&Area| area.residence == Residence::Paged;
        let code = domain.access.areas().iter().filter(paged).any(|area| area.rights & protect::access::EXEC != 0);
        let needed = min_paged_slots(code || execute, true);
        if (domain.slots.paged_mask().count_ones() as usize) < needed { Err(Error::Full) } else { Ok(()) }
    }

    /// `FRAMES_UNMAP`: from the list of areas, the trie and the region registers, before it returns.
    ///
    /// # Bound
    /// O(areas) and a trie removal.
    #[inline(never)]
    pub(crate) fn frames_unmap(&mut self, target: u32, handle: u32, base: u32, shape: u32) -> Result<Outcome, Error> {
        let (mapping, access) = self.mapping(target, handle, base, shape)?;
        let (range, area) = (mapping.range()?, mapping.area(access)?);
        let in_force = self.is_loaded(mapping.target);
        let record = &mut self.domains[usize::from(mapping.target)];
        let off = record.slots.unmap(&mut record.trie, mapping.regs).map_err(|_| Error::BadState)?;
        let _ = record.access.remove(area.first, area.last);
        let _ = self.frames.unmap(range, Owner(u16::from(mapping.target)));
        if let Some(off) = off.filter(|_| in_force) {
            self.arch.load_slot(off);
        }
        DONE
    }

    /// `FRAMES_CLEAN`: one step.
    ///
    /// # Bound
    /// [`CLEAN_BYTES`] bytes and O(ranges).
    #[inline(never)]
    pub(crate) fn frames_clean(&mut self, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let range = part(self.frames_of(handle, rights::WRITE)?.1, offset, bytes)?;
        let mut next = range.base();
        if let Some(entry) = self.frames.at(next).filter(|entry| entry.kind == FrameType::Untyped) {
            next = entry.range.end().min(range.end());
        }
        let Some(entry) = self.frames.at(next).filter(|_| next < range.end()) else { return DONE };
        let end = entry.range.end().min(range.end()).0.min(next.0 + u64::from(CLEAN_BYTES));
        let piece = physical(next.0 as u32, (end - next.0) as u32).ok_or(Error::BadState)?;
        if matches!(entry.kind, FrameType::Typed(_)) {
            self.frames.release(piece).map_err(refused)?;
        }
        let mut scrub = self.frames.begin_scrub(piece).map_err(refused)?;
        // SAFETY: the frame table holds the range for clearing: no domain maps it and no object lives there.
        unsafe { self.arch.zero(next.0 as u32, (end - next.0) as u32) };
        scrub.cleared(piece);
        self.frames.finish_scrub(scrub).map_err(|(error, _)| refused(error))?;
        Ok(Outcome::Values((range.end().0 - end) as u32, 0))
    }

    /// `NODES_GIVE`.
    #[inline(never)]
    pub(crate) fn nodes_give(&mut self, domain: u32, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        self.lookup(domain, Kind::Domain, rights::WRITE)?;
        part(self.frames_of(handle, rights::WRITE)?.1, offset, bytes)?;
        Err(Error::Full)
    }
}

/// Bytes that one step of clearing handles.
const CLEAN_BYTES: u32 = 512;
