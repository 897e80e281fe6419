//! A domain with nearly as many areas as a table may have: a restart compares with a few of them in a step, and ends with what the
//! domain began with.

use std::vec::Vec;

use abi::{Call, Error};
use system::build::Builder;
use system::{Area, Cap, Domain, Frames, System, area, frames};

use super::{Chip, Kind, OK, boot, refused};
use crate::arch::Virt;
use crate::compared::{AREAS, Compared};
use crate::objects::Life;
use crate::tests::sim::{Guard, Machine, PEER, sample};

/// With its default parameter.
type Guarded = Kind;

const FILES: u32 = 250;
const FIRST: u32 = 0x30_0000;
const PAGE: u32 = 0x1000;
/// Frames that domain 0 holds, in no order, from the handle on.
const POOLS: [u32; 3] = [0x6004_0000, 0x6000_0000, 0x6002_0000];
const POOL_BYTES: u32 = 0x1_0000;
const HELD: u32 = 4;
/// Of domain 1 from the start, behind all of them, and in the table in front of the files.
const BEHIND: u32 = 0x6006_0000;
/// Steps of a restart but for those that take mappings away: data, capabilities, slots, threads, and empty parts of tables.
const OTHERS: usize = 2500;

/// The sample, where domain 1 has many files. They follow one another in memory, and in the table only if every `apart` is 1.
fn builder(apart: u32) -> Builder {
    let mut builder = sample();
    for base in POOLS {
        builder.frames.push(Frames { base, bytes: POOL_BYTES, kind: frames::USER, marks: 40 });
        let (slot, object) = (builder.caps.len() as u32, builder.frames.len() as u32 - 1);
        builder.caps.push(Cap { domain: 0, slot: slot - 6 + HELD, kind: 7, object, rights: 7, badge: 0 });
    }
    builder.domains[0].cap_slots = 8;
    builder.frames.push(Frames { base: BEHIND, bytes: PAGE, kind: frames::USER, marks: 0 });
    let own = |base| Area { domain: 1, base, bytes: PAGE, flags: area::READ, memory: area::WRITE_THROUGH, physical: 0 };
    builder.areas.push(own(BEHIND));
    builder.areas.extend((0..FILES).map(|file| own(FIRST + file * apart % FILES * PAGE)));
    builder.domains[1].areas += 1 + FILES;
    builder
}

fn ready(apart: u32) -> Chip {
    let mut kernel = boot(&builder(apart));
    for pool in 0..3 {
        assert_eq!(kernel.asks(Call::FramesRetype as u32, [HELD + pool, 0, POOL_BYTES, 0]), OK);
    }
    kernel
}

/// Asks for `bytes` of a pool, mapped where they are for tests.
fn asks(kernel: &mut Chip, number: Call, pool: u32, (offset, bytes): (u32, u32)) -> Option<(u32, [u32; 2])> {
    let at = Guarded::address(POOLS[pool as usize] + offset);
    let (target, frames) = (PEER as u16, (HELD + pool) as u16);
    kernel.asks(number as u32, abi::Mapping { target, frames, at, access: 3, offset, bytes }.words())
}

/// Pages that domain 1 reaches, of all that it has or could have.
fn reached(kernel: &Chip) -> Vec<u32> {
    let uses = |at: &u32| Guarded::uses(&kernel.domain(1).protection, *at) > 0;
    let files = (0..FILES).map(|file| FIRST + file * PAGE);
    let pools = POOLS.into_iter().flat_map(|base| (0..POOL_BYTES / PAGE).map(move |page| base + page * PAGE));
    files.chain(pools).chain([0x20_1000, 0x2002_0000, 0x2002_1000, BEHIND]).filter(uses).collect()
}

fn stop(kernel: &mut Chip) {
    assert_eq!(kernel.asks(Call::DomainStop as u32, [PEER, 0, 0, 0]), OK);
}

/// One step of the restart; true if it was the last.
fn step(kernel: &mut Chip) -> bool {
    let told = kernel.asks(Call::DomainRestart as u32, [PEER, 0, 0, 0]);
    assert!(told == OK || told == refused(Error::Again), "{told:?}");
    told == OK
}

fn steps(kernel: &mut Chip) -> usize {
    let most = 100_000;
    1 + (0..most).position(|_| step(kernel)).expect("the restart ends")
}

/// Where the search for what was mapped stands, if it does.
fn searches(kernel: &Chip) -> Option<Virt<Machine<Kind>>> {
    if let Life::Unmapping(from, _) = kernel.domain(1).life { Some(from) } else { None }
}

#[test]
fn a_restart_keeps_all_areas_and_nothing_else() {
    for apart in [1, 7, 249] {
        let mut kernel = ready(apart);
        let (before, marks) = (reached(&kernel), kernel.frames.marks());
        assert_eq!(before.len(), FILES as usize + 3);
        stop(&mut kernel);
        let bare = steps(&mut kernel);
        assert_eq!(reached(&kernel), before);
        assert!(apart != 1 || bare < OTHERS + 2 * FILES as usize, "{bare} steps");
        for pool in 0..3 {
            for part in [(0, PAGE), (2 * PAGE, 2 * PAGE), (POOL_BYTES - PAGE, PAGE)] {
                assert_eq!(asks(&mut kernel, Call::FramesMap, pool, part), OK);
            }
        }
        assert_ne!(reached(&kernel), before);
        stop(&mut kernel);
        let more = steps(&mut kernel) - bare;
        assert_eq!((reached(&kernel), kernel.frames.marks()), (before, marks));
        // Each of what was mapped is compared with all areas.
        assert!(more > 9 * FILES as usize / 8, "{more} steps");
        let part = (2 * PAGE, 2 * PAGE);
        assert_eq!(asks(&mut kernel, Call::FramesUnmap, 0, part), refused(Error::BadState));
    }
}

/// Steps to where the search is in the middle of a comparison with the areas: it stands at an address for the second time.
fn into_comparison(kernel: &mut Chip) {
    let mut from = None;
    for _ in 0..100_000 {
        assert!(!step(kernel));
        let now = searches(kernel).filter(|now| *now >= Guarded::address(POOLS[1]).into());
        if now.is_some() && now == from && kernel.edit.is_none() {
            return;
        }
        from = now;
    }
    panic!("nothing is compared in more than one step");
}

#[test]
fn what_changes_between_two_steps_goes_too_and_nothing_else() {
    // The last one before what is the domain's own is taken away, or exchanged, or stays; others are mapped behind it, or none.
    for case in 0..6 {
        let (gone, instead, behind) = (case != 0, case >= 4, case % 2 == 1);
        let mut kernel = ready(1);
        let (before, marks) = (reached(&kernel), kernel.frames.marks());
        assert_eq!(asks(&mut kernel, Call::FramesMap, 1, (0, PAGE)), OK);
        stop(&mut kernel);
        into_comparison(&mut kernel);
        if gone {
            assert_eq!(asks(&mut kernel, Call::FramesUnmap, 1, (0, PAGE)), OK);
        }
        if instead {
            assert_eq!(asks(&mut kernel, Call::FramesMap, 1, (0, 2 * PAGE)), OK);
        }
        if behind {
            assert_eq!(asks(&mut kernel, Call::FramesMap, 2, (0, PAGE)), OK);
        }
        steps(&mut kernel);
        assert_eq!((reached(&kernel), kernel.frames.marks()), (before, marks), "case {case}");
    }
}

#[test]
fn a_step_reads_few_areas_and_all_steps_read_each_once() {
    let words = Guarded::adapt(&builder(7)).encode().unwrap();
    let tables = System::parse(&words).unwrap();
    let all: Domain = tables.get(1);
    for areas in [0, 1, AREAS as u32 - 1, AREAS as u32, AREAS as u32 + 1, 101, all.areas] {
        let domain = Domain { areas, ..all };
        let mut compared = Compared::default();
        // What was found last is asked first the next time.
        for wanted in [areas, areas.saturating_sub(1), areas, 0, areas / 2, areas] {
            let (mut read, mut found) = (Vec::new(), None);
            while found.is_none() {
                let before = read.len();
                let asked = core::cell::RefCell::new(&mut read);
                found = compared.step(&tables, &domain, |area: Area| {
                    asked.borrow_mut().push(area.base);
                    let number =
                        (0..areas).find(|n| tables.get::<Area>((domain.first_area + n) as usize).base == area.base);
                    (number == Some(wanted)).then_some(wanted + 1)
                });
                assert!(read.len() - before <= AREAS, "{} areas in a step", read.len() - before);
            }
            let holds = if wanted < areas { wanted + 1 } else { 0 };
            assert_eq!(found, Some(holds), "{areas} {wanted}");
            let count = read.len();
            read.sort_unstable();
            read.dedup();
            assert!(count == read.len() && (holds != 0 || count == areas as usize), "{areas} {wanted}: {count}");
        }
    }
}
