//! Memory as objects: typing, mapping and clearing parts of frames. The rules are those of
//! [`memory::frames::FrameTable`]; this file checks capabilities, and never widens. Mapping and
//! unmapping go in steps ([`crate::edit`]).

use abi::{CLEAN_BYTES, Error, Kind, rights};
use memory::frames::Purpose;
use units::{Bytes, PhysAddr, PhysRange};

use crate::arch::{Arch, Phys, Virt};
use crate::arch::{Asked, Next, NodeConstraints, Protection};
use crate::compared::Compared;
use crate::edit::{Change, EditStatus};
use crate::kernel::Kernel;
use crate::objects::Cap;
use crate::outcome::{DONE, Outcome};
use crate::ranges::{FrameRange, Marks, find, refused};

impl<A: Arch> Kernel<A> {
    fn frames_of(&self, handle: u32, needed: u8) -> Result<(Cap, &FrameRange<A::Width>), Error> {
        let cap = self.lookup(handle, Kind::Frames, needed)?;
        let range = self.ranges.get(usize::from(cap.object())).ok_or(Error::BadHandle)?;
        Ok((cap, range))
    }

    /// Number of the range that a capability names, and the part of it that a call names.
    fn part_of(&self, handle: u32, offset: u32, bytes: u32) -> Result<(u16, PhysRange), Error> {
        let (cap, range) = self.frames_of(handle, rights::WRITE)?;
        Ok((cap.object(), range.part(offset, bytes, Error::BadArgument)?))
    }

    /// Does something inside a range (by number), which may use no more marks than the range has
    /// left: the frame table is one for all, and a holder of frames could otherwise use it up.
    #[inline(always)]
    pub(crate) fn in_range<T>(&mut self, range: u16, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.allow(range);
        let told = act(self);
        self.note_marks(range, before);
        told
    }

    /// Limits the frame table to the marks that the range has left. Returns the number of marks in
    /// use, so that what is used now can be charged to the range.
    #[inline(never)]
    fn allow(&mut self, range: u16) -> usize {
        let marks = self.ranges.get(usize::from(range)).map_or(Marks::default(), |range| range.marks);
        self.frames.allow(usize::try_from(marks.most - marks.used).unwrap_or(0));
        self.frames.marks()
    }

    #[inline(never)]
    fn note_marks(&mut self, range: u16, before: usize) {
        let now = self.frames.marks();
        if let Some(FrameRange { marks, .. }) = self.ranges.get_mut(usize::from(range)) {
            marks.used += now as i32 - before as i32;
        }
    }

    /// `FRAMES_RETYPE`.
    ///
    /// # Bound
    /// A search in the marks of the frame table, and two of them put in; or a piece of another's edit that does not go on.
    #[inline(never)]
    pub(crate) fn frames_retype(&mut self, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let EditStatus::Free = self.turn(false) else { return Err(Error::Busy) };
        let (number, part) = self.part_of(handle, offset, bytes)?;
        self.in_range(number, |kernel| kernel.frames.retype(part, Purpose::Shared)).map_err(refused)?;
        DONE
    }

    fn asked(&self, words: [u32; 4], unmap: bool) -> Result<Change<A>, Error> {
        let abi::Mapping { target, frames, at, access, offset, bytes } = abi::Mapping::of(words);
        let target = self.lookup(target.into(), Kind::Domain, rights::WRITE)?.object() as u8;
        let right = if access & abi::access::WRITE != 0 && !unmap { rights::WRITE } else { rights::READ };
        let (cap, frames) = self.frames_of(frames.into(), right)?;
        let memory = frames.part(offset, bytes, Error::BadAddress)?;
        Ok(Change {
            target,
            range: cap.object(),
            mapping: A::Protection::mapping(&Asked { at: at.into(), access, memory })?,
        })
    }

    /// `FRAMES_MAP`.
    ///
    /// # Bound
    /// That of [`Kernel::change`].
    #[inline(never)]
    pub(crate) fn frames_map(&mut self, args: [u32; 4]) -> Result<Outcome, Error> {
        self.change(|kernel| kernel.asked(args, false), Self::begin_map)
    }

    /// `FRAMES_UNMAP`.
    ///
    /// # Bound
    /// That of [`Kernel::change`].
    #[inline(never)]
    pub(crate) fn frames_unmap(&mut self, args: [u32; 4]) -> Result<Outcome, Error> {
        self.change(|kernel| kernel.asked(args, true), Self::begin_unmap)
    }

    /// One step of taking away what was mapped to a stopped domain while it ran, from an address on: where the next step
    /// begins, or `None` when all of it is gone.
    ///
    /// # Bound
    /// A piece of an edit; or a step of [`Protection::next_mapped`] and one of [`Compared::step`], and then a search in the ranges.
    pub(crate) fn unmap_next(&mut self, target: u8, from: Virt<A>, compared: &mut Compared) -> Option<Virt<A>> {
        if self.edit.is_some() {
            // Whoever made it: only one edit can be under way, so a restart does what is in its
            // way.
            self.work();
            return Some(from);
        }
        if let Some(later) = self.domains[usize::from(target)].protection.shed_step(from) {
            compared.begin_anew();
            return Some(later);
        }
        let entry: system::Domain = self.tables.get(usize::from(target));
        let own = |at: Virt<A>, physical: Phys<A>| {
            if at > from {
                compared.begin_anew();
            }
            compared.step(&self.tables, &entry, |area| {
                let (offset, bytes) = (at.minus(area.base.into()), Bytes::from(area.bytes));
                (offset < bytes && physical == Phys::<A>::from(area.physical).plus(offset)).then(|| bytes.minus(offset))
            })
        };
        let next = self.domains[usize::from(target)].protection.next_mapped(&self.shared, from, own);
        if !matches!(next, Next::Unsure(_)) {
            // The search leaves what it stood at, even if that went away in the middle.
            compared.begin_anew();
        }
        match next {
            Next::Found(mapping, at) => {
                let range = self.range_of(A::Protection::memory(&mapping));
                // The mapping was just found, and no other edit can be under way, so this cannot be
                // refused.
                let _ = self.begin_unmap_for(Change { target, range, mapping }, false);
                Some(at)
            }
            Next::From(later) => Some(later),
            // A mapping can begin below, if it was made since the step before. The search must not
            // go back: whoever maps could send it back for ever.
            Next::Unsure(at) => Some(at.max(from)),
            Next::End => None,
        }
    }

    /// Number of the range in which memory begins that was mapped while its domain ran. There is
    /// one, because only frames can be mapped then.
    #[inline(never)]
    fn range_of(&self, memory: PhysRange) -> u16 {
        find(self.ranges, PhysAddr::narrow(memory.base())).unwrap_or_default()
    }

    /// `FRAMES_CLEAN`: one step.
    ///
    /// # Bound
    /// [`CLEAN_BYTES`] bytes, a search in the frame table, and two marks; or a piece of another's edit that does not go on.
    #[inline(never)]
    pub(crate) fn frames_clean(&mut self, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let EditStatus::Free = self.turn(false) else { return Err(Error::Busy) };
        let (number, part) = self.part_of(handle, offset, bytes)?;
        let most = Bytes(u64::from(CLEAN_BYTES));
        let Some(piece) = self.frames.dirty(part, most).map_err(refused)? else { return DONE };
        // First what can fail. The memory can be typed before it is clear, because nobody can use
        // it before this call has returned.
        self.in_range(number, |kernel| kernel.frames.cleared(piece)).map_err(refused)?;
        // SAFETY: the frame table had the range as memory that no domain maps and no object lives in.
        unsafe { self.arch.zero(PhysAddr::narrow(piece.base()), Bytes::narrow(piece.size())) };
        Ok(Outcome::Values((part.end().0 - piece.end().0) as u32, 0))
    }

    /// `NODES_GIVE`.
    ///
    /// # Bound
    /// A search in the frame table, two marks, and [`Protection::give`] of at most [`NodeConstraints::most`] bytes; or a piece of another's edit that does not go on.
    #[inline(never)]
    pub(crate) fn nodes_give(&mut self, domain: u32, handle: u32, offset: u32, bytes: u32) -> Result<Outcome, Error> {
        let EditStatus::Free = self.turn(false) else { return Err(Error::Busy) };
        let target = usize::from(self.lookup(domain, Kind::Domain, rights::WRITE)?.object());
        let NodeConstraints { align, least, most } = A::Protection::GIFT;
        let bytes = bytes.min(most);
        let (number, part) = self.part_of(handle, offset, bytes)?;
        let base = Phys::<A>::narrow(part.base());
        if bytes < least || !base.wide().is_aligned(Bytes(align.into())) {
            return Err(Error::BadArgument);
        }
        self.in_range(number, |kernel| kernel.frames.retype(part, Purpose::Kernel)).map_err(refused)?;
        // Kernel memory that was given is never released: no call takes it back.
        let mappings = self.domains[target].protection.give(base, bytes.into());
        Ok(Outcome::Values(bytes, mappings))
    }
}
