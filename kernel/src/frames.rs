//! Memory as objects: typing, mapping and clearing parts of frames. The rules are those of
//! [`memory::frames::FrameTable`]; this file checks capabilities, and never widens. Mapping and
//! unmapping go in steps ([`crate::edit`]).

use abi::{CLEAN_BYTES, Error, Kind, rights};
use memory::frames::{FrameError, Purpose};
use units::{Bytes, PhysAddr, PhysRange};

use crate::arch::Arch;
use crate::edit::{Change, Turn};
use crate::kernel::{DONE, Kernel, Outcome};
use crate::objects::Cap;
use crate::protection::{Gift, Next, Protection, Words, access};

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

pub(crate) fn refused(error: FrameError) -> Error {
    match error {
        FrameError::Full { .. } => Error::Full,
        _ => Error::BadState,
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
    /// A search in the marks of the frame table, and two of them put in; or a piece of another's edit that does not go on.
    #[inline(never)]
    pub(crate) fn frames_retype(&mut self, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let Turn::Free = self.turn(false) else { return Err(Error::Busy) };
        let range = self.frames_of(handle, rights::WRITE)?.1.part(offset, bytes)?;
        self.frames.retype(range, Purpose::Shared).map_err(refused)?;
        DONE
    }

    /// Memory that a call asks to map or unmap; all of it lies in frames that the caller holds.
    fn asked(&self, [target, handle, base, shape]: [u32; 4], unmap: bool) -> Result<Change<A>, Error> {
        let domain = self.lookup(target & 0xffff, Kind::Domain, rights::WRITE)?.object as u8;
        let words = Words { access: target >> 16, base, shape };
        let right = if words.access & access::WRITE != 0 && !unmap { rights::WRITE } else { rights::READ };
        let frames = self.frames_of(handle, right)?.1.range()?;
        Ok(Change { target: domain, mapping: A::Protection::decode(words, frames)? })
    }

    /// `FRAMES_MAP`.
    ///
    /// # Bound
    /// Of [`Kernel::change`].
    #[inline(never)]
    pub(crate) fn frames_map(&mut self, args: [u32; 4]) -> Result<Outcome, Error> {
        self.change(|kernel| kernel.asked(args, false), Self::begin_map)
    }

    /// `FRAMES_UNMAP`.
    ///
    /// # Bound
    /// Of [`Kernel::change`].
    #[inline(never)]
    pub(crate) fn frames_unmap(&mut self, args: [u32; 4]) -> Result<Outcome, Error> {
        self.change(|kernel| kernel.asked(args, true), Self::begin_unmap)
    }

    /// One step of taking away what was mapped to a stopped domain while it ran, from an address on: where the next step
    /// begins, or `None` when all of it is gone.
    ///
    /// # Bound
    /// A piece of an edit; or a step of [`Protection::next_mapped`], and a look at every area that the domain began with.
    pub(crate) fn unmap_next(&mut self, target: u8, from: u32) -> Option<u32> {
        if self.edit.is_some() {
            // Whosever it is: who restarts a domain does what is in the way.
            self.work();
            return Some(from);
        }
        let entry: system::Domain = self.tables.get(usize::from(target));
        let own = |at: u32, physical: u32| {
            let rest = |area: system::Area| {
                let offset = at.wrapping_sub(area.base);
                (offset < area.bytes && physical == area.physical + offset).then(|| area.bytes - offset)
            };
            system::regions::areas_of(&self.tables, &entry).find_map(rest).unwrap_or(0)
        };
        match self.domains[usize::from(target)].protection.next_mapped(&self.shared, from, own) {
            Next::Found(mapping, at) => {
                // It was found, and nobody else changes anything.
                let _ = self.begin_unmap_for(Change { target, mapping }, false);
                Some(at)
            }
            Next::From(later) => Some(later),
            Next::End => None,
        }
    }

    /// `FRAMES_CLEAN`: one step.
    ///
    /// # Bound
    /// [`CLEAN_BYTES`] bytes, a search in the frame table, and two marks; or a piece of another's edit that does not go on.
    #[inline(never)]
    pub(crate) fn frames_clean(&mut self, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let Turn::Free = self.turn(false) else { return Err(Error::Busy) };
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
    /// A search in the frame table, two marks, and [`Protection::give`] of at most [`Gift::most`] bytes; or a piece of another's edit that does not go on.
    #[inline(never)]
    pub(crate) fn nodes_give(&mut self, domain: u32, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let Turn::Free = self.turn(false) else { return Err(Error::Busy) };
        let target = usize::from(self.lookup(domain, Kind::Domain, rights::WRITE)?.object);
        let range = self.frames_of(handle, rights::WRITE)?.1.part(offset, bytes)?;
        let base = range.base().0 as u32;
        let Gift { align, least, most } = A::Protection::GIFT;
        if !(least..=most).contains(&bytes) || !base.is_multiple_of(align) {
            return Err(Error::BadArgument);
        }
        self.frames.retype(range, Purpose::Kernel).map_err(refused)?;
        // Kernel memory that was given is never released: no call takes it back.
        let (nodes, mappings) = self.domains[target].protection.give(base, bytes);
        Ok(Outcome::Values(nodes, mappings))
    }
}
