//! Address-space identifiers: 255 of them, handed out in generations, beside TLB entries that are locked.
//!
//! A domain keeps its identifier until all have been handed out; then a new generation begins, every TLB is emptied, and domains get
//! new ones as they run. `TLBIALL` and `TLBIMVAA` leave locked entries (Cortex-A9, ARM DDI 0388I 4.2.27, table 4-26), so a locked
//! entry would translate for whoever gets its identifier next. Therefore an identifier with a locked entry stays with its
//! domain across generations.
//!
//! Made for one core: when a new generation begins, no other core runs a domain with an identifier of the old one. Nor does this one:
//! whoever settles a [`Bill`] has no domain's space loaded (identifier 0, and a first-level table that translates nothing of a domain's), as
//! ARM DDI 0406C B3.10.4 wants it while either changes. Otherwise a walk ahead of time could fill the TLB again under an identifier that is
//! another domain's from then on.

use units::VirtAddr;

use super::owed::{Asid, Maintenance};

/// Entries of the main TLB that can be locked, for the whole chip (ARM DDI 0388I 4.3.15).
pub const LOCK_SLOTS: usize = 4;

/// An identifier as it was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    generation: u64,
    asid: Asid,
}

impl Tag {
    /// The identifier, while the tag is valid ([`Asids::is_valid`]).
    pub const fn asid(self) -> Asid {
        self.asid
    }
}

/// Why nothing was locked or unlocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsidError {
    /// The identifier is of an earlier generation: acquire one first.
    Stale,
    /// All slots are locked.
    NoSlot,
    /// The slot is not locked.
    NotLocked,
}

/// Invalidations that are owed to the TLBs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flush {
    /// Everything that is not locked.
    pub all: bool,
    /// Locked entries to take out, by slot.
    pub entries: [Option<(Asid, VirtAddr<u32>)>; LOCK_SLOTS],
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Free,
    Locked(Tag, VirtAddr<u32>),
    /// To be taken out.
    Leaving(Tag, VirtAddr<u32>),
}

/// The identifiers of a chip and its lock slots.
#[derive(Clone, Debug)]
pub struct Asids {
    generation: u64,
    /// The number that is tried next; 256 when all have been handed out.
    next: u16,
    /// Numbers that are not handed out in this generation, since they had locked entries when it began.
    kept: [Option<Asid>; LOCK_SLOTS],
    slots: [Slot; LOCK_SLOTS],
    flush: bool,
}

impl Default for Asids {
    fn default() -> Self {
        Self::new()
    }
}

impl Asids {
    /// No identifier is in use, and no TLB holds anything.
    pub const fn new() -> Asids {
        Asids { generation: 0, next: 1, kept: [None; LOCK_SLOTS], slots: [Slot::Free; LOCK_SLOTS], flush: false }
    }

    /// Whether a domain may run with its identifier.
    pub fn is_valid(&self, tag: Tag) -> bool {
        tag.generation == self.generation || self.is_locked(tag)
    }

    /// Whether the TLB holds a locked entry with this identifier. A domain goes only when it has none.
    pub fn is_locked(&self, tag: Tag) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Locked(held, _) | Slot::Leaving(held, _) if *held == tag))
    }

    /// Slots that are free.
    pub fn free_slots(&self) -> usize {
        self.slots.iter().filter(|slot| matches!(slot, Slot::Free)).count()
    }

    /// The identifier of a domain that is about to run: the one it has, or a new one.
    ///
    /// # Time complexity
    /// At most nine numbers are tried.
    pub fn acquire(&mut self, tag: Option<Tag>) -> Bill<'_, Tag> {
        let value = match tag {
            Some(tag) if self.is_valid(tag) => tag,
            _ => self.fresh(),
        };
        Bill { asids: self, value }
    }

    fn fresh(&mut self) -> Tag {
        loop {
            let Some(asid) = u8::try_from(self.next).ok().and_then(Asid::new) else {
                self.roll_over();
                continue;
            };
            self.next += 1;
            if !self.kept.contains(&Some(asid)) {
                return Tag { generation: self.generation, asid };
            }
        }
    }

    fn roll_over(&mut self) {
        self.generation += 1;
        self.next = 1;
        self.kept = self.slots.map(|slot| match slot {
            Slot::Free => None,
            Slot::Locked(tag, _) | Slot::Leaving(tag, _) => Some(tag.asid),
        });
        self.flush = true;
    }

    /// Takes a slot for the entry that translates `address` for the domain with this tag; its number, for the lockdown register.
    ///
    /// # Errors
    /// [`AsidError::Stale`], [`AsidError::NoSlot`].
    pub fn lock(&mut self, tag: Tag, address: VirtAddr<u32>) -> Result<usize, AsidError> {
        if !self.is_valid(tag) {
            return Err(AsidError::Stale);
        }
        let free = self.slots.iter().position(|slot| matches!(slot, Slot::Free)).ok_or(AsidError::NoSlot)?;
        self.slots[free] = Slot::Locked(tag, address);
        Ok(free)
    }

    /// Gives a slot back. It is free once its entry has been invalidated.
    ///
    /// # Errors
    /// [`AsidError::NotLocked`].
    pub fn unlock(&mut self, slot: usize) -> Result<Bill<'_, ()>, AsidError> {
        match self.slots.get(slot) {
            Some(&Slot::Locked(tag, address)) => self.slots[slot] = Slot::Leaving(tag, address),
            _ => return Err(AsidError::NotLocked),
        }
        Ok(Bill { asids: self, value: () })
    }

    /// The invalidations that are owed.
    pub fn owed(&self) -> Flush {
        let entries = self.slots.map(|slot| match slot {
            Slot::Leaving(tag, address) => Some((tag.asid, address)),
            Slot::Free | Slot::Locked(..) => None,
        });
        Flush { all: self.flush, entries }
    }
}

/// An answer that counts once the TLBs have forgotten what they must. When it is dropped, the next one owes the same.
#[must_use = "an identifier is usable when what it owes has been settled"]
#[derive(Debug)]
pub struct Bill<'a, T> {
    asids: &'a mut Asids,
    value: T,
}

impl<T> Bill<'_, T> {
    /// The invalidations that are owed.
    pub fn owed(&self) -> Flush {
        self.asids.owed()
    }

    /// Performs it.
    ///
    /// # Time complexity
    /// At most five invalidations.
    pub fn settle(self, hardware: &mut impl Maintenance) -> T {
        let owed = self.asids.owed();
        if owed == Flush::default() {
            return self.value;
        }
        if owed.all {
            hardware.invalidate_all();
        }
        owed.entries.iter().flatten().for_each(|(asid, address)| hardware.invalidate_page(*asid, *address));
        hardware.complete();
        self.asids.flush = false;
        for slot in &mut self.asids.slots {
            if matches!(slot, Slot::Leaving(..)) {
                *slot = Slot::Free;
            }
        }
        self.value
    }
}
