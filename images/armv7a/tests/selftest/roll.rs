//! All identifiers are handed out, twice, beside an entry that is locked: what a domain finds at its addresses stays its own.

use armv7a::mmu::Tlb;
use kernel::pages::PageArch;
use protect::vmsav7::{Asids, Tag};
use units::VirtAddr;

use crate::domain::{CONSTANTS, Domain, Failed};
use crate::programs;
use crate::{Stage, Test};

/// Identifiers that one core has, without 0.
const ALL: usize = 255;

/// The event that the test waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// In each generation, each domain finds its word.
    First(usize),
    /// As above.
    Second(usize),
    /// In the third one, domain 1 first.
    Third,
    /// Domain 0 finds its page of constants, whose entry is locked.
    Locked,
}

/// The identifiers, and which the domains have.
#[derive(Debug)]
pub struct Roll {
    asids: Asids,
    tags: [Option<Tag>; 2],
    slot: usize,
}

impl Roll {
    /// Nobody has an identifier.
    pub const fn new() -> Roll {
        Roll { asids: Asids::new(), tags: [None; 2], slot: 0 }
    }

    /// Gives a domain an identifier: the one that it has, if that is valid; a stranger one of the rest, for `None`.
    fn adopt(&mut self, who: Option<(usize, &mut Domain)>) {
        let Some((index, domain)) = who else {
            let _ = self.asids.acquire(None).settle(&mut Tlb);
            return;
        };
        let tag = self.asids.acquire(self.tags[index]).settle(&mut Tlb);
        self.tags[index] = Some(tag);
        domain.adopt(tag.asid());
    }

    /// The rest of this generation's identifiers goes to domains that never run.
    fn exhaust(&mut self) {
        (2..ALL).for_each(|_| self.adopt(None));
    }
}

impl Test {
    /// The domains' identifiers are those of `Asids` from now on. Their former identifiers are gone
    /// from every TLB.
    pub fn begin_roll(&mut self) -> *mut armv7a::Context {
        self.arch.load_space(None);
        self.domains.iter().for_each(Domain::forget);
        for (index, domain) in self.domains.iter_mut().enumerate() {
            self.roll.adopt(Some((index, domain)));
        }
        self.look(0, Step::First(0), programs::main())
    }

    /// Domain `index` starts anew, next.
    fn look(&mut self, index: usize, step: Step, entry: u32) -> *mut armv7a::Context {
        self.stage = Stage::RollOver(step);
        self.domains[index].restart(entry);
        self.running = index ^ 1;
        self.turn()
    }

    /// The domain that was waited for has found what it said.
    pub fn rolled(&mut self, step: Step) -> *mut armv7a::Context {
        match step {
            Step::First(0) => self.look(1, Step::First(1), programs::main()),
            Step::First(_) => self.second(),
            Step::Second(1) => self.look(0, Step::Second(0), programs::main()),
            Step::Second(_) => self.third(),
            Step::Third => self.look(0, Step::Locked, programs::remap()),
            Step::Locked => self.end(),
        }
    }

    /// The domain that is new in the second generation gets the identifier that was domain 0's.
    fn second(&mut self) -> *mut armv7a::Context {
        self.roll.exhaust();
        self.arch.load_space(None);
        let [first, second] = &mut self.domains;
        self.roll.tags[1] = None;
        self.roll.adopt(Some((1, second)));
        self.roll.adopt(Some((0, first)));
        self.say([2, 1], "each has what was the other's");
        self.look(1, Step::Second(1), programs::main())
    }

    /// In the third one, domain 0 keeps its identifier, since an entry is locked under it; all others are handed out anew.
    fn third(&mut self) -> *mut armv7a::Context {
        let locked = self.lock();
        self.line(locked.is_ok(), format_args!("an entry locked under it"));
        self.roll.exhaust();
        self.arch.load_space(None);
        // The first request of a generation gets 1.
        self.roll.adopt(None);
        let [first, second] = &mut self.domains;
        self.roll.adopt(Some((1, second)));
        self.roll.adopt(Some((0, first)));
        self.say([2, 3], "what is locked keeps its own");
        self.look(1, Step::Third, programs::main())
    }

    /// The space of domain 0 is loaded, which has just been looked at.
    fn lock(&mut self) -> Result<(), Failed> {
        let Roll { asids, tags: [Some(tag), _], slot } = &mut self.roll else { return Err(Failed("an identifier")) };
        *slot = asids.lock(*tag, VirtAddr(programs::CONST)).map_err(|_| Failed("a slot"))?;
        self.domains[0].lock_constants(*slot)
    }

    /// Domain 0 has read the page whose entry is locked, which then is taken out.
    pub fn read_locked(&mut self, value: u32) -> *mut armv7a::Context {
        let unlocked = self.roll.asids.unlock(self.roll.slot).map(|bill| bill.settle(&mut Tlb)).is_ok();
        let right = value == CONSTANTS[0] && unlocked && self.roll.asids.free_slots() == 4;
        self.line(right, format_args!("domain 0: {value:#010x} at {:#010x} by the locked entry", programs::CONST));
        self.rolled(Step::Locked)
    }

    fn say(&mut self, wanted: [u8; 2], why: &str) {
        let [first, second] = [0, 1].map(|index: usize| self.domains[index].asid().number());
        let right = [first, second] == wanted;
        self.line(right, format_args!("identifiers begin anew: domain 0 has {first}, domain 1 {second}: {why}"));
    }
}
