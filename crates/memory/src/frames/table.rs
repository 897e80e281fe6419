//! The types, what they may change to, and who may be asked what is where.

use super::marks::{self, At, Chunk, Mark, Marks, State};
use super::{Entry, FrameError, FrameType, GRANULE_LOG2, Purpose};
use units::{Bytes, PhysAddr, PhysRange};

/// Marks that only [`FrameTable::counted`] takes: the ends of one part.
const KEPT_BACK: usize = 2;

/// First granule and the one behind the last.
pub(super) fn granules(range: PhysRange) -> Result<(u32, u32), FrameError> {
    let (first, past) = (range.base().0 >> GRANULE_LOG2, range.end().0 >> GRANULE_LOG2);
    if range.is_empty() || !range.is_aligned(Bytes(1 << GRANULE_LOG2)) || past >= u64::from(u32::MAX) {
        return Err(FrameError::Malformed);
    }
    Ok((first as u32, past as u32))
}

/// A range in granules, and the mark that says what its first granule is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) first: u32,
    pub(super) past: u32,
    pub(super) from: At,
}

/// Types of physical memory below 2^37, in as many marks as its chunks hold. Domains are numbered below 2^13.
#[derive(Debug)]
pub struct FrameTable<'a> {
    pub(super) marks: Marks<'a>,
    /// Most marks that there may be now; see [`FrameTable::allow`].
    limit: usize,
}

impl<'a> FrameTable<'a> {
    /// No memory; `None` unless there are 1 to 255 chunks, and a place for each.
    pub fn new(chunks: &'a mut [Chunk], places: &'a mut [marks::Place]) -> Option<Self> {
        // The first mark stands for the absence of memory.
        let marks = Marks::new(chunks, places, Mark::new(0, State::ABSENT, 0))?;
        let mut table = Self { marks, limit: 0 };
        table.allow(usize::MAX);
        Some(table)
    }

    /// Chunks for so many marks.
    pub const fn chunks_for(marks: usize) -> usize {
        let mut chunks = 1;
        while Marks::limit(chunks) < marks + KEPT_BACK {
            chunks += 1;
        }
        chunks
    }

    /// Most marks that whatever is not taking memory back may leave in the table now: all that there is room for, without those that are
    /// kept back, or fewer ([`FrameTable::allow`]).
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Lets the calls that follow put in so many marks at most, beyond those that they take out; [`FrameTable::marks`] tells how many they
    /// did put in. A caller that divides the marks among several users calls this for each of them in turn, so that none can use up another's.
    pub fn allow(&mut self, more: usize) {
        self.limit = self.marks.len().saturating_add(more).min(self.marks.most().saturating_sub(KEPT_BACK));
    }

    /// Puts a mark at each end of a range that stays for good, so that whatever is done to parts of the range puts marks in and takes
    /// them out only inside it. At boot.
    ///
    /// # Errors
    /// [`FrameError::Malformed`], [`FrameError::Full`].
    pub fn fence(&mut self, range: PhysRange) -> Result<(), FrameError> {
        let Place { first, past, from } = self.locate(range)?;
        self.edges(first, past, from, [1; 2], self.limit)
    }

    /// The entries in ascending order: neighbours differ in type or number of uses, or something that uses one of them
    /// ends between them.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let all = core::iter::successors(Some(Marks::FIRST), |at| self.marks.next(*at));
        all.filter_map(|at| self.entry(at))
    }

    /// Marks in use, of [`FrameTable::limit`].
    pub const fn marks(&self) -> usize {
        self.marks.len()
    }

    /// The entry that contains `addr`.
    ///
    /// # Time complexity
    /// O(log chunks).
    pub fn at(&self, addr: PhysAddr) -> Option<Entry> {
        self.entry(self.marks.find(u32::try_from(addr.0 >> GRANULE_LOG2).ok()?))
    }

    /// Adds memory, at boot: untyped if it is known to be clear, dirty otherwise.
    ///
    /// # Errors
    /// [`FrameError::Malformed`], [`FrameError::Overlap`], [`FrameError::Full`].
    pub fn add(&mut self, range: PhysRange, clear: bool) -> Result<(), FrameError> {
        let place = self.locate(range)?;
        if let Some(with) = self.within(place).find_map(|at| self.entry(at)) {
            return Err(FrameError::Overlap { with });
        }
        let kind = Some(if clear { FrameType::Untyped } else { FrameType::Dirty });
        self.unify(place, State { kind, uses: 0 })
    }

    /// Gives untyped memory a purpose.
    ///
    /// # Errors
    /// [`FrameError`]: not all of it untyped, or no room for the marks.
    ///
    /// # Time complexity
    /// A search, and two marks: untyped memory has none inside.
    pub fn retype(&mut self, range: PhysRange, purpose: Purpose) -> Result<(), FrameError> {
        self.unused(range, |kind| kind == FrameType::Untyped, FrameType::Typed(purpose))
    }

    /// Takes typed memory out of use; it is dirty then.
    ///
    /// # Errors
    /// [`FrameError::InUse`] while it is mapped or holds objects; otherwise as for [`FrameTable::retype`].
    ///
    /// # Time complexity
    /// Every mark in the range is taken out.
    pub fn release(&mut self, range: PhysRange) -> Result<(), FrameError> {
        self.unused(range, |kind| matches!(kind, FrameType::Typed(_)), FrameType::Dirty)
    }

    /// The next piece of a range to clear, at most `most` bytes: the lowest that is not untyped; `None` when all of it is. Asking
    /// again gives the same piece, so a step that was interrupted is simply repeated.
    ///
    /// # Errors
    /// [`FrameError::WrongType`] for kernel memory, [`FrameError::InUse`] for what is mapped.
    ///
    /// # Time complexity
    /// O(log chunks), and the marks in untyped memory at which something ends that is being counted.
    pub fn dirty(&self, range: PhysRange, most: Bytes) -> Result<Option<PhysRange>, FrameError> {
        let Place { mut first, past, from } = self.locate(range)?;
        let mut at = from;
        // Untyped memory has no mark inside but the ends of what is just being counted.
        while self.marks.get(at).state().kind == Some(FrameType::Untyped) {
            let Some(next) = self.marks.next(at).filter(|next| self.marks.get(*next).base < past) else {
                return Ok(None);
            };
            at = next;
            first = self.marks.get(at).base;
        }
        let entry = self.entry(at).ok_or(FrameError::Unknown)?;
        if !matches!(entry.kind, FrameType::Dirty | FrameType::Typed(Purpose::Shared | Purpose::User(_))) {
            return Err(FrameError::WrongType { entry });
        }
        if entry.uses != 0 {
            return Err(FrameError::InUse { entry });
        }
        let base = address(first);
        let end = entry.range.end().min(range.end()).min(PhysAddr(base.0 + most.0));
        Ok(PhysRange::from_bounds(base, end))
    }

    /// Makes memory that was cleared untyped.
    ///
    /// # Errors
    /// [`FrameError`]: kernel memory, mapped memory, or no room for the marks.
    ///
    /// # Time complexity
    /// As [`FrameTable::release`]; of what [`FrameTable::dirty`] returns, two marks.
    pub fn cleared(&mut self, range: PhysRange) -> Result<(), FrameError> {
        self.unused(range, |kind| kind != FrameType::Typed(Purpose::Kernel), FrameType::Untyped)
    }

    pub(super) fn entry(&self, at: At) -> Option<Entry> {
        let mark = self.marks.get(at);
        let kind = mark.state().kind?;
        let end = self.marks.get(self.marks.next(at)?).base;
        Some(Entry { range: PhysRange::from_bounds(address(mark.base), address(end))?, kind, uses: mark.uses })
    }

    pub(super) fn locate(&self, range: PhysRange) -> Result<Place, FrameError> {
        let (first, past) = granules(range)?;
        Ok(Place { first, past, from: self.marks.find(first) })
    }

    /// The marks that say what the granules of a range are.
    pub(super) fn within(&self, place: Place) -> impl Iterator<Item = At> + '_ {
        let next = move |at: &At| self.marks.next(*at).filter(|next| self.marks.get(*next).base < place.past);
        core::iter::successors(Some(place.from), next)
    }

    /// Checks that so many more marks stay within a limit.
    pub(super) fn room(&self, needed: usize, limit: usize) -> Result<(), FrameError> {
        if needed > 0 && self.marks.len() + needed > limit { Err(FrameError::Full { limit }) } else { Ok(()) }
    }

    /// Gives memory that nothing uses another type.
    fn unused(
        &mut self,
        range: PhysRange,
        allowed: impl Fn(FrameType) -> bool,
        kind: FrameType,
    ) -> Result<(), FrameError> {
        let place = self.locate(range)?;
        for at in self.within(place) {
            let entry = self.entry(at).ok_or(FrameError::Unknown)?;
            if !allowed(entry.kind) {
                return Err(FrameError::WrongType { entry });
            }
            // Something that is only about to be counted ends at a mark, too.
            let mark = self.marks.get(at);
            if entry.uses != 0 || (mark.base > place.first && mark.edges > 0) {
                return Err(FrameError::InUse { entry });
            }
        }
        self.unify(place, State { kind: Some(kind), uses: 0 })
    }

    /// Gives all of a range one state.
    fn unify(&mut self, place: Place, state: State) -> Result<(), FrameError> {
        let Place { first, past, from } = place;
        let (begins, edged) = (self.marks.get(from).base == first, |at: At| self.marks.get(at).edges > 0);
        let below = if begins { self.marks.prev(from) } else { Some(from) };
        let first_stays = below.is_none_or(|at| self.marks.get(at).state() != state) || (begins && edged(from));
        let (inner, last) = self.within(place).skip(1).fold((0, from), |(count, _), at| (count + 1, at));
        let next = self.marks.next(last).filter(|next| self.marks.get(*next).base == past);
        let above = self.marks.get(next.unwrap_or(last));
        let past_stays = above.state() != state || next.is_some_and(edged);
        if begins && inner == 0 && next.is_none() && !first_stays && past_stays {
            // The border between two states moves, as it does when a range is cleared step by step.
            self.marks.set(from, Mark { base: past, edges: 0, ..above });
            return Ok(());
        }
        let gone = inner + usize::from(begins) + usize::from(next.is_some());
        let more = usize::from(first_stays) + usize::from(past_stays);
        self.room(more.saturating_sub(gone), self.limit)?;
        let mut from = from;
        for _ in 0..inner + usize::from(next.is_some() && !past_stays) {
            if let Some(next) = self.marks.next(from) {
                self.marks.remove(next);
                from = self.marks.find_again(from, first);
            }
        }
        if next.is_none() && past_stays {
            self.marks.insert(from, Mark { base: past, edges: 0, ..above });
            from = self.marks.find_again(from, first);
        }
        let edges = if begins { self.marks.get(from).edges } else { 0 };
        let mark = Mark::new(first, state, edges);
        match (begins, first_stays) {
            (true, true) => self.marks.set(from, mark),
            (true, false) => self.marks.remove(from),
            (false, true) => self.marks.insert(from, mark),
            (false, false) => {}
        }
        Ok(())
    }

    /// Asserts the invariants of the chunks of marks.
    #[cfg(test)]
    pub(super) fn check(&self) {
        self.marks.check();
    }
}

fn address(granule: u32) -> PhysAddr {
    PhysAddr(u64::from(granule) << GRANULE_LOG2)
}
