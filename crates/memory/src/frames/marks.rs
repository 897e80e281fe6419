//! The sorted sequence of marks, in chunks: whatever is put in or taken out, no more than two chunks change.

use super::{Domain, FrameType, Purpose};

/// Marks of a chunk.
const CHUNK: usize = 16;
/// Fewest marks of a chunk beside others.
const LEAST: usize = CHUNK / 2;
/// Most chunks.
const MOST_CHUNKS: usize = u8::MAX as usize;

/// The state of memory from one mark to the next; its `kind` is `None` where there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) kind: Option<FrameType>,
    pub(super) uses: u8,
}

impl State {
    pub(super) const ABSENT: State = State { kind: None, uses: 0 };
}

/// A state from an address on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// In granules.
    pub(super) base: u32,
    /// Kind in bits 2..0, owner above.
    pub(super) kind: u16,
    pub(super) uses: u8,
    /// Mappings and objects that begin or end here: as long as there are any the mark stays, so that taking one away never
    /// needs a mark.
    pub(super) edges: u8,
}

impl Mark {
    pub(super) const UNUSED: Mark = Mark { base: u32::MAX, kind: 0, uses: 0, edges: 0 };

    pub(super) const fn new(base: u32, state: State, edges: u8) -> Mark {
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

    pub(super) const fn state(self) -> State {
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

/// The position of a mark, valid until the next insertion or removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    /// Place of its chunk in the order of addresses.
    chunk: usize,
    /// Place in its chunk.
    index: usize,
}

/// Memory for marks.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    marks: [Mark; CHUNK],
}

impl Chunk {
    /// A chunk that is in no table yet.
    pub const EMPTY: Chunk = Chunk { marks: [Mark::UNUSED; CHUNK] };
}

/// The chunk at a place in the order of addresses.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    number: u8,
    /// Marks in it.
    len: u8,
}

impl Place {
    /// A place in no table yet.
    pub const EMPTY: Place = Place { number: 0, len: 0 };
}

/// Marks in ascending order of their addresses, in chunks. Only a single chunk is less than half
/// full. The first mark is never taken out.
///
/// Small functions with many callers are not inlined: a path of the kernel that finds no cache filled waits longer for its lines of code
/// than for anything else.
#[derive(Debug)]
pub(super) struct Marks<'a> {
    chunks: &'a mut [Chunk],
    /// By place; the free ones come behind those in use. They lie side by side, because putting in
    /// a chunk moves all that are behind it, and a search goes by way of some of them.
    places: &'a mut [Place],
    used: usize,
    len: usize,
}

impl<'a> Marks<'a> {
    /// One mark, in 1 to 255 chunks, with a place for each.
    pub(super) fn new(chunks: &'a mut [Chunk], places: &'a mut [Place], first: Mark) -> Option<Self> {
        if !(1..=MOST_CHUNKS).contains(&chunks.len()) || places.len() != chunks.len() {
            return None;
        }
        chunks.fill(Chunk::EMPTY);
        chunks[0].marks[0] = first;
        for (number, place) in places.iter_mut().enumerate() {
            *place = Place { number: number as u8, len: 0 };
        }
        places[0].len = 1;
        Some(Marks { chunks, places, used: 1, len: 1 })
    }

    /// As many marks as always fit, in whatever order they come and go, with two more for a moment: where a chunk is full and the others
    /// are half full, the chunks hold this and a chunk.
    pub(super) const fn limit(chunks: usize) -> usize {
        if chunks == 1 { CHUNK - 2 } else { chunks * LEAST }
    }

    /// [`Marks::limit`] of these chunks.
    pub(super) fn most(&self) -> usize {
        Self::limit(self.chunks.len())
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The first mark.
    pub(super) const FIRST: At = At { chunk: 0, index: 0 };

    fn number(&self, chunk: usize) -> usize {
        usize::from(self.places[chunk].number)
    }

    fn size(&self, chunk: usize) -> usize {
        usize::from(self.places[chunk].len)
    }

    #[inline(never)]
    pub(super) fn get(&self, at: At) -> Mark {
        self.chunks[self.number(at.chunk)].marks[at.index]
    }

    #[inline(never)]
    pub(super) fn set(&mut self, at: At, mark: Mark) {
        let number = self.number(at.chunk);
        self.chunks[number].marks[at.index] = mark;
    }

    /// The last mark at or below a granule.
    ///
    /// # Time complexity
    /// O(log chunks), and as much in a chunk.
    pub(super) fn find(&self, granule: u32) -> At {
        let base = |place: &Place| self.chunks[usize::from(place.number)].marks[0].base;
        let chunk = self.places[..self.used].partition_point(|place| base(place) <= granule).saturating_sub(1);
        let marks = &self.chunks[self.number(chunk)].marks[..self.size(chunk)];
        At { chunk, index: marks.partition_point(|mark| mark.base <= granule).saturating_sub(1) }
    }

    /// As [`Marks::find`], of a mark that was at a place before the last insertion or removal behind it, and mostly still is there.
    pub(super) fn find_again(&self, at: At, granule: u32) -> At {
        let there = at.chunk < self.used && at.index < self.size(at.chunk) && self.get(at).base <= granule;
        if there && self.next(at).is_none_or(|next| self.get(next).base > granule) { at } else { self.find(granule) }
    }

    #[inline(never)]
    pub(super) fn next(&self, at: At) -> Option<At> {
        if at.index + 1 < self.size(at.chunk) {
            return Some(At { index: at.index + 1, ..at });
        }
        (at.chunk + 1 < self.used).then_some(At { chunk: at.chunk + 1, index: 0 })
    }

    #[inline(never)]
    pub(super) fn prev(&self, at: At) -> Option<At> {
        if at.index > 0 {
            return Some(At { index: at.index - 1, ..at });
        }
        let chunk = at.chunk.checked_sub(1)?;
        Some(At { chunk, index: self.size(chunk) - 1 })
    }

    /// Puts a mark behind another; there are no more than [`Marks::most`] and one.
    ///
    /// # Time complexity
    /// Two chunks, and two bytes for each chunk behind.
    pub(super) fn insert(&mut self, behind: At, mark: Mark) {
        let At { mut chunk, mut index } = behind;
        index += 1;
        if self.size(chunk) == CHUNK {
            self.split(chunk);
            if index > LEAST {
                chunk += 1;
                index -= LEAST;
            }
        }
        let (number, size) = (self.number(chunk), self.size(chunk));
        let marks = &mut self.chunks[number].marks;
        marks.copy_within(index..size, index + 1);
        marks[index] = mark;
        self.places[chunk].len += 1;
        self.len += 1;
    }

    /// Takes a mark out.
    ///
    /// # Time complexity
    /// As [`Marks::insert`].
    pub(super) fn remove(&mut self, at: At) {
        let (number, size) = (self.number(at.chunk), self.size(at.chunk));
        self.chunks[number].marks.copy_within(at.index + 1..size, at.index);
        self.places[at.chunk].len -= 1;
        self.len -= 1;
        if size <= LEAST && self.used > 1 {
            // With the chunk behind, or the last one with that before.
            self.even_out(at.chunk.min(self.used - 2));
        }
    }

    /// Cuts a full chunk into halves.
    fn split(&mut self, chunk: usize) {
        let (old, new) = (self.number(chunk), self.number(self.used));
        if let Ok([old, new]) = self.chunks.get_disjoint_mut([old, new]) {
            new.marks[..LEAST].copy_from_slice(&old.marks[LEAST..]);
        }
        self.places[chunk].len = LEAST as u8;
        // Bounded by the chunks.
        self.places.copy_within(chunk + 1..self.used, chunk + 2);
        self.places[chunk + 1] = Place { number: new as u8, len: LEAST as u8 };
        self.used += 1;
    }

    /// Makes one chunk of two neighbours, or lets the smaller have a mark of the larger: one of them has one mark less than half.
    fn even_out(&mut self, chunk: usize) {
        let (low, high) = (self.number(chunk), self.number(chunk + 1));
        let (below, above) = (self.size(chunk), self.size(chunk + 1));
        if below + above <= CHUNK {
            if let Ok([low, high]) = self.chunks.get_disjoint_mut([low, high]) {
                low.marks[below..below + above].copy_from_slice(&high.marks[..above]);
            }
            self.places[chunk].len = (below + above) as u8;
            // Bounded by the chunks.
            self.places.copy_within(chunk + 2..self.used, chunk + 1);
            self.used -= 1;
            self.places[self.used] = Place { number: high as u8, len: 0 };
        } else if below < above {
            self.chunks[low].marks[below] = self.chunks[high].marks[0];
            self.chunks[high].marks.copy_within(1..above, 0);
            self.places[chunk].len += 1;
            self.places[chunk + 1].len -= 1;
        } else {
            self.chunks[high].marks.copy_within(..above, 1);
            self.chunks[high].marks[0] = self.chunks[low].marks[below - 1];
            self.places[chunk].len -= 1;
            self.places[chunk + 1].len += 1;
        }
    }

    /// Asserts the invariants of the chunks.
    #[cfg(test)]
    pub(super) fn check(&self) {
        let sizes: std::vec::Vec<usize> = (0..self.used).map(|chunk| self.size(chunk)).collect();
        assert_eq!(sizes.iter().sum::<usize>(), self.len);
        assert!(self.used == 1 || sizes.iter().all(|size| (LEAST..=CHUNK).contains(size)), "{sizes:?}");
        let mut numbers: std::vec::Vec<u8> = self.places.iter().map(|place| place.number).collect();
        numbers.sort_unstable();
        assert!(numbers.iter().enumerate().all(|(index, number)| index == usize::from(*number)), "a chunk is lost");
    }
}
