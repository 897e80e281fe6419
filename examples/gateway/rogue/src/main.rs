//! A hostile domain. It tries one attack after another; what is refused, it tries all in its first life, and each attack
//! that should end in a fault takes a life of its own: the supervisor restarts the domain, and the number of restarts says
//! which attack is next. In its last life it attacks the memory manager, and exits with 0 when nothing it can see has succeeded.
//!
//! Its own report is not evidence: the run's record is (faults, hashes of the other domains'
//! memory, deadlines). Names: gates `console` and `memory`; gate `trap`, its own.
#![no_std]
#![no_main]

mod grants;

use cofferdam::memory::Manager;
use cofferdam::{Start, hostile, println, sys};
use repertoire::{Places, lethal, refused, trap};

/// Marker of an attack in the trace: the value is its number, lethal ones from 100 on.
const ATTACK_MARKER: u32 = 2;
const LETHAL: u32 = 100;

cofferdam::entry!(main);
cofferdam::gate!(rogue_trap, trap::serve);

fn main(start: Start) -> u32 {
    let Some(places) = Places::find(start.info) else {
        println!("the areas are not as expected");
        return 2;
    };
    if start.restarts == 0 && !try_refused(&places) {
        return 1;
    }
    match lethal::ATTACKS.get(start.restarts as usize) {
        Some((name, attack)) => {
            let _ = sys::mark(ATTACK_MARKER, LETHAL + start.restarts);
            println!("attack {}: {name}", LETHAL + start.restarts);
            attack(&places);
            println!("SURVIVED: {name}");
            hostile::undefined()
        }
        None => {
            println!("RESULT rogue.lethal {}", lethal::ATTACKS.len());
            u32::from(!try_manager())
        }
    }
}

/// Attacks the memory manager; false when one attack was not refused.
fn try_manager() -> bool {
    let Some(manager) = Manager::find() else { return false };
    let mut contained = true;
    for (number, (name, attack)) in grants::ATTACKS.iter().enumerate() {
        let number = refused::ATTACKS.len() + number;
        let _ = sys::mark(ATTACK_MARKER, number as u32);
        contained &= tell(number, name, attack(manager));
    }
    println!("RESULT rogue.manager {}", grants::ATTACKS.len());
    contained
}

/// Says how an attack went; false when it was not refused.
fn tell(number: usize, name: &str, outcome: refused::Outcome) -> bool {
    match outcome {
        Ok(()) => println!("attack {number}: {name}: refused"),
        Err(how) => println!("SUCCEEDED: {name}: {how}"),
    }
    outcome.is_ok()
}

/// Tries what must be refused, each attack to the end; false when one was not.
fn try_refused(places: &Places) -> bool {
    let mut contained = true;
    for (number, (name, attack)) in refused::ATTACKS.iter().enumerate() {
        let _ = sys::mark(ATTACK_MARKER, number as u32);
        contained &= tell(number, name, attack(places));
    }
    println!("RESULT rogue.refused {}", refused::ATTACKS.len());
    contained
}
