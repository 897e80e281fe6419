//! Whether translations in use agree with the tables as they stand.
//!
//! QEMU hides missing TLB maintenance: its own TLB is dropped whenever an address space is switched. This checker does not.
//! It knows every translation that a core *may* still hold: each that a walk read and that no invalidation has named since,
//! whatever the size of the TLBs. On every access it compares them with a walk of the tables; and all of them when it is asked what was
//! left behind, because an access that QEMU does not complete is not shown.

use alloc::collections::BTreeMap;

use crate::tlb::{Entry, Part, SIZES_LOG2};
use crate::vmsa::{Fault, Mapping, Registers, Tables, walk};

/// The holder of a translation that the tables no longer say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holder {
    /// A micro-TLB.
    Micro,
    /// The main TLB.
    Main(Part),
    /// None of the modelled TLBs any more, but a core is allowed to hold it.
    Possible,
}

/// The operation that would have made the translation go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// The tables changed: an invalidation by address. A locked entry needs TLBIMVA or TLBIASID; TLBIALL and TLBIMVAA leave
    /// it where it is.
    ByAddress {
        /// Whether it is locked.
        locked: bool,
    },
    /// Another first-level table took over the address space's identifier: TLBIASID before the identifier is used again.
    ByAsid,
    /// An invalidation was made, but no DSB completed it.
    Barrier,
}

/// A translation in use, or possibly in use, that differs from what the tables say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stale {
    /// The virtual address accessed.
    pub virt: u32,
    /// The address space.
    pub asid: u8,
    /// Its holder.
    pub holder: Holder,
    /// The mapping in use.
    pub held: Mapping,
    /// The mapping by the tables.
    pub tables: Result<Mapping, Fault>,
    /// The missing operation.
    pub missing: Missing,
}

impl core::fmt::Display for Stale {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { virt, asid, holder, held, tables, missing } = self;
        let who = match holder {
            Holder::Micro => "a micro-TLB",
            Holder::Main(Part::Associative) => "the main TLB",
            Holder::Main(Part::Locked(_)) => "a lock entry of the main TLB",
            Holder::Possible => "a core that is allowed to",
        };
        write!(f, "{virt:#010x} in space {asid}: {who} holds {:#010x}, ", held.translate(*virt))?;
        match tables {
            Ok(m) if m.translate(*virt) == held.translate(*virt) => f.write_str("the tables say other attributes")?,
            Ok(m) => write!(f, "the tables say {:#010x}", m.translate(*virt))?,
            Err(fault) => write!(f, "the tables say: {fault}")?,
        }
        f.write_str(match missing {
            Missing::ByAddress { locked: false } => "; TLBIMVA is missing",
            Missing::ByAddress { locked: true } => "; TLBIMVA is missing (the entry is locked: TLBIALL leaves it)",
            Missing::ByAsid => "; TLBIASID is missing before the identifier is used again",
            Missing::Barrier => "; DSB is missing after the invalidation",
        })
    }
}

/// Page, size, space (256: global), locked.
type Key = (u32, u32, u16, bool);

#[derive(Clone, Copy, Debug)]
struct Possible {
    entry: Entry,
    /// An invalidation named it; the next DSB makes it go.
    leaving: bool,
}

/// Slots of [`Checker::verified`].
const VERIFIED: usize = 256;

/// Every translation that may still be held.
#[derive(Clone, Debug)]
pub struct Checker {
    possible: BTreeMap<Key, Possible>,
    /// Counts what may change a verdict: writes to registers, maintenance.
    epoch: u64,
    /// Pages already judged: page, space, epoch, generation of the tables.
    verified: [(u32, u8, u64, u64); VERIFIED],
}

impl Default for Checker {
    fn default() -> Self {
        Self { possible: BTreeMap::new(), epoch: 1, verified: [(0, 0, 0, 0); VERIFIED] }
    }
}

fn key(entry: &Entry, locked: bool) -> Key {
    let space = if entry.mapping.global { 0x100 } else { u16::from(entry.asid) };
    (entry.mapping.virt, entry.mapping.size_log2, space, locked)
}

impl Checker {
    /// A walk made this entry.
    pub fn learn(&mut self, entry: Entry, locked: bool) {
        self.epoch += 1;
        self.possible.insert(key(&entry, locked), Possible { entry, leaving: false });
    }

    /// A lock entry was written over.
    pub fn unlocked(&mut self, entry: &Entry) {
        self.possible.remove(&key(entry, true));
    }

    /// An invalidation named these entries; locked ones only when `and_locked`.
    pub fn invalidate(&mut self, and_locked: bool, condemned: impl Fn(&Entry) -> bool) {
        self.epoch += 1;
        for (&(.., locked), possible) in &mut self.possible {
            possible.leaving |= (and_locked || !locked) && condemned(&possible.entry);
        }
    }

    /// A DSB: invalidations are complete.
    pub fn sync(&mut self) {
        self.possible.retain(|_, possible| !possible.leaving);
    }

    /// A register that translation depends on was written.
    pub fn registers_changed(&mut self) {
        self.epoch += 1;
    }

    /// Whether the page of `virt` was found right, and neither tables nor registers have changed since.
    #[inline]
    pub fn is_judged(&self, virt: u32, asid: u8, generation: u64) -> bool {
        self.verified[(virt >> 12) as usize % VERIFIED] == (virt >> 12, asid, self.epoch, generation)
    }

    /// Compares what `used` says (the entry that the access found, if it walked none), and everything else that a core may
    /// hold for `virt`, with the tables. A possible translation is reported once, one in use every time. Time: constant when the
    /// page was judged since the tables and registers last changed, otherwise a walk and eight look-ups.
    pub fn judge(
        &mut self,
        virt: u32,
        registers: &Registers,
        tables: &impl Tables,
        used: Option<(Entry, Holder)>,
    ) -> Option<Stale> {
        let asid = registers.asid();
        let generation = tables.generation();
        if self.is_judged(virt, asid, generation) {
            return None;
        }
        let now = walk(registers, tables, virt);
        let verdict = |entry: &Entry, holder, leaving, locked| {
            if now.outcome == Ok(entry.mapping) {
                return None;
            }
            let missing = match () {
                () if leaving => Missing::Barrier,
                () if entry.root != now.root => Missing::ByAsid,
                () => Missing::ByAddress { locked },
            };
            Some(Stale { virt, asid, holder, held: entry.mapping, tables: now.outcome, missing })
        };
        let from_used = used.and_then(|(entry, holder)| {
            let locked = self.possible.contains_key(&key(&entry, true));
            verdict(&entry, holder, false, locked)
        });
        let stale = from_used.or_else(|| {
            self.candidates(virt, asid).find_map(|(key, p)| verdict(&p.entry, Holder::Possible, p.leaving, key.3))
        });
        match stale {
            Some(stale) => self.forget(&stale),
            None => self.verified[(virt >> 12) as usize % VERIFIED] = (virt >> 12, asid, self.epoch, generation),
        }
        stale
    }

    /// The first translation that may be held and that the tables from which it was read no longer say, or that was read from another
    /// first-level table than the one that has the identifier now.
    pub fn left_behind(&self, registers: &Registers, tables: &impl Tables) -> Option<Stale> {
        self.possible.iter().find_map(|(&(virt, _, _, locked), possible)| {
            let Entry { mapping: held, asid, root, .. } = possible.entry;
            let outcome = walk(&registers.with_root(virt, root), tables, virt).outcome;
            let taken = !held.global && asid == registers.asid() && root != registers.root(virt).base;
            let missing = match () {
                () if outcome == Ok(held) && !taken => return None,
                () if possible.leaving => Missing::Barrier,
                () if taken => Missing::ByAsid,
                () => Missing::ByAddress { locked },
            };
            Some(Stale { virt, asid, holder: Holder::Possible, held, tables: outcome, missing })
        })
    }

    /// The translations that a core may hold for this address.
    fn candidates(&self, virt: u32, asid: u8) -> impl Iterator<Item = (Key, Possible)> + '_ {
        SIZES_LOG2.into_iter().flat_map(move |size_log2| {
            let page = virt & (u32::MAX << size_log2);
            [(u16::from(asid), false), (u16::from(asid), true), (0x100, false), (0x100, true)]
                .into_iter()
                .map(move |(space, locked)| (page, size_log2, space, locked))
                .filter_map(|key| self.possible.get(&key).map(|possible| (key, *possible)))
        })
    }

    fn forget(&mut self, stale: &Stale) {
        self.possible.retain(|_, possible| possible.entry.mapping != stale.held || possible.entry.asid != stale.asid);
    }
}
