//! The sorted array behind the rules.

use super::{Domain, Entry, FrameError, FrameType, Purpose};
use units::{Bytes, PhysAddr, PhysRange};

/// Bytes of a granule: the smallest region of a protection unit.
const GRANULE_LOG2: u32 = 5;

/// Most uses of a byte: each domain maps it once, and each has two edges.
const MAX_USES: u8 = 100;

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
struct Mark {
    /// In granules.
    base: u32,
    /// Kind in bits 2..0, owner above.
    kind: u16,
    uses: u8,
    /// Mappings and objects that begin or end here: as long as there are any the mark stays, so that taking one away never
    /// needs a mark.
    edges: u8,
}

impl Mark {
    const UNUSED: Mark = Mark { base: u32::MAX, kind: 0, uses: 0, edges: 0 };

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

/// Where a range of marks changes, and into what.
struct Change {
    first: u32,
    past: u32,
    /// The mark that holds the first granule, and the one that holds the last.
    from: usize,
    to: usize,
}

/// For each end of a range, whether it has a mark, and the mark that it shall have.
struct Ends {
    first: (bool, Option<Mark>),
    past: (bool, Option<Mark>),
}

impl Ends {
    /// The ends of a range that begins with one state from now on and ends with another, where so many more mappings have an edge
    /// at either end.
    fn new<const N: usize>(table: &FrameTable<N>, change: &Change, first: State, last: State, more: i8) -> Ends {
        let marks = &table.marks[..table.len];
        let begins = marks[change.from].base == change.first;
        let below = if begins { change.from.checked_sub(1) } else { Some(change.from) };
        let next = marks.get(change.to + 1).filter(|next| next.base == change.past);
        let above = next.unwrap_or(&marks[change.to]).state();
        let first_edges = if begins { marks[change.from].edges } else { 0 }.wrapping_add_signed(more);
        let past_edges = next.map_or(0, |next| next.edges).wrapping_add_signed(more);
        let parts = below.is_none_or(|at| marks[at].state() != first);
        let first_stays = parts || first_edges > 0;
        let past_stays = above != last || past_edges > 0;
        Ends {
            first: (begins, first_stays.then(|| Mark::new(change.first, first, first_edges))),
            past: (next.is_some(), past_stays.then(|| Mark::new(change.past, above, past_edges))),
        }
    }
}

/// Types of physical memory below 2^37, in at most `N` marks. Domains are numbered below 2^13.
#[derive(Debug)]
pub struct FrameTable<const N: usize> {
    marks: [Mark; N],
    len: usize,
}

impl<const N: usize> Default for FrameTable<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> FrameTable<N> {
    /// No memory.
    pub const fn new() -> Self {
        const { assert!(N > 1, "the first mark stands for the absence of memory") };
        let mut marks = [Mark::UNUSED; N];
        marks[0] = Mark::new(0, State::ABSENT, 0);
        Self { marks, len: 1 }
    }

    /// The entries in ascending order: neighbours differ in type or number of uses, or something that uses one of them
    /// ends between them.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.len).filter_map(|at| self.entry(at))
    }

    /// Marks in use, of `N`.
    pub const fn marks(&self) -> usize {
        self.len
    }

    /// The entry that contains `addr`.
    ///
    /// # Time complexity
    /// O(log N).
    pub fn at(&self, addr: PhysAddr) -> Option<Entry> {
        self.entry(self.position(u32::try_from(addr.0 >> GRANULE_LOG2).ok()?))
    }

    /// Adds memory, at boot: untyped if it is known to be clear, dirty otherwise.
    ///
    /// # Errors
    /// [`FrameError::Malformed`], [`FrameError::Overlap`], [`FrameError::Full`].
    pub fn add(&mut self, range: PhysRange, clear: bool) -> Result<(), FrameError> {
        let change = self.locate(range)?;
        if let Some(with) = (change.from..=change.to).find_map(|at| self.entry(at)) {
            return Err(FrameError::Overlap { with });
        }
        let kind = Some(if clear { FrameType::Untyped } else { FrameType::Dirty });
        self.unify(&change, State { kind, uses: 0 })
    }

    /// Gives untyped memory a purpose.
    ///
    /// # Errors
    /// [`FrameError`]: not all of it untyped, or no room for the marks.
    pub fn retype(&mut self, range: PhysRange, purpose: Purpose) -> Result<(), FrameError> {
        self.unused(range, |kind| kind == FrameType::Untyped, FrameType::Typed(purpose))
    }

    /// Takes typed memory out of use; it is dirty then.
    ///
    /// # Errors
    /// [`FrameError::InUse`] while it is mapped or holds objects; otherwise as for [`FrameTable::retype`].
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
    /// O(log N).
    pub fn dirty(&self, range: PhysRange, most: Bytes) -> Result<Option<PhysRange>, FrameError> {
        let change = self.locate(range)?;
        let mut at = change.from;
        let mut first = change.first;
        // Untyped memory has no mark inside, so that the next mark begins what is not.
        if self.marks[at].state().kind == Some(FrameType::Untyped) {
            if at == change.to {
                return Ok(None);
            }
            at += 1;
            first = self.marks[at].base;
        }
        let entry = self.entry(at).ok_or(FrameError::Unknown)?;
        if !matches!(entry.kind, FrameType::Dirty | FrameType::Typed(Purpose::Shared | Purpose::User(_))) {
            return Err(FrameError::WrongType { entry });
        }
        if entry.uses != 0 {
            return Err(FrameError::InUse { entry });
        }
        let base = PhysAddr(u64::from(first) << GRANULE_LOG2);
        let end = entry.range.end().min(range.end()).min(PhysAddr(base.0 + most.0));
        Ok(PhysRange::from_bounds(base, end))
    }

    /// Makes memory that was cleared untyped.
    ///
    /// # Errors
    /// [`FrameError`]: kernel memory, mapped memory, or no room for the marks.
    pub fn cleared(&mut self, range: PhysRange) -> Result<(), FrameError> {
        self.unused(range, |kind| kind != FrameType::Typed(Purpose::Kernel), FrameType::Untyped)
    }

    /// Counts a mapping of every byte of `range` into `domain`.
    ///
    /// # Errors
    /// [`FrameError::WrongType`] for whatever is not user or shared memory, kernel memory above all;
    /// [`FrameError::WrongDomain`] for another domain's.
    pub fn map(&mut self, range: PhysRange, domain: Domain) -> Result<(), FrameError> {
        self.count(range, |kind| mappable(kind, domain), true)
    }

    /// Takes a mapping of exactly this range away.
    ///
    /// # Errors
    /// [`FrameError::NotInUse`] without one; otherwise as for [`FrameTable::map`]. What was mapped can be unmapped: that needs no mark.
    pub fn unmap(&mut self, range: PhysRange, domain: Domain) -> Result<(), FrameError> {
        self.count(range, |kind| mappable(kind, domain), false)
    }

    /// Counts a kernel object in `range`.
    ///
    /// # Errors
    /// [`FrameError::WrongType`] unless it is kernel memory.
    pub fn place_object(&mut self, range: PhysRange) -> Result<(), FrameError> {
        self.count(range, kernel, true)
    }

    /// Takes a kernel object away.
    ///
    /// # Errors
    /// [`FrameError::NotInUse`] without one; otherwise as for [`FrameTable::place_object`].
    pub fn remove_object(&mut self, range: PhysRange) -> Result<(), FrameError> {
        self.count(range, kernel, false)
    }

    /// The mark that says what a granule is.
    fn position(&self, granule: u32) -> usize {
        self.marks[..self.len].partition_point(|mark| mark.base <= granule).saturating_sub(1)
    }

    fn entry(&self, at: usize) -> Option<Entry> {
        let mark = self.marks[..self.len].get(at)?;
        let kind = mark.state().kind?;
        let end = self.marks[..self.len].get(at + 1)?.base;
        let [base, end] = [mark.base, end].map(|granule| PhysAddr(u64::from(granule) << GRANULE_LOG2));
        Some(Entry { range: PhysRange::from_bounds(base, end)?, kind, uses: mark.uses })
    }

    fn locate(&self, range: PhysRange) -> Result<Change, FrameError> {
        let (first, past) = granules(range)?;
        Ok(Change { first, past, from: self.position(first), to: self.position(past - 1) })
    }

    /// Gives memory that nothing uses another type.
    fn unused(
        &mut self,
        range: PhysRange,
        allowed: impl Fn(FrameType) -> bool,
        kind: FrameType,
    ) -> Result<(), FrameError> {
        let change = self.locate(range)?;
        for at in change.from..=change.to {
            let entry = self.entry(at).ok_or(FrameError::Unknown)?;
            if !allowed(entry.kind) {
                return Err(FrameError::WrongType { entry });
            }
            if entry.uses != 0 {
                return Err(FrameError::InUse { entry });
            }
        }
        self.unify(&change, State { kind: Some(kind), uses: 0 })
    }

    fn count(
        &mut self,
        range: PhysRange,
        allowed: impl Fn(Entry) -> Result<(), FrameError>,
        more: bool,
    ) -> Result<(), FrameError> {
        let change = self.locate(range)?;
        for at in change.from..=change.to {
            let entry = self.entry(at).ok_or(FrameError::Unknown)?;
            allowed(entry)?;
            if more && entry.uses >= MAX_USES {
                return Err(FrameError::InUse { entry });
            }
            if !more && entry.uses == 0 {
                return Err(FrameError::NotInUse { entry });
            }
        }
        self.recount(&change, if more { 1 } else { -1 })
    }

    /// Gives all of a range one state.
    fn unify(&mut self, change: &Change, state: State) -> Result<(), FrameError> {
        let ends = Ends::new(self, change, state, state, 0);
        let inner = change.to - change.from;
        self.room(&ends, inner)?;
        self.marks.copy_within(change.to + 1..self.len, change.from + 1);
        self.len -= inner;
        self.finish(&Change { to: change.from, ..*change }, &ends);
        Ok(())
    }

    /// Changes the number of uses in every state of a range.
    fn recount(&mut self, change: &Change, more: i8) -> Result<(), FrameError> {
        let into = |state: State| State { uses: state.uses.wrapping_add_signed(more), ..state };
        let [first, last] = [change.from, change.to].map(|at| into(self.marks[at].state()));
        let ends = Ends::new(self, change, first, last, more);
        self.room(&ends, 0)?;
        for mark in &mut self.marks[change.from + 1..=change.to] {
            *mark = Mark::new(mark.base, into(mark.state()), mark.edges);
        }
        self.finish(change, &ends);
        Ok(())
    }

    /// Whether there is room for the marks at the ends of a range, `fewer` of whose own go.
    fn room(&self, ends: &Ends, fewer: usize) -> Result<(), FrameError> {
        let [(old_first, first), (old_past, past)] = [&ends.first, &ends.past].map(|end| (end.0, end.1.is_some()));
        let count = |marks: [bool; 2]| marks.into_iter().filter(|mark| *mark).count();
        if self.len + count([first, past]) > N + count([old_first, old_past]) + fewer {
            return Err(FrameError::Full { limit: N });
        }
        Ok(())
    }

    /// Sets the marks at the ends of a range.
    fn finish(&mut self, change: &Change, ends: &Ends) {
        match (ends.first, ends.past) {
            // Grows what is below, as when memory is cleared step by step.
            ((true, None), (false, Some(mark))) if change.from == change.to => self.marks[change.from] = mark,
            // Taking away before adding: there may be no room for both.
            ((true, None), (there, past)) => {
                self.place(change.from, true, None);
                self.place(change.to, there, past);
            }
            ((begins, first), (there, past)) => {
                self.place(change.to + 1, there, past);
                self.place(change.from + usize::from(!begins), begins, first);
            }
        }
    }

    /// Puts a mark at a place, in place of the one that is there or before it; or takes that one away.
    fn place(&mut self, at: usize, there: bool, mark: Option<Mark>) {
        match (there, mark) {
            (true, Some(mark)) => self.marks[at] = mark,
            (false, Some(mark)) => {
                self.marks.copy_within(at..self.len.min(N - 1), at + 1);
                self.marks[at] = mark;
                self.len += 1;
            }
            (true, None) => {
                self.marks.copy_within(at + 1..self.len, at);
                self.len -= 1;
            }
            (false, None) => {}
        }
    }
}

fn mappable(entry: Entry, domain: Domain) -> Result<(), FrameError> {
    match entry.kind {
        FrameType::Typed(Purpose::Shared) => Ok(()),
        FrameType::Typed(Purpose::User(owner)) if owner == domain => Ok(()),
        FrameType::Typed(Purpose::User(owner)) => Err(FrameError::WrongDomain { owner }),
        _ => Err(FrameError::WrongType { entry }),
    }
}

fn kernel(entry: Entry) -> Result<(), FrameError> {
    match entry.kind {
        FrameType::Typed(Purpose::Kernel) => Ok(()),
        _ => Err(FrameError::WrongType { entry }),
    }
}
