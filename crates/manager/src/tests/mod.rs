mod books;
mod history;
mod ledger;
mod machine;
mod notes;
mod pages;
mod requests;
mod sharing;
mod window;

use crate::history::NAMES;
use crate::wire::{Answer, Granted, Message, Operation, Refused, Request, padded};
use crate::{Error, Manager, Who};
use books::Simple;
use machine::Machine;

pub const CLIENTS: usize = 4;
pub const EACH: usize = 8;
pub const SHARES: usize = 2;
pub const POOL_BYTES: u32 = 64 * 1024;

/// A specification as far as the manager is concerned: a number.
pub const PLAIN: u32 = 0;
/// One that the account of these tests pins.
pub const PINNED: u32 = 4;

pub type Tested = Manager<Simple, CLIENTS, EACH, SHARES>;

/// A manager, the kernel under it, and its clients.
pub struct World {
    pub manager: Tested,
    pub machine: Machine,
}

impl World {
    pub fn new() -> World {
        let mut manager = Tested::new(Simple::new(POOL_BYTES));
        for (index, name) in NAMES.iter().enumerate() {
            assert!(manager.enrol(index, name));
        }
        declare(&mut manager);
        World { manager, machine: Machine::new(POOL_BYTES) }
    }

    pub fn send(&mut self, badge: u32, request: Request) -> Result<Answer, Error> {
        self.machine.begin();
        self.manager.account.decisions = 0;
        let answer = self.manager.serve(badge, &request.encode(), &mut self.machine);
        assert!(self.manager.account.decisions <= 1, "the bound of a request is for one decision: {request:?}");
        let answer = answer?;
        Ok(Answer::decode(&answer).expect("an answer"))
    }

    pub fn granted(&mut self, badge: u32, request: Request) -> Granted {
        match self.send(badge, request) {
            Ok(Answer::Granted(granted)) => granted,
            other => panic!("{request:?}: {other:?}"),
        }
    }

    pub fn refused(&mut self, badge: u32, request: Request) -> Refused {
        match self.send(badge, request) {
            Ok(Answer::Refused(refused)) => refused,
            other => panic!("{request:?}: {other:?}"),
        }
    }

    pub fn left(&mut self, badge: u32, request: Request) -> u32 {
        match self.send(badge, request) {
            Ok(Answer::Done(left)) => left,
            other => panic!("{request:?}: {other:?}"),
        }
    }

    pub fn scrub(&mut self, badge: u32, base: u32) {
        // Bounded: each step clears something.
        while self.left(badge, Request::new(Operation::Scrub).about(base)) > 0 {}
    }
}

pub fn grant(bytes: u32, spec: u32) -> Request {
    Request { bytes, spec, ..Request::new(Operation::Grant) }
}

pub fn release(base: u32) -> Request {
    Request::new(Operation::Release).about(base)
}

pub fn share(name: &str, bytes: u32, access: u32) -> Request {
    Request { bytes, access, ..Request::new(Operation::Share).of(name) }
}

pub fn join(owner: &str, name: &str, bytes: u32, access: u32) -> Request {
    Request { bytes, access, ..Request::new(Operation::Join).of(name).with(owner) }
}

/// The same names for all clients, so that each tries the others' names. Who may map a name stands
/// beside it.
pub const DECLARED: [(usize, &str, Who); 4] = [
    (0, "samples", Who { readers: 0b110, writers: 0b010 }),
    (0, "series", Who { readers: 0b010, writers: 0b100 }),
    (1, "samples", Who { readers: 0b101, writers: 0 }),
    (2, "log", Who { readers: 0b001, writers: 0b010 }),
];

pub fn declare<L: crate::Account, const C: usize, const E: usize, const S: usize>(manager: &mut Manager<L, C, E, S>) {
    for (owner, name, who) in DECLARED {
        assert!(manager.declare(owner, padded(name), who));
    }
}

#[test]
fn messages_round_trip() {
    let full = Request { spec: 1, bytes: 2, alignment: 4, access: 5, ..Request::new(Operation::Grant).about(3) };
    let full = full.with("a-long-name-1").of("and-another-one");
    for operation in Operation::ALL.iter().copied().filter(|operation| *operation != Operation::Explain) {
        let request = Request { operation, ..full };
        assert_eq!(Request::decode(&request.encode()), Some(request));
        // Only requests for memory are explained. The step can be any, because it is not looked at
        // here.
        let explained = request.explained(u16::MAX);
        let asks = matches!(operation, Operation::Grant | Operation::Share | Operation::Join);
        assert_eq!(Request::decode(&explained.encode()), asks.then_some(explained));
        assert_eq!(explained.explained(1), request.explained(1), "it stays about the request that was refused");
    }
    let answers = [
        Answer::Granted(Granted {
            base: 1,
            bytes: 2,
            spec: 3,
            level: 4,
            cycles: 5,
            method: 6,
            left: 7,
            place: 8,
            descriptors: 9,
            map_cycles: 10,
            release_cycles: 11,
        }),
        Answer::Refused(Refused { rule: 1, asked: 2, left: 3, change: 4, value: 5 }),
        Answer::Done(7),
    ];
    for answer in answers {
        assert_eq!(Answer::decode(&answer.encode()), Some(answer));
    }
    let mut words: Message = [0; 16];
    assert_eq!(Request::decode(&words), None);
    words[0] = 99;
    assert_eq!((Request::decode(&words), Answer::decode(&words)), (None, None));
}
