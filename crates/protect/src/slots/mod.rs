//! The region registers of one domain: pinned slots first, then the slots that cache paged regions.
//!
//! # Guarantee
//! A pinned slot is written once and never chosen as a victim, so an access to pinned memory never misses. With `p` paged
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

use crate::pctrie::{PcTrie, TrieError};
use crate::pmsav7::{RBAR_VALID, REGIONS, RegionRegs};

/// Register values for one block load at a domain switch: `MPU_RBAR` with VALID and slot, then `MPU_RASR`, in the order of
/// the hardware's alias registers, so that two stores of eight words to `MPU_RBAR` load all of it.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionImage {
    /// Slot `i` in entry `i`.
    pub regs: [RegionRegs; REGIONS],
}

impl RegionImage {
    /// Every slot switched off.
    pub const fn empty() -> Self {
        let mut regs = [RegionRegs::DISABLED; REGIONS];
        let mut slot = 0;
        while slot < REGIONS {
            regs[slot] = RegionRegs::DISABLED.at_slot(slot as u32);
            slot += 1;
        }
        Self { regs }
    }

    /// The sixteen words in store order.
    pub fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.regs.iter().flat_map(|regs| [regs.rbar, regs.rasr])
    }
}

/// How the victim among the paged slots is chosen. Hardware does not tell software about hits, so both see only misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// A bit for each slot, set when it is filled; the lowest clear bit is the victim; when all are set, all but the last are
    /// cleared.
    BitPlru,
    /// Slots in turn.
    RoundRobin,
}

/// Bound on misses in a row by one instruction that needs at most `paged` regions at once, with `paged` slots.
pub const fn most_misses(policy: Replacement, paged: u32) -> u32 {
    match policy {
        // The rest of a generation and, counting its last fill, the next one.
        Replacement::BitPlru if paged > 1 => 2 * paged - 2,
        Replacement::BitPlru | Replacement::RoundRobin => paged,
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
    /// A pinned region is off or breaks PMSAv7's rules.
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
pub struct Slots {
    image: RegionImage,
    /// Paged slots, one bit each, slot 0 in the top bit: counting leading zeros gives the slot.
    paged: u32,
    /// Paged slots not yet filled in this generation; empty only if there are no paged slots.
    candidates: u32,
    /// What a new generation keeps of the last filled slot: all ones for bit-PLRU, zero for round-robin.
    keep: u32,
}

impl Slots {
    /// Pins `pinned` into the lowest slots and leaves the rest for paging; `paged_needed` as [`min_paged_slots`] says.
    ///
    /// # Errors
    /// [`SlotError`].
    pub fn new(pinned: &[RegionRegs], paged_needed: usize, policy: Replacement) -> Result<Self, SlotError> {
        if pinned.len() > REGIONS {
            return Err(SlotError::TooManyPinned { asked: pinned.len(), limit: REGIONS });
        }
        let left = REGIONS - pinned.len();
        if left < paged_needed {
            return Err(SlotError::TooFewPaged { left, needed: paged_needed });
        }
        let mut image = RegionImage::empty();
        for (position, regs) in pinned.iter().enumerate() {
            if !regs.is_enabled() || !regs.is_well_formed() {
                return Err(SlotError::Malformed { position });
            }
            image.regs[position] = regs.at_slot(position as u32);
        }
        let paged = if paged_needed == 0 { 0 } else { (pinned.len()..REGIONS).map(|slot| bit_of(slot as u32)).sum() };
        Ok(Self::with_mask(image, paged, policy))
    }

    const fn with_mask(image: RegionImage, paged: u32, policy: Replacement) -> Self {
        // With one slot, keeping the last filled would leave no candidate.
        let keep =
            if matches!(policy, Replacement::BitPlru) && paged & paged.wrapping_sub(1) != 0 { u32::MAX } else { 0 };
        Self { image, paged, candidates: paged, keep }
    }

    /// What to load at a switch to the domain.
    #[inline]
    pub const fn image(&self) -> &RegionImage {
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

    /// Answers a miss at `addr`: the two words to store to `MPU_RBAR` and `MPU_RASR`, slot included. Image, trie and
    /// candidates are up to date when it returns.
    ///
    /// # Errors
    /// [`Miss`]; nothing has changed then.
    ///
    /// # Time complexity
    /// One trie look-up and a constant.
    #[inline(always)]
    pub fn fill(&mut self, trie: &mut PcTrie<'_>, addr: u32) -> Result<RegionRegs, Miss> {
        let index = trie.find(addr).ok_or(Miss::Unmapped)?;
        let leaf = trie.leaves.get_mut(index as usize).ok_or(Miss::Unmapped)?;
        // Without VALID, as it was inserted, a leaf equals no image entry.
        let seen = self.image.regs[leaf.rbar as usize & 7];
        if seen == *leaf {
            return Err(Miss::Present);
        }
        let slot = self.candidates.leading_zeros();
        if slot >= REGIONS as u32 {
            return Err(Miss::Unmapped);
        }
        let bit = bit_of(slot);
        let rest = self.candidates & !bit;
        self.candidates = if rest == 0 { self.paged & !(bit & self.keep) } else { rest };
        leaf.rbar = leaf.base() | RBAR_VALID | slot;
        self.image.regs[slot as usize] = *leaf;
        Ok(*leaf)
    }

    /// Unmaps a region from the trie and takes it out of its slot; the pair to store to the registers if the domain's image is
    /// in force now, `None` if the region was not loaded.
    ///
    /// # Errors
    /// As [`PcTrie::remove`].
    pub fn unmap(&mut self, trie: &mut PcTrie<'_>, regs: RegionRegs) -> Result<Option<RegionRegs>, TrieError> {
        let leaf = trie.remove(regs)?;
        let slot = leaf.rbar & 7;
        if self.image.regs[slot as usize] != leaf {
            return Ok(None);
        }
        let off = RegionRegs::DISABLED.at_slot(slot);
        self.image.regs[slot as usize] = off;
        Ok(Some(off))
    }

    /// Empties every paged slot, as at a restart of the domain. The image must be loaded again afterwards.
    ///
    /// # Time complexity
    /// Eight slots.
    pub fn evict_all(&mut self) {
        for slot in 0..REGIONS {
            if self.paged & bit_of(slot as u32) != 0 {
                self.image.regs[slot] = RegionRegs::DISABLED.at_slot(slot as u32);
            }
        }
        self.candidates = self.paged;
    }
}

/// The bit of a slot, 0..=7, in the masks of [`Slots`].
const fn bit_of(slot: u32) -> u32 {
    1 << 31 >> slot
}

#[cfg(test)]
mod tests;
