//! Memory as objects: typing, splitting, mapping and scrubbing ranges of frames. The rules are those of
//! [`memory::frames::FrameTable`]; this file checks capabilities, applies what the rules permit, and never widens.

use abi::{Error, Kind, STEP_BYTES, rights};
use memory::frames::{Domain as Owner, FrameError, FrameType, Purpose};
use memory::scrub::Scrub;
use protect::access::{Area, Residence};
use protect::pmsav7::{Access, Data, MemType, REGIONS, RegionRegs, Span, cover};
use protect::slots::min_paged_slots;
use units::{Bytes, PhysAddr, PhysRange};

use crate::arch::Arch;
use crate::kernel::{DONE, Kernel, Outcome};
use crate::objects::Cap;

/// A range of frames that capabilities can name.
#[derive(Debug)]
pub struct FrameRange {
    /// First address; a range of no bytes is a spare for [`abi::Call::FramesSplit`].
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// A scrub that has begun.
    pub scrub: Option<Scrub>,
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

/// The granule of splitting: the smallest region.
const GRANULE: u32 = 32;

fn refused(error: FrameError) -> Error {
    match error {
        FrameError::Full { .. } => Error::Full,
        _ => Error::BadState,
    }
}

/// The regions that cover a range exactly, or `NOT_EXACT`.
struct Cover {
    regs: [RegionRegs; REGIONS],
    count: usize,
}

impl Cover {
    fn new(base: u32, bytes: u32, access: Access) -> Result<Cover, Error> {
        let mut regs = [RegionRegs::DISABLED; REGIONS];
        let span = Span::new(base, u64::from(bytes));
        let count = cover(span, access, MemType::WriteBack, &mut regs).map_err(|_| Error::NotExact)?;
        Ok(Cover { regs, count })
    }

    fn regions(&self) -> &[RegionRegs] {
        &self.regs[..self.count]
    }
}

impl<A: Arch> Kernel<A> {
    fn frames_of(&mut self, handle: u32, needed: u8) -> Result<(Cap, &mut FrameRange), Error> {
        let cap = self.lookup(handle, Kind::Frames, needed)?;
        let range = self.ranges.get_mut(usize::from(cap.object)).ok_or(Error::BadHandle)?;
        Ok((cap, range))
    }

    /// `RETYPE`: untyped frames become memory that can be mapped.
    ///
    /// # Bound
    /// O(ranges).
    #[inline(never)]
    pub(crate) fn retype(&mut self, handle: u32, kind: u32, _slot: u32, _count: u32) -> Result<Outcome, Error> {
        let range = self.frames_of(handle, rights::WRITE)?.1.range()?;
        if kind != 0 {
            return Err(Error::BadArgument);
        }
        self.frames.retype(range, Purpose::Shared).map_err(refused)?;
        Ok(Outcome::Values(1, 0))
    }

    /// `FRAMES_SPLIT`.
    ///
    /// # Bound
    /// O(ranges).
    #[inline(never)]
    pub(crate) fn frames_split(&mut self, handle: u32, bytes: u32, slot: u32) -> Result<Outcome, Error> {
        let (cap, source) = self.frames_of(handle, rights::WRITE)?;
        let (base, size, range) = (source.base, source.bytes, source.range()?);
        if bytes == 0 || bytes >= size || !bytes.is_multiple_of(GRANULE) {
            return Err(Error::BadArgument);
        }
        let entry = self.frames.at(range.base()).ok_or(Error::BadState)?;
        if entry.kind != FrameType::Untyped || !entry.range.contains_range(range) {
            return Err(Error::BadState);
        }
        let here = self.here();
        let free = self.domain(here).caps.get(slot as usize).ok_or(Error::BadSlot)?;
        if free.kind != Kind::Empty {
            return Err(Error::BadSlot);
        }
        let spare = self.ranges.iter().position(|range| range.bytes == 0).ok_or(Error::Full)?;
        self.ranges[usize::from(cap.object)].bytes = bytes;
        self.ranges[spare].base = base + bytes;
        self.ranges[spare].bytes = size - bytes;
        let generation = self.ranges[spare].generation;
        self.domain_mut(here).caps[slot as usize] = Cap { object: spare as u16, generation, ..cap };
        DONE
    }

    /// `FRAMES_MAP`: as paged memory of the domain.
    ///
    /// # Bound
    /// O(areas) and a trie insertion for each of at most eight regions.
    #[inline(never)]
    pub(crate) fn frames_map(&mut self, domain: u32, handle: u32, access: u32) -> Result<Outcome, Error> {
        let target = self.lookup(domain, Kind::Domain, rights::WRITE)?.object as u8;
        let (write, execute) = (access & 2 != 0, access & 4 != 0);
        if access & 1 == 0 || access > 7 || (write && execute) {
            return Err(Error::BadArgument);
        }
        let needed = if write { rights::WRITE } else { rights::READ };
        let source = self.frames_of(handle, needed)?.1;
        let (base, bytes, range) = (source.base, source.bytes, source.range()?);
        let data = if write { Data::Rw } else { Data::Ro };
        let cover = Cover::new(base, bytes, Access { data, exec: execute })?;
        let area = Area { first: base, last: base + (bytes - 1), rights: access as u8, residence: Residence::Paged };
        self.room_for_paging(target, execute)?;
        let owner = Owner(u16::from(target));
        self.frames.map(range, owner).map_err(refused)?;
        if self.enter(target, area, &cover).is_err() {
            // Cannot fail: the mapping was counted just now.
            let _ = self.frames.unmap(range, owner);
            return Err(Error::Full);
        }
        DONE
    }

    /// Whether the domain has the paged slots that every instruction needs to make progress.
    fn room_for_paging(&self, target: u8, execute: bool) -> Result<(), Error> {
        let domain = self.domain(target);
        let paged = |area: &&Area| area.residence == Residence::Paged;
        let code = domain.access.areas().iter().filter(paged).any(|area| area.rights & protect::access::EXEC != 0);
        let needed = min_paged_slots(code || execute, true);
        if (domain.slots.paged_mask().count_ones() as usize) < needed { Err(Error::Full) } else { Ok(()) }
    }

    /// Enters an area and its regions into a domain, or nothing.
    fn enter(&mut self, target: u8, area: Area, cover: &Cover) -> Result<(), Error> {
        let domain = self.domain_mut(target);
        domain.access.insert(area).map_err(|_| Error::Full)?;
        for (index, region) in cover.regions().iter().enumerate() {
            if domain.trie.insert(*region).is_err() {
                for done in &cover.regions()[..index] {
                    let _ = domain.trie.remove(*done);
                }
                let _ = domain.access.remove(area.first, area.last);
                return Err(Error::Full);
            }
        }
        Ok(())
    }

    /// `FRAMES_UNMAP`: from the list of areas, the trie and the region registers, before it returns.
    ///
    /// # Bound
    /// O(areas) and a trie removal for each of at most eight regions.
    #[inline(never)]
    pub(crate) fn frames_unmap(&mut self, domain: u32, handle: u32) -> Result<Outcome, Error> {
        let target = self.lookup(domain, Kind::Domain, rights::WRITE)?.object as u8;
        let source = self.frames_of(handle, rights::READ)?.1;
        let (base, bytes, range) = (source.base, source.bytes, source.range()?);
        let last = base + (bytes - 1);
        let known = self.domain(target).access.area_at(base).copied();
        let area = known.filter(|area| (area.first, area.last) == (base, last)).ok_or(Error::BadState)?;
        let data = if area.rights & protect::access::WRITE != 0 { Data::Rw } else { Data::Ro };
        let exec = area.rights & protect::access::EXEC != 0;
        let cover = Cover::new(base, bytes, Access { data, exec })?;
        self.frames.unmap(range, Owner(u16::from(target))).map_err(refused)?;
        let in_force = self.loaded == target;
        let _ = self.domain_mut(target).access.remove(base, last);
        for region in cover.regions() {
            let record = &mut self.domains[usize::from(target)];
            if let Ok(Some(off)) = record.slots.unmap(&mut record.trie, *region)
                && in_force
            {
                self.arch.load_slot(off);
            }
        }
        DONE
    }

    /// `FRAMES_SCRUB`: one step; the first releases the frames, the last makes them untyped.
    ///
    /// # Bound
    /// [`STEP_BYTES`] bytes and O(ranges).
    #[inline(never)]
    pub(crate) fn frames_scrub(&mut self, handle: u32) -> Result<Outcome, Error> {
        let object = usize::from(self.frames_of(handle, rights::WRITE)?.0.object);
        let range = self.ranges[object].range()?;
        let Some(mut scrub) = self.ranges[object].scrub.take() else {
            self.frames.release(range).map_err(refused)?;
            self.ranges[object].scrub = Some(self.frames.begin_scrub(range).map_err(refused)?);
            return Err(Error::Again);
        };
        let piece = scrub.piece(Bytes(u64::from(STEP_BYTES)));
        let bytes = piece.end().0 - piece.base().0;
        // SAFETY: the frame table holds the range for clearing: no domain maps it and no object lives there.
        unsafe { self.arch.zero(piece.base().0 as u32, bytes as u32) };
        scrub.cleared(piece);
        if !scrub.is_done() {
            self.ranges[object].scrub = Some(scrub);
            return Err(Error::Again);
        }
        match self.frames.finish_scrub(scrub) {
            Ok(()) => DONE,
            Err((error, scrub)) => {
                self.ranges[object].scrub = Some(scrub);
                Err(refused(error))
            }
        }
    }
}
