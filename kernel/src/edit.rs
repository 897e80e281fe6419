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

use crate::arch::Arch;
use crate::frames::{Mapping, refused};
use crate::kernel::{Kernel, Outcome};
use crate::objects::Level;
use crate::regions::{self, Entered, Reload, cost};
use crate::table::Ref;

/// What the steps of one kernel entry may have cost before the last begins, in tens of instructions.
const WORK: u32 = 40;
/// Marks that one step counts.
const MARKS: usize = 4;

/// What counting a few marks costs, in tens of instructions, roughly.
const COUNT_COST: u32 = 40;

/// An edit under way.
pub(crate) struct Edit<A: Arch> {
    mapping: Mapping,
    stage: Stage,
    /// Runs of the region that are counted.
    counted: usize,
    /// The run that is being counted, or taken back.
    counting: Option<Counting>,
    /// The region on its way into the domain's regions, or out of them.
    region: regions::Edit,
    answer: Result<(), Error>,
    /// Who is told: a level and its epoch.
    caller: Option<Caller<A>>,
}

/// A level, and its domain's epoch when it made the call.
type Caller<A> = (Ref<Level<A>>, u32);

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Comparing with the domain's pinned regions.
    Compare,
    /// Counting the runs.
    Count,
    /// Entering the region into the domain's.
    Enter,
    /// Taking the region out of them.
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
        let region = regions::Edit::new(mapping.region);
        Edit {
            mapping,
            stage: Stage::Compare,
            counted: 0,
            counting: None,
            region,
            answer: Ok(()),
            caller: Some(caller),
        }
    }

    /// A region was withdrawn.
    fn unmapping(mapping: Mapping, region: regions::Edit, caller: Option<Caller<A>>) -> Edit<A> {
        let counted = mapping.ranges().count();
        Edit { mapping, stage: Stage::Leave, counted, counting: None, region, answer: Ok(()), caller }
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
        let caller = ask.then(|| self.caller());
        let protection = &mut self.domains[usize::from(mapping.target)].protection;
        let Some((region, reload)) = protection.withdraw(mapping.region) else { return false };
        self.reload(mapping.target, reload);
        self.edit = Some(Edit::unmapping(mapping, region, caller));
        true
    }

    /// Loads what a changed domain's registers lack, if it is in force.
    fn reload(&mut self, target: u8, reload: Reload) {
        if !self.is_loaded(target) {
            return;
        }
        match reload {
            Reload::Nothing => {}
            Reload::Slot(regs) => self.arch.load_slot(regs),
            Reload::Image => self.arch.load_image(self.domains[usize::from(target)].protection.image()),
        }
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
    /// Of a step of [`regions::Regions`], or [`MARKS`] marks of the frame table.
    fn edit_step(&mut self, edit: &mut Edit<A>) -> Option<u32> {
        let protection = &mut self.domains[usize::from(edit.mapping.target)].protection;
        match edit.stage {
            Stage::Compare => {
                match protection.compare_step(&mut edit.region) {
                    Ok(true) => edit.stage = Stage::Count,
                    Ok(false) => {}
                    Err(error) => edit.fail(error),
                }
                Some(cost::COMPARE_PINNED)
            }
            Stage::Count => Some(self.count_step(edit)),
            Stage::Enter => match protection.enter_step(&mut edit.region) {
                Ok(Entered::Not(cost)) => Some(cost),
                Ok(Entered::All(reload)) => {
                    self.reload(edit.mapping.target, reload);
                    None
                }
                Err(error) => {
                    edit.fail(error);
                    Some(cost::NODE)
                }
            },
            Stage::Leave if protection.leave_step(&mut edit.region) => {
                edit.stage = Stage::Uncount;
                Some(cost::SMALL)
            }
            Stage::Leave => Some(cost::NODE),
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
                edit.stage = Stage::Enter;
                return cost::SMALL;
            }
        };
        match told {
            Ok(true) => (edit.counting, edit.counted) = (None, edit.counted + 1),
            Ok(false) => {}
            Err(error) => edit.fail(refused(error)),
        }
        COUNT_COST
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
        Some(COUNT_COST)
    }
}
