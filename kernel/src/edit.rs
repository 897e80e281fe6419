//! Changes of what is mapped, in steps: `FRAMES_MAP`, `FRAMES_UNMAP`, and what a restart takes away.
//!
//! A call repeats itself until its edit is complete; each repetition does a bounded piece of it. There is one edit at a time. Who needs
//! the frame table while another's edit is under way first completes that, piece by piece and at the own expense, and the edit's
//! caller finds the answer when it goes on: nobody waits for a thread that may never run again, and an edit whose caller was stopped
//! is completed by whoever comes next.
//!
//! At every step the frame table counts what can be accessed, and perhaps more: runs are counted before the region is found, all of it
//! at once, and uncounted after it is not, all of it at once, and is out of the region registers.

use abi::Error;
use memory::frames::{Counting, Domain as Owner};
use protect::pctrie;
use protect::slots::min_paged_slots;

use crate::arch::Arch;
use crate::frames::{Mapping, refused};
use crate::kernel::{Kernel, Outcome};
use crate::objects::Level;
use crate::table::Ref;

/// What the steps of one kernel entry may have cost before the last begins, in tens of instructions.
const WORK: u32 = 40;
/// Marks that one step counts.
const MARKS: usize = 4;

/// What steps cost, in tens of instructions, roughly.
mod cost {
    pub const COMPARE_PINNED: u32 = 8;
    pub const COMPARE_KEY: u32 = 20;
    pub const COUNT: u32 = 40;
    pub const NODE: u32 = 60;
    pub const SMALL: u32 = 4;
}

/// An edit under way.
pub(crate) struct Edit<A: Arch> {
    mapping: Mapping,
    stage: Stage,
    /// Runs of the region that are counted.
    counted: usize,
    /// The run that is being counted, or taken back.
    counting: Option<Counting>,
    /// The region on its way into the domain's table, or out of it.
    table: Option<pctrie::Edit>,
    answer: Result<(), Error>,
    /// Who is told: a level and its epoch.
    caller: Option<Caller<A>>,
}

/// A level, and its domain's epoch when it made the call.
type Caller<A> = (Ref<Level<A>>, u32);

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Comparing with a pinned region of the domain.
    Compare(usize),
    /// Counting the runs.
    Count,
    /// Entering the region into the table, or, if it is to be pinned, comparing a key of it with the table.
    Enter(u8),
    /// Taking the region out of the table.
    Leave,
    /// Taking back what was counted.
    Uncount,
}

/// What somebody who needs the frame table finds.
pub(crate) enum Turn {
    /// No edit is under way.
    Free,
    /// One is, or was until now: ask again.
    Busy,
    /// The own one is complete.
    Answer(Result<(), Error>),
}

impl<A: Arch> Edit<A> {
    /// A region is to be mapped.
    fn mapping(mapping: Mapping, caller: Caller<A>) -> Edit<A> {
        let stage = Stage::Compare(0);
        Edit { mapping, stage, counted: 0, counting: None, table: None, answer: Ok(()), caller: Some(caller) }
    }

    /// A region was withdrawn.
    fn unmapping(mapping: Mapping, table: Option<pctrie::Edit>, caller: Option<Caller<A>>) -> Edit<A> {
        let counted = mapping.ranges().count();
        Edit { mapping, stage: Stage::Leave, counted, counting: None, table, answer: Ok(()), caller }
    }

    /// Back to where it began.
    fn fail(&mut self, error: Error) {
        self.answer = Err(error);
        self.stage = Stage::Leave;
    }

    fn owner(&self) -> Option<Owner> {
        Some(Owner(u16::from(self.mapping.target)))
    }

    /// Uses of a byte that are counted for it now.
    #[cfg(any(test, feature = "simulation"))]
    pub(crate) fn counts(&self, address: units::PhysAddr) -> bool {
        let done = self.mapping.ranges().take(self.counted).any(|range| range.contains(address));
        done || self.counting.is_some_and(|counting| counting.counts(address))
    }
}

impl<A: Arch> Kernel<A> {
    fn caller(&self) -> Caller<A> {
        (self.resume, self.top().epoch)
    }

    /// Whether somebody who needs the frame table can go on; if not, a piece of the edit that is under way has been done. `own`: the
    /// call is one that makes edits, and may be the one that made this one.
    ///
    /// # Bound
    /// [`WORK`] and one step.
    pub(crate) fn turn(&mut self, own: bool) -> Turn {
        let caller = self.caller();
        if own
            && let Some((epoch, answer)) = self.levels.at_mut(caller.0).answer.take()
            && epoch == caller.1
        {
            return Turn::Answer(answer);
        }
        let Some(edit) = &self.edit else { return Turn::Free };
        let mine = own && edit.caller == Some(caller);
        match self.work() {
            Some(answer) if mine => {
                self.levels.at_mut(caller.0).answer = None;
                Turn::Answer(answer)
            }
            _ => Turn::Busy,
        }
    }

    /// The call is performed again when its thread goes on.
    pub(crate) fn again(&mut self) -> Result<Outcome, Error> {
        self.arch.repeat(&mut self.levels.at_mut(self.resume).context);
        Ok(Outcome::Later)
    }

    /// Begins to map a region for the running thread.
    pub(crate) fn begin_map(&mut self, mapping: Mapping) {
        let caller = self.caller();
        self.edit = Some(Edit::mapping(mapping, caller));
    }

    /// Takes a region out of a domain's slots and registers, and out of sight of its misses, and begins to take out the rest; or says
    /// that it is not there. Nobody is told if the running thread does not `ask`.
    pub(crate) fn begin_unmap(&mut self, mapping: Mapping, ask: bool) -> bool {
        let in_force = self.is_loaded(mapping.target);
        let caller = ask.then(|| self.caller());
        let domain = &mut self.domains[usize::from(mapping.target)];
        let table = if mapping.pinned {
            if !domain.slots.unpin(mapping.regs) {
                return false;
            }
            if in_force {
                self.arch.load_image(domain.slots.image());
            }
            None
        } else {
            let Ok((table, off)) = domain.slots.withdraw(&mut domain.trie, mapping.regs) else { return false };
            domain.paged_code -= u16::from(mapping.execute);
            if let Some(off) = off.filter(|_| in_force) {
                self.arch.load_slot(off);
            }
            Some(table)
        };
        self.edit = Some(Edit::unmapping(mapping, table, caller));
        true
    }

    /// A piece of the edit under way; the answer when it is complete. Its caller finds the answer at its level, if that still is where
    /// it was.
    ///
    /// # Bound
    /// [`WORK`] and one step.
    pub(crate) fn work(&mut self) -> Option<Result<(), Error>> {
        let mut edit = self.edit.take()?;
        let mut spent = 0;
        while spent < WORK {
            let Some(cost) = self.edit_step(&mut edit) else {
                if let Some((level, epoch)) = edit.caller {
                    self.levels.at_mut(level).answer = Some((epoch, edit.answer));
                }
                return Some(edit.answer);
            };
            spent += cost;
        }
        self.edit = Some(edit);
        None
    }

    /// One step, and what it has cost; `None` when nothing was left to do.
    ///
    /// # Bound
    /// Of [`pctrie::Trie::insert_step`], [`pctrie::Trie::remove_step`], or [`MARKS`] marks of the frame table.
    fn edit_step(&mut self, edit: &mut Edit<A>) -> Option<u32> {
        match edit.stage {
            Stage::Compare(number) => {
                let slots = &self.domains[usize::from(edit.mapping.target)].slots;
                match slots.pinned().nth(number) {
                    None => edit.stage = Stage::Count,
                    Some(pinned) if pinned.meets(edit.mapping.regs) => edit.fail(Error::BadState),
                    Some(_) => edit.stage = Stage::Compare(number + 1),
                }
                Some(cost::COMPARE_PINNED)
            }
            Stage::Count => Some(self.count_step(edit)),
            Stage::Enter(key) if edit.mapping.pinned => self.pin_step(edit, key),
            Stage::Enter(_) => self.enter_step(edit),
            Stage::Leave => {
                let trie = &mut self.domains[usize::from(edit.mapping.target)].trie;
                if edit.table.as_mut().is_none_or(|table| trie.remove_step(table)) {
                    edit.stage = Stage::Uncount;
                    return Some(cost::SMALL);
                }
                Some(cost::NODE)
            }
            Stage::Uncount => self.uncount_step(edit),
        }
    }

    /// A few marks of one run.
    fn count_step(&mut self, edit: &mut Edit<A>) -> u32 {
        let owner = edit.owner();
        let told = match (&mut edit.counting, edit.mapping.ranges().nth(edit.counted)) {
            (Some(counting), _) => self.frames.count_step(counting, MARKS),
            (None, Some(range)) => self.frames.count(range, owner).map(|counting| {
                edit.counting = Some(counting);
                false
            }),
            (None, None) => {
                edit.stage = Stage::Enter(0);
                return cost::SMALL;
            }
        };
        match told {
            Ok(true) => (edit.counting, edit.counted) = (None, edit.counted + 1),
            Ok(false) => {}
            Err(error) => edit.fail(refused(error)),
        }
        cost::COUNT
    }

    /// A few marks of one run that was counted, or counted in part.
    fn uncount_step(&mut self, edit: &mut Edit<A>) -> Option<u32> {
        if let Some(counting) = &mut edit.counting {
            if self.frames.uncount_step(counting, MARKS) {
                edit.counting = None;
            }
        } else {
            edit.counted = edit.counted.checked_sub(1)?;
            // What was counted can be taken back: its marks are there.
            let range = edit.mapping.ranges().nth(edit.counted);
            edit.counting = range.and_then(|range| self.frames.counted(range, edit.owner()).ok());
        }
        Some(cost::COUNT)
    }

    /// One step of entering a region into a domain's table; nothing is left to do when it is found there.
    fn enter_step(&mut self, edit: &mut Edit<A>) -> Option<u32> {
        let mapping = edit.mapping;
        let domain = &mut self.domains[usize::from(mapping.target)];
        let Some(table) = &mut edit.table else {
            // The slots that every instruction needs to make progress.
            let needed = min_paged_slots(domain.paged_code > 0 || mapping.execute, true);
            let room = domain.slots.require(needed).is_ok();
            edit.table = if room { domain.trie.begin(mapping.regs).ok() } else { None };
            if edit.table.is_none() {
                edit.fail(Error::Full);
            }
            return Some(cost::COMPARE_KEY);
        };
        let before = domain.trie.free_nodes();
        match domain.trie.insert_step(table) {
            Ok(false) => {}
            Ok(true) => {
                domain.paged_code += u16::from(mapping.execute);
                return None;
            }
            Err(pctrie::Obstacle::Occupied) => edit.fail(Error::BadState),
            Err(pctrie::Obstacle::NoNodes) => edit.fail(Error::Full),
        }
        Some(if domain.trie.free_nodes() == before { cost::COMPARE_KEY } else { cost::NODE })
    }

    /// Compares a key of a region with a domain's table, or pins the region when all were.
    fn pin_step(&mut self, edit: &mut Edit<A>, key: u8) -> Option<u32> {
        let mapping = edit.mapping;
        let in_force = self.is_loaded(mapping.target);
        let domain = &mut self.domains[usize::from(mapping.target)];
        match domain.trie.meets_key(mapping.regs, key) {
            Some(false) => edit.stage = Stage::Enter(key + 1),
            Some(true) => edit.fail(Error::BadState),
            None => {
                let needed = min_paged_slots(domain.paged_code > 0, !domain.trie.is_empty());
                if domain.slots.pin(mapping.regs, needed).is_ok() {
                    if in_force {
                        self.arch.load_image(domain.slots.image());
                    }
                    return None;
                }
                edit.fail(Error::Full);
            }
        }
        Some(cost::COMPARE_KEY)
    }
}
