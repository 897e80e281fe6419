//! Changes of what is mapped, in steps: `FRAMES_MAP`, `FRAMES_UNMAP`, and what a restart takes away.
//!
//! A call repeats itself until its edit is complete; each repetition does a bounded piece of it.
//!
//! There is one edit at a time, and its owner does it. Another caller that asks for frames
//! meanwhile is refused with `BUSY`: it does no step of the edit and pays for none. An owner that
//! was stopped does not go on, and one that was tampered with may not. It must not keep everybody
//! else from frames for ever. So if the owner is dead, or others have asked [`PATIENCE`] times
//! since it last went on, each further caller does one step before it is refused. The owner finds
//! the answer when it goes on. A restart of a domain does what is in its way itself, paid by the
//! thread that restarts, as all of its steps are.
//!
//! At every step the frame table counts all memory that can be accessed, and perhaps more. Memory
//! is counted before any part of a mapping exists, and uncounted only when no part of it is left,
//! in region registers and TLBs neither. The other order would let frames be given away while a
//! domain can still reach them.

mod state;

use abi::Error;

use crate::arch::{Arch, Hardware, Protection, Step};
use crate::kernel::Kernel;
use crate::outcome::{DONE, Outcome};
use crate::ranges::refused;
use state::{Caller, Stage};
pub(crate) use state::{Change, Edit, EditStatus};

/// Cost that the steps of one kernel entry may have reached before the last begins, in tens of
/// instructions. It bounds the time for which a call that edits masks interrupts.
const WORK: u32 = 20;
/// Marks that one step counts: each can move a chunk of the frame table, so a step takes few.
const MARKS: usize = 4;
/// Calls of others that an edit refuses, since its owner last went on, before they do pieces of it.
pub(crate) const PATIENCE: u8 = 32;

/// Cost of counting a few marks, in tens of instructions, roughly.
const COUNT_COST: u32 = 40;
/// Cost of a step that changes nothing, in tens of instructions, roughly.
const SMALL_COST: u32 = 4;

impl<A: Arch> Kernel<A> {
    fn caller(&self) -> Caller<A> {
        (self.resume, self.top().epoch)
    }

    /// Returns true if the activation that began an edit can still go on with it. If its domain was
    /// stopped, the call is never repeated, and others must do the rest.
    fn is_alive(&self, (activation, epoch): Caller<A>) -> bool {
        let activation = self.activations.at(activation);
        activation.thread.is_some() && self.domains.at(activation.domain).epoch == epoch
    }

    /// Lets a caller that needs the frame table go on, or says why it cannot. With `own` the call
    /// is one that makes edits. If it is the one that made the edit under way, a piece of the edit
    /// has then been done.
    ///
    /// # Bound
    /// [`WORK`] and one step.
    pub(crate) fn turn(&mut self, own: bool) -> EditStatus {
        let caller = self.caller();
        if own
            && let Some((epoch, answer)) = self.activations.at_mut(caller.0).answer.take()
            && epoch == caller.1
        {
            return EditStatus::Answer(answer);
        }
        let Some(Edit { owner, told, asked, .. }) = self.edit else { return EditStatus::Free };
        let mine = own && told && owner == caller;
        if !mine && asked < PATIENCE && self.is_alive(owner) {
            self.ask(asked + 1);
            return EditStatus::Busy;
        }
        match self.work() {
            Some(answer) if mine => {
                self.activations.at_mut(caller.0).answer = None;
                EditStatus::Answer(answer)
            }
            None if mine => {
                self.ask(0);
                EditStatus::GoesOn
            }
            _ => EditStatus::Busy,
        }
    }

    fn ask(&mut self, times: u8) {
        if let Some(edit) = &mut self.edit {
            edit.asked = times;
        }
    }

    /// Has the call performed again when its thread goes on, instead of working on in this entry:
    /// each entry is bounded, and a budget can end between two.
    pub(crate) fn again(&mut self) -> Result<Outcome, Error> {
        self.arch.repeat(&mut self.activations.at_mut(self.resume).context);
        Ok(Outcome::Later)
    }

    /// `FRAMES_MAP` and `FRAMES_UNMAP`: begins the change that `what` finds in the call's words, or goes on with one.
    ///
    /// # Bound
    /// The words of the call checked, or a piece of an edit.
    #[inline(always)]
    pub(crate) fn change(
        &mut self,
        what: impl FnOnce(&Self) -> Result<Change<A>, Error>,
        begin: fn(&mut Self, Change<A>) -> Result<(), Error>,
    ) -> Result<Outcome, Error> {
        match self.turn(true) {
            EditStatus::Free => {}
            EditStatus::Busy => return Err(Error::Busy),
            EditStatus::GoesOn => return self.again(),
            EditStatus::Answer(answer) => return answer.and(DONE),
        }
        let change = what(self)?;
        begin(self, change)?;
        self.again()
    }

    pub(crate) fn begin_map(&mut self, change: Change<A>) -> Result<(), Error> {
        self.edit = Some(Edit::new(change, Stage::Compare, false, self.caller()));
        Ok(())
    }

    /// Begins to unmap for the running thread.
    ///
    /// # Errors
    /// `BAD_STATE`: it is not there, as far as could be seen at once. `FULL`: it is a part of what was mapped, and there are no marks for
    /// its ends.
    pub(crate) fn begin_unmap(&mut self, change: Change<A>) -> Result<(), Error> {
        self.begin_unmap_for(change, true)
    }

    /// Begins to unmap, for a call that is told, or for a restart, which takes the marks that are kept back.
    ///
    /// # Errors
    /// As for [`Kernel::begin_unmap`].
    pub(crate) fn begin_unmap_for(&mut self, change: Change<A>, told: bool) -> Result<(), Error> {
        let goes_on = self.goes_on(&change);
        if A::Protection::PARTS && told {
            let memory = A::Protection::memory(&change.mapping);
            self.in_range(change.range, |kernel| kernel.frames.room_for_part(memory, goes_on)).map_err(refused)?;
        }
        let mut edit = Edit { goes_on, told, ..Edit::new(change, Stage::Withdraw, true, self.caller()) };
        // The answer of a restart goes to no call. On page tables the restart has already searched
        // them in this entry, so the first step waits for the next one.
        if told || !A::Protection::PARTS {
            self.edit_step(&mut edit);
            if edit.stage == Stage::End {
                return edit.answer;
            }
        }
        self.edit = Some(edit);
        Ok(())
    }

    /// Says at which ends of a mapping the domain uses the memory next to it, too, both at its
    /// addresses and physically. The two uses then count as one, with no mark between them.
    fn goes_on(&self, change: &Change<A>) -> [bool; 2] {
        let neighbours = self.domains[usize::from(change.target)].protection.neighbours(&change.mapping);
        neighbours.map(|at| at.and_then(|at| self.frames.at(at)).is_some_and(|entry| entry.uses > 0))
    }

    /// Does a piece of the edit under way, and returns the answer when it is complete. The answer
    /// is also left at the activation that made the call, because another caller may have done the
    /// last step.
    ///
    /// # Bound
    /// [`WORK`] and one step.
    pub(crate) fn work(&mut self) -> Option<Result<(), Error>> {
        let mut edit = self.edit.take()?;
        let mut spent = 0;
        while spent < WORK {
            spent += self.edit_step(&mut edit);
            if edit.stage == Stage::End {
                let (activation, epoch) = edit.owner;
                if edit.told {
                    self.activations.at_mut(activation).answer = Some((epoch, edit.answer));
                }
                return Some(edit.answer);
            }
        }
        self.edit = Some(edit);
        None
    }

    /// Does one step and returns its cost.
    ///
    /// # Bound
    /// That of a step of [`Protection`], or [`MARKS`] marks of the frame table.
    fn edit_step(&mut self, edit: &mut Edit<A>) -> u32 {
        let Change { target, range, mapping } = &edit.change;
        let loaded = self.is_loaded(*target);
        let protection = &mut self.domains[usize::from(*target)].protection;
        let hardware = Hardware { arch: &mut self.arch, shared: &mut self.shared, loaded };
        let (told, after) = match edit.stage {
            Stage::Compare => (protection.compare_step(mapping, &mut edit.progress), Stage::Count),
            Stage::Enter => {
                let after = if A::Protection::PARTS { Stage::Join } else { Stage::End };
                (protection.enter_step(mapping, &mut edit.progress, hardware), after)
            }
            Stage::Join | Stage::Count | Stage::Uncount => {
                return self.in_range(*range, |kernel| kernel.marks_step(edit));
            }
            Stage::Withdraw => (protection.withdraw_step(mapping, &mut edit.progress, hardware), Stage::Leave),
            Stage::Leave => (Ok(protection.leave_step(mapping, &mut edit.progress, hardware)), Stage::Uncount),
            Stage::End => return 0,
        };
        match told {
            Ok(Step::More(cost)) => cost,
            Ok(Step::Done(cost)) => {
                edit.stage = after;
                cost
            }
            // Nothing was taken out yet, so there is nothing to put back.
            Err(error) if edit.stage == Stage::Withdraw => {
                (edit.stage, edit.answer) = (Stage::End, Err(error));
                SMALL_COST
            }
            Err(error) => {
                edit.fail(error);
                SMALL_COST
            }
        }
    }

    fn marks_step(&mut self, edit: &mut Edit<A>) -> u32 {
        match edit.stage {
            Stage::Count => self.count_step(edit),
            Stage::Uncount => self.uncount_step(edit),
            _ => self.join_step(edit),
        }
    }

    /// Counts a few marks of the memory, before any part of the mapping exists.
    fn count_step(&mut self, edit: &mut Edit<A>) -> u32 {
        let user = edit.user();
        let told = match &mut edit.counting {
            Some(counting) => self.frames.count_step(counting, MARKS),
            None => self.frames.count(edit.memory(), user).map(|counting| {
                edit.counting = Some(counting);
                false
            }),
        };
        match told {
            Ok(true) => (edit.counting, edit.counted, edit.stage) = (None, true, Stage::Enter),
            Ok(false) => {}
            Err(error) => edit.fail(refused(error)),
        }
        COUNT_COST
    }

    /// Joins what was mapped to what the domain uses next to it. Without that, a mark would stay
    /// between the two for as long as both exist.
    fn join_step(&mut self, edit: &mut Edit<A>) -> u32 {
        let memory = edit.memory();
        for (at, joined) in [memory.base(), memory.end()].into_iter().zip(self.goes_on(&edit.change)) {
            if joined {
                self.frames.join(at);
            }
        }
        edit.stage = Stage::End;
        COUNT_COST
    }

    /// Takes back a few marks of what was counted, or counted in part. This comes last, when no
    /// part of the mapping is left.
    fn uncount_step(&mut self, edit: &mut Edit<A>) -> u32 {
        if let Some(counting) = &mut edit.counting {
            if self.frames.uncount_step(counting, MARKS) {
                edit.counting = None;
            }
        } else if edit.counted {
            edit.counted = false;
            // This cannot fail: the marks for it are there, or were kept back when the edit began.
            edit.counting = self.frames.counted(edit.memory(), edit.user(), edit.goes_on).ok();
            debug_assert!(edit.counting.is_some(), "what was counted stays counted");
        } else {
            edit.stage = Stage::End;
            return 0;
        }
        COUNT_COST
    }
}
