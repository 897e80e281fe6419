//! The pages that blocks begin or end in.

/// A count for each page of the piece.
pub trait Counts {
    /// Blocks that begin or end in a page.
    fn get(&self, page: u32) -> u16;
    /// Changes it.
    fn set(&mut self, page: u32, count: u16);
}

impl Counts for &mut [u16] {
    fn get(&self, page: u32) -> u16 {
        self[page as usize]
    }
    fn set(&mut self, page: u32, count: u16) {
        self[page as usize] = count;
    }
}

/// Pages that become regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The first one.
    pub first: u32,
    /// How many.
    pub pages: u32,
    /// The first one is a region of its own.
    pub first_alone: bool,
    /// The last one is a region of its own.
    pub last_alone: bool,
}

/// The first and the last page of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub first: u32,
    pub last: u32,
}

impl Ends {
    /// Counts a block that is new; the pages that it is the first to use, if any.
    pub fn enter(self, counts: &mut impl Counts) -> Option<Made> {
        let Ends { first, last } = self;
        let first_alone = raise(counts, first);
        let last_alone = first != last && raise(counts, last);
        let begin = if first_alone { first } else { first + 1 };
        let end = if last_alone || (first == last && first_alone) { last + 1 } else { last };
        (begin < end).then(|| Made { first: begin, pages: end - begin, first_alone, last_alone })
    }

    /// Takes a block out of the count. Returns the first of the pages whose regions are in no use
    /// any more, and how many regions there are.
    pub fn leave(self, counts: &mut impl Counts) -> (u32, u32) {
        let Ends { first, last } = self;
        let first_gone = lower(counts, first);
        let last_gone = first != last && lower(counts, last);
        let between = last > first + 1;
        let begin = if first_gone { first } else { first + 1 };
        (begin, u32::from(first_gone) + u32::from(between) + u32::from(last_gone))
    }

    /// Pages that the block would be the first to use.
    pub fn new_pages(self, counts: &impl Counts) -> u32 {
        let Ends { first, last } = self;
        let is_new = |page: u32| u32::from(counts.get(page) == 0);
        if first == last { is_new(first) } else { is_new(first) + (last - first - 1) + is_new(last) }
    }
}

/// Counts a block in a page. Returns true if it is the first one there.
fn raise(counts: &mut impl Counts, page: u32) -> bool {
    let before = counts.get(page);
    counts.set(page, before + 1);
    before == 0
}

/// Takes a block out of a page's count. Returns true if it was the last one there.
fn lower(counts: &mut impl Counts, page: u32) -> bool {
    let left = counts.get(page).saturating_sub(1);
    counts.set(page, left);
    left == 0
}
