//! The ledger of a system as the host keeps it: pools, quotas and shares; the schemes say what areas take.

use spec::{Ledger, MemoryClass, Opening, Request};

use manager::wire::padded;
use manager::{Declared, PoolAt, Who};

use manifest::resolved::{Domain, System};
use manifest::{Grant, Object, Refused};

use crate::spot::Spot;

/// Most pools of frames.
pub const MAX_POOLS: usize = 16;

/// The ledger of a system.
pub type Book = Ledger<{ abi::MAX_DOMAINS }, MAX_POOLS>;

/// The frames that the memory manager holds, by index, each with the name of its capability.
pub(crate) fn pools(system: &System) -> impl Iterator<Item = (&str, usize)> {
    let caps = system.domains.iter().filter(|domain| domain.ledger).flat_map(|domain| &domain.caps);
    caps.filter_map(|cap| if let Object::Frames(index) = cap.object { Some((cap.name.as_str(), index)) } else { None })
}

/// Adds the pools of the memory manager, whose ranges are placed; where each lies.
pub(crate) fn add_pools(book: &mut Book, system: &System, frames: &[(u32, u32)]) -> Vec<PoolAt> {
    let mut held = Vec::new();
    for (name, index) in pools(system).take(MAX_POOLS) {
        let (base, bytes) = frames[index];
        let class = system.memories[system.frames[index].memory].class;
        if book.add_pool(class.unwrap_or(MemoryClass::OffChip), bytes).is_some() {
            held.push(PoolAt::new(name, base, bytes));
        }
    }
    held
}

/// Opens the account of a placed domain, and asks for its areas in this order: the index of each, with what it takes.
pub(crate) fn admit_domain(
    book: &mut Book,
    domain: &Domain,
    opening: &Opening,
    areas: &mut [Spot],
    asked: &[(usize, Request)],
) -> Result<(), Box<Refused>> {
    let parts: Vec<_> = asked.iter().map(|(index, request)| (areas[*index].part.clone(), *request)).collect();
    let answers = manifest::admit_domain(book, domain, opening, &parts)?;
    for ((index, _), answer) in asked.iter().zip(answers) {
        let granted = answer?;
        areas[*index].bound = granted.bound;
        areas[*index].place = Some(granted.charge.place);
    }
    Ok(())
}

/// Keeps of each pool what the manifest promises; the accounts are open. That there is so much, `check` has seen.
pub(crate) fn keep_quotas(book: &mut Book, system: &System) {
    for (number, (_, index)) in pools(system).take(MAX_POOLS).enumerate() {
        for (domain, bytes) in &system.frames[index].quotas {
            let kept = book.keep(*domain as u8, number as u8, *bytes);
            debug_assert!(kept, "the quotas fit into their pool");
        }
    }
}

/// The shared memory that the manifest declares, for the memory manager.
pub(crate) fn shares(system: &System) -> Vec<Declared> {
    let all = system.domains.iter().enumerate();
    let all = all.flat_map(|(owner, domain)| domain.shares.iter().map(move |share| (owner, share)));
    all.map(|(owner, share)| Declared {
        owner: owner as u8,
        who: Who { readers: share.readers, writers: share.writers },
        name: padded(&share.name),
    })
    .collect()
}

/// Whether somebody can map memory to a domain while it runs.
pub(crate) fn mapped(system: &System, domain: usize) -> bool {
    let writes = |cap: &Grant| cap.rights & u32::from(abi::rights::WRITE) != 0;
    let frames = |cap: &Grant| matches!(cap.object, Object::Frames(_));
    let named = |cap: &Grant| cap.object == Object::Domain(domain) && writes(cap);
    system.domains.iter().any(|giver| giver.caps.iter().any(frames) && giver.caps.iter().any(named))
}
