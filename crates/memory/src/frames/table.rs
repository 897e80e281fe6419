//! The marks behind the rules.

use super::marks::{At, Chunk, Marks};
use super::{Counting, Domain, Entry, FrameError, FrameType, GRANULE_LOG2, Purpose};
use units::{Bytes, PhysAddr, PhysRange};

/// Most uses of a byte: each domain maps it once, and each has two edges.
const MAX_USES: u8 = 100;
/// Marks that only [`FrameTable::counted`] takes: the ends of one part.
const KEPT_BACK: usize = 2;

/// What memory from one mark to the next is; `None` where there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    kind: Option<FrameType>,
    uses: u8,
}

impl State {
    const ABSENT: State = State { kind: None, uses: 0 };
}

/// A state from an address on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// In granules.
    pub(super) base: u32,
    /// Kind in bits 2..0, owner above.
    kind: u16,
    uses: u8,
    /// Mappings and objects that begin or end here: as long as there are any the mark stays, so that taking one away never
    /// needs a mark.
    edges: u8,
}

impl Mark {
    pub(super) const UNUSED: Mark = Mark { base: u32::MAX, kind: 0, uses: 0, edges: 0 };

    const fn new(base: u32, state: State, edges: u8) -> Mark {
        let kind = match state.kind {
            None => 0,
            Some(FrameType::Untyped) => 1,
            Some(FrameType::Dirty) => 2,
            Some(FrameType::Typed(Purpose::Shared)) => 3,
            Some(FrameType::Typed(Purpose::Kernel)) => 4,
            Some(FrameType::Typed(Purpose::User(owner))) => 5 | owner.0 << 3,
        };
        Mark { base, kind, uses: state.uses, edges }
    }

    const fn state(self) -> State {
        let kind = match self.kind & 7 {
            0 => None,
            1 => Some(FrameType::Untyped),
            2 => Some(FrameType::Dirty),
            3 => Some(FrameType::Typed(Purpose::Shared)),
            4 => Some(FrameType::Typed(Purpose::Kernel)),
            _ => Some(FrameType::Typed(Purpose::User(Domain(self.kind >> 3)))),
        };
        State { kind, uses: self.uses }
    }
}

/// First granule and the one behind the last.
fn granules(range: PhysRange) -> Result<(u32, u32), FrameError> {
    let (first, past) = (range.base().0 >> GRANULE_LOG2, range.end().0 >> GRANULE_LOG2);
    let whole = range.is_aligned(Bytes(1 << GRANULE_LOG2)) && range.end().0.is_multiple_of(1 << GRANULE_LOG2);
    if range.is_empty() || !whole || past >= u64::from(u32::MAX) {
        return Err(FrameError::Malformed);
    }
    Ok((first as u32, past as u32))
}

/// A range in granules, and the mark that says what its first granule is.
#[derive(Clone, Copy)]
struct Place {
    first: u32,
    past: u32,
    from: At,
}

/// Types of physical memory below 2^37, in as many marks as its chunks hold. Domains are numbered below 2^13.
#[derive(Debug)]
pub struct FrameTable<'a> {
    marks: Marks<'a>,
}

impl<'a> FrameTable<'a> {
    /// No memory; `None` unless there are 1 to 255 chunks.
    pub fn new(chunks: &'a mut [Chunk]) -> Option<Self> {
        // The first mark stands for the absence of memory.
        Marks::new(chunks, Mark::new(0, State::ABSENT, 0)).map(|marks| Self { marks })
    }

    /// Chunks for so many marks.
    pub const fn chunks_for(marks: usize) -> usize {
        let mut chunks = 1;
        while Marks::limit(chunks) < marks + KEPT_BACK {
            chunks += 1;
        }
        chunks
    }

    /// Most marks, without those that are kept back.
    pub fn limit(&self) -> usize {
        self.marks.most().saturating_sub(KEPT_BACK)
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

    /// Begins to count a mapping of every byte of `range` into `domain`, or, without one, an object of the kernel:
    /// [`FrameTable::count_step`] goes on.
    ///
    /// # Errors
    /// As [`FrameTable::count_step`] for the first byte, and [`FrameError::Full`]: nothing has changed then.
    ///
    /// # Time complexity
    /// Three searches, and two marks.
    pub fn count(&mut self, range: PhysRange, domain: Option<Domain>) -> Result<Counting, FrameError> {
        let Place { first, past, from } = self.locate(range)?;
        countable(self.entry(from).ok_or(FrameError::Unknown)?, domain)?;
        self.edges(first, past, from, [1; 2], self.limit())?;
        Ok(Counting { first, past, at: first, domain, goes_on: [false; 2] })
    }

    /// Two mappings of a domain meet here, and are one from now on.
    ///
    /// # Time complexity
    /// Two searches, and a mark.
    pub fn join(&mut self, addr: PhysAddr) {
        if let Ok(granule) = u32::try_from(addr.0 >> GRANULE_LOG2) {
            self.leave_edge(granule);
            self.leave_edge(granule);
        }
    }

    /// Whether there are marks for a part that is taken out of a use, which goes on at these ends.
    ///
    /// # Errors
    /// [`FrameError::Full`]; [`FrameError::Malformed`].
    ///
    /// # Time complexity
    /// Two searches.
    pub fn room_for_part(&self, range: PhysRange, goes_on: [bool; 2]) -> Result<(), FrameError> {
        let (first, past) = granules(range)?;
        let missing = |(edge, inner): (u32, bool)| inner && self.marks.get(self.marks.find(edge)).base != edge;
        let needed = [(first, goes_on[0]), (past, goes_on[1])].into_iter().filter(|end| missing(*end)).count();
        self.room(needed, self.limit())
    }

    /// A counting that is complete, of a range that was counted so, or of a part of it that goes on at these ends:
    /// [`FrameTable::uncount_step`] takes it back.
    ///
    /// # Errors
    /// [`FrameError::NotInUse`] unless its first byte is in use; otherwise as for [`FrameTable::count`]. Never [`FrameError::Full`] for a whole
    /// mapping, or one part at a time from one end on.
    ///
    /// # Time complexity
    /// As [`FrameTable::count`].
    pub fn counted(
        &mut self,
        range: PhysRange,
        domain: Option<Domain>,
        goes_on: [bool; 2],
    ) -> Result<Counting, FrameError> {
        let Place { first, past, from } = self.locate(range)?;
        let entry = self.entry(from).ok_or(FrameError::Unknown)?;
        if entry.uses == 0 {
            return Err(FrameError::NotInUse { entry });
        }
        self.edges(first, past, from, goes_on.map(u8::from), self.marks.most())?;
        Ok(Counting { first, past, at: past, domain, goes_on })
    }

    /// One step of counting, which looks at no more than `most` marks; whether it was the last. Other changes may come between the
    /// steps.
    ///
    /// # Errors
    /// [`FrameError::WrongType`] for whatever is not user or shared memory (for an object: kernel memory), kernel memory above all;
    /// [`FrameError::WrongDomain`] for another domain's; [`FrameError::InUse`] for what cannot be counted once more. What was counted so
    /// far stays counted until it is taken back.
    pub fn count_step(&mut self, counting: &mut Counting, most: usize) -> Result<bool, FrameError> {
        let mut at = self.marks.find(counting.at);
        for _ in 0..most {
            let mark = self.marks.get(at);
            if mark.base >= counting.past {
                break;
            }
            countable(self.entry(at).ok_or(FrameError::Unknown)?, counting.domain)?;
            self.marks.set(at, Mark { uses: mark.uses + 1, ..mark });
            at = self.marks.next(at).ok_or(FrameError::Unknown)?;
            counting.at = self.marks.get(at).base;
        }
        Ok(counting.at >= counting.past)
    }

    /// One step of taking back what was counted, complete or not, which looks at no more than `most` marks, and at last takes out the
    /// two marks that the counting needed; whether that was the last step. Needs no marks, and cannot fail.
    pub fn uncount_step(&mut self, counting: &mut Counting, most: usize) -> bool {
        if counting.at <= counting.first {
            for (edge, goes_on) in [(counting.past, counting.goes_on[1]), (counting.first, counting.goes_on[0])] {
                if !goes_on {
                    self.leave_edge(edge);
                }
            }
            return true;
        }
        let mut at = self.marks.find(counting.at - 1);
        for _ in 0..most {
            let mark = self.marks.get(at);
            self.marks.set(at, Mark { uses: mark.uses.saturating_sub(1), ..mark });
            counting.at = mark.base;
            match self.marks.prev(at) {
                Some(below) if mark.base > counting.first => at = below,
                _ => break,
            }
        }
        false
    }

    /// Counts a mapping of every byte of `range` into `domain`, in one go.
    ///
    /// # Errors
    /// As [`FrameTable::count_step`]; nothing has changed then.
    pub fn map(&mut self, range: PhysRange, domain: Domain) -> Result<(), FrameError> {
        self.count_all(range, Some(domain))
    }

    /// Takes a mapping of exactly this range away, in one go.
    ///
    /// # Errors
    /// [`FrameError::NotInUse`] without one.
    pub fn unmap(&mut self, range: PhysRange, domain: Domain) -> Result<(), FrameError> {
        self.uncount_all(range, Some(domain))
    }

    /// Counts a kernel object in `range`, in one go.
    ///
    /// # Errors
    /// [`FrameError::WrongType`] unless it is kernel memory.
    pub fn place_object(&mut self, range: PhysRange) -> Result<(), FrameError> {
        self.count_all(range, None)
    }

    /// Takes a kernel object away, in one go.
    ///
    /// # Errors
    /// [`FrameError::NotInUse`] without one.
    pub fn remove_object(&mut self, range: PhysRange) -> Result<(), FrameError> {
        self.uncount_all(range, None)
    }

    fn count_all(&mut self, range: PhysRange, domain: Option<Domain>) -> Result<(), FrameError> {
        let mut counting = self.count(range, domain)?;
        let told = self.count_step(&mut counting, usize::MAX);
        if told.is_err() {
            while !self.uncount_step(&mut counting, usize::MAX) {}
        }
        told.map(|_| ())
    }

    fn uncount_all(&mut self, range: PhysRange, domain: Option<Domain>) -> Result<(), FrameError> {
        let place = self.locate(range)?;
        if let Some(entry) = self.within(place).filter_map(|at| self.entry(at)).find(|entry| entry.uses == 0) {
            return Err(FrameError::NotInUse { entry });
        }
        let mut counting = self.counted(range, domain, [false; 2])?;
        while !self.uncount_step(&mut counting, usize::MAX) {}
        Ok(())
    }

    fn entry(&self, at: At) -> Option<Entry> {
        let mark = self.marks.get(at);
        let kind = mark.state().kind?;
        let end = self.marks.get(self.marks.next(at)?).base;
        Some(Entry { range: PhysRange::from_bounds(address(mark.base), address(end))?, kind, uses: mark.uses })
    }

    fn locate(&self, range: PhysRange) -> Result<Place, FrameError> {
        let (first, past) = granules(range)?;
        Ok(Place { first, past, from: self.marks.find(first) })
    }

    /// The marks that say what the granules of a range are.
    fn within(&self, place: Place) -> impl Iterator<Item = At> + '_ {
        let next = move |at: &At| self.marks.next(*at).filter(|next| self.marks.get(*next).base < place.past);
        core::iter::successors(Some(place.from), next)
    }

    /// Whether so many more marks stay within a limit.
    fn room(&self, needed: usize, limit: usize) -> Result<(), FrameError> {
        if needed > 0 && self.marks.len() + needed > limit { Err(FrameError::Full { limit }) } else { Ok(()) }
    }

    /// Sees to it that both ends of a range have marks, at which so many more mappings or objects end.
    fn edges(&mut self, first: u32, past: u32, from: At, more: [u8; 2], limit: usize) -> Result<(), FrameError> {
        let to = self.marks.find(past);
        let missing = [(from, first), (to, past)].map(|(at, edge)| self.marks.get(at).base != edge);
        let needed = missing.into_iter().filter(|missing| *missing).count();
        self.room(needed, limit)?;
        self.edge(past, to, more[1]);
        // Only what was put in can have moved others.
        let from = if missing[1] { self.marks.find_again(from, first) } else { from };
        self.edge(first, from, more[0]);
        Ok(())
    }

    /// So many more uses end at a granule, whose mark, or that before it, is at `at`.
    fn edge(&mut self, granule: u32, at: At, more: u8) {
        let mark = self.marks.get(at);
        if mark.base == granule {
            self.marks.set(at, Mark { edges: mark.edges.saturating_add(more), ..mark });
        } else {
            self.marks.insert(at, Mark { base: granule, edges: more, ..mark });
        }
    }

    /// One mapping or object less ends at a granule. Its mark goes if it tells nothing apart.
    fn leave_edge(&mut self, granule: u32) {
        let at = self.marks.find(granule);
        let mark = self.marks.get(at);
        if mark.base != granule {
            return;
        }
        let edges = mark.edges.saturating_sub(1);
        let same = |below: At| self.marks.get(below).state() == mark.state();
        if edges == 0 && self.marks.prev(at).is_some_and(same) {
            self.marks.remove(at);
        } else {
            self.marks.set(at, Mark { edges, ..mark });
        }
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
        let gone = inner + usize::from(begins) + usize::from(next.is_some());
        let more = usize::from(first_stays) + usize::from(past_stays);
        self.room(more.saturating_sub(gone), self.limit())?;
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

    /// What must hold of the chunks of marks.
    #[cfg(test)]
    pub(super) fn check(&self) {
        self.marks.check();
    }
}

fn address(granule: u32) -> PhysAddr {
    PhysAddr(u64::from(granule) << GRANULE_LOG2)
}

/// Whether memory can be counted once more: for a domain, or for an object of the kernel.
fn countable(entry: Entry, domain: Option<Domain>) -> Result<(), FrameError> {
    match (entry.kind, domain) {
        (FrameType::Typed(Purpose::Shared), Some(_)) | (FrameType::Typed(Purpose::Kernel), None) => {}
        (FrameType::Typed(Purpose::User(owner)), Some(domain)) if owner == domain => {}
        (FrameType::Typed(Purpose::User(owner)), Some(_)) => return Err(FrameError::WrongDomain { owner }),
        _ => return Err(FrameError::WrongType { entry }),
    }
    if entry.uses >= MAX_USES { Err(FrameError::InUse { entry }) } else { Ok(()) }
}
