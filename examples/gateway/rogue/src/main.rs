//! A hostile domain. It tries one attack after another; what is refused, it tries all in its first life, and each attack
//! that should end in a fault takes a life of its own: the supervisor restarts the domain, and the number of restarts says
//! which attack is next. At the end it exits with 0 when nothing it can see has succeeded.
//!
//! What it says is not evidence: the run's record is (faults, hashes of the other domains' memory, deadlines).
//! Names: gate `console`; gate `trap`, its own.
#![no_std]
#![no_main]

mod lethal;
mod places;
mod refused;

use cofferdam::abi::Call;
use cofferdam::{Error, Start, hostile, println, sys};
use places::Places;

/// Marker of an attack in the trace: the value is its number, lethal ones from 100 on.
const ATTACK_MARKER: u32 = 2;
const LETHAL: u32 = 100;

cofferdam::entry!(main);
cofferdam::gate!(rogue_trap, trap);

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
            0
        }
    }
}

/// Tries what must be refused, each attack to the end; false when one was not.
fn try_refused(places: &Places) -> bool {
    let mut contained = true;
    for (number, (name, attack)) in refused::ATTACKS.iter().enumerate() {
        let _ = sys::mark(ATTACK_MARKER, number as u32);
        match attack(places) {
            Ok(()) => println!("attack {number}: {name}: refused"),
            Err(how) => {
                println!("SUCCEEDED: {name}: {how}");
                contained = false;
            }
        }
    }
    println!("RESULT rogue.refused {}", refused::ATTACKS.len());
    contained
}

/// What the gate `trap` does once somebody is in it.
pub mod trap_orders {
    /// Store where nobody may.
    pub const FAULT: u32 = 0;
    /// Never return.
    pub const STAY: u32 = 1;
    /// Move the stack away and make a system call.
    pub const MOVE_STACK: u32 = 2;
    /// Try what is not allowed inside a gate; the value counts what was not refused.
    pub const BLOCK: u32 = 3;
}

fn trap(_badge: u32, order: u32, with: u32, _unused: u32) -> Result<u32, Error> {
    match order {
        trap_orders::FAULT => {
            // SAFETY: there is none; this is the attack.
            unsafe { (with as *mut u32).write_volatile(0xbad) };
            Ok(0)
        }
        trap_orders::STAY => loop {
            core::hint::spin_loop();
        },
        // SAFETY: there is none; this is the attack.
        trap_orders::MOVE_STACK => unsafe { hostile::call_on_stack(with) },
        trap_orders::BLOCK => Ok(block_in_gate()),
        _ => Err(Error::BadArgument),
    }
}

fn block_in_gate() -> u32 {
    let waits = [
        sys::sleep_until(u64::MAX) == Err(Error::InGate),
        sys::wait_period() == Err(Error::InGate),
        // SAFETY: the call does not touch memory.
        unsafe { sys::any(Call::Exit as u32, [0; 4]) }.0 == Error::InGate.status(),
    ];
    waits.into_iter().filter(|refused| !refused).count() as u32
}
