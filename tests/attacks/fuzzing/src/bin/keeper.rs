//! Restarts two hostile domains whenever they die, as often as the file `plan` says, and ends the run then. It counts lives itself: what they
//! say counts for nothing. A domain that neither dies nor can, because its threads wait or spin for good, is stopped by the second thread.
//!
//! Names: notification `faults`; domains `first`, `second`; file `plan`.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cofferdam::{Domain, Info, Notification, Start, sys};
use fuzzing::Plan;

cofferdam::entry!(restart);
cofferdam::thread!(keeper_watch, watch);

/// Deaths so far.
static DEATHS: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
/// Stopped by the second thread, which has not been acted upon.
static STOPPED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// Bit of `faults` by which the second thread wakes the first. Domains have those below.
const STUCK: u32 = 1 << 31;

fn domains(info: Info) -> Option<[Domain; 2]> {
    Some([Domain::named(info, "first")?, Domain::named(info, "second")?])
}

fn restart(start: Start) -> u32 {
    let (Some(faults), Some(domains), Some(plan)) =
        (Notification::named(start.info, "faults"), domains(start.info), Plan::read(start.info))
    else {
        return 2;
    };
    let dead = |index: usize| DEATHS[index].load(Ordering::Relaxed) >= plan.lives;
    while !(dead(0) && dead(1)) {
        if faults.wait(u32::MAX).is_err() {
            return 3;
        }
        for (index, domain) in domains.into_iter().enumerate().filter(|(index, _)| !dead(*index)) {
            let mut died = STOPPED[index].swap(false, Ordering::Relaxed);
            while let Ok(Some(_)) = domain.fault_next() {
                died = true;
            }
            if died && DEATHS[index].fetch_add(1, Ordering::Relaxed) + 1 < plan.lives {
                while let Ok(false) = domain.restart_step() {}
            }
        }
    }
    0
}

fn watch(start: Start) -> u32 {
    let (Some(faults), Some(domains), Some(plan)) =
        (Notification::named(start.info, "faults"), domains(start.info), Plan::read(start.info))
    else {
        return 4;
    };
    let mut before = [0; 2];
    while DEATHS.iter().any(|deaths| deaths.load(Ordering::Relaxed) < plan.lives) {
        if sys::wait_period().is_err() {
            return 5;
        }
        for (index, domain) in domains.into_iter().enumerate() {
            let deaths = DEATHS[index].load(Ordering::Relaxed);
            if deaths < plan.lives && deaths == before[index] && sys::domain_stop(domain.slot()).is_ok() {
                STOPPED[index].store(true, Ordering::Relaxed);
                let _ = faults.signal(STUCK);
            }
            before[index] = deaths;
        }
    }
    0
}
