//! The hostile domain of the suite: performs the attacks that the order file names. It tries in its
//! first life the attacks that should be refused. Each attack that should end in a fault takes a
//! life of its own, some many, and the number of restarts says which is next.
//!
//! Names: gates `console`, `trap` (its own), `service`, `long`; notifications `events`, `go`; interrupt `fired`; domain `victim`;
//! areas `heap`, `requests`, `notices`, `timer1`, `order`; and those of [`pages`] and [`regions`], where they are tried. The main
//! thread's argument says how many times less often than elsewhere is done what is done again and again.
#![no_std]
#![no_main]

use attacks::marks::{ATTACK, mark};
use attacks::world::World;
use attacks::{gate, lethal, order, pages, refused, regions, states};
use cofferdam::{Notification, Start, hostile, now, println, sys};

cofferdam::hostile::entries!(attacker_helper, attacker_served);
cofferdam::entry!(main);
cofferdam::thread!(attacker_helper, helper);
cofferdam::gate!(attacker_served, gate::serve);

/// For victims to be under way: several of their periods.
const SETTLE_TICKS: u64 = 125_000;
/// For what comes after the last attack to be seen: several periods of every victim.
const LINGER_TICKS: u64 = 500_000;

fn main(start: Start) -> u32 {
    let (Some(mut world), Some(lines)) = (World::find(start.info), order::lines(start.info)) else {
        println!("the manifest gives me something else");
        return 2;
    };
    world.own.part = start.argument.max(1);
    if start.restarts == 0 {
        for name in lines.clone() {
            if !is_gentle(name) && !is_lethal(name) {
                println!("unknown attack: {name}");
                return 98;
            }
        }
        // Victims have deadlines from their first release on.
        let _ = sys::sleep_until(now() + SETTLE_TICKS);
        for (line, name) in lines.clone().enumerate() {
            try_refused(&world, line as u32, name);
        }
    }
    // The names were looked up in the first life; there are fewer of these.
    let deadly = lines.enumerate().filter(|(_, name)| !is_gentle(name));
    let mut deadly = deadly.flat_map(|line| core::iter::repeat_n(line, lethal::lives(line.1)));
    if let Some((line, name)) = deadly.nth(start.restarts as usize) {
        mark(ATTACK, line as u32);
        perform(&world, name);
        println!("SURVIVED: {name}");
        hostile::undefined()
    }
    let _ = sys::sleep_until(now() + LINGER_TICKS);
    attacks::end_helper();
    0
}

fn is_gentle(name: &str) -> bool {
    let common = repertoire::refused::ATTACKS.iter().map(|attack| attack.0);
    let own = own_refused().map(|attack| attack.0);
    states::is_gentle(name) || common.chain(own).any(|known| known == name)
}

fn is_lethal(name: &str) -> bool {
    let common = repertoire::lethal::ATTACKS.iter().map(|attack| attack.0);
    states::is_lethal(name) || common.chain(own_lethal().map(|attack| attack.0)).any(|known| known == name)
}

fn own_refused() -> impl Iterator<Item = &'static refused::Attack> {
    refused::ATTACKS.iter().chain(pages::REFUSED).chain(regions::REFUSED)
}

fn own_lethal() -> impl Iterator<Item = &'static lethal::Attack> {
    lethal::ATTACKS.iter().chain(pages::LETHAL).chain(regions::LETHAL)
}

fn try_refused(world: &World, line: u32, name: &str) {
    let common = repertoire::refused::ATTACKS.iter().find(|attack| attack.0 == name);
    let own = own_refused().find(|attack| attack.0 == name);
    if common.is_none() && own.is_none() && !states::is_gentle(name) {
        return;
    }
    mark(ATTACK, line);
    states::try_gentle(world, name);
    let outcome = match (common, own) {
        (Some((_, attack)), _) => attack(&world.own),
        (_, Some((_, attack))) => attack(world),
        _ => Ok(()),
    };
    if let Err(how) = outcome {
        println!("SUCCEEDED: {name}: {how}");
    }
}

fn perform(world: &World, name: &str) {
    states::perform(world, name);
    if let Some((_, attack)) = repertoire::lethal::ATTACKS.iter().find(|attack| attack.0 == name) {
        attack(&world.own);
    }
    if let Some((_, attack)) = own_lethal().find(|attack| attack.0 == name) {
        attack(world);
    }
}

fn helper(start: Start) -> u32 {
    let Some(go) = Notification::named(start.info, "go") else { return 1 };
    while go.wait(u32::MAX) == Ok(attacks::LOOK) {
        refused::helper_looks();
    }
    0
}
