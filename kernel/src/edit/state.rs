//! An edit under way.

use abi::Error;
use memory::frames::{Counting, Domain as User};
use units::PhysRange;

use crate::arch::{Arch, Mapping, Progress, Protection};
use crate::objects::Activation;
use crate::table::Ref;

/// Domain and mapping that `FRAMES_MAP` and `FRAMES_UNMAP` are about.
pub(crate) struct Change<A: Arch> {
    pub(crate) target: u8,
    /// Number of the range of frames that the memory is a part of.
    pub(crate) range: u16,
    pub(crate) mapping: Mapping<A>,
}

/// An edit under way.
pub(crate) struct Edit<A: Arch> {
    pub(super) change: Change<A>,
    pub(super) stage: Stage,
    /// All of its memory is counted: an edit that fails takes that back.
    pub(super) counted: bool,
    /// It is being counted or taken back, as far as this says.
    pub(super) counting: Option<Counting>,
    /// True if the domain goes on using what lies next to either end of a mapping that is taken
    /// out. The frame table then needs a mark at that end, because the rest of the use stops there.
    pub(super) goes_on: [bool; 2],
    /// How far the mapping has come into what the domain may access, or out of that.
    pub(super) progress: Progress<A>,
    pub(super) answer: Result<(), Error>,
    /// The caller that goes on with it. Others do not, because a step is paid by whoever does it.
    pub(super) owner: Caller<A>,
    /// True if the owner's call has to find the answer. A restart needs none, because it goes on
    /// until nothing is left.
    pub(super) told: bool,
    /// Calls of others since the owner last went on.
    pub(super) asked: u8,
}

/// An activation, and its domain's epoch when it made the call. A restarted domain has the same
/// activation and another epoch.
pub(super) type Caller<A> = (Ref<Activation<A>>, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Comparing with what the domain may access.
    Compare,
    /// Counting the runs.
    Count,
    /// Entering the mapping.
    Enter,
    /// Making one use of it and of what lies next to it, where a part can be taken out later
    /// ([`Protection::PARTS`]).
    Join,
    /// Finding the mapping and taking it out of sight.
    Withdraw,
    /// Taking out the rest.
    Leave,
    /// Taking back what was counted.
    Uncount,
    End,
}

/// Situation that somebody who needs the frame table finds.
pub(crate) enum EditStatus {
    Free,
    /// Another caller's is under way, or was until now.
    Busy,
    /// The caller's own is under way: its call is repeated.
    GoesOn,
    /// The caller's own is complete.
    Answer(Result<(), Error>),
}

impl<A: Arch> Edit<A> {
    pub(super) fn new(change: Change<A>, stage: Stage, counted: bool, owner: Caller<A>) -> Edit<A> {
        let (progress, goes_on) = (Progress::<A>::default(), [false; 2]);
        Edit { change, stage, counted, counting: None, goes_on, progress, answer: Ok(()), owner, told: true, asked: 0 }
    }

    /// Gives up: what was entered is taken out again, and what was counted is taken back, so that a
    /// refused call has changed nothing.
    pub(super) fn fail(&mut self, error: Error) {
        self.answer = Err(error);
        self.stage = Stage::Leave;
    }

    pub(super) fn user(&self) -> Option<User> {
        Some(User(u16::from(self.change.target)))
    }

    pub(super) fn memory(&self) -> PhysRange {
        A::Protection::memory(&self.change.mapping)
    }

    /// Returns how many uses of a byte are counted for it now.
    #[cfg(any(test, feature = "simulation"))]
    pub(crate) fn counts(&self, address: units::PhysAddr) -> bool {
        let done = self.counted && self.memory().contains(address);
        done || self.counting.is_some_and(|counting| counting.counts(address))
    }
}
