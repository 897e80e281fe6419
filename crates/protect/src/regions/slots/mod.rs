//! The region registers of one domain: pinned slots first, then the slots that cache paged regions.
//!
//! # Guarantee
//! A pinned slot is never chosen as a victim, so an access to pinned memory never misses. With `p` paged
//! slots, an instruction that needs `k <= p` paged regions at once completes after at most [`most_misses`] misses in a row,
//! whatever was loaded before: a victim is never a slot filled earlier in the same *generation* (a run of fills of
//! different slots), so once a generation begins with a region that the instruction needs, the following fills gather the
//! others beside it. An instruction needs at most two regions for its own bytes (a fetch that straddles) and two for its
//! data (a double word that straddles; a longer multiple transfer is shorter than the smallest paged region); hence
//! [`min_paged_slots`].
//!
//! # Faults that no region cures
//! A leaf remembers, in the slot bits of its base word, where it was last loaded. A fault at an address whose region is
//! loaded is a violation ([`Miss::Present`]), never a reason to load it again: there is no way to fault for ever.

use crate::AccessKind;
use crate::regions::pctrie::{Edit, Store, Trie, TrieError};
use crate::regions::{REGIONS, Registers};

/// Register values for one block load at a domain switch, two words a slot, in the order of the hardware's alias registers, so that two stores of eight
/// words load all of it.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionImage<R> {
    /// Slot `i` in entry `i`.
    pub regs: [R; REGIONS],
}

impl<R: Registers> RegionImage<R> {
    /// Every slot switched off.
    pub fn empty() -> Self {
        Self { regs: core::array::from_fn(|slot| R::DISABLED.at_slot(slot as u32).stored()) }
    }
}

/// How the victim among the paged slots is chosen. Hardware does not tell software about hits, so all see only misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Replacement {
    /// A bit for each slot, set when it is filled; the lowest clear bit is the victim; when all are set, all but the last are
    /// cleared.
    BitPlru = 0,
    /// Slots in turn.
    RoundRobin = 1,
    /// As bit-PLRU, except that among the clear bits a pseudo-random one is the victim: without the bits, an instruction that
    /// needs several regions could miss for ever.
    Random = 2,
}

impl Replacement {
    /// The policy with this number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::BitPlru),
            1 => Some(Self::RoundRobin),
            2 => Some(Self::Random),
            _ => None,
        }
    }
}

/// Bound on misses in a row by one instruction that needs at most `paged` regions at once, with `paged` slots.
pub const fn most_misses(policy: Replacement, paged: u32) -> u32 {
    match policy {
        // The rest of a generation and, counting its last fill, the next one.
        Replacement::BitPlru | Replacement::Random if paged > 1 => 2 * paged - 2,
        Replacement::BitPlru | Replacement::Random | Replacement::RoundRobin => paged,
    }
}

/// Paged slots without which some instruction could never complete.
///
/// None if nothing is paged; two when only data or only code is (an access or a fetch can straddle two regions); four when
/// both are.
pub const fn min_paged_slots(code_paged: bool, data_paged: bool) -> usize {
    2 * code_paged as usize + 2 * data_paged as usize
}

/// Why a domain's slots cannot be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotError {
    /// More pinned regions than registers.
    TooManyPinned {
        /// Regions asked.
        asked: usize,
        /// Registers there are.
        limit: usize,
    },
    /// Fewer registers are left for paging than an instruction may need at once.
    TooFewPaged {
        /// Slots left.
        left: usize,
        /// Slots needed: [`min_paged_slots`].
        needed: usize,
    },
    /// A pinned region is off or breaks the scheme's rules.
    Malformed {
        /// Its position among those given.
        position: usize,
    },
}

/// Why a fault is not cured by loading a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// No paged region of the domain contains the address: a violation.
    Unmapped,
    /// The region is loaded already: the access is not permitted by it. For an instruction fetch, ask again for the second
    /// half-word first.
    Present,
}

/// The slots of one domain on one core.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Slots<R> {
    image: RegionImage<R>,
    /// Paged slots, one bit each, slot 0 in the top bit: counting leading zeros gives the slot.
    paged: u32,
    /// Paged slots not yet filled in this generation; empty only if there are no paged slots.
    candidates: u32,
    /// Mask that keeps the last filled slot out of a new generation: all ones for bit-PLRU and random, zero for round-robin.
    keep: u32,
    /// State of the generator of random victims; 0 for the other policies.
    random: u32,
    /// Slots that were pinned when the domain was made, bits as in `paged`.
    fixed: u8,
    /// Slots that were pinned since, bits shifted down by 24.
    pinned: u8,
    /// Most paged slots.
    limit: u8,
    policy: Replacement,
    /// The first paged slot, and how many there are.
    first: u8,
    count: u8,
}

/// Offsets of the fields with which code in assembly answers a miss, in bytes. The image comes first.
pub mod layout {
    use core::mem::offset_of;

    /// A region's registers are two words in every scheme.
    type Slots = super::Slots<[u32; 2]>;

    /// Paged slots, slot 0 in the top bit.
    pub const PAGED: usize = offset_of!(Slots, paged);
    /// Paged slots that can be victims.
    pub const CANDIDATES: usize = offset_of!(Slots, candidates);
    /// Mask that keeps the last victim out of a new generation.
    pub const KEEP: usize = offset_of!(Slots, keep);
    /// State of the generator of random victims; 0 for the other policies.
    pub const RANDOM: usize = offset_of!(Slots, random);
    /// Bytes of all of them.
    pub const BYTES: usize = size_of::<Slots>();
    const _: () = assert!(offset_of!(Slots, image) == 0);
}

impl<R: Registers> Slots<R> {
    /// Pins `pinned` into the lowest slots and leaves the rest for paging; `paged_needed` as [`min_paged_slots`] says.
    ///
    /// # Errors
    /// [`SlotError`].
    pub fn new(pinned: &[R], paged_needed: usize, policy: Replacement) -> Result<Self, SlotError> {
        if pinned.len() > REGIONS {
            return Err(SlotError::TooManyPinned { asked: pinned.len(), limit: REGIONS });
        }
        let mut image = RegionImage::empty();
        for (position, regs) in pinned.iter().enumerate() {
            if !regs.is_enabled() || !regs.is_well_formed() {
                return Err(SlotError::Malformed { position });
            }
            image.regs[position] = regs.at_slot(position as u32).stored();
        }
        let fixed = (pinned.iter().zip(0..).map(|(_, slot)| bit_of(slot)).sum::<u32>() >> 24) as u8;
        let random = if matches!(policy, Replacement::Random) { SEED } else { 0 };
        let limit = REGIONS as u8;
        let mut slots = Self {
            image,
            paged: 0,
            candidates: 0,
            keep: 0,
            random,
            fixed,
            pinned: 0,
            limit,
            policy,
            first: 0,
            count: 0,
        };
        slots.require(paged_needed)?;
        Ok(slots)
    }

    /// Leaves only the `most` lowest of the paged slots to paging; the others stay off, unless something is pinned there.
    ///
    /// # Errors
    /// [`SlotError::TooFewPaged`] when that is less than `paged_needed`, as [`min_paged_slots`] says.
    pub fn limited(mut self, most: usize, paged_needed: usize) -> Result<Self, SlotError> {
        self.limit = most.min(REGIONS) as u8;
        (self.paged, self.candidates) = (0, 0);
        self.require(paged_needed)?;
        Ok(self)
    }

    /// With another seed for random victims, so that domains differ.
    #[must_use]
    pub fn seeded(mut self, seed: u32) -> Self {
        if self.random != 0 {
            self.random = (SEED ^ seed.wrapping_mul(0x9e37_79b9)).max(1);
        }
        self
    }

    /// Slots that may serve paged memory while those in `taken` hold something else.
    fn available(&self, taken: u32) -> u32 {
        let mut free = !taken & !(u32::MAX >> REGIONS);
        let mut chosen = 0;
        for _ in 0..self.limit.min(free.count_ones() as u8) {
            let bit = bit_of(free.leading_zeros());
            chosen |= bit;
            free &= !bit;
        }
        chosen
    }

    /// Slots that are pinned.
    fn taken(&self) -> u32 {
        u32::from(self.fixed | self.pinned) << 24
    }

    /// Makes sure that there are `needed` paged slots, as [`min_paged_slots`] says; a domain without paged memory has none.
    ///
    /// # Errors
    /// [`SlotError::TooFewPaged`]; nothing has changed then.
    pub fn require(&mut self, needed: usize) -> Result<(), SlotError> {
        let paged = if needed == 0 { self.paged } else { self.available(self.taken()) };
        let left = if needed == 0 { 0 } else { paged.count_ones() as usize };
        if left < needed {
            return Err(SlotError::TooFewPaged { left, needed });
        }
        self.page_through(paged);
        Ok(())
    }

    /// Changes the set of paged slots.
    fn page_through(&mut self, paged: u32) {
        self.candidates = self.candidates & paged | paged & !self.paged;
        self.paged = paged;
        if self.candidates == 0 {
            self.candidates = paged;
        }
        // With one slot, keeping the last filled would leave no candidate.
        let turns = self.policy == Replacement::RoundRobin || paged.count_ones() < 2;
        (self.first, self.count) = (paged.leading_zeros() as u8 & 7, paged.count_ones() as u8);
        self.keep = if turns { 0 } else { u32::MAX };
    }

    /// Pins a region into a slot that is not pinned, and leaves `needed` paged slots. The image must be loaded again if it is in force.
    ///
    /// # Errors
    /// [`SlotError`]; nothing has changed then.
    ///
    /// # Time complexity
    /// O(1).
    pub fn pin(&mut self, regs: R, needed: usize) -> Result<(), SlotError> {
        if !regs.is_enabled() || !regs.is_well_formed() {
            return Err(SlotError::Malformed { position: 0 });
        }
        let slot = (!self.taken()).leading_zeros();
        if slot >= REGIONS as u32 {
            return Err(SlotError::TooManyPinned { asked: REGIONS + 1, limit: REGIONS });
        }
        let paged = if needed == 0 { 0 } else { self.available(self.taken() | bit_of(slot)) };
        let left = paged.count_ones() as usize;
        if left < needed {
            return Err(SlotError::TooFewPaged { left, needed });
        }
        self.pinned |= (bit_of(slot) >> 24) as u8;
        self.page_through(paged);
        self.set(slot, regs);
        Ok(())
    }

    /// Takes away a region that [`Slots::pin`] pinned. Returns false if there is none. All of the
    /// image must be loaded again if it is in force, because paging moves down into the slot where
    /// paged slots are limited.
    pub fn unpin(&mut self, regs: R) -> bool {
        let pinned = |slot: &u32| u32::from(self.pinned) << 24 & bit_of(*slot) != 0;
        let same = |slot: &u32| self.image.regs[*slot as usize].plain() == regs.plain();
        let found = (0..REGIONS as u32).find(|slot| pinned(slot) && same(slot));
        found.into_iter().for_each(|slot| self.release(slot));
        found.is_some()
    }

    /// The regions that [`Slots::pin`] pinned.
    pub fn pinned_later(&self) -> impl Iterator<Item = R> + '_ {
        let later = u32::from(self.pinned) << 24;
        let of = move |slot: &u32| later & bit_of(*slot) != 0;
        (0..REGIONS as u32).filter(of).map(|slot| self.image.regs[slot as usize].plain())
    }

    fn release(&mut self, slot: u32) {
        self.pinned &= !((bit_of(slot) >> 24) as u8);
        if self.paged != 0 {
            // A slot that does not page any more must not go on granting what it held.
            let paged = self.available(self.taken());
            let off = self.paged & !paged;
            for other in (0..REGIONS as u32).filter(|other| off & bit_of(*other) != 0) {
                self.set(other, R::DISABLED);
            }
            self.page_through(paged);
        }
        self.set(slot, R::DISABLED);
    }

    /// Puts a region into a slot of the image.
    fn set(&mut self, slot: u32, regs: R) {
        self.image.regs[slot as usize] = regs.at_slot(slot).stored();
    }

    /// The pinned region that contains an address.
    ///
    /// # Time complexity
    /// Eight slots.
    pub fn pinned_at(&self, addr: u32) -> Option<R> {
        self.pinned().find(|regs| regs.contains(addr))
    }

    /// The pinned regions.
    pub fn pinned(&self) -> impl Iterator<Item = R> + '_ {
        let taken = self.taken();
        self.image.regs.iter().zip(0..).filter(move |(_, slot)| taken & bit_of(*slot) != 0).map(|(regs, _)| *regs)
    }

    /// The registers to load at a switch to the domain.
    #[inline]
    pub const fn image(&self) -> &RegionImage<R> {
        &self.image
    }

    /// Paged slots: bit `i` for slot `i`.
    pub const fn paged_mask(&self) -> u32 {
        self.paged.reverse_bits()
    }

    /// The slot that the next fill takes; `None` if nothing is paged.
    #[inline]
    pub const fn victim(&self) -> Option<usize> {
        if self.candidates == 0 { None } else { Some(self.candidates.leading_zeros() as usize) }
    }

    /// Returns true if the kernel may access `len` bytes from `base` on the domain's behalf: each
    /// of them is in a pinned or paged region that permits the domain the same, and is normal
    /// memory. An empty range is granted anywhere: nothing is accessed.
    ///
    /// # Time complexity
    /// A look-up in the slots and the trie for every region met, and for every eighth of one with disabled eighths: for at
    /// most 64 bytes no more than three.
    pub fn permits<S: Store<Regs = R>>(&self, trie: &Trie<S>, base: u32, len: u32, kind: AccessKind) -> bool {
        let Some(past) = len.checked_sub(1) else { return true };
        let Some(last) = base.checked_add(past) else { return false };
        let mut addr = base;
        loop {
            let Some(regs) = self.pinned_at(addr).or_else(|| trie.find(addr).map(|(_, leaf)| leaf)) else {
                return false;
            };
            if !regs.grants(kind) || !regs.is_normal() {
                return false;
            }
            let end = regs.last_from(addr);
            if end >= last {
                return true;
            }
            addr = end + 1;
        }
    }

    /// Returns true if a leaf is in the slot that it remembers.
    #[inline(always)]
    fn holds(&self, leaf: R) -> bool {
        self.image.regs[leaf.slot() as usize & 7] == leaf.stored()
    }

    /// Answers a miss at `addr`: the region to load, which remembers its slot. Image, trie and candidates are up to date when it returns.
    ///
    /// # Errors
    /// [`Miss`]; nothing has changed then.
    ///
    /// # Time complexity
    /// One trie look-up and a constant.
    #[inline(always)]
    pub fn fill<S: Store<Regs = R>>(&mut self, trie: &mut Trie<S>, addr: u32) -> Result<R, Miss> {
        let (at, leaf) = trie.find(addr).ok_or(Miss::Unmapped)?;
        // A leaf that was never loaded equals no entry of the image: either it says so, or slot 0 holds another region.
        if self.holds(leaf) {
            return Err(Miss::Present);
        }
        let slot = if self.random == 0 { self.candidates.leading_zeros() } else { self.draw() };
        if slot >= REGIONS as u32 {
            return Err(Miss::Unmapped);
        }
        let bit = bit_of(slot);
        let rest = self.candidates & !bit;
        self.candidates = if rest == 0 { self.paged & !(bit & self.keep) } else { rest };
        let leaf = leaf.at_slot(slot);
        trie.store.set_leaf(at, leaf);
        self.image.regs[slot as usize] = leaf.stored();
        Ok(leaf)
    }

    /// A random candidate: the first at or behind a random paged slot, in a circle. REGIONS if there are none.
    #[inline(always)]
    fn draw(&mut self) -> u32 {
        // Marsaglia's xorshift32.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        let turn = (u32::from(self.first) + (((self.random >> 16) * u32::from(self.count)) >> 16)) & 7;
        // The eight bits four times over, so that a rotation loses none of them.
        let circle = (self.candidates >> 24).wrapping_mul(0x0101_0101).rotate_left(turn);
        if circle == 0 { REGIONS as u32 } else { (circle.leading_zeros() + turn) & 7 }
    }

    /// Unmaps a region from the trie and takes it out of its slot. Returns the region to load in
    /// its place if the domain's image is in force now, or `None` if the region was not loaded.
    ///
    /// # Errors
    /// As [`Trie::remove`].
    pub fn unmap<S: Store<Regs = R>>(&mut self, trie: &mut Trie<S>, regs: R) -> Result<Option<R>, TrieError<R>> {
        let (mut edit, off) = self.withdraw(trie, regs)?;
        while !trie.remove_step(&mut edit) {}
        Ok(off)
    }

    /// Begins to do so: the region is out of its slot, and not found any more. [`Trie::remove_step`] goes on.
    ///
    /// # Errors
    /// As [`Trie::withdraw`].
    pub fn withdraw<S: Store<Regs = R>>(
        &mut self,
        trie: &mut Trie<S>,
        regs: R,
    ) -> Result<(Edit<R>, Option<R>), TrieError<R>> {
        let (edit, leaf) = trie.withdraw(regs)?;
        if !self.holds(leaf) {
            return Ok((edit, None));
        }
        self.set(leaf.slot(), R::DISABLED);
        Ok((edit, Some(R::DISABLED.at_slot(leaf.slot()))))
    }

    /// Empties every paged slot, as at a restart of the domain. The image must be loaded again afterwards.
    ///
    /// # Time complexity
    /// Eight slots.
    pub fn evict_all(&mut self) {
        for slot in 0..REGIONS {
            if self.paged & bit_of(slot as u32) != 0 {
                self.set(slot as u32, R::DISABLED);
            }
        }
        self.candidates = self.paged;
    }
}

/// State of the generator before it is seeded; anything but 0.
const SEED: u32 = 0x2545_f491;

/// The bit of a slot, 0..=7, in the masks of [`Slots`].
const fn bit_of(slot: u32) -> u32 {
    1 << 31 >> slot
}

#[cfg(test)]
mod tests;
