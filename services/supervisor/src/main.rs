//! The supervisor: waits for faults, says what happened, and restarts the domains it may restart.
//!
//! It watches every domain to which it holds a capability. The right `w` makes it restart the domain; with `r` alone it
//! only reports. Restarting is a loop of short steps in the kernel that the supervisor's budget pays for.
//!
//! With the gate `memory` (badge 0x8000_0000) it first takes back what the memory manager granted to a domain that it restarts;
//! the capability for the domain then has the domain's own name.
//!
//! Names: notification `faults`; one capability of kind domain for each domain to be watched, under the domain's name.
#![no_std]
#![no_main]

use cofferdam::abi::Kind;
use cofferdam::memory::Manager;
use cofferdam::{Domain, Error, Fault, Notification, Start, println};

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let Some(faults) = Notification::named(start.info, "faults") else { return 1 };
    while faults.wait(u32::MAX).is_ok() {
        for (name, cap) in start.info.caps().filter(|(_, cap)| cap.kind == Kind::Domain) {
            attend(name, Domain::in_slot(cap.slot));
        }
    }
    1
}

/// Reports what has happened to a domain since the last time, and restarts it when that is allowed.
fn attend(name: &str, domain: Domain) {
    let mut faulted = false;
    while let Ok(Some(fault)) = domain.fault_next() {
        report(name, fault);
        faulted = true;
    }
    if faulted {
        match restart(name, domain) {
            Ok(()) => println!("{name} restarted"),
            Err(Error::NoRight) => println!("{name} stays stopped"),
            Err(error) => println!("{name} cannot be restarted: {error:?}"),
        }
    }
}

fn report(name: &str, fault: Fault) {
    let kind = fault.kind.map_or("unknown", |kind| kind.name());
    println!("{name} stopped: {kind} fault at {:#010x}", fault.address);
}

fn restart(name: &str, domain: Domain) -> Result<(), Error> {
    reclaim(name);
    while !domain.restart_step()? {}
    Ok(())
}

/// Takes back what the memory manager granted to the domain, in steps. The manager knows it by the name of its capability.
fn reclaim(name: &str) {
    let Some(manager) = Manager::find() else { return };
    // Ends, because each step makes progress. An error means that there is nothing to take back, or
    // no manager that could.
    while manager.reclaim(name).is_ok_and(|left| left > 0) {}
}
