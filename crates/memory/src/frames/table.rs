//! The sorted array behind the rules.

use super::{Domain, Entry, FrameError, FrameType, Purpose};
use crate::scrub::Scrub;
use units::{PhysAddr, PhysRange};

/// At most `N` ranges of physical memory, sorted, without overlap.
#[derive(Debug)]
pub struct FrameTable<const N: usize> {
    entries: [Option<Entry>; N],
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
        Self { entries: [None; N], len: 0 }
    }

    /// The entries in ascending order.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.entries[..self.len].iter().flatten().copied()
    }

    /// The entry that contains `addr`.
    ///
    /// # Time complexity
    /// O(log N).
    pub fn at(&self, addr: PhysAddr) -> Option<Entry> {
        self.position(addr).and_then(|at| self.entries[at])
    }

    /// Adds memory, at boot: untyped if it is known to be clear, dirty otherwise.
    ///
    /// # Errors
    /// [`FrameError::Empty`], [`FrameError::Overlap`], [`FrameError::Full`].
    pub fn add(&mut self, range: PhysRange, clear: bool) -> Result<(), FrameError> {
        if range.is_empty() {
            return Err(FrameError::Empty);
        }
        let at = self.entries[..self.len].partition_point(|e| e.is_some_and(|e| e.range.end() <= range.base()));
        if let Some(with) = self.get(at).filter(|e| e.range.overlaps(range)) {
            return Err(FrameError::Overlap { with });
        }
        if self.len == N {
            return Err(FrameError::Full { limit: N });
        }
        let kind = if clear { FrameType::Untyped } else { FrameType::Dirty };
        self.open(at, 1);
        self.entries[at] = Some(Entry { range, kind, uses: 0 });
        self.merge_around(at);
        Ok(())
    }

    /// Gives untyped memory a purpose.
    ///
    /// # Errors
    /// [`FrameError`]: not one untyped range, or no room to split it.
    pub fn retype(&mut self, range: PhysRange, purpose: Purpose) -> Result<(), FrameError> {
        self.change(range, |entry| entry.kind == FrameType::Untyped, FrameType::Typed(purpose))
    }

    /// Takes typed memory out of use; it is dirty then.
    ///
    /// # Errors
    /// [`FrameError::InUse`] while it is mapped or holds objects; otherwise as for [`FrameTable::retype`].
    pub fn release(&mut self, range: PhysRange) -> Result<(), FrameError> {
        self.change(range, |entry| matches!(entry.kind, FrameType::Typed(_)), FrameType::Dirty)
    }

    /// Reserves dirty memory for clearing.
    ///
    /// # Errors
    /// [`FrameError::WrongType`] unless all of it is dirty (and not being cleared by another); otherwise as for
    /// [`FrameTable::retype`].
    pub fn begin_scrub(&mut self, range: PhysRange) -> Result<Scrub, FrameError> {
        self.change(range, |entry| entry.kind == FrameType::Dirty, FrameType::Scrubbing)?;
        Ok(Scrub::new(range))
    }

    /// Makes cleared memory untyped.
    ///
    /// # Errors
    /// [`FrameError::NotClear`] with the scrub given back; any other error means that the scrub is not of this table.
    pub fn finish_scrub(&mut self, scrub: Scrub) -> Result<(), (FrameError, Scrub)> {
        if !scrub.is_done() {
            return Err((FrameError::NotClear, scrub));
        }
        let range = scrub.range();
        self.change(range, |entry| entry.kind == FrameType::Scrubbing, FrameType::Untyped)
            .map_err(|error| (error, scrub))
    }

    /// Makes memory whose clearing is given up dirty again.
    ///
    /// # Errors
    /// As for [`FrameTable::finish_scrub`].
    pub fn abandon_scrub(&mut self, scrub: Scrub) -> Result<(), (FrameError, Scrub)> {
        let range = scrub.range();
        self.change(range, |entry| entry.kind == FrameType::Scrubbing, FrameType::Dirty).map_err(|error| (error, scrub))
    }

    /// Counts a mapping of `range` into `domain`.
    ///
    /// # Errors
    /// [`FrameError::WrongType`] for whatever is not user or shared memory, kernel memory above all;
    /// [`FrameError::WrongDomain`] for another domain's.
    pub fn map(&mut self, range: PhysRange, domain: Domain) -> Result<(), FrameError> {
        let at = self.mappable(range, domain)?;
        self.count(at, 1)
    }

    /// Takes a mapping away.
    ///
    /// # Errors
    /// [`FrameError::NotInUse`] without one; otherwise as for [`FrameTable::map`].
    pub fn unmap(&mut self, range: PhysRange, domain: Domain) -> Result<(), FrameError> {
        let at = self.mappable(range, domain)?;
        self.count(at, -1)
    }

    /// Counts a kernel object in `range`.
    ///
    /// # Errors
    /// [`FrameError::WrongType`] unless it is kernel memory.
    pub fn place_object(&mut self, range: PhysRange) -> Result<(), FrameError> {
        let at = self.kernel(range)?;
        self.count(at, 1)
    }

    /// Takes a kernel object away.
    ///
    /// # Errors
    /// [`FrameError::NotInUse`] without one; otherwise as for [`FrameTable::place_object`].
    pub fn remove_object(&mut self, range: PhysRange) -> Result<(), FrameError> {
        let at = self.kernel(range)?;
        self.count(at, -1)
    }

    fn get(&self, at: usize) -> Option<Entry> {
        self.entries[..self.len].get(at).copied().flatten()
    }

    fn position(&self, addr: PhysAddr) -> Option<usize> {
        let at = self.entries[..self.len].partition_point(|e| e.is_some_and(|e| e.range.end() <= addr));
        self.get(at).filter(|entry| entry.range.contains(addr)).map(|_| at)
    }

    /// The entry that contains all of a range.
    fn whole(&self, range: PhysRange) -> Result<(usize, Entry), FrameError> {
        if range.is_empty() {
            return Err(FrameError::Empty);
        }
        let at = self.position(range.base()).ok_or(FrameError::Unknown)?;
        let entry = self.get(at).ok_or(FrameError::Unknown)?;
        if !entry.range.contains_range(range) {
            return Err(FrameError::Straddles { entry });
        }
        Ok((at, entry))
    }

    fn mappable(&self, range: PhysRange, domain: Domain) -> Result<usize, FrameError> {
        let (at, entry) = self.whole(range)?;
        match entry.kind {
            FrameType::Typed(Purpose::Shared) => Ok(at),
            FrameType::Typed(Purpose::User(owner)) if owner == domain => Ok(at),
            FrameType::Typed(Purpose::User(owner)) => Err(FrameError::WrongDomain { owner }),
            _ => Err(FrameError::WrongType { entry }),
        }
    }

    fn kernel(&self, range: PhysRange) -> Result<usize, FrameError> {
        let (at, entry) = self.whole(range)?;
        match entry.kind {
            FrameType::Typed(Purpose::Kernel) => Ok(at),
            _ => Err(FrameError::WrongType { entry }),
        }
    }

    fn count(&mut self, at: usize, by: i32) -> Result<(), FrameError> {
        let Some(entry) = self.entries[at].as_mut() else { return Err(FrameError::Unknown) };
        match entry.uses.checked_add_signed(by) {
            Some(uses) => entry.uses = uses,
            None if by < 0 => return Err(FrameError::NotInUse { entry: *entry }),
            None => return Err(FrameError::InUse { entry: *entry }),
        }
        Ok(())
    }

    /// Gives a part of an entry another type: checks all, then splits, sets and merges, which cannot fail.
    fn change(
        &mut self,
        range: PhysRange,
        allowed: impl Fn(&Entry) -> bool,
        kind: FrameType,
    ) -> Result<(), FrameError> {
        let (at, entry) = self.whole(range)?;
        if !allowed(&entry) {
            return Err(FrameError::WrongType { entry });
        }
        if entry.uses != 0 {
            return Err(FrameError::InUse { entry });
        }
        let before = PhysRange::from_bounds(entry.range.base(), range.base()).filter(|r| !r.is_empty());
        let after = PhysRange::from_bounds(range.end(), entry.range.end()).filter(|r| !r.is_empty());
        let more = usize::from(before.is_some()) + usize::from(after.is_some());
        if self.len + more > N {
            return Err(FrameError::Full { limit: N });
        }
        self.open(at, more);
        let pieces = [before.map(|r| (r, entry.kind)), Some((range, kind)), after.map(|r| (r, entry.kind))];
        for (slot, (range, kind)) in self.entries[at..].iter_mut().zip(pieces.into_iter().flatten()) {
            *slot = Some(Entry { range, kind, uses: 0 });
        }
        self.merge_around(at + usize::from(before.is_some()));
        Ok(())
    }

    /// Makes room for `more` entries at `at`.
    fn open(&mut self, at: usize, more: usize) {
        self.entries.copy_within(at..self.len, at + more);
        self.len += more;
    }

    /// Joins an entry with its neighbours where that loses nothing: adjacent, and both untyped or both dirty.
    fn merge_around(&mut self, at: usize) {
        self.merge_with_next(at);
        if at > 0 {
            self.merge_with_next(at - 1);
        }
    }

    fn merge_with_next(&mut self, at: usize) {
        let (Some(a), Some(b)) = (self.get(at), self.get(at + 1)) else { return };
        let same = a.kind == b.kind && matches!(a.kind, FrameType::Untyped | FrameType::Dirty);
        if let (true, true, Some(range)) =
            (same, a.range.end() == b.range.base(), PhysRange::from_bounds(a.range.base(), b.range.end()))
        {
            self.entries[at] = Some(Entry { range, ..a });
            self.entries.copy_within(at + 2..self.len, at + 1);
            self.len -= 1;
        }
    }
}
