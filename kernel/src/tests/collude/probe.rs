//! Accesses of every width, also over ends of pages, regions and areas, as the hardware and the kernel's answers to misses let them through.

use protect::AccessKind;

use super::super::rich::{DOMAINS, POOL_BASE, POOL_BYTES};
use super::super::sim::Guard;
use super::Play;

const ACCESSES: usize = 6;

impl<K: Guard> Play<K> {
    /// An address near which somebody has something.
    pub(super) fn draws_address(&mut self) -> u32 {
        let of = self.below(DOMAINS);
        let aside = self.below(16).wrapping_sub(8);
        let second = self.below(2) * 0x10_0000;
        match self.below(8) {
            0 | 1 if !self.edges.is_empty() => {
                let edge = self.below(self.edges.len() as u32) as usize;
                self.edges[edge].wrapping_add(aside)
            }
            2 | 3 => {
                let count = self.model.mapped(of as usize).count() as u32;
                let chosen = if count == 0 { 0 } else { self.below(count) as usize };
                let at = self.model.mapped(of as usize).nth(chosen);
                at.unwrap_or(K::address(POOL_BASE)).wrapping_add(aside)
            }
            4 => {
                let areas: Vec<system::Area> = self.kernel.tables.all().collect();
                let area = areas[self.below(areas.len() as u32) as usize];
                area.base.wrapping_add(self.below(2) * area.bytes).wrapping_add(aside)
            }
            // The kernel's.
            5 => K::address(0x2000_0000).wrapping_add(self.below(0x1000)),
            _ => (K::address(POOL_BASE) + second).wrapping_add(self.below(POOL_BYTES)),
        }
    }

    pub(super) fn draws_access(&mut self) -> (u32, u32, AccessKind) {
        let bytes = 1 << self.below(4);
        let kind = [AccessKind::Read, AccessKind::Write, AccessKind::Write, AccessKind::Exec][self.below(4) as usize];
        (self.draws_address(), bytes, kind)
    }

    pub(super) fn probes(&mut self) {
        let resume = self.kernel.resume;
        for domain in 0..DOMAINS as usize {
            if !self.model.up[domain] {
                continue;
            }
            self.kernel.loads(domain);
            for _ in 0..ACCESSES {
                let (at, bytes, kind) = self.draws_access();
                let found = self.compares(domain, at, bytes, kind);
                if let (Some([first, last]), AccessKind::Write) = (found, kind) {
                    let value = 1 + self.below(255) as u8;
                    self.kernel.arch.memory.extend([(first, value), (last, value)]);
                }
            }
        }
        self.kernel.resume = resume;
        self.kernel.load_top();
    }

    /// An access of the domain that is in force, and what the model says of it.
    pub(super) fn compares(&mut self, domain: usize, at: u32, bytes: u32, kind: AccessKind) -> Option<[u32; 2]> {
        let ends = [at, at.wrapping_add(bytes - 1)];
        let expected = ends.map(|at| self.model.expected(domain, at, kind));
        let found = K::accesses(&mut self.kernel, at, bytes, kind);
        let what = || format!("domain {domain}, {kind:?} of {bytes} bytes at {at:#x}");
        let Some(physical) = found else {
            assert!(expected.iter().any(|end| end.sure.is_none()), "{} is denied: {expected:x?}", what());
            return None;
        };
        for (at, end) in physical.into_iter().zip(&expected) {
            assert!(end.sure == Some(at) || end.may.contains(&at), "{} reaches {at:#x}: {expected:x?}", what());
            assert!(!self.model.is_unmappable(at), "{} reaches {at:#x}, which nobody may map", what());
        }
        found
    }

    /// Every granule of the frames, wherever domains can have it.
    pub(super) fn compares_all(&mut self) {
        let resume = self.kernel.resume;
        for domain in (0..DOMAINS as usize).filter(|domain| self.model.up[*domain]).collect::<Vec<_>>() {
            self.kernel.loads(domain);
            for second in [0, 0x10_0000] {
                for offset in (0..POOL_BYTES + 0x4000).step_by(1 << K::SMALLEST_LOG2) {
                    let at = K::address(POOL_BASE) + second + offset;
                    self.compares(domain, at, 4, AccessKind::Read);
                    self.compares(domain, at, 4, AccessKind::Write);
                }
            }
        }
        self.kernel.resume = resume;
        self.kernel.load_top();
    }
}
