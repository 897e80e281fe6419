//! Frames of a pool: which are free, and the list of those of each region.
//!
//! A list is a chain of links, one word for each frame, in memory where no domain writes. The list of a region begins with the frame that
//! was mapped last and ends with the one that was mapped first; the region's stack says which these are (see [`crate::space`]), so that a
//! list needs no head of its own and a release is one splice, whatever its length.
//!
//! Links hold anything at first: frames that were never used are counted, not chained.

use crate::words::Words;

/// A frame: a physical address divided by 4096. Bits above the 19th are never set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame(pub u32);

/// A number of who had a frame last, for the decision whether it has to be cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(pub u8);

/// A frame that was taken from a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The frame.
    pub frame: Frame,
    /// True if the frame may hold something: it was another owner's, or nothing is known of it. It
    /// has to be cleared before it is shown.
    pub clear: bool,
}

const OWNER_SHIFT: u32 = 24;
const NEXT_MASK: u32 = (1 << OWNER_SHIFT) - 1;

/// A pool of frames with numbers that follow each other.
#[derive(Clone, Debug)]
pub struct Frames<W> {
    /// For each frame: its last owner and, in a list, the distance of the next frame from `first`.
    links: W,
    first: u32,
    count: u32,
    /// Frames before this distance have been in use.
    used: u32,
    /// The free frames that have been in use: how many, and the distance of the first one.
    chained: u32,
    head: u32,
}

impl<W: Words> Frames<W> {
    /// A pool of the `count` frames from `first` on. `links` has one word for each; what they hold does not matter.
    ///
    /// # Panics
    /// When `count` is above 2^19.
    ///
    /// # Time complexity
    /// Constant, without an access to `links`.
    pub fn new(links: W, first: Frame, count: u32) -> Self {
        assert!(count <= 1 << 19);
        Self { links, first: first.0, count, used: 0, chained: 0, head: 0 }
    }

    /// How many frames are free.
    pub fn free(&self) -> u32 {
        self.chained + (self.count - self.used)
    }

    /// All frames, which are free, count as frames that nobody has had: each is cleared before it is shown again. False, and nothing has changed, if one
    /// is in use.
    ///
    /// # Time complexity
    /// Constant, without an access to the links.
    pub fn forget(&mut self) -> bool {
        let free = self.free() == self.count;
        if free {
            (self.used, self.chained, self.head) = (0, 0, 0);
        }
        free
    }

    /// The free frame that is taken next for `owner`; nothing, when there is none. Frames that were released last are taken first.
    ///
    /// # Time complexity
    /// At most one read.
    pub fn next(&self, owner: Owner) -> Option<Taken> {
        self.find(owner).map(|(taken, _)| taken)
    }

    /// Takes that frame.
    ///
    /// # Time complexity
    /// At most one read.
    pub(crate) fn take(&mut self, owner: Owner) -> Option<Taken> {
        let (taken, behind) = self.find(owner)?;
        match behind {
            Some(behind) => (self.head, self.chained) = (behind, self.chained - 1),
            None => self.used += 1,
        }
        Some(taken)
    }

    /// The frame that is taken next, and the distance of the one behind it if it is chained.
    fn find(&self, owner: Owner) -> Option<(Taken, Option<u32>)> {
        if self.chained > 0 {
            let link = self.links.get(self.head as usize);
            let taken =
                Taken { frame: Frame(self.first + self.head), clear: link >> OWNER_SHIFT != u32::from(owner.0) };
            return Some((taken, Some(link & NEXT_MASK)));
        }
        (self.used < self.count).then(|| (Taken { frame: Frame(self.first + self.used), clear: true }, None))
    }

    /// Puts a frame before the one that begins the list of a region of `owner`; `next` is that one, if the list has any.
    ///
    /// # Time complexity
    /// One write.
    pub(crate) fn chain(&mut self, frame: Frame, next: Option<Frame>, owner: Owner) {
        // The last one's link is written when the list is released.
        let next = next.map_or(0, |next| next.0 - self.first);
        self.links.set((frame.0 - self.first) as usize, u32::from(owner.0) << OWNER_SHIFT | next);
    }

    /// Gives back a whole list of `count` frames, from `head` to `tail`.
    ///
    /// # Time complexity
    /// One read and one write.
    pub(crate) fn splice(&mut self, head: Frame, tail: Frame, count: u32) {
        let place = (tail.0 - self.first) as usize;
        let owner = self.links.get(place) & !NEXT_MASK;
        self.links.set(place, owner | self.head);
        self.head = head.0 - self.first;
        self.chained += count;
    }
}
