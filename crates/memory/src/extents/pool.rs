//! The pool and its tree.

use super::bits::Bits;
use super::{Extent, ExtentError, LEAST_GRANULE_LOG2};

/// A pool of frames; `WORDS` is at least [`super::words_for`] of the smallest naturally aligned power of two around it, in granules.
#[derive(Clone, Debug)]
pub struct Extents<const WORDS: usize> {
    /// Nodes of the tree that are free: 1 is the whole, the halves of `n` are `2n` and `2n + 1`.
    free: Bits<WORDS>,
    origin: u32,
    base: u32,
    bytes: u32,
    granule_log2: u8,
    /// Base-two logarithm of the granules under node 1.
    top: u8,
    free_bytes: u32,
    dirty_bytes: u32,
}

impl<const WORDS: usize> Extents<WORDS> {
    /// A pool of clean memory.
    ///
    /// # Errors
    /// [`ExtentError::Pool`].
    pub fn new(base: u32, bytes: u32, granule_log2: u8) -> Result<Self, ExtentError> {
        let granule = 1u32.checked_shl(u32::from(granule_log2)).ok_or(ExtentError::Pool)?;
        let last = bytes.checked_sub(1).and_then(|more| base.checked_add(more)).ok_or(ExtentError::Pool)?;
        if granule_log2 < LEAST_GRANULE_LOG2 || (base | bytes) & (granule - 1) != 0 {
            return Err(ExtentError::Pool);
        }
        let size_log2 = (32 - (base ^ last).leading_zeros()).max(u32::from(granule_log2)) as u8;
        let origin = if size_log2 == 32 { 0 } else { base >> size_log2 << size_log2 };
        let top = size_log2 - granule_log2;
        let free = Bits::new(2 << top).ok_or(ExtentError::Pool)?;
        let mut pool = Extents { free, origin, base, bytes, granule_log2, top, free_bytes: bytes, dirty_bytes: 0 };
        let (mut at, end) = (u64::from(base), u64::from(base) + u64::from(bytes));
        // Ascending blocks, then descending ones: each the largest that begins here and ends within the pool.
        while at < end {
            let most = if at == 0 { 32 } else { at.trailing_zeros() };
            let order = most.min((end - at).ilog2()).min(u32::from(size_log2)) - u32::from(granule_log2);
            let node = pool.node(at as u32, order as u8);
            pool.free.insert(node);
            at += u64::from(granule) << order;
        }
        Ok(pool)
    }

    /// Reserves the least extent of at least `bytes` bytes.
    ///
    /// # Errors
    /// [`ExtentError::Full`], [`ExtentError::Size`].
    pub fn reserve(&mut self, bytes: u32) -> Result<Extent, ExtentError> {
        self.reserve_aligned(bytes, 1)
    }

    /// Reserves the least extent of at least `bytes` bytes whose base is a multiple of `align`.
    ///
    /// # Errors
    /// As [`Extents::reserve`]; [`ExtentError::Size`] when `align` is no power of two.
    pub fn reserve_aligned(&mut self, bytes: u32, align: u32) -> Result<Extent, ExtentError> {
        let wanted = Extent::new(0, bytes, self.granule_log2).ok_or(ExtentError::Size)?;
        if !align.is_power_of_two() {
            return Err(ExtentError::Size);
        }
        let base = self.block(wanted.size_log2.max(align.trailing_zeros() as u8)).ok_or(ExtentError::Full {
            asked: wanted.bytes(),
            free: self.free_bytes,
            largest: self.largest(),
        })?;
        let extent = Extent { base, ..wanted };
        self.blocks(extent).for_each(|node| self.take(node));
        self.free_bytes -= extent.bytes();
        Ok(extent)
    }

    /// Reserves the least extent of at least `bytes` bytes at a given base.
    ///
    /// # Errors
    /// [`ExtentError::Place`], [`ExtentError::Taken`].
    pub fn reserve_at(&mut self, base: u32, bytes: u32) -> Result<Extent, ExtentError> {
        let extent = Extent::new(base, bytes, self.granule_log2).ok_or(ExtentError::Place)?;
        if !self.contains(extent) {
            return Err(ExtentError::Place);
        }
        if self.blocks(extent).any(|node| self.marked_above(node).is_none()) {
            return Err(ExtentError::Taken);
        }
        self.blocks(extent).for_each(|node| self.take(node));
        self.free_bytes -= extent.bytes();
        Ok(extent)
    }

    /// Gives back a reserved extent that nobody has used since.
    ///
    /// # Errors
    /// [`ExtentError::Place`], [`ExtentError::NotTaken`].
    pub fn release(&mut self, extent: Extent) -> Result<(), ExtentError> {
        self.check_taken(extent)?;
        self.give(extent);
        Ok(())
    }

    /// A reserved extent has been used and is dirty from now on; it stays taken.
    ///
    /// # Errors
    /// As [`Extents::release`]; [`ExtentError::NotTaken`] also when more would be dirty than is taken.
    pub fn soil(&mut self, extent: Extent) -> Result<(), ExtentError> {
        self.check_taken(extent)?;
        if extent.bytes() > self.live_bytes() {
            return Err(ExtentError::NotTaken);
        }
        self.dirty_bytes += extent.bytes();
        Ok(())
    }

    /// A dirty extent has been cleared and is free again.
    ///
    /// # Errors
    /// As [`Extents::release`]; [`ExtentError::NotTaken`] also when not so much is dirty.
    pub fn cleaned(&mut self, extent: Extent) -> Result<(), ExtentError> {
        self.check_taken(extent)?;
        self.dirty_bytes = self.dirty_bytes.checked_sub(extent.bytes()).ok_or(ExtentError::NotTaken)?;
        self.give(extent);
        Ok(())
    }

    /// Clean bytes that are free.
    pub const fn free_bytes(&self) -> u32 {
        self.free_bytes
    }

    /// Bytes that wait to be cleared.
    pub const fn dirty_bytes(&self) -> u32 {
        self.dirty_bytes
    }

    /// Bytes that are reserved and not dirty.
    pub const fn live_bytes(&self) -> u32 {
        self.bytes - self.free_bytes - self.dirty_bytes
    }

    /// Bytes of the largest clean free block: the largest request that is served now.
    ///
    /// # Time complexity
    /// O(levels of the set): the nodes of larger blocks have lower numbers.
    pub fn largest(&self) -> u32 {
        let order = self.free.next(1).map(|node| self.order(node));
        order.map_or(0, |order| 1u32.checked_shl(u32::from(order + self.granule_log2)).unwrap_or(u32::MAX))
    }

    /// Base-two logarithm of the granules under a node.
    fn order(&self, node: usize) -> u8 {
        self.top - node.ilog2() as u8
    }

    /// The node of a block of `1 << order` granules.
    fn node(&self, base: u32, order: u8) -> usize {
        let block = u64::from(base - self.origin) >> (self.granule_log2 + order);
        (1 << (self.top - order)) + block as usize
    }

    /// Base of the free block to take so many bytes from: the smallest that is large enough, and the lowest of these.
    ///
    /// # Time complexity
    /// O(levels of the set), two searches: the smallest block that is large enough is the last of the nodes up to its order's.
    fn block(&self, size_log2: u8) -> Option<u32> {
        let order = size_log2 - self.granule_log2;
        if order > self.top {
            return None;
        }
        let last = self.free.previous((2 << (self.top - order)) - 1)?;
        let (order, first) = (self.order(last), 1 << last.ilog2());
        let node = self.free.next(first)?;
        Some(self.origin + (((node - first) as u64) << (self.granule_log2 + order)) as u32)
    }

    fn contains(&self, extent: Extent) -> bool {
        let offset = extent.base.wrapping_sub(self.base);
        offset < self.bytes && extent.bytes() <= self.bytes - offset
    }

    /// The aligned blocks that an extent is made of, largest first: at most three.
    fn blocks(&self, extent: Extent) -> impl Iterator<Item = usize> + use<WORDS> {
        let (origin, granule_log2, top) = (self.origin, self.granule_log2, self.top);
        let mut done = 0;
        core::iter::from_fn(move || {
            let order = ((extent.bytes() - done) >> granule_log2).checked_ilog2()?;
            let offset = (extent.base - origin + done) >> granule_log2;
            done += 1 << (order + u32::from(granule_log2));
            Some((1 << (u32::from(top) - order)) + (offset >> order) as usize)
        })
    }

    /// The node itself or its ancestor that is free. At most `top` steps.
    fn marked_above(&self, node: usize) -> Option<usize> {
        core::iter::successors(Some(node), |node| Some(node / 2))
            .take_while(|node| *node > 0)
            .find(|n| self.free.has(*n))
    }

    /// Takes a block out of the free block that contains it, and leaves the rest free. At most `top` steps.
    fn take(&mut self, node: usize) {
        let Some(marked) = self.marked_above(node) else { return };
        self.free.remove(marked);
        let mut at = node;
        while at != marked {
            self.free.insert(at ^ 1);
            at /= 2;
        }
    }

    /// Checks that nothing of the extent's blocks is free, as far as their ancestors,
    /// themselves and their halves tell.
    fn check_taken(&self, extent: Extent) -> Result<(), ExtentError> {
        if extent.size_log2 < self.granule_log2 || !self.contains(extent) {
            return Err(ExtentError::Place);
        }
        let leaves = 2usize << self.top;
        let is_free = |node: usize| {
            let halves = 2 * node < leaves && (self.free.has(2 * node) || self.free.has(2 * node + 1));
            halves || self.marked_above(node).is_some()
        };
        if self.blocks(extent).any(is_free) { Err(ExtentError::NotTaken) } else { Ok(()) }
    }

    /// Makes an extent free and joins each of its blocks with its buddy as long as that is free. At most `top` steps each.
    fn give(&mut self, extent: Extent) {
        for block in self.blocks(extent) {
            let mut node = block;
            while node > 1 && self.free.has(node ^ 1) {
                self.free.remove(node ^ 1);
                node /= 2;
            }
            self.free.insert(node);
        }
        self.free_bytes += extent.bytes();
    }
}
