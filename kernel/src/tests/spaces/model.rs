//! Random maps and unmaps, in steps or not, and restarts, against a plain map from pages to frames: every answer and every page of every
//! domain is foreseen.

use std::collections::BTreeMap;

use abi::{Call, Error};
use system::Area;
use system::rtmmu::{BASE, PAGE};
use units::VirtAddr;

use super::super::sim::{Entry, R, RW, own, release, rights};
use super::super::{Kind, refused};
use super::{AccessKind, Chip, FRAMES, OK, PEER, POOL, Told, VIRT, WORD};
use super::{call, check, ready, restart, run, translated};
use crate::arch::Protection;

/// Pages and frames that are chosen from: few, so that mappings often meet.
const PAGES: u32 = 48;
const PLACES: u32 = 24;
const FIRST: u32 = (VIRT - BASE) / PAGE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    domain: usize,
    at: u32,
    pages: u32,
    place: u32,
    rights: u32,
}

impl Run {
    fn args(self) -> [u32; 4] {
        let target = [WORD, PEER][self.domain] | self.rights << 16;
        run(target, FRAMES, BASE + self.at * PAGE, self.pages, self.place * PAGE)
    }

    fn meets(self, other: Run) -> bool {
        self.domain == other.domain && self.at < other.at + other.pages && other.at < self.at + self.pages
    }

    fn entries(self) -> impl Iterator<Item = ((usize, u32), Entry)> {
        let entry =
            move |at: u32| Entry { page: self.at + at, frame: POOL / PAGE + self.place + at, rights: self.rights };
        (0..self.pages).map(entry).map(move |entry| ((self.domain, entry.page), entry))
    }
}

/// Everything that is mapped, by domain and page.
type Pages = BTreeMap<(usize, u32), Entry>;

struct Model {
    runs: Vec<Run>,
    /// Areas, as they stay.
    areas: Pages,
    state: u32,
}

impl Model {
    fn new(kernel: &Chip, seed: u32) -> Model {
        let pages = |area: Area| {
            let entry = move |at: u32| Entry {
                page: (area.base - BASE) / PAGE + at,
                frame: area.physical / PAGE + at,
                rights: rights(&area),
            };
            (0..area.bytes / PAGE).map(entry).map(move |entry| ((area.domain as usize, entry.page), entry))
        };
        Model { runs: Vec::new(), areas: kernel.tables.all::<Area>().flat_map(pages).collect(), state: seed }
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.state >> 8) % limit
    }

    /// A mapping that may be there, at the end of the space, or beyond it.
    fn any(&mut self) -> Run {
        let domain = self.below(2) as usize;
        let end = 0x2000 << domain;
        let at = if self.below(12) == 0 { end - self.below(9) + 1 } else { FIRST + self.below(PAGES) };
        let rights = [R, RW][self.below(2) as usize];
        Run { domain, at, pages: 1 + self.below(20), place: self.below(PLACES), rights }
    }

    /// One that is there, or differs from it a little.
    fn like(&mut self) -> Run {
        let count = self.runs.len() as u32;
        if count == 0 || self.below(6) == 0 {
            return self.any();
        }
        let chosen = self.below(count) as usize;
        let mut run = self.runs[chosen];
        match self.below(12) {
            0 => run.pages += 1,
            1 if run.pages > 1 => run.pages -= 1,
            2 => run.place += 1,
            3 => run.rights ^= R ^ RW,
            4 => run.domain ^= 1,
            5 if run.pages > 1 => run = Run { at: run.at + 1, place: run.place + 1, pages: run.pages - 1, ..run },
            _ => {}
        }
        run
    }

    fn pages(&self) -> Pages {
        self.areas.clone().into_iter().chain(self.runs.iter().flat_map(|run| run.entries())).collect()
    }

    fn map(&mut self, run: Run) -> Told {
        if run.at + run.pages > 0x2000 << run.domain {
            return refused(Error::Full);
        }
        if self.runs.iter().any(|other| other.meets(run)) {
            return refused(Error::BadState);
        }
        self.runs.push(run);
        OK
    }

    fn unmap(&mut self, run: Run) -> Told {
        let Some(found) = self.runs.iter().position(|other| *other == run) else { return refused(Error::BadState) };
        self.runs.swap_remove(found);
        OK
    }

    fn is_used(&self, place: u32) -> bool {
        self.runs.iter().any(|run| place.wrapping_sub(run.place) < run.pages)
    }
}

/// Everything that both domains translate.
fn all(kernel: &Chip) -> Pages {
    let of = |domain| translated(kernel, domain).into_iter().map(move |entry| ((domain, entry.page), entry));
    (0..2).flat_map(of).collect()
}

/// The kernel finds the same as the hardware.
fn agrees(kernel: &Chip, pages: &Pages) {
    for domain in 0..2_usize {
        assert!(own(&kernel.tables, domain).is_some());
        for page in (FIRST - 1..=FIRST + PAGES + 20).chain([0, 0x200, 0x1fff, 0x2000, 0x3fff, 0x4000, 0x7_ffff]) {
            let found = pages.get(&(domain, page));
            for (kind, right) in [(AccessKind::Read, 1), (AccessKind::Write, 2), (AccessKind::Exec, 4)] {
                let at = VirtAddr(BASE + page * PAGE);
                let told = kernel.domain(domain as u8).protection.physical(at, kind).map(|(at, _)| at.0 / PAGE);
                assert_eq!(told, found.filter(|entry| entry.rights & right != 0).map(|entry| entry.frame));
            }
        }
    }
}

/// A call to its end. Of a mapping that is made, some pages are there before; of one that is taken away, all or none if a region goes at once.
fn changes(kernel: &mut Chip, number: Call, run: Run, after: &Pages) -> Told {
    let before = all(kernel);
    loop {
        let told = call(kernel, number, run.args());
        let now = all(kernel);
        if told.is_some() {
            return told;
        }
        assert!(
            number == Call::FramesMap || !Kind::AT_ONCE || now == before || now == *after,
            "a part of {run:x?} is there"
        );
        let known =
            |(key, entry): (&(usize, u32), &Entry)| [&before, after].iter().any(|pages| pages.get(key) == Some(entry));
        assert!(now.iter().all(known), "more than {run:x?}: {now:x?}");
        assert!(
            before
                .iter()
                .filter(|(key, entry)| after.get(key) == Some(entry))
                .all(|(key, entry)| now.get(key) == Some(entry))
        );
    }
}

fn step(kernel: &mut Chip, model: &mut Model) {
    kernel.arch.stepwise = model.below(2) == 0;
    match model.below(24) {
        0 => {
            kernel.arch.stepwise = false;
            assert_eq!(restart(kernel), OK);
            model.runs.retain(|run| run.domain != 1);
        }
        1 | 2 => {
            let place = model.below(PLACES);
            let told = call(kernel, Call::FramesClean, [FRAMES, place * PAGE, 256, 0]);
            let expected = if model.is_used(place) { refused(Error::BadState) } else { OK };
            assert_eq!(told, expected, "frame {place}");
            if told == OK {
                assert_eq!(call(kernel, Call::FramesRetype, [FRAMES, place * PAGE, 256, 0]), OK);
            }
        }
        3 => {
            let given = call(kernel, Call::NodesGive, [PEER, FRAMES, model.below(PLACES) * PAGE, PAGE]);
            assert_eq!(given, refused(Error::BadArgument));
        }
        4..=13 => {
            let run = model.like();
            let expected = model.unmap(run);
            assert_eq!(changes(kernel, Call::FramesUnmap, run, &model.pages()), expected, "{run:x?}");
        }
        _ => {
            let run = model.any();
            let expected = model.map(run);
            let told = changes(kernel, Call::FramesMap, run, &model.pages());
            assert_eq!(told, expected, "{run:x?}");
        }
    }
    check(kernel);
    let pages = all(kernel);
    assert_eq!(pages, model.pages());
    agrees(kernel, &pages);
}

#[test]
fn every_page_is_foreseen() {
    for seed in 1..=8 {
        let mut kernel = ready();
        let mut model = Model::new(&kernel, seed);
        assert_eq!(all(&kernel), model.pages(), "what both begin with");
        for _ in 0..300 {
            step(&mut kernel, &mut model);
        }
        release(kernel);
    }
}
