//! Every area of every domain asks the ledger, with the registers and nodes that it really takes, as `rt_malloc_at` does at run
//! time. The target continues from these promises.

use protect::pmsav7::{REGIONS, Span, cover_count};
use spec::{AccessLevel, Change, Ledger, MemoryClass, NoFrames, Opening, Refusal, TablePlace, TemporalSpec};
use system::area;
use system::pmsav7::{Shape, table_bytes};

use manager::wire::padded;
use manager::{Declared, PoolAt, Who};

use crate::allocate::Space;
use crate::error::PlaceError;
use crate::plan::{DomainSpot, Spot};
use crate::request::{DomainRequest, Request};

/// Most pools of frames.
pub const MAX_POOLS: usize = 16;

/// The ledger of a system.
pub type Book = Ledger<{ abi::MAX_DOMAINS }, MAX_POOLS>;

/// Admission in progress.
pub(crate) struct Admission<'a> {
    request: &'a Request<'a>,
    spaces: &'a mut [Space],
    book: Book,
    pools: Vec<PoolAt>,
}

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

/// Index of the writable memory of a class that can hold tables.
fn home(request: &Request, class: MemoryClass) -> Option<usize> {
    request.memories.iter().position(|memory| !memory.rom && memory.class == Some(class))
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

impl<'a> Admission<'a> {
    pub(crate) fn new(request: &'a Request<'a>, spaces: &'a mut [Space]) -> Self {
        let left = |class| {
            let gaps = home(request, class).map(|memory| spaces[memory].gaps()).unwrap_or_default();
            gaps.iter().map(|gap| gap.1 - gap.0).sum::<u64>() as u32
        };
        let book = Book::new(request.platform, [left(MemoryClass::Tcm), left(MemoryClass::OnChip), 0, 0]);
        Admission { request, spaces, book, pools: Vec::new() }
    }

    /// Asks for everything; `frames` are the placed ranges of the manifest.
    pub(crate) fn admit(
        mut self,
        domains: &mut [DomainSpot],
        frames: &[(u32, u32)],
    ) -> Result<(Book, Vec<PoolAt>), PlaceError> {
        self.pools = add_pools(&mut self.book, self.request, frames);
        for (index, spot) in domains.iter_mut().enumerate() {
            self.domain(index, spot)?;
        }
        keep_quotas(&mut self.book, self.request);
        Ok((self.book, self.pools))
    }

    /// Opens the account of a domain with its table, and asks for its areas.
    fn domain(&mut self, index: usize, spot: &mut DomainSpot) -> Result<(), PlaceError> {
        let domain = &self.request.domains[index];
        let shaped = |spot: &Spot| Some((spot.entry(index as u32)?, spot.shape()));
        let areas: Vec<(system::Area, Shape)> = spot.areas.iter().filter_map(shaped).collect();
        let mapped = mapped(self.request, index);
        let table = |count: usize| table_bytes(areas[..count].iter().copied(), mapped).unwrap_or(0);
        let bytes = table(areas.len());
        let paged = spot.areas.iter().map(|spot| spot.spec.access).filter(|level| *level != AccessLevel::Deterministic);
        let class = if paged.max() == Some(AccessLevel::L1) { MemoryClass::Tcm } else { MemoryClass::OnChip };
        let what = format!("table of domain {}", domain.name);
        let refused = |what: String, areas: &[Spot], refusal: Refusal| PlaceError::Refused {
            what,
            pinned: pinned(areas),
            refusal,
        };
        let opening = Opening {
            paged_slots: domain.paged_slots as u8,
            misses: domain.misses.0,
            ..Opening::new(TablePlace::of(class), bytes)
        };
        let number = self.book.open(&opening);
        let number = number.map_err(|refusal| {
            // At the weaker level the table would lie elsewhere.
            let weaker = class == MemoryClass::Tcm && bytes <= self.book.table_memory(TablePlace::OnChip).left();
            let change = if weaker { Change::Spec(TemporalSpec::level(AccessLevel::L2)) } else { refusal.change };
            refused(what.clone(), &spot.areas, Refusal { change, ..refusal })
        })?;
        if let Some(memory) = home(self.request, class).filter(|_| bytes > 0) {
            let base = self.spaces[memory].plain(&what, u64::from(bytes), 32)?;
            spot.table = (base, bytes, TablePlace::of(class));
        }
        let mut before = if mapped { table(0) } else { 0 };
        for count in 1..=areas.len() {
            let after = table(count).max(before);
            let asked = ask(number, &spot.areas[count - 1], after - before);
            // They belong to the threads, not to one area.
            let asked = spec::Request { misses: if count == 1 { domain.misses.1 } else { 0 }, ..asked };
            before = after;
            let granted = self.book.admit(&asked, &mut NoFrames);
            let what = |spot: &Spot| match spot.envelope {
                Some(envelope) => format!("envelope[{envelope}] of domain {}", domain.name),
                None => format!("{} of domain {}", spot.name, domain.name),
            };
            let granted = granted.map_err(|refusal| refused(what(&spot.areas[count - 1]), &spot.areas, refusal))?;
            spot.areas[count - 1].bound = granted.bound;
            spot.areas[count - 1].place = Some(granted.charge.place);
        }
        Ok(())
    }
}

/// An area as a request.
fn ask(domain: u8, spot: &Spot, table_bytes: u32) -> spec::Request {
    let registers = cover_count(Span::new(spot.base, u64::from(spot.bytes))).unwrap_or(REGIONS + 1);
    spec::Request {
        domain,
        spec: spot.spec,
        code: spot.flags & area::EXECUTE != 0,
        slots: registers.min(255) as u8,
        table_bytes,
        descriptors: 0,
        misses: 0,
        frames: None,
    }
}

/// Pinned areas by name.
fn pinned(areas: &[Spot]) -> String {
    let pinned = areas.iter().filter(|spot| spot.flags & area::PINNED != 0).map(|spot| spot.name.as_str());
    pinned.collect::<Vec<_>>().join(", ")
}
