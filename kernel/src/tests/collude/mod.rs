//! Four domains that work together: all of them hold the same frames and each other, map, share, unmap, grant, revoke, stop and restart in turn,
//! some of their calls in steps between which the others go on. After each call, what each of them reaches is compared with [`model`].

mod calls;
mod gates;
mod model;
mod probe;

use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

use abi::{Call, rights};
use protect::AccessKind;
use protect::pmsav8::Pmsav8;
use system::build::Builder;
use system::{area, policy};
use testing::Rng;
use units::{Bytes, VirtAddr};

use super::maps::Told;
use super::rich::{DOMAINS, POOL_BYTES, domain, pool, rich};
use super::sim::{Direct, Guard, Machine, Pager, Part, Registers, Rtmmu, Sv32, boot_with, release};
use super::watch::memory;
use crate::arch::Protection;
use crate::{Kernel, NOBODY};
use model::{Begun, Model, Typed};

/// Turns between one start of the system and the next.
const TURNS: usize = 400;
/// Systems of each kind.
const SYSTEMS: u64 = 24;
const BUSY: u32 = 20_000_000;

/// The system: every thread is as important as the others and has time without end, and every
/// domain has all rights to all domains and all frames, so that nothing but the kernel's rules is
/// in the way.
fn system<K: Guard>() -> Builder {
    let mut builder = rich();
    for thread in &mut builder.threads {
        (thread.priority, thread.period, thread.deadline) = (6, 0, 0);
    }
    builder.budgets.iter_mut().for_each(|budget| (budget.period, budget.capacity) = (BUSY + BUSY / 4, BUSY));
    builder.domains.iter_mut().for_each(|domain| domain.policy = policy::RESTART);
    let told = |kind: u32| [abi::Kind::Domain as u32, abi::Kind::Frames as u32].contains(&kind);
    builder.caps.iter_mut().filter(|cap| told(cap.kind)).for_each(|cap| cap.rights = rights::ALL.into());
    let paged = |area: &&mut system::Area| area.flags & (area::WRITE | area::PINNED) == area::WRITE;
    if K::Protection::DEMAND {
        builder.areas.iter_mut().filter(paged).for_each(|area| area.flags |= area::DEMAND);
    }
    builder
}

#[derive(Clone, Copy)]
struct Made {
    target: u32,
    access: u32,
    part: Part,
}

struct Play<K: Guard> {
    kernel: Kernel<Machine<K>>,
    model: Model,
    rng: Rng,
    made: Vec<Made>,
    /// Threads whose call is to be made once more, though what it does is known.
    known: BTreeSet<u8>,
    /// Addresses at which something has changed last.
    edges: Vec<u32>,
    /// The domain that the present call restarts, or may stop.
    subject: Option<usize>,
    /// Calls that were taken, by what they are; the most members that a share had.
    taken: BTreeMap<&'static str, u64>,
    members: usize,
}

impl<K: Guard> Play<K> {
    fn new(seed: u64) -> Self {
        let builder = system::<K>();
        let kernel = boot_with(&builder, Machine::<K> { now: 1000, ..Machine::default() });
        let place = |mut area: system::Area| {
            // Where addresses are what they are, the tables do not say so a second time.
            area.physical = if area.physical == 0 { area.base } else { area.physical };
            area
        };
        let model = Model::new(kernel.tables.all::<system::Area>().map(place).collect());
        let (made, known, edges, subject) = (Vec::new(), BTreeSet::new(), Vec::new(), None);
        let (taken, members) = (BTreeMap::new(), 0);
        Play { kernel, model, rng: Rng::new(seed), made, known, edges, subject, taken, members }
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.rng.below(u64::from(limit)) as u32
    }

    fn domain_handle(&mut self) -> u32 {
        if self.rng.chance(10) { 18 + self.below(4) } else { domain(self.below(DOMAINS)) }
    }

    /// A handle of the frames, rarely of those in which domains have areas.
    fn frames_handle(&mut self) -> u32 {
        match self.below(16) {
            0 => 18 + self.below(4),
            1 => pool(1),
            _ => pool(0),
        }
    }

    fn here(&self) -> usize {
        usize::from(self.kernel.here())
    }

    /// More than one domain runs, so that one can stop.
    fn can_stop(&self) -> bool {
        self.model.up.iter().filter(|up| **up).count() > 1
    }

    /// Makes a call of the running thread, and counts it if it was taken: a run in which nothing is
    /// taken proves nothing.
    fn asks(&mut self, name: &'static str, call: Call, args: [u32; 4]) -> Told {
        let told = self.kernel.asks(call as u32, args);
        *self.taken.entry(name).or_default() += u64::from(told.is_some_and(|(status, _)| status == 0));
        told
    }

    /// One domain's turn; `false` when none is left that could have one.
    fn turn(&mut self) -> bool {
        // The thread that follows a stopped one is found in further entries, which the timer makes
        // at once.
        self.kernel.passes(0);
        let thread = self.kernel.current();
        if thread == NOBODY {
            return false;
        }
        self.kernel.arch.stepwise = !self.rng.chance(4);
        self.kernel.arch.long_way = self.rng.chance(3);
        self.subject = None;
        let context = self.kernel.top().context;
        if context.again {
            self.goes_on(thread, context.request);
        } else {
            self.draws();
        }
        self.settles();
        self.probes();
        if self.kernel.current() == thread {
            self.gives_way();
        }
        true
    }

    /// The next thread's turn. A call that goes in steps stays under way, as it does when its thread's time is up.
    fn gives_way(&mut self) {
        let (activation, context) = (self.kernel.resume, self.kernel.top().context);
        self.kernel.asks(Call::Yield as u32, [0; 4]);
        self.kernel.activations.at_mut(activation).context = context;
    }

    fn draws(&mut self) {
        match self.below(48) {
            0..=17 => self.maps(),
            18..=24 => self.unmaps(),
            25..=28 => self.types(),
            29 | 30 => self.cleans(),
            31 if self.rng.chance(3) => self.gives(),
            31 | 32 => self.copies_cap(),
            33 | 34 => self.grants(),
            35 => self.deletes_or_revokes(),
            36 if self.rng.chance(2) => self.stops(),
            36..=39 => self.restarts(),
            40 if self.rng.chance(2) => self.strays(),
            40 => self.reads_fault(),
            41 => self.makes_region(),
            _ => self.enters_gate(),
        }
    }

    /// The model follows who runs, and what others have done of a change.
    fn settles(&mut self) {
        for index in 0..DOMAINS as usize {
            let runs = self.kernel.domain(index as u8).life.runs();
            if runs == self.model.up[index] {
                continue;
            }
            assert_eq!(self.subject, Some(index), "a domain was stopped or restarted that nobody has named");
            if runs {
                self.model.restarted(index, shows(&self.kernel, index));
                *self.taken.entry("restarted").or_default() += 1;
            } else {
                self.model.up[index] = false;
                let its = |owner: Option<u8>| owner.is_some_and(|thread| usize::from(thread) / 2 == index);
                self.model.begun.iter_mut().filter(|begun| its(begun.owner)).for_each(|begun| begun.owner = None);
                self.known.retain(|thread| usize::from(*thread) / 2 != index);
            }
        }
        if self.kernel.edit.is_none() {
            for begun in core::mem::take(&mut self.model.begun) {
                self.resolves(begun);
            }
        }
        K::check(&mut self.kernel);
        if self.rng.chance(8) {
            memory(&self.kernel);
        }
    }

    /// Settles a change that is over and whose end the model was not told: either all of it was
    /// done, or nothing.
    fn resolves(&mut self, Begun { change, admitted, owner, doubtful }: Begun) {
        self.known.extend(owner);
        if !admitted {
            return;
        }
        let there = shows(&self.kernel, change.target);
        let is_there = change.cells().next().is_some_and(|(at, physical, access)| there(at, physical, access));
        if !doubtful {
            let like = |(at, physical, access)| there(at, physical, access) == is_there;
            assert!(change.cells().all(like), "a part of {change:x?} is there");
        }
        if !change.unmaps || !is_there {
            self.model.done(change, true, there);
        }
    }
}

/// Returns true if the kernel says of a domain that it finds a physical address at an address, with
/// exactly these rights.
fn shows<K: Guard>(kernel: &Kernel<Machine<K>>, domain: usize) -> impl Fn(u32, u32, u32) -> bool {
    let protection = &kernel.domain(domain as u8).protection;
    move |at, physical, access| {
        let permits = |kind| protection.permits(VirtAddr(at), Bytes(1), kind);
        let kinds = [(AccessKind::Read, 1), (AccessKind::Write, 2), (AccessKind::Exec, 4)];
        let found = protection.physical(VirtAddr(at), AccessKind::Read).map(|(found, _)| found.0);
        kinds.into_iter().all(|(kind, bit)| permits(kind) == (access & bit != 0)) && found == Some(physical)
    }
}

/// Plays many systems, with the same seeds each time, so that a failure can be repeated.
fn plays<K: Guard>() {
    let (mut taken, mut members) = (BTreeMap::<&str, u64>::new(), 0);
    for seed in 1..=SYSTEMS {
        let mut play = Play::<K>::new(seed);
        let full = !play.rng.chance(4);
        if full {
            assert_eq!(play.asks("retype", Call::FramesRetype, [pool(0), 0, POOL_BYTES, 0]), super::OK);
            play.model.set_typed(0, POOL_BYTES, Typed::Shared);
        }
        let mut turns = 0;
        while turns < TURNS && play.turn() {
            turns += 1;
            if turns % 32 == 0 {
                play.compares_all();
            }
        }
        play.taken.iter().for_each(|(name, times)| *taken.entry(name).or_default() += times);
        members = members.max(play.members);
        release(play.kernel);
    }
    println!("{taken:?}, up to {members} members");
    let enough = [
        ("map", 200),
        ("unmap", 60),
        ("clean", 30),
        ("grant", 20),
        ("restarted", 20),
        ("fault", 5),
        ("copy", 60),
        ("revoke", 5),
    ];
    for (name, least) in enough {
        assert!(taken.get(name).is_some_and(|times| *times >= least), "{name} was taken less than {least} times");
    }
    assert!(members > 2, "no share had more than two members");
}

#[test]
fn colluding_domains_reach_what_was_mapped_to_them() {
    plays::<Registers>();
}

#[test]
fn colluding_domains_reach_what_was_mapped_to_them_where_regions_have_any_length() {
    plays::<Registers<Pmsav8>>();
}

#[test]
fn colluding_domains_reach_what_was_mapped_to_them_where_there_are_page_tables() {
    plays::<Pager>();
}

#[test]
fn colluding_domains_reach_what_was_mapped_to_them_where_there_are_spaces() {
    plays::<Rtmmu>();
    plays::<Direct>();
    plays::<Sv32>();
}
