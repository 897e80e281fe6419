//! Counters per domain, settled whenever the domain or the privilege changes.

use record::{CacheCounts, CoreId, DomainCounters, TranslationCounts};
use timing::Counters;

/// Counters of a model at one moment.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    icache_hits: u64,
    icache_misses: u64,
    dcache_hits: u64,
    dcache_misses: u64,
    translation: TranslationCounts,
}

impl Counts {
    /// Of a core whose model has counted these.
    pub const fn new(caches: Counters, translation: TranslationCounts) -> Self {
        Self {
            icache_hits: caches.icache_hits,
            icache_misses: caches.icache_misses,
            dcache_hits: caches.dcache_hits,
            dcache_misses: caches.dcache_misses,
            translation,
        }
    }
}

/// All counters at one moment.
#[derive(Clone, Copy, Default)]
pub struct Mark {
    pub cycles: u64,
    pub slept: u64,
    pub instructions: u64,
    pub accesses: u64,
    pub counts: Counts,
}

/// Counters per domain, of one core.
pub struct Accounts {
    domains: Box<[DomainCounters; 256]>,
    settled: Mark,
    /// Times that something counted was less than before.
    pub broken: u64,
}

impl Accounts {
    /// Nothing used.
    pub fn new(core: CoreId) -> Self {
        let mut domains = Box::new([DomainCounters::default(); 256]);
        for (number, counters) in domains.iter_mut().enumerate() {
            (counters.core, counters.domain) = (core, number as u8);
        }
        Self { domains, settled: Mark::default(), broken: 0 }
    }

    /// Attributes everything since the last call.
    pub fn settle(&mut self, domain: u8, kernel: bool, now: Mark) {
        let then = std::mem::replace(&mut self.settled, now);
        let mut since = |now: u64, then: u64| {
            now.checked_sub(then).unwrap_or_else(|| {
                self.broken += 1;
                0
            })
        };
        let slept = since(now.slept, then.slept);
        let cycles = since(now.cycles, then.cycles);
        let cycles = since(cycles, slept);
        let instructions = since(now.instructions, then.instructions);
        let counters = &mut self.domains[usize::from(domain)];
        counters.sleep_cycles += slept;
        if kernel {
            counters.kernel_cycles += cycles;
            counters.kernel_instructions += instructions;
        } else {
            counters.cycles += cycles;
            counters.instructions += instructions;
        }
        add(
            &mut counters.icache,
            now.counts.icache_hits - then.counts.icache_hits,
            now.counts.icache_misses - then.counts.icache_misses,
        );
        add(
            &mut counters.dcache,
            now.counts.dcache_hits - then.counts.dcache_hits,
            now.counts.dcache_misses - then.counts.dcache_misses,
        );
        counters.data_accesses += now.accesses - then.accesses;
        let translation = if kernel { &mut counters.kernel_translation } else { &mut counters.translation };
        if now.counts.translation != then.counts.translation {
            translation.add(now.counts.translation, then.counts.translation);
        }
    }

    /// The domain became the current one.
    pub fn entered(&mut self, domain: u8) {
        self.domains[usize::from(domain)].entries += 1;
    }

    /// The kernel served a miss of a paged area for the domain.
    pub fn missed(&mut self, domain: u8) {
        self.domains[usize::from(domain)].paged_misses += 1;
    }

    /// The domains that used anything.
    pub fn used(&self) -> Vec<DomainCounters> {
        let unused =
            |c: &DomainCounters| *c == DomainCounters { core: c.core, domain: c.domain, ..DomainCounters::default() };
        self.domains.iter().filter(|counters| !unused(counters)).copied().collect()
    }
}

fn add(counts: &mut CacheCounts, hits: u64, misses: u64) {
    counts.hits += hits;
    counts.misses += misses;
}
