//! The ledger of a system as the host keeps it: pools, quotas and shares; the schemes ask it for areas.

use spec::{Ledger, MemoryClass};

use manager::wire::padded;
use manager::{Declared, PoolAt, Who};

use crate::request::{DomainRequest, Request};

/// Most pools of frames.
pub const MAX_POOLS: usize = 16;

/// The ledger of a system.
pub type Book = Ledger<{ abi::MAX_DOMAINS }, MAX_POOLS>;

/// The frames that the memory manager holds, by index, each with the name of its capability.
pub(crate) fn pools<'a>(request: &'a Request<'_>) -> impl Iterator<Item = (&'a str, usize)> {
    let caps = request.domains.iter().filter(|domain| domain.ledger).flat_map(|domain| &domain.caps);
    let frames = caps.filter(|cap| cap.kind == abi::Kind::Frames);
    // Behind the ranges of the manifest lies the kernel's own.
    frames.map(|cap| (cap.name.as_str(), cap.object as usize)).filter(|(_, index)| *index < request.frames.len())
}

/// Adds the pools of the memory manager, whose ranges are placed; where each lies.
pub(crate) fn add_pools(book: &mut Book, request: &Request, frames: &[(u32, u32)]) -> Vec<PoolAt> {
    let mut held = Vec::new();
    for (name, index) in pools(request).take(MAX_POOLS) {
        let (base, bytes) = frames[index];
        let class = request.memories[request.frames[index].memory].class;
        if book.add_pool(class.unwrap_or(MemoryClass::OffChip), bytes).is_some() {
            held.push(PoolAt::new(name, base, bytes));
        }
    }
    held
}

/// Keeps of each pool what the manifest promises; the accounts are open. That there is so much, `check` has seen.
pub(crate) fn keep_quotas(book: &mut Book, request: &Request) {
    for (number, (_, index)) in pools(request).take(MAX_POOLS).enumerate() {
        for (domain, bytes) in &request.frames[index].quotas {
            let kept = book.keep(*domain as u8, number as u8, *bytes);
            debug_assert!(kept, "the quotas fit into their pool");
        }
    }
}

/// The shared memory that the manifest declares, for the memory manager.
pub(crate) fn shares(request: &Request) -> Vec<Declared> {
    let all = request.domains.iter().enumerate();
    let all = all.flat_map(|(owner, domain)| domain.shares.iter().map(move |share| (owner, share)));
    all.map(|(owner, share)| Declared {
        owner: owner as u8,
        who: Who { readers: share.readers, writers: share.writers },
        name: padded(&share.name),
    })
    .collect()
}

/// Whether somebody can map memory to a domain while it runs.
pub(crate) fn mapped(request: &Request, domain: usize) -> bool {
    let holds = |giver: &DomainRequest, kind, object: Option<usize>| {
        let named =
            |cap: &&crate::CapRequest| object.is_none_or(|object| cap.object as usize == object && cap.rights & 2 != 0);
        giver.caps.iter().filter(|cap| cap.kind == kind).any(|cap| named(&cap))
    };
    let gives =
        |giver: &DomainRequest| holds(giver, abi::Kind::Frames, None) && holds(giver, abi::Kind::Domain, Some(domain));
    request.domains.iter().any(gives)
}
