//! The real account: ledger and extents, in the same histories.

use std::vec;
use std::vec::Vec;

use memory::extents::words_for;
use spec::{AccessLevel, Hardware, Ledger, MemoryClass, Opening, Platform, Regions, TablePlace, TemporalSpec};

use super::machine::{Machine, POOL, Type};
use super::{DECLARED, POOL_BYTES, declare, grant, release};
use crate::history::{History, NAMES};
use crate::rule::change::{RELEASE, UNKNOWN};
use crate::rule::{MARKS, SPECIFIED};
use crate::tally::{marks_kept, marks_most};
use crate::wire::{Answer, Granted, Operation, Refused, Request, padded, place};
use crate::{Books, Declared, Error, HandOver, HandOverError, Manager, PoolAt, State};

const WORDS: usize = words_for(8);
/// The far pool; the rest is on the chip, where tables can grow.
const FAR_BYTES: u32 = 48 * 1024;
const TABLE: u32 = 4 * 288;
type Accounts = Books<4, 2, WORDS, 1, 0>;
type Real = Manager<Accounts, 4, 64, 4>;

const DETERMINISTIC: u32 = TemporalSpec::level(AccessLevel::Deterministic).bits();
const L1: u32 = TemporalSpec::level(AccessLevel::L1).bits();
const L2: u32 = TemporalSpec::level(AccessLevel::L2).bits();
const L3: u32 = TemporalSpec::level(AccessLevel::L3).bits();

fn pools() -> [PoolAt; 2] {
    [PoolAt::new("far", POOL, FAR_BYTES), PoolAt::new("near", POOL + FAR_BYTES, POOL_BYTES - FAR_BYTES)]
}

fn shares() -> [Declared; 2] {
    [0, 2].map(|index: usize| {
        let (owner, name, who) = DECLARED[index];
        Declared { owner: owner as u8, who, name: padded(name) }
    })
}

fn hand_over(pools: &[PoolAt]) -> std::vec::Vec<u8> {
    hand_over_with(pools, &[])
}

/// With quotas: domain, pool, bytes.
fn hand_over_with(pools: &[PoolAt], quotas: &[(u8, u8, u32)]) -> std::vec::Vec<u8> {
    let mut ledger: Ledger<4, 2> = Ledger::new(
        Platform::new(Hardware::Regions(Regions::new(8, Some(180), 260)), &[MemoryClass::OffChip]),
        [8192, 8192, 0, 0],
    );
    for root in [TablePlace::Tcm, TablePlace::OnChip, TablePlace::OnChip] {
        ledger.open(&Opening::new(root, TABLE)).unwrap();
    }
    ledger.add_pool(MemoryClass::OffChip, FAR_BYTES).unwrap();
    ledger.add_pool(MemoryClass::OnChip, POOL_BYTES - FAR_BYTES).unwrap();
    assert!(quotas.iter().all(|(domain, pool, bytes)| ledger.keep(*domain, *pool, *bytes)));
    let mut bytes = vec![0; HandOver::bytes(3, 2, shares().len())];
    assert_eq!(HandOver::encode(&ledger, pools, &shares(), &mut bytes), Some(bytes.len()));
    bytes
}

struct World {
    manager: Real,
    machine: Machine,
}

impl World {
    fn new() -> World {
        World::with(&[])
    }

    fn with(quotas: &[(u8, u8, u32)]) -> World {
        World::of(&pools(), quotas)
    }

    fn of(pools: &[PoolAt], quotas: &[(u8, u8, u32)]) -> World {
        let bytes = hand_over_with(pools, quotas);
        let mut manager = Real::new(Books::closed());
        manager.account.open(HandOver::new(&bytes)).unwrap();
        for (index, name) in NAMES.iter().enumerate() {
            assert!(manager.enrol(index, name));
        }
        declare(&mut manager);
        World { manager, machine: Machine::new(POOL_BYTES) }
    }

    fn send(&mut self, badge: u32, request: Request) -> Answer {
        let answer = self.manager.serve(badge, &request.encode(), &mut self.machine).unwrap();
        Answer::decode(&answer).unwrap()
    }

    fn granted(&mut self, badge: u32, request: Request) -> Granted {
        match self.send(badge, request) {
            Answer::Granted(granted) => granted,
            other => panic!("{request:?}: {other:?}"),
        }
    }

    /// The refusal with its change, which is looked for as the client's library does; nothing changes meanwhile.
    fn refused(&mut self, badge: u32, request: Request) -> Refused {
        let before = self.manager.account.ledger().clone();
        let mut answer = self.send(badge, request);
        while let Answer::Refused(Refused { change: UNKNOWN, value, .. }) = answer {
            answer = self.send(badge, request.explained(value as u16));
        }
        assert_eq!(*self.manager.account.ledger(), before, "{request:?}");
        match answer {
            Answer::Refused(refused) => refused,
            other => panic!("{request:?}: {other:?}"),
        }
    }

    /// Checks that the ledger agrees with what the clients hold, and the extents with the kernel.
    fn consistent(&self) {
        let ledger = self.manager.account.ledger();
        let mut used = 0;
        for client in 0..3_usize {
            let record = self.manager.client(client).unwrap();
            let sum = |state: &dyn Fn(State) -> bool| -> u32 {
                record.holdings.iter().filter(|h| state(h.state)).map(|h| h.region.bytes).sum()
            };
            let account = &ledger.accounts()[client];
            assert_eq!(account.held, sum(&|s| matches!(s, State::Private | State::Owned(_))));
            assert_eq!(account.dirty, sum(&|s| s == State::Dirty));
            let live = |pinned: bool| {
                let live = record.holdings.iter().filter(|h| !matches!(h.state, State::Free | State::Dirty));
                live.filter(|h| h.terms.pinned() == pinned).count()
            };
            assert_eq!((account.slots.used as usize, usize::from(account.data)), (live(true), live(false)));
            used += account.held + account.dirty;
        }
        let pools: u32 = ledger.pools().iter().map(|pool| pool.clean.used).sum();
        let gifts = (0..3).filter_map(|client: usize| self.manager.client(client).unwrap().gift);
        let kernel = self.machine.frames_of(Type::Kernel) as u32 * 256 + gifts.map(|gift| gift.bytes).sum::<u32>();
        assert_eq!(pools, used + kernel);
        for (pool, of) in (0..).zip(ledger.pools()) {
            let quotas = (0..3).map(|domain| ledger.quota(domain, pool));
            assert_eq!(quotas.clone().map(|quota| quota.used).sum::<u32>(), of.clean.used);
            assert!(quotas.into_iter().all(|quota| quota.most.is_none_or(|most| quota.used <= most)));
        }
        for (number, pool) in (0..).zip(self.manager.account.pools()) {
            let (marks, pieces) = (self.machine.marks(pool.base, pool.bytes), self.manager.account.pieces(number));
            assert!(marks <= 2 * pieces && marks <= marks_most(pool.bytes, false), "{marks} {pieces}");
        }
        assert!(kernel >= self.tables() && self.machine.frames_of(Type::Shared) as u32 * 256 <= used);
    }

    fn tables(&self) -> u32 {
        self.manager.account.ledger().accounts().iter().map(|account| account.table().total - TABLE).sum()
    }
}

#[test]
fn each_level_is_kept_or_refused() {
    let mut world = World::new();
    let pinned = world.granted(0, grant(1100, DETERMINISTIC));
    assert_eq!((pinned.bytes, pinned.level, pinned.cycles, pinned.method), (1280, 4, 0, 1));
    assert!(world.machine.mapping(0, pinned.base).unwrap().pinned);
    let near = world.granted(0, grant(300, L1));
    assert_eq!((near.level, near.cycles, near.method), (3, 180, 2));
    assert_eq!(world.granted(0, grant(300, L2)).cycles, 180, "of the domain's table");
    assert_eq!(world.granted(1, grant(300, L2)).cycles, 260);
    let refused = world.refused(1, grant(300, L1));
    assert_eq!((refused.rule, refused.change, refused.value), (4, 1, DETERMINISTIC));
    let refused = world.refused(1, grant(300, L3));
    assert_eq!((refused.rule, refused.change), (17, 1));
    assert_eq!(world.refused(1, grant(300, 0x55aa)).rule, SPECIFIED);
    world.consistent();
}

#[test]
fn registers_are_left_to_what_is_paged() {
    let mut world = World::new();
    world.granted(0, grant(256, L1));
    for _ in 0..6 {
        world.granted(0, grant(256, DETERMINISTIC));
    }
    let refused = world.refused(0, grant(256, DETERMINISTIC));
    assert_eq!((refused.rule, refused.asked, refused.left), (5, 1, 0));
    assert_eq!((refused.change, refused.value), (1, L1), "what would be admitted");
    world.consistent();
}

#[test]
fn a_table_grows_while_there_is_memory_for_it() {
    let mut world = World::new();
    let mut grants = 0;
    while let Answer::Granted(_) = world.send(1, grant(256, L2)) {
        grants += 1;
        world.consistent();
    }
    let used = world.tables();
    assert!(grants > TABLE / 296 && used > 8192, "{grants} {used}");
    assert_eq!(world.refused(1, grant(256, L2)).rule, 8);
    let pools = world.manager.account.ledger().pools();
    let kernel = world.machine.frames_of(Type::Kernel) as u32 * 256;
    assert_eq!((pools[0].clean.used, pools[1].clean.used), (grants * 256, kernel));
}

#[test]
fn memory_comes_back_with_its_charges() {
    let mut world = World::new();
    let all = world.granted(0, grant(32 * 1024, L1));
    world.send(0, release(all.base));
    world.consistent();
    assert_eq!(world.refused(1, grant(32 * 1024, L2)).rule, 10, "there would be room, were it clean");
    while world.send(0, Request::new(Operation::Scrub).about(all.base)) != Answer::Done(0) {}
    world.consistent();
    assert_eq!(world.manager.account.ledger().accounts()[0].dirty, 0);
}

#[test]
fn a_client_that_asks_without_end_leaves_the_others_their_quotas() {
    const KEPT: u32 = 8192;
    let mut world = World::with(&[(1, 0, KEPT), (1, 1, 4096), (2, 0, 2 * KEPT)]);
    for bytes in [16 * 1024, 4096, 1024, 256] {
        while let Answer::Granted(_) = world.send(0, grant(bytes, DETERMINISTIC)) {}
        while let Answer::Granted(_) = world.send(0, grant(bytes, L2)) {}
    }
    world.consistent();
    assert_eq!(world.refused(0, grant(1024, L2)).rule, 15);
    world.granted(1, grant(KEPT, L2));
    let refused = world.refused(1, grant(6000, L2));
    assert_eq!((refused.rule, refused.asked, refused.left, refused.change), (15, 6000, 4096, 2));
    world.granted(2, grant(2 * KEPT, L2));
    world.consistent();
}

#[test]
fn a_client_that_cuts_memory_into_pieces_leaves_the_others_their_marks() {
    const KEPT: u32 = 4096;
    let far = TemporalSpec { data: Some(MemoryClass::OffChip), ..TemporalSpec::level(AccessLevel::L2) }.bits();
    let kept = marks_kept([KEPT].into_iter(), false);
    let mut few = pools();
    few[0].marks = kept + 20;
    let mut world = World::of(&few, &[(2, 0, KEPT)]);
    let mut scattered = Vec::new();
    while let Answer::Granted(granted) = world.send(1, grant(256, far)) {
        scattered.push(granted.base);
    }
    let refused = world.refused(1, grant(256, far));
    assert_eq!((scattered.len(), refused.rule, refused.change, refused.value), (10, MARKS, RELEASE, 1));
    assert_eq!(world.refused(0, grant(256, far)).rule, MARKS, "who has no quota shares what is left");
    for _ in 0..KEPT / 256 {
        world.granted(2, grant(256, far));
    }
    assert_eq!(world.refused(2, grant(256, far)).rule, 15);
    world.consistent();
    // Anybody can have the memory that was given back.
    world.send(1, release(scattered[3]));
    assert_eq!(world.refused(0, grant(256, far)).rule, MARKS, "before it is clean it is a piece");
    while world.send(1, Request::new(Operation::Scrub).about(scattered[3])) != Answer::Done(0) {}
    world.granted(0, grant(256, far));
    world.consistent();
    few[0].marks = kept - 1;
    assert_eq!(open(&hand_over_with(&few, &[(2, 0, KEPT)])), Err(HandOverError::Marks));
}

#[test]
fn a_refusal_is_told_before_anybody_looks_for_its_remedy() {
    let mut world = World::new();
    let too_much = grant(2 * POOL_BYTES, L2);
    let told = Refused { rule: 9, asked: 2 * POOL_BYTES, left: 32 * 1024, change: UNKNOWN, value: 0 };
    assert_eq!(world.send(0, too_much), Answer::Refused(told));
    let found = Refused { change: 2, value: 32 * 1024, ..told };
    assert_eq!(world.send(0, too_much.explained(0)), Answer::Refused(found));
    // A step that there is not finds nothing.
    assert_eq!(world.send(0, too_much.explained(u16::MAX)), Answer::Refused(Refused { change: 0, value: 0, ..told }));
    // A request that would be granted is not explained.
    assert_eq!(world.send(0, grant(1024, L2).explained(0)), Answer::Done(0));
    assert!(world.manager.client(0).unwrap().in_use().is_none());
    world.consistent();
}

#[test]
fn only_what_asks_for_memory_is_explained() {
    let mut world = World::new();
    for word in (0..=u32::from(u8::MAX)).chain([1 << 15, u32::MAX]) {
        let mut words = grant(1024, L2).explained(0).encode();
        words[7] = word;
        let answer = world.manager.serve(0, &words, &mut world.machine);
        let asks = [Operation::Grant, Operation::Share, Operation::Join].map(|operation| operation as u32);
        assert_eq!(answer.is_ok(), asks.contains(&word), "{word:#x}");
        assert!(answer.is_ok() || answer == Err(Error::BadArgument));
    }
    world.consistent();
}

#[test]
fn no_history_makes_ledger_extents_and_kernel_disagree() {
    let specs = [0, L2, L1, DETERMINISTIC, L3, L2 | 8];
    let (mut granted, mut refused, mut joined) = (0, 0, 0);
    for seed in 1..=8 {
        // Every second one with quotas.
        let quotas: &[(u8, u8, u32)] =
            if seed % 2 == 0 { &[(0, 0, 20 * 1024), (1, 0, 9000), (1, 1, 8192)] } else { &[] };
        let (mut world, mut history) = (World::with(quotas), History::new(seed, 3, &specs));
        for _ in 0..3000 {
            world.machine.begin();
            let answer = world.manager.serve(history.who() as u32, &history.message(), &mut world.machine);
            let answer = answer.ok().and_then(|words| Answer::decode(&words));
            let answer = answer.unwrap_or_else(|| panic!("{:?}", Request::decode(&history.message())));
            granted += u32::from(matches!(answer, Answer::Granted(_)));
            let joins = history.message()[0] == Operation::Join as u32;
            joined += u32::from(joins && matches!(answer, Answer::Granted(_)));
            refused += u32::from(matches!(answer, Answer::Refused(_)));
            history.learn(Some(&answer));
            world.consistent();
        }
    }
    assert!(granted > 1000 && refused > 1000 && joined > 20, "{granted} {refused} {joined}");
}

/// A request that finds another manager's edit under way is sent again, and its memory mapped to
/// the end. Then the answers are as without the other manager.
#[test]
fn a_busy_kernel_changes_nothing_but_how_often_is_asked() {
    let specs = [0, L2, L1, DETERMINISTIC];
    let mut busy = 0;
    for seed in 1..=6 {
        let (mut world, mut twin, mut history) = (World::new(), World::new(), History::new(seed, 3, &specs));
        world.machine.busy = seed;
        for _ in 0..1500 {
            let who = history.who() as u32;
            let mut ask = |world: &mut World, request: &Request| loop {
                match world.manager.serve(who, &request.encode(), &mut world.machine) {
                    Err(Error::Busy) => busy += 1,
                    answer => return Answer::decode(&answer.unwrap()).unwrap(),
                }
                world.consistent();
            };
            let request = Request::decode(&history.message()).unwrap();
            let mut answer = ask(&mut world, &request);
            if let Answer::Granted(granted) = &mut answer {
                while granted.left > 0 {
                    let Answer::Done(left) = ask(&mut world, &Request::new(Operation::Map).about(granted.base)) else {
                        panic!("mapped to the end")
                    };
                    granted.left = left;
                }
            }
            // How many domains lose it in a step is another matter, so the counts may differ.
            let mut expected = twin.send(who, request);
            while request.operation == Operation::Revoke && matches!(answer, Answer::Done(1..)) {
                answer = ask(&mut world, &request);
            }
            while request.operation == Operation::Revoke && matches!(expected, Answer::Done(1..)) {
                expected = twin.send(who, request);
            }
            assert_eq!(expected, answer, "{request:?}");
            history.learn(Some(&answer));
            world.consistent();
        }
    }
    assert!(busy > 1000, "{busy}");
}

fn open(bytes: &[u8]) -> Result<(), HandOverError> {
    Accounts::closed().open(HandOver::new(bytes))
}

#[test]
fn a_hand_over_says_where_the_pools_lie() {
    let bytes = hand_over(&pools());
    let (found, count) = HandOver::new(&bytes).pools::<2>().unwrap();
    assert_eq!((found, count), (pools(), 2));
    assert_eq!([found[0].text(), found[1].text()], ["far", "near"]);
    assert_eq!(HandOver::new(&bytes).pools::<1>().unwrap_err(), HandOverError::Pools);
    let found: std::vec::Vec<_> = HandOver::new(&bytes).shares().collect();
    assert_eq!(found, shares().map(Ok));
}

#[test]
fn a_damaged_hand_over_is_refused() {
    let good = hand_over(&pools());
    for length in 0..good.len() {
        assert!(open(&good[..length]).is_err(), "{length}");
    }
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        let opened = open(&bad);
        // Bases, marks and names of pools, and what is shared, can be others; everything else is checked.
        let (pool, word) = (at.checked_sub(8).map_or(usize::MAX, |at| at / 28), at.wrapping_sub(8) % 28 / 4);
        let shared = (8 + 2 * 28..8 + 4 * 28).contains(&at);
        assert!(opened.is_err() || shared || (pool < 2 && word != 1), "{at}");
    }
    let small = hand_over(&[PoolAt::new("far", POOL, FAR_BYTES - 256), pools()[1]]);
    assert_eq!(open(&small), Err(HandOverError::Pools));
}

#[test]
fn the_c_header_has_the_numbers_of_the_crates() {
    let header = include_str!("../../../../user/c/include/cofferdam_memory.h");
    let level = |level: AccessLevel| TemporalSpec::level(level).bits();
    let flags = |spec: TemporalSpec| spec.bits();
    let plain = TemporalSpec::default();
    let data = |class| flags(TemporalSpec { data: Some(class), ..plain }) >> 5;
    let access = crate::wire::access::READ;
    let defines = [
        std::format!("RT_BEST_EFFORT {}u", level(AccessLevel::BestEffort)),
        std::format!("RT_L3 {L3}u"),
        std::format!("RT_L2 {L2}u"),
        std::format!("RT_L1 {L1}u"),
        std::format!("RT_DETERMINISTIC {DETERMINISTIC}u"),
        std::format!("RT_INDEPENDENT {}u", flags(TemporalSpec { independent: true, ..plain })),
        std::format!("RT_CONSTANT_TIME {}u", flags(TemporalSpec { constant_time: true, ..plain })),
        std::format!("RT_ALLOW_PARTIAL {}u", flags(TemporalSpec { allow_partial: true, ..plain })),
        std::format!("RT_DATA_TCM ({}u << 5)", data(MemoryClass::Tcm)),
        std::format!("RT_DATA_ON_CHIP ({}u << 5)", data(MemoryClass::OnChip)),
        std::format!("RT_DATA_OFF_CHIP ({}u << 5)", data(MemoryClass::OffChip)),
        std::format!("RT_READ {access}u"),
        std::format!("RT_WRITE {}u", crate::wire::access::WRITE),
        std::format!("RT_ALL_READ {}u", crate::wire::access::ALL_READ),
        std::format!("RT_ALL_WRITE {}u", crate::wire::access::ALL_WRITE),
        std::format!("RT_DERIVED {}u", spec::Method::Derived as u32),
        std::format!("RT_OBSERVED {}u", spec::Method::Observed as u32),
        std::format!("RT_TABLES_TCM {}u", TablePlace::Tcm as u32),
        std::format!("RT_TABLES_ON_CHIP {}u", TablePlace::OnChip as u32),
        std::format!("RT_TABLES_LOCKED_WAYS {}u", TablePlace::LockedWays as u32),
        std::format!("RT_TABLES_OFF_CHIP {}u", TablePlace::OffChip as u32),
        std::format!("RT_TABLES_UNKNOWN {}u", place::TABLE),
        std::format!("RT_PLACE_PINNED {}u", place::PINNED),
        std::format!("RT_PLACE_PARTLY {}u", place::PARTLY),
        std::format!("RT_PLACE_OBSERVED {}u", place::OBSERVED),
    ];
    for define in defines {
        let found =
            header.lines().filter_map(|line| line.strip_prefix("#define ")).any(|line| line.starts_with(&define));
        assert!(found, "no `{define}`");
    }
}

/// More than 2 GiB is more than a region register covers. What is left is told all the same,
/// because the client has to know what it can ask for.
#[test]
fn whoever_asks_for_more_than_any_region_is_told_how_much_there_is() {
    for bytes in [1 << 31, (1 << 31) + 1, u32::MAX - 255, u32::MAX] {
        let mut world = World::new();
        let refused = world.refused(0, grant(bytes, L2));
        assert_eq!(
            (refused.rule, refused.left, refused.change, refused.value),
            (9, 32 * 1024, 2, 32 * 1024),
            "{bytes:#x}"
        );
        world.granted(0, grant(refused.value, L2));
        world.consistent();
    }
}
