//! Restarts the attacker whenever it has stopped, without a word. At the start it gives the attacker two capabilities and
//! revokes their object.
//! Names: notifications `faults`, `secret`; domain `attacker`.
#![no_std]
#![no_main]

use cofferdam::abi::rights;
use cofferdam::{Domain, Notification, Start, sys};

cofferdam::entry!(main);

/// Slots of the attacker's table.
const GIVEN: [u32; 2] = [60, 61];

fn main(start: Start) -> u32 {
    let (Some(faults), Some(attacker)) =
        (Notification::named(start.info, "faults"), Domain::named(start.info, "attacker"))
    else {
        return 1;
    };
    if let Some(secret) = Notification::named(start.info, "secret") {
        let give = |slot: u32| sys::cap_grant(attacker.slot(), secret.slot(), slot, u32::from(rights::WRITE));
        if GIVEN.into_iter().any(|slot| give(slot).is_err()) || sys::revoke(secret.slot()).is_err() {
            return 2;
        }
    }
    while faults.wait(u32::MAX).is_ok() {
        while let Ok(Some(_)) = attacker.fault_next() {}
        while let Ok(false) = attacker.restart_step() {}
    }
    3
}
