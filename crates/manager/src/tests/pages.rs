//! The same manager on a chip with page tables: ledger, pieces, windows and kernel in the same histories.

use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

use memory::extents::words_for;
use spec::{
    AccessLevel, Costs, Hardware, Ledger, Linear, MemoryClass, Method, Opening, Pages, Platform, Sizes, TablePlace,
    TemporalSpec, Work,
};

use super::machine::{Machine, POOL, Type};
use super::{declare, grant, join, release, share};
use crate::history::{History, NAMES};
use crate::rule::change::UNKNOWN;
use crate::tally::{marks_kept, marks_most};
use crate::wire::access::{ALL_READ, READ, WRITE};
use crate::wire::{Answer, Granted, Operation, Refused, Request, place};
use crate::{Books, Error, HandOver, MAP_STEPS, Manager, PoolAt, REVOKE_STEPS, SUPERVISOR, State};

const K: u32 = 1024;
const PAGE: u32 = 4 * K;
const FAR: u32 = 2 << 20;
const NEAR: u32 = 16 * K;
const WINDOW: u32 = 0x4000_0000;
type Accounts = Books<4, 2, 1, { words_for(11) }, 1024>;
type Real = Manager<Accounts, 4, 64, 4>;

const BEST: u32 = 0;
const DETERMINISTIC: u32 = TemporalSpec::level(AccessLevel::Deterministic).bits();
const L1: u32 = TemporalSpec::level(AccessLevel::L1).bits();
const L2: u32 = TemporalSpec::level(AccessLevel::L2).bits();
const INDEPENDENT: u32 = 8;
const CONSTANT: u32 = 16;
const PARTLY: u32 = 8 | 128;

const WORK: Work =
    Work { method: Method::Observed, map: Linear { base: 900, each: 40 }, release: Linear { base: 2000, each: 50 } };

fn pools() -> [PoolAt; 2] {
    [PoolAt::new("far", POOL, FAR), PoolAt::new("near", POOL + FAR, NEAR)]
}

/// Clients 0 and 1 have first-level tables on the chip, with one further table there; client 2 has none of both.
fn hand_over(pools: &[PoolAt], quotas: &[(u8, u8, u32)]) -> Vec<u8> {
    let costs = Costs { main_tlb: 6, walk_on_chip: 60, walk_locked_ways: 70 };
    let sizes = Sizes { lock_slots: 4, ways: 8, way_bytes: 64 << 10, window_base: 0x4000_0000 };
    let hardware = Hardware::Pages(Pages::new(costs, WORK, sizes));
    let platform = Platform::new(hardware, &[MemoryClass::OnChip, MemoryClass::OffChip]);
    let mut ledger: Ledger<4, 2> = Ledger::new(platform, [0, 18 * K, 0, 16 * K]);
    for (root, near) in [(TablePlace::OnChip, K), (TablePlace::OnChip, K), (TablePlace::OffChip, 0)] {
        ledger.open(&Opening { tables: [0, near, 0, 2 * K], ..Opening::new(root, 0) }).unwrap();
    }
    ledger.add_pool(MemoryClass::OffChip, FAR).unwrap();
    ledger.add_pool(MemoryClass::OnChip, NEAR).unwrap();
    assert!(quotas.iter().all(|(domain, pool, bytes)| ledger.keep(*domain, *pool, *bytes)));
    let mut bytes = vec![0; HandOver::bytes(3, 2, 0)];
    assert_eq!(HandOver::encode(&ledger, pools, &[], &mut bytes), Some(bytes.len()));
    bytes
}

struct World {
    manager: std::boxed::Box<Real>,
    machine: Machine,
}

impl World {
    fn new() -> World {
        World::with(&[])
    }

    /// With quotas: domain, pool, bytes.
    fn with(quotas: &[(u8, u8, u32)]) -> World {
        World::of(&pools(), quotas)
    }

    fn of(pools: &[PoolAt], quotas: &[(u8, u8, u32)]) -> World {
        let mut manager = std::boxed::Box::new(Real::new(Books::closed()));
        manager.account.open(HandOver::new(&hand_over(pools, quotas))).unwrap();
        for (index, name) in NAMES.iter().enumerate() {
            assert!(manager.enrol(index, name));
        }
        declare(&mut manager);
        World { manager, machine: Machine::new(FAR + NEAR) }
    }

    fn ask(&mut self, badge: u32, request: Request) -> Result<Answer, Error> {
        self.machine.begin();
        let answer = self.manager.serve(badge, &request.encode(), &mut self.machine)?;
        Ok(Answer::decode(&answer).unwrap())
    }

    fn send(&mut self, badge: u32, request: Request) -> Answer {
        self.ask(badge, request).unwrap()
    }

    /// A grant, mapped to its end, as the client's library does.
    fn granted(&mut self, badge: u32, request: Request) -> Granted {
        let granted = match self.send(badge, request) {
            Answer::Granted(granted) => granted,
            other => panic!("{request:?}: {other:?}"),
        };
        self.finish(badge, Operation::Map, granted.base, granted.left);
        granted
    }

    fn finish(&mut self, badge: u32, operation: Operation, base: u32, mut left: u32) {
        while left > 0 {
            left = match self.send(badge, Request::new(operation).about(base)) {
                Answer::Done(left) => left,
                other => panic!("{operation:?} {base:#x}: {other:?}"),
            };
            self.consistent();
        }
    }

    /// The refusal with its change, which is looked for as the client's library does.
    fn refused(&mut self, badge: u32, request: Request) -> Refused {
        let mut answer = self.send(badge, request);
        while let Answer::Refused(Refused { change: UNKNOWN, value, .. }) = answer {
            answer = self.send(badge, request.explained(value as u16));
            self.consistent();
        }
        match answer {
            Answer::Refused(refused) => refused,
            other => panic!("{request:?}: {other:?}"),
        }
    }

    fn free(&mut self, badge: u32, base: u32) {
        let Answer::Done(left) = self.send(badge, release(base)) else { panic!("released") };
        self.finish(badge, Operation::Scrub, base, left);
    }

    fn left(&self) -> u32 {
        self.manager.account.left(0)
    }

    /// Checks that the ledger agrees with what the clients hold, and that exactly this memory is mapped, as the ledger says.
    fn consistent(&self) {
        let ledger = self.manager.account.ledger();
        let (mut used, mut slots) = (0, 0);
        let mut backed = BTreeSet::new();
        for client in 0..3_u8 {
            let holdings = &self.manager.client(client.into()).unwrap().holdings;
            let account = &ledger.accounts()[usize::from(client)];
            let own = |state: State| matches!(state, State::Private | State::Owned(_) | State::Leaving);
            let held: u32 = holdings.iter().filter(|h| own(h.state)).map(|h| h.region.bytes).sum();
            let dirty = holdings.iter().filter(|h| h.state == State::Dirty).map(|h| h.region.bytes - h.done);
            assert_eq!((account.held, account.dirty), (held, dirty.sum()));
            used += account.held + account.dirty;
            let entered = || holdings.iter().filter(|h| h.state.is_entered());
            assert_eq!(account.slots.used, entered().map(|h| u32::from(h.terms.slots)).sum::<u32>());
            slots += account.slots.used;
            for place in TablePlace::ALL {
                let sections = |h: &&crate::Holding| h.terms.pinned() && h.region.bytes.is_multiple_of(1 << 20);
                let here = entered().filter(|h| h.terms.place == place as u8 && !sections(h));
                let covered: BTreeSet<u32> =
                    here.flat_map(|h| h.region.base >> 20..=(h.region.base + h.region.bytes - 1) >> 20).collect();
                assert_eq!(account.tables[place as usize].used, covered.len() as u32 * K, "{client} {place:?}");
            }
            let mapped: u32 = self.machine.mappings(client).map(|mapping| mapping.bytes).sum();
            assert_eq!(mapped, entered().map(|h| h.done).sum::<u32>());
            for mapping in self.machine.mappings(client) {
                let holds = |h: &&crate::Holding| h.region.contains(mapping.at) && h.state.is_entered();
                let holding = entered().find(holds).expect("somebody asked for it");
                assert_eq!((mapping.write, mapping.pinned), (holding.write, holding.terms.pinned()));
                assert_eq!(mapping.near, holding.terms.place < TablePlace::OffChip as u8);
                let unit = mapping.bytes;
                assert!(unit.is_power_of_two() && (mapping.at | mapping.from).is_multiple_of(unit), "{mapping:x?}");
                assert!(!mapping.pinned || [PAGE, 64 * K, 1 << 20].contains(&unit));
                let windows = if matches!(holding.state, State::Joined(..) | State::Parting(..)) {
                    0..3
                } else {
                    client..client + 1
                };
                assert!(windows.clone().any(|who| (mapping.at - WINDOW) >> 25 == u32::from(who)), "{mapping:x?}");
                if own(holding.state) {
                    assert!(backed.insert(mapping.from), "memory of two");
                }
            }
        }
        assert_eq!(ledger.lock_slots().used, slots);
        let pools: u32 = ledger.pools().iter().map(|pool| pool.clean.used).sum();
        let gifts = (0..3).filter_map(|client: usize| self.manager.client(client).unwrap().gift);
        let kernel = self.machine.frames_of(Type::Kernel) as u32 * 256 + gifts.map(|gift| gift.bytes).sum::<u32>();
        assert_eq!(pools, used + kernel);
        let left: u32 = (0..2).map(|pool| self.manager.account.left(pool)).sum();
        assert_eq!(left, FAR + NEAR - pools);
        for (number, pool) in (0..).zip(self.manager.account.pools()) {
            let (marks, pieces) = (self.machine.marks(pool.base, pool.bytes), self.manager.account.pieces(number));
            assert!(marks <= 2 * pieces && marks <= marks_most(pool.bytes, true), "{marks} {pieces}");
        }
    }
}

#[test]
fn each_level_is_kept_or_refused_and_says_where_its_tables_lie() {
    let mut world = World::new();
    let locked = world.granted(0, grant(5000, DETERMINISTIC));
    assert_eq!((locked.bytes, locked.level, locked.cycles, locked.method), (64 * K, 4, 6, 1));
    assert_eq!((locked.tables(), locked.base % (64 * K)), (None, 0));
    let mapping = world.machine.mapping(0, locked.base).unwrap();
    assert!(mapping.pinned && mapping.bytes == 64 * K);
    let near = world.granted(0, grant(300, L2));
    assert_eq!((near.bytes, near.level, near.cycles, near.tables()), (PAGE, 2, 60, Some(TablePlace::OnChip)));
    assert_eq!((near.descriptors, near.map_cycles, near.release_cycles), (1, 940, 2050));
    assert_eq!(near.place & place::OBSERVED, place::OBSERVED);
    let far = world.granted(0, grant(300, BEST));
    assert_eq!((far.level, far.method, far.tables()), (0, 0, Some(TablePlace::OffChip)));
    // Its first-level table is off the chip.
    let refused = world.refused(2, grant(300, L2));
    assert_eq!((refused.rule, refused.change, refused.value), (4, 1, L1));
    let refused = world.refused(1, grant(300, L2 | INDEPENDENT));
    assert_eq!((refused.rule, refused.change, refused.value), (20, 1, L2 | PARTLY));
    let partly = world.granted(1, grant(300, L2 | PARTLY));
    assert!(partly.partly().is_some_and(|independence| independence.not_kept.is_some()));
    let constant = world.granted(1, grant(256 * K, L2 | CONSTANT));
    assert_eq!((constant.descriptors, constant.map_cycles), (64, 900 + 64 * 40));
    assert_eq!(world.refused(1, grant(257 * K, L2 | CONSTANT)).rule, 12);
    world.consistent();
}

#[test]
fn four_entries_are_all_that_is_locked_on_the_chip() {
    let mut world = World::new();
    let all: Vec<Granted> =
        (0..4).map(|client| world.granted(client % 3, grant(1, [L1, DETERMINISTIC][client as usize % 2]))).collect();
    let refused = world.refused(2, grant(1, DETERMINISTIC));
    assert_eq!((refused.rule, refused.asked, refused.left), (11, 1, 0));
    world.free(0, all[0].base);
    world.granted(2, grant(1, DETERMINISTIC));
    world.consistent();
}

#[test]
fn scattered_pages_serve_one_allocation() {
    let mut world = World::new();
    let mut singles = vec![];
    for _ in 0..60 {
        singles.push(world.granted(0, grant(PAGE, BEST)).base);
    }
    let rest = world.left();
    let all = world.granted(1, grant(rest, BEST));
    singles.iter().step_by(2).for_each(|base| world.free(0, *base));
    assert_eq!(world.left(), 30 * PAGE);
    let granted = world.granted(2, grant(30 * PAGE, BEST));
    assert_eq!(granted.left, 30 * PAGE, "what admits maps nothing");
    assert!(world.machine.is_clear(2, granted.base, 30 * PAGE));
    let pieces: Vec<u32> = world.machine.mappings(2).map(|mapping| mapping.from).collect();
    assert!(pieces.windows(2).any(|pair| pair[1] != pair[0] + PAGE), "{pieces:x?}");
    world.machine.scribble(2);
    world.free(2, granted.base);
    assert_eq!((world.left(), world.machine.mappings(2).count()), (30 * PAGE, 0));
    world.free(1, all.base);
    let again = world.granted(2, grant(30 * PAGE, BEST));
    assert!(world.machine.is_clear(2, again.base, 30 * PAGE));
    world.consistent();
}

#[test]
fn large_memory_is_in_sections_and_large_pages_where_they_fit() {
    let mut world = World::new();
    // The pool begins at a multiple of 1 MiB.
    let granted = world.granted(0, grant((1 << 20) + 68 * K, BEST));
    let sizes: Vec<u32> = world.machine.mappings(0).map(|mapping| mapping.bytes).collect();
    assert_eq!((granted.left, sizes), ((1 << 20) + 68 * K, vec![1 << 20, 64 * K, PAGE]));
    assert!(granted.base.is_multiple_of(1 << 20));
}

/// Descriptors that one request writes for one domain at most: small pieces, and a large page behind them.
const MOST_WRITTEN: u32 = MAP_STEPS - 1 + 16;

#[test]
fn shared_memory_is_mapped_and_taken_away_a_large_page_at_a_time() {
    let mut world = World::new();
    let wanted = Request { spec: BEST, ..share("samples", 140 * K, READ | WRITE | ALL_READ) };
    let base = world.granted(0, wanted).base;
    world.granted(1, Request { spec: BEST, ..join("control", "samples", 140 * K, READ) });
    let parts = world.machine.mappings(0).filter(|mapping| mapping.bytes == 64 * K).count();
    assert_eq!((parts, world.machine.mappings(1).count()), (2, world.machine.mappings(0).count()));
    let mut requests = 1;
    while world.send(0, Request::new(Operation::Revoke).of("samples")) != Answer::Done(0) {
        requests += 1;
    }
    assert_eq!((requests, world.machine.mappings(1).count()), (3, 0));
    world.free(0, base);
    assert!(world.machine.most_written <= MOST_WRITTEN, "{} descriptors in a request", world.machine.most_written);
    world.consistent();
}

#[test]
fn a_table_is_given_when_there_is_none_and_refused_when_there_is_no_memory_near_for_it() {
    let mut world = World::new();
    // One table is there: the first MiB of its window. Sixteen granules of 64 KiB lie in a MiB.
    let mut refused = None;
    for index in 0..64 {
        match world.send(0, grant(512 * K, L2)) {
            Answer::Granted(granted) => world.finish(0, Operation::Map, granted.base, granted.left),
            Answer::Refused(why) => {
                refused = Some((index, why));
                break;
            }
            Answer::Done(_) => unreachable!(),
        }
        world.consistent();
    }
    let (index, why) = refused.unwrap();
    assert_eq!((index, why.rule), (4, 13), "memory runs out first: {why}");
    let near = world.manager.account.ledger().accounts()[0].tables[TablePlace::OnChip as usize];
    assert_eq!((near.used, near.total), (2 * K, 5 * K));
    assert_eq!(world.machine.frames_of(Type::Kernel) as u32 * 256, PAGE);
    // A client takes all near memory for data: tables do not go elsewhere.
    let data = TemporalSpec { data: Some(MemoryClass::OnChip), ..TemporalSpec::level(AccessLevel::BestEffort) };
    world.granted(1, grant(NEAR - PAGE, data.bits()));
    world.free(0, WINDOW);
    let base = world.granted(1, grant(PAGE, L2));
    let refused = world.refused(1, Request { address: base.base + (1 << 20), ..grant(PAGE, L2) });
    assert_eq!((refused.rule, refused.left), (8, 0));
    world.consistent();
}

#[test]
fn addresses_are_the_clients_own() {
    let mut world = World::new();
    let first = world.granted(0, grant(16 * K, BEST));
    assert_eq!(first.base, WINDOW + (16 << 20));
    let at = |address: u32| Request { address, ..grant(16 * K, BEST) };
    for address in [first.base, first.base + PAGE, WINDOW, WINDOW + (48 << 20), 7 << 20, 0xffff_0000] {
        assert_eq!(world.refused(0, at(address)).rule, 14, "{address:#x}");
    }
    let placed = world.granted(0, at(first.base + (1 << 20)));
    assert_eq!(placed.base, first.base + (1 << 20));
    let Answer::Done(_) = world.send(0, release(first.base)) else { panic!() };
    assert_eq!(world.refused(0, at(first.base)).rule, 14, "while it is dirty");
    world.finish(0, Operation::Scrub, first.base, 1);
    assert_eq!(world.granted(0, at(first.base)).base, first.base);
    let aligned = world.granted(0, Request { alignment: 4 << 20, ..share("samples", PAGE, READ | WRITE) });
    assert!(aligned.base.is_multiple_of(4 << 20));
    world.consistent();
}

#[test]
fn shared_memory_has_its_owners_address_and_is_taken_back_in_steps() {
    let mut world = World::new();
    let spec = |spec: u32, request: Request| Request { spec, ..request };
    let own = world.granted(0, spec(L2, share("samples", 40 * K, READ | WRITE | ALL_READ)));
    let joined = world.granted(1, spec(L2, join("control", "samples", 40 * K, READ)));
    assert_eq!((joined.base, joined.bytes), (own.base, own.bytes));
    assert!(world.machine.mappings(1).all(|mapping| !mapping.write && mapping.near));
    assert_eq!(world.refused(2, spec(L2, join("control", "samples", 40 * K, READ))).rule, 4);
    world.consistent();
    assert_eq!(world.refused(0, release(own.base)).left, 1);
    // There are two pieces, and the first is so large that its request takes no further one.
    for left in [1, 0] {
        assert_eq!(world.send(0, Request::new(Operation::Revoke).of("samples")), Answer::Done(left));
        assert_eq!(world.machine.mappings(1).count(), left as usize);
    }
    world.free(0, own.base);
    assert_eq!(world.manager.account.left(0), FAR);
    // Shared memory cannot be joined before its owner has mapped all of it.
    let wanted = share("samples", 700 * K, READ | WRITE | ALL_READ);
    let Answer::Granted(granted) = world.send(0, wanted) else { panic!("granted") };
    assert!(granted.left > 0);
    assert_eq!(world.refused(2, join("control", "samples", 700 * K, READ)).rule, crate::rule::MADE);
    world.finish(0, Operation::Map, granted.base, granted.left);
    world.granted(2, join("control", "samples", 700 * K, READ));
    // It is taken from its member before the owner can free it: several requests.
    let mut steps = 0;
    while world.send(0, Request::new(Operation::Revoke).of("samples")) != Answer::Done(0) {
        world.consistent();
        steps += 1;
    }
    assert!(steps > 0);
    world.free(0, granted.base);
    assert_eq!((world.left(), world.machine.mapped()), (FAR, 0));
}

#[test]
fn a_dead_clients_memory_comes_back_step_by_step() {
    let mut world = World::new();
    for (bytes, spec) in [(70 * K, L2), (1, DETERMINISTIC), (1 << 20, BEST)] {
        world.granted(0, grant(bytes, spec));
    }
    world.granted(0, share("samples", 40 * K, READ | WRITE | ALL_READ));
    world.granted(1, join("control", "samples", 40 * K, READ));
    // Half mapped.
    world.send(0, grant(600 * K, BEST));
    world.machine.scribble(0);
    let mut steps = 0;
    while world.send(SUPERVISOR, Request::new(Operation::Reclaim).with("control")) != Answer::Done(0) {
        steps += 1;
        assert!(steps < 3000);
        world.consistent();
    }
    assert_eq!((world.machine.mapped(), world.left()), (0, FAR));
    assert_eq!(world.manager.account.ledger().lock_slots().used, 0);
}

/// A world with thirty pages left, none beside another.
fn scattered() -> World {
    let mut world = World::new();
    let singles: Vec<u32> = (0..60).map(|_| world.granted(1, grant(PAGE, BEST)).base).collect();
    let rest = world.left();
    world.granted(2, grant(rest, BEST));
    (0..60).step_by(2).for_each(|index| world.free(1, singles[index]));
    world
}

#[test]
fn what_the_kernel_refuses_is_undone() {
    for fail_at in 1..=9 {
        // Pieces of a page, so that there are four in a request.
        let mut world = scattered();
        world.machine.fail_at = Some(fail_at);
        let request = grant(30 * PAGE, L2);
        let Ok(Answer::Granted(granted)) = world.ask(0, request) else { panic!("what admits calls nothing here") };
        let failed = world.ask(0, Request::new(Operation::Map).about(granted.base)).is_err();
        assert_eq!(failed, fail_at <= 8, "{fail_at}");
        world.machine.fail_at = None;
        world.consistent();
        while world.send(0, Request::new(Operation::Reclaim)) != Answer::Done(0) {
            world.consistent();
        }
        assert_eq!((world.machine.mappings(0).count(), world.left()), (0, 30 * PAGE), "{fail_at}");
        world.granted(0, request);
    }
}

/// Two managers with the same hand-over decide alike.
#[test]
fn no_history_makes_ledger_pieces_and_kernel_disagree() {
    let specs = [BEST, L2, L1, DETERMINISTIC, 1, L2 | INDEPENDENT, L2 | PARTLY, BEST | CONSTANT];
    let (mut granted, mut refused, mut mapped) = (0, 0, 0);
    for seed in 1..=8 {
        let (mut world, mut twin) = (World::new(), World::new());
        let mut history = History::new(seed, 3, &specs);
        for _ in 0..1500 {
            let request = Request::decode(&history.message()).unwrap();
            let badge = history.who() as u32;
            let answer = world.send(badge, request);
            assert_eq!(twin.send(badge, request), answer);
            granted += u32::from(matches!(answer, Answer::Granted(_)));
            refused += u32::from(matches!(answer, Answer::Refused(_)));
            mapped += u32::from(request.operation == Operation::Map);
            if let Answer::Granted(granted) = answer
                && request.operation == Operation::Grant
            {
                let bytes = granted.bytes - granted.left;
                assert!(world.machine.is_clear(badge as u8, granted.base, bytes), "granted memory is clean");
                assert!(granted.level >= request.spec & 7, "{granted:?}");
            }
            history.learn(Some(&answer));
            world.machine.scribble(badge as u8);
            world.consistent();
        }
        assert!(world.machine.most_written <= REVOKE_STEPS * MOST_WRITTEN, "{}", world.machine.most_written);
        assert!(world.machine.most <= 2 * MAP_STEPS + 2, "{} kernel calls for a request", world.machine.most);
    }
    assert!(granted > 1000 && refused > 1000, "{granted} {refused}");
    assert!(mapped > 0, "{mapped}");
}

#[test]
fn a_client_that_asks_without_end_leaves_the_others_their_quotas() {
    const KEPT: u32 = 300 * K;
    let mut world = World::with(&[(1, 0, KEPT), (2, 0, 40 * K)]);
    for bytes in [256 * K, 64 * K, PAGE] {
        while let Answer::Granted(granted) = world.send(0, grant(bytes, BEST)) {
            world.finish(0, Operation::Map, granted.base, granted.left);
        }
    }
    let refused = world.refused(0, grant(PAGE, BEST));
    assert_eq!((refused.rule, refused.asked, refused.left), (15, PAGE, 0));
    let refused = world.refused(1, grant(KEPT + 1, BEST));
    assert_eq!((refused.rule, refused.left, refused.value), (15, KEPT, KEPT));
    // Any pages do: not one of them is missing.
    world.granted(1, grant(KEPT, BEST));
    world.granted(2, grant(40 * K, BEST));
    world.consistent();
}

#[test]
fn a_client_that_scatters_its_pages_leaves_the_others_their_marks() {
    const KEPT: u32 = 12 * PAGE;
    let mut few = pools();
    few[0].marks = marks_kept([KEPT].into_iter(), true) + 20;
    let mut world = World::of(&few, &[(1, 0, KEPT)]);
    // Holes of a page each, so that nothing larger is left for later requests.
    let mut pages = Vec::new();
    while let Answer::Granted(granted) = world.send(0, grant(PAGE, BEST)) {
        match world.ask(0, Request::new(Operation::Map).about(granted.base)) {
            Ok(Answer::Done(0)) => pages.push(granted.base),
            told => {
                assert_eq!(told, Err(Error::Full), "one piece more than there are marks for");
                break;
            }
        }
    }
    assert_eq!(pages.len(), 10);
    pages.iter().step_by(2).for_each(|base| world.free(0, *base));
    world.granted(1, grant(KEPT, BEST));
    world.consistent();
}

#[test]
fn no_history_over_a_busy_kernel_makes_ledger_pieces_and_kernel_disagree() {
    let specs = [BEST, L2, L1, DETERMINISTIC];
    let (mut busy, mut granted) = (0, 0);
    for seed in 1..=6 {
        let (mut world, mut history) = (World::new(), History::new(seed, 3, &specs));
        world.machine.busy = seed;
        for _ in 0..1500 {
            let request = Request::decode(&history.message()).unwrap();
            let badge = history.who() as u32;
            let answer = loop {
                match world.ask(badge, request) {
                    Err(Error::Busy) => busy += 1,
                    answer => break answer.unwrap(),
                }
                world.consistent();
            };
            granted += u32::from(matches!(answer, Answer::Granted(_)));
            history.learn(Some(&answer));
            world.machine.scribble(badge as u8);
            world.consistent();
        }
    }
    assert!(busy > 1000 && granted > 800, "{busy} {granted}");
}

/// A client that asks for more than its window, its locked entries or a pool has is told of a size
/// that it gets, and never "no change".
#[test]
fn whoever_asks_for_too_much_is_told_how_much_there_is() {
    for spec in [BEST, L1, L2, DETERMINISTIC, CONSTANT, L2 | CONSTANT] {
        for bytes in
            [FAR + 1, 3 << 20, 4 << 20, (4 << 20) + 1, 8 << 20, 1 << 31, (1 << 31) + 1, u32::MAX - PAGE, u32::MAX]
        {
            let mut world = World::new();
            let first = grant(bytes, spec);
            let refused = world.refused(0, first);
            let again = match refused.change {
                crate::rule::change::SPEC | 1 => grant(bytes, refused.value),
                crate::rule::change::BYTES | 2 => grant(refused.value, spec),
                other => panic!("{bytes:#x} by {spec:#x}: no way but {other}: {refused}"),
            };
            assert!(refused.change != 2 || (PAGE..bytes).contains(&refused.value), "{refused}");
            world.granted(0, again);
            world.consistent();
        }
    }
}
