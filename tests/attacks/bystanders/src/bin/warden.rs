//! Restarts the attacker whenever it has stopped, and its accomplice, without a word. At the start it gives the attacker two
//! capabilities and revokes their object; and it keeps secrets in memory that it clears before the attacker can have it.
//! Names: notifications `faults`, `secret`; domains `attacker`, and if there are such `accomplice`, `myself`; frames `lost`.
#![no_std]
#![no_main]

use cofferdam::abi::{Kind, Mapping, access, rights};
use cofferdam::{Domain, Info, Notification, Start, sys};

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
    if lose(start.info).is_err() {
        return 4;
    }
    let accomplice = Domain::named(start.info, "accomplice");
    while faults.wait(u32::MAX).is_ok() {
        for domain in [Some(attacker), accomplice].into_iter().flatten() {
            while let Ok(Some(_)) = domain.fault_next() {}
            while let Ok(false) = domain.restart_step() {}
        }
    }
    3
}

/// Writes secrets to the first page of the frames `lost`, unmaps and clears it; the second page holds the table for that.
fn lose(info: Info) -> sys::Status {
    const PAGE: u32 = 4096;
    const THERE: u32 = 0x5000_0000;
    const SECRET: u32 = 0x5ec2_e900;
    let slot = |name, kind| info.cap(name, kind).map(|cap| cap.slot);
    let (Some(lost), Some(myself)) = (slot("lost", Kind::Frames), slot("myself", Kind::Domain)) else { return Ok(()) };
    sys::frames_retype(lost, 0, PAGE)?;
    sys::nodes_give(myself, lost, PAGE, 1024)?;
    let access = access::READ | access::WRITE;
    let page = Mapping { target: myself as u16, frames: lost as u16, at: THERE, access, offset: 0, bytes: PAGE };
    sys::frames_map(&page)?;
    for index in 0..PAGE / 4 {
        // SAFETY: just mapped.
        unsafe { (THERE as *mut u32).add(index as usize).write_volatile(SECRET | index & 0xff) };
    }
    sys::frames_unmap(&page)?;
    while sys::frames_clean(lost, 0, PAGE)? != 0 {}
    Ok(())
}
