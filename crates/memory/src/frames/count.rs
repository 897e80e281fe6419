//! How often every byte is in use: mappings and objects, which are counted and taken back in steps.

use super::marks::{At, Mark};
use super::table::{FrameTable, Place, granules};
use super::{Counting, Domain, Entry, FrameError, FrameType, GRANULE_LOG2, Purpose};
use units::{PhysAddr, PhysRange};

/// Most uses of a byte: each domain maps it once, and each has two edges.
const MAX_USES: u8 = 100;

impl FrameTable<'_> {
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

    /// Checks that there are marks for a part that is taken out of a use, which goes on at
    /// these ends.
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

    /// One step of counting, which looks at no more than `most` marks. Returns true if it was the
    /// last. Other changes may come between the steps.
    ///
    /// # Errors
    /// [`FrameError::WrongType`] for whatever is not user or shared memory (for an object: kernel memory), kernel memory above all;
    /// [`FrameError::WrongDomain`] for another domain's; [`FrameError::InUse`] for what cannot be
    /// counted once more. The uses that were counted before the error stay counted until they are
    /// taken back.
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

    /// One step of taking back what was counted, complete or not, which looks at no more than
    /// `most` marks. The last step takes out the two marks that the counting needed, and returns
    /// true. Needs no marks, and cannot fail.
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

    fn count_all(&mut self, range: PhysRange, domain: Option<Domain>) -> Result<(), FrameError> {
        let mut counting = self.count(range, domain)?;
        let told = self.count_step(&mut counting, usize::MAX);
        if told.is_err() {
            while !self.uncount_step(&mut counting, usize::MAX) {}
        }
        told.map(|_| ())
    }

    pub(super) fn uncount_all(&mut self, range: PhysRange, domain: Option<Domain>) -> Result<(), FrameError> {
        let place = self.locate(range)?;
        if let Some(entry) = self.within(place).filter_map(|at| self.entry(at)).find(|entry| entry.uses == 0) {
            return Err(FrameError::NotInUse { entry });
        }
        let mut counting = self.counted(range, domain, [false; 2])?;
        while !self.uncount_step(&mut counting, usize::MAX) {}
        Ok(())
    }

    /// Sees to it that both ends of a range have marks, at which so many more mappings or objects end.
    pub(super) fn edges(
        &mut self,
        first: u32,
        past: u32,
        from: At,
        more: [u8; 2],
        limit: usize,
    ) -> Result<(), FrameError> {
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
}

/// Checks that memory can be counted once more: for a domain, or for an object of the kernel.
fn countable(entry: Entry, domain: Option<Domain>) -> Result<(), FrameError> {
    match (entry.kind, domain) {
        (FrameType::Typed(Purpose::Shared), Some(_)) | (FrameType::Typed(Purpose::Kernel), None) => {}
        (FrameType::Typed(Purpose::User(owner)), Some(domain)) if owner == domain => {}
        (FrameType::Typed(Purpose::User(owner)), Some(_)) => return Err(FrameError::WrongDomain { owner }),
        _ => return Err(FrameError::WrongType { entry }),
    }
    if entry.uses >= MAX_USES { Err(FrameError::InUse { entry }) } else { Ok(()) }
}
