//! Memory as objects: typing, mapping and clearing parts of frames. The rules are those of
//! [`memory::frames::FrameTable`]; this file checks capabilities, and never widens. What is mapped and unmapped is changed in
//! steps ([`crate::edit`]).

use abi::{Error, Kind, rights};
use memory::frames::{FrameError, Purpose};
use protect::pctrie::{NODE_BYTES, Next};
use units::{Bytes, PhysAddr, PhysRange};

use crate::arch::Arch;
use crate::boot::NODE_ALIGN;
use crate::edit::Turn;
use crate::kernel::{DONE, Kernel, Outcome};
use crate::objects::Cap;
use crate::regions::{Region, access};

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

    /// A part of it as a call names it.
    fn part(&self, offset: u32, bytes: u32) -> Result<PhysRange, Error> {
        let fits = bytes > 0 && offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        if !fits || !(offset | bytes).is_multiple_of(GRANULE) {
            return Err(Error::BadArgument);
        }
        physical(self.base + offset, bytes).ok_or(Error::BadArgument)
    }
}

/// A half-open range of physical addresses.
pub(crate) fn physical(base: u32, bytes: u32) -> Option<PhysRange> {
    PhysRange::new(PhysAddr(u64::from(base)), Bytes(u64::from(bytes)))
}

/// The granule of all of it: the smallest region.
const GRANULE: u32 = 32;
/// Bytes that one step of clearing handles.
const CLEAN_BYTES: u32 = 512;
/// Most bytes of one gift of nodes.
const GIFT_BYTES: u32 = 4096;

pub(crate) fn refused(error: FrameError) -> Error {
    match error {
        FrameError::Full { .. } => Error::Full,
        _ => Error::BadState,
    }
}

/// What `FRAMES_MAP` and `FRAMES_UNMAP` are about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    pub(crate) target: u8,
    pub(crate) region: Region,
}

impl Mapping {
    /// The ranges that the region permits.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = PhysRange> + use<> {
        self.region.runs().filter_map(|(base, bytes)| physical(base, bytes))
    }
}

impl<A: Arch> Kernel<A> {
    fn frames_of(&self, handle: u32, needed: u8) -> Result<(Cap, &FrameRange), Error> {
        let cap = self.lookup(handle, Kind::Frames, needed)?;
        let range = self.ranges.get(usize::from(cap.object)).ok_or(Error::BadHandle)?;
        Ok((cap, range))
    }

    /// `FRAMES_RETYPE`.
    ///
    /// # Bound
    /// A search in the marks of the frame table, and two of them put in; or a piece of another's edit.
    #[inline(never)]
    pub(crate) fn frames_retype(&mut self, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let Turn::Free = self.turn(false) else { return self.again() };
        let range = self.frames_of(handle, rights::WRITE)?.1.part(offset, bytes)?;
        self.frames.retype(range, Purpose::Shared).map_err(refused)?;
        DONE
    }

    /// What a call asks to map or unmap; all of it lies in frames that the caller holds.
    fn mapping(&self, target: u32, handle: u32, base: u32, shape: u32, unmap: bool) -> Result<Mapping, Error> {
        let domain = self.lookup(target & 0xffff, Kind::Domain, rights::WRITE)?.object as u8;
        let bits = target >> 16;
        let right = if bits & access::WRITE != 0 && !unmap { rights::WRITE } else { rights::READ };
        let frames = self.frames_of(handle, right)?.1.range()?;
        let mapping = Mapping { target: domain, region: Region::decode(bits, base, shape)? };
        if !mapping.ranges().all(|range| frames.contains_range(range)) {
            return Err(Error::BadAddress);
        }
        Ok(mapping)
    }

    /// `FRAMES_MAP`.
    ///
    /// # Bound
    /// The words of the call checked, or a piece of an edit.
    #[inline(never)]
    pub(crate) fn frames_map(&mut self, target: u32, handle: u32, base: u32, shape: u32) -> Result<Outcome, Error> {
        match self.turn(true) {
            Turn::Free => {}
            Turn::Busy => return self.again(),
            Turn::Answer(answer) => return answer.and(DONE),
        }
        let mapping = self.mapping(target, handle, base, shape, false)?;
        self.begin_map(mapping);
        self.again()
    }

    /// `FRAMES_UNMAP`: out of sight of misses and of the region registers at once, from the table in steps.
    ///
    /// # Bound
    /// As [`Kernel::frames_map`].
    #[inline(never)]
    pub(crate) fn frames_unmap(&mut self, target: u32, handle: u32, base: u32, shape: u32) -> Result<Outcome, Error> {
        match self.turn(true) {
            Turn::Free => {}
            Turn::Busy => return self.again(),
            Turn::Answer(answer) => return answer.and(DONE),
        }
        let mapping = self.mapping(target, handle, base, shape, true)?;
        if !self.begin_unmap(mapping, true) {
            return Err(Error::BadState);
        }
        self.again()
    }

    /// One step of taking away what was mapped to a stopped domain while it ran, from an address on: where the next step
    /// begins, or `None` when all of it is gone.
    ///
    /// # Bound
    /// A piece of an edit; or a path of the table, 64 entries, and a look at every area that the domain began with.
    pub(crate) fn unmap_next(&mut self, target: u8, from: u32) -> Option<u32> {
        if self.edit.is_some() {
            self.work();
            return Some(from);
        }
        let domain = &mut self.domains[usize::from(target)];
        if let Some(regs) = domain.protection.pinned_later() {
            let region = Region { regs, pinned: true, execute: false };
            self.begin_unmap(Mapping { target, region }, false);
            return Some(from);
        }
        let (at, regs) = match domain.protection.next_paged(from) {
            Next::Found(at, regs) => (at, regs),
            Next::From(later) => return Some(later),
            Next::End => return None,
        };
        let entry: system::Domain = self.tables.get(usize::from(target));
        let own = system::regions::areas_of(&self.tables, &entry).any(|area| at.wrapping_sub(area.base) < area.bytes);
        if own {
            return regs.last_from(at).checked_add(1);
        }
        let execute = regs.grants(protect::pmsav7::AccessKind::Exec);
        self.begin_unmap(Mapping { target, region: Region { regs, pinned: false, execute } }, false);
        Some(at)
    }

    /// `FRAMES_CLEAN`: one step.
    ///
    /// # Bound
    /// [`CLEAN_BYTES`] bytes, a search in the frame table, and two marks; or a piece of another's edit.
    #[inline(never)]
    pub(crate) fn frames_clean(&mut self, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let Turn::Free = self.turn(false) else { return self.again() };
        let range = self.frames_of(handle, rights::WRITE)?.1.part(offset, bytes)?;
        let most = Bytes(u64::from(CLEAN_BYTES));
        let Some(piece) = self.frames.dirty(range, most).map_err(refused)? else { return DONE };
        // First what can fail; nobody can use the memory before this call has returned.
        self.frames.cleared(piece).map_err(refused)?;
        // SAFETY: the frame table had the range as memory that no domain maps and no object lives in.
        unsafe { self.arch.zero(piece.base().0 as u32, piece.size().0 as u32) };
        Ok(Outcome::Values((range.end().0 - piece.end().0) as u32, 0))
    }

    /// `NODES_GIVE`.
    ///
    /// # Bound
    /// A search in the frame table, two marks, and one word for each node: at most [`GIFT_BYTES`] bytes; or a piece of another's edit.
    #[inline(never)]
    pub(crate) fn nodes_give(&mut self, domain: u32, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let Turn::Free = self.turn(false) else { return self.again() };
        let target = usize::from(self.lookup(domain, Kind::Domain, rights::WRITE)?.object);
        let range = self.frames_of(handle, rights::WRITE)?.1.part(offset, bytes)?;
        let base = range.base().0 as u32;
        if !(NODE_BYTES..=GIFT_BYTES).contains(&bytes) || !base.is_multiple_of(NODE_ALIGN) {
            return Err(Error::BadArgument);
        }
        self.frames.retype(range, Purpose::Kernel).map_err(refused)?;
        // Kernel memory that was given is never released: no call takes it back.
        let (nodes, regions) = self.domains[target].protection.give(base, bytes);
        Ok(Outcome::Values(nodes, regions))
    }
}
