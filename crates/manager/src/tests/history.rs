//! Random requests of honest and hostile clients; what must hold, holds after each of them.

use std::vec::Vec;

use super::machine::{POOL, Type};
use super::*;
use crate::history::History;
use crate::wire::MESSAGE_WORDS;
use crate::{Account, SUPERVISOR, State};

/// xorshift32 (Marsaglia 2003).
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    fn of(&mut self, values: &[u32]) -> u32 {
        values[self.below(values.len() as u32) as usize]
    }
}

const BORDERS: &[u32] = &[0, 1, 255, 256, 257, POOL - 1, POOL, POOL + 1, POOL + POOL_BYTES, 0x7fff_ffff, u32::MAX];

fn request(random: &mut Random, bases: &[u32]) -> [u32; MESSAGE_WORDS] {
    let mut words = [0; MESSAGE_WORDS];
    words[0] = random.below(Operation::ALL.len() as u32 + 2);
    words[1] = random.of(&[PLAIN, PLAIN, PINNED, 99]);
    words[2] = if random.below(4) == 0 { random.of(BORDERS) } else { random.below(9000) };
    words[3] = match random.below(8) {
        0 => random.of(BORDERS),
        1 => 0,
        2 => random.below(4),
        _ if bases.is_empty() => 7,
        _ => random.of(bases),
    };
    words[4] = random.of(&[0, 0, 1, 4096, 3, 0x8000_0000]);
    words[5] = random.below(20);
    words[7] = random.of(&[1, 2, 10, 10 | 3 << 16, 1 | 30 << 16, 0, 3, 11, u32::MAX]);
    let names: &[&str] = &["", "", "control", "store", "script", "nobody"];
    let name = Request::new(Operation::Query).with(names[random.below(names.len() as u32) as usize]).encode();
    words[8..12].copy_from_slice(&name[8..12]);
    let shares: &[&str] = &["samples", "samples", "series", "log", "absent", ""];
    let share = Request::new(Operation::Query).of(shares[random.below(shares.len() as u32) as usize]).encode();
    words[12..].copy_from_slice(&share[12..]);
    words
}

/// Checks that the tables, the account and the kernel agree, and that no client has memory mapped
/// that was not granted to it.
fn consistent(world: &World) {
    let (mut mapped, mut typed) = (0, 0);
    for client in 0..3_usize {
        let record = world.manager.client(client).unwrap();
        let live: Vec<_> = record.holdings.iter().filter(|h| !matches!(h.state, State::Free | State::Dirty)).collect();
        mapped += live.len();
        assert_eq!(world.manager.account.entries[client] as usize, live.len());
        for holding in &live {
            let told = &world.machine.told[&(client as u8, holding.region.base)];
            assert_eq!((told.bytes, told.spec, told.write), (holding.region.bytes, holding.spec, holding.write));
            assert_eq!((told.pinned, told.place as u8), (holding.terms.pinned(), holding.terms.place));
            let piece = world.manager.account.piece(&holding.region, holding.region.first).unwrap();
            assert_eq!(world.machine.mapping(client as u8, holding.region.base), Some(&holding.mapping(0, &piece)));
        }
        let owned = |h: &&crate::Holding| !matches!(h.state, State::Free | State::Joined(..));
        let charged: u32 = record.holdings.iter().filter(owned).map(|h| h.region.bytes).sum();
        assert_eq!(world.manager.account.charged[client], charged);
        typed += charged;
    }
    assert_eq!((world.machine.mapped(), world.machine.told.len()), (mapped, mapped));
    assert_eq!(world.manager.account.free_bytes() + typed, POOL_BYTES);
    assert!(world.machine.frames_of(Type::Shared) as u32 * 256 <= typed);
}

#[test]
fn no_history_makes_the_tables_disagree() {
    let (mut grants, mut refusals) = (0, 0);
    for seed in 1..=24 {
        let (mut world, mut random) = (World::new(), Random(seed));
        for _ in 0..2000 {
            let bases: Vec<u32> = (0..3)
                .flat_map(|client| world.manager.client(client).unwrap().holdings.map(|holding| holding.region.base))
                .filter(|base| *base != 0)
                .collect();
            let words = request(&mut random, &bases);
            let badge = random.of(&[0, 1, 2, 2, 3, SUPERVISOR]);
            world.machine.begin();
            if let Ok(answer) = world.manager.serve(badge, &words, &mut world.machine) {
                match Answer::decode(&answer).unwrap() {
                    Answer::Granted(granted) => {
                        grants += 1;
                        assert!(granted.base >= POOL && granted.base - POOL + granted.bytes <= POOL_BYTES);
                        if words[0] == Operation::Grant as u32 {
                            let clear = world.machine.clear(granted.base, granted.bytes);
                            assert!(clear, "granted memory is clean");
                        }
                    }
                    Answer::Refused(_) => refusals += 1,
                    Answer::Done(_) => {}
                }
            }
            world.machine.scribble(random.below(3) as u8);
            consistent(&world);
        }
        assert!(world.machine.most <= 4 + crate::SCRUB_STEPS, "{} kernel calls for a request", world.machine.most);
    }
    assert!(grants > 1000 && refusals > 1000, "{grants} {refusals}");
}

/// The history that host and target replay, here on simple books: it gets somewhere, and its state is all there is to it.
#[test]
fn a_replayed_history_grants_refuses_releases_and_resumes() {
    let specs = [PLAIN, PINNED];
    let (mut world, mut history) = (World::new(), History::new(5, 3, &specs));
    let (mut grants, mut refusals, mut done) = (0, 0, 0);
    for index in 0..5000 {
        let mut copy = History::resume(*history.words(), &specs);
        assert_eq!((copy.index(), copy.message()), (index, history.message()));
        world.machine.begin();
        let answer = world.manager.serve(history.who() as u32, &history.message(), &mut world.machine);
        let answer = answer.ok().and_then(|words| Answer::decode(&words));
        match answer {
            Some(Answer::Granted(_)) => grants += 1,
            Some(Answer::Refused(_)) => refusals += 1,
            Some(Answer::Done(_)) => done += 1,
            None => panic!("{:?}", Request::decode(&history.message())),
        }
        history.learn(answer.as_ref());
        copy.learn(answer.as_ref());
        assert_eq!(copy, history);
        consistent(&world);
    }
    assert!(grants > 500 && refusals > 500 && done > 500, "{grants} {refusals} {done}");
}
