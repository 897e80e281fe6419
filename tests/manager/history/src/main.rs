//! One of several clients that take turns at one random history of requests to the memory manager. Each decision is marked in the
//! trace, so that the host can compare it with its own.
//!
//! Names: shared memory `history`; notifications `turn0`, `turn1`, `turn2`, of which the one with the thread's argument is its own.
#![no_std]
#![no_main]

use cofferdam::memory::{Answer, Failure, Manager, Request};
use cofferdam::{Info, Notification, Shared, Start, println, shared, sys};
use manager::history::{COMPARED_SEED, COMPARED_SPECS, COMPARED_STEPS, History, WORDS, digest};

const TURNS: [&str; 3] = ["turn0", "turn1", "turn2"];

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let found = (shared(start.info, "history"), Manager::find(), turns(start.info));
    let (Some(state), Some(manager), Some(turns)) = found else { return 1 };
    let me = start.argument as usize;
    let Some(own) = turns.get(me).copied() else { return 2 };
    loop {
        if own.wait(1).is_err() {
            return 3;
        }
        let mut history = load(state);
        while history.who() == me && history.index() < COMPARED_STEPS {
            step(manager, &mut history);
        }
        store(state, &history);
        if history.index() >= COMPARED_STEPS {
            for turn in turns {
                let _ = turn.signal(1);
            }
            println!("{COMPARED_STEPS} requests");
            return 0;
        }
        if turns.get(history.who()).is_none_or(|next| next.signal(1).is_err()) {
            return 4;
        }
    }
}

fn turns(info: Info) -> Option<[Notification; 3]> {
    let [first, second, third] = TURNS.map(|name| Notification::named(info, name));
    Some([first?, second?, third?])
}

fn load(state: Shared) -> History {
    let mut words = [0; WORDS];
    for (index, word) in words.iter_mut().enumerate() {
        *word = state.read(index);
    }
    // Nobody has begun.
    if words == [0; WORDS] {
        return History::new(COMPARED_SEED, TURNS.len(), COMPARED_SPECS);
    }
    History::resume(words, COMPARED_SPECS)
}

fn store(state: Shared, history: &History) {
    for (index, word) in history.words().iter().enumerate() {
        state.write(index, *word);
    }
}

fn step(manager: Manager, history: &mut History) {
    let answer = Request::decode(&history.message()).and_then(|request| match manager.ask(&request) {
        Ok(answer) => Some(answer),
        Err(Failure::Refused(refused)) => Some(Answer::Refused(refused)),
        Err(Failure::Failed(_)) => None,
    });
    let _ = sys::mark(history.index() & 0xffff, digest(answer.as_ref()));
    history.learn(answer.as_ref());
}
