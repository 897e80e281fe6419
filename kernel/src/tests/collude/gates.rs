//! Copies between a callee and its caller, which may reach exactly what both of them may.

use abi::{COPY_MAX_BYTES, Call, Error};
use protect::AccessKind;

use super::super::refused;
use super::super::rich::{data, domain, gate};
use super::super::sim::Guard;
use super::Play;

/// Physical addresses of all bytes of a range that surely are there, and whether all may be there.
struct Side {
    sure: Vec<u32>,
    may: bool,
}

impl<K: Guard> Play<K> {
    fn side(&self, of: usize, at: u32, bytes: u32, kind: AccessKind) -> Side {
        let all: Vec<_> = (0..bytes).map(|offset| self.model.expected(of, at.wrapping_add(offset), kind)).collect();
        let may = all.iter().all(|byte| byte.sure.is_some() || !byte.may.is_empty());
        Side { sure: all.iter().filter_map(|byte| byte.sure).collect(), may }
    }

    /// An address of a copy: mostly near what the domain has.
    fn draws_end(&mut self, of: usize) -> u32 {
        let aside = self.below(4096).wrapping_sub(64);
        let count = self.model.mapped(of).count() as u32;
        match self.below(3) {
            0 if count > 0 => {
                let (chosen, aside) = (self.below(count) as usize, self.below(32).wrapping_sub(8));
                self.model.mapped(of).nth(chosen).unwrap_or_default().wrapping_add(aside)
            }
            1 => K::address(data(of as u32)).wrapping_add(aside),
            _ => self.draws_address(),
        }
    }

    /// Enters a gate, copies, and leaves it; the callee may stop its caller, whose memory it does not reach from then on.
    pub(super) fn enters_gate(&mut self) {
        let (caller, which) = (self.here(), self.below(4));
        let callee = if which == 0 { 3 } else { which as usize };
        self.kernel.arch.stepwise = false;
        self.asks("gate", Call::GateCall, [gate(which), 0, 0, 0]);
        if self.kernel.top().outer.is_none() {
            return;
        }
        assert_eq!(self.here(), callee);
        let mut alive = true;
        for _ in 0..1 + self.below(4) {
            self.copies(caller, callee, alive);
            if self.rng.chance(16) && caller != callee && self.can_stop() && alive {
                self.subject = Some(caller);
                let told = self.asks("stop", Call::DomainStop, [domain(caller as u32), 0, 0, 0]);
                alive = told.is_none_or(|(status, _)| status != 0);
            }
        }
        self.asks("return", Call::GateReturn, [0; 4]);
    }

    fn copies(&mut self, caller: usize, callee: usize, alive: bool) {
        let inward = self.rng.chance(2);
        let (reader, writer) = if inward { (caller, callee) } else { (callee, caller) };
        let (src, dst) = (self.draws_end(reader), self.draws_end(writer));
        let bytes = self.below(COPY_MAX_BYTES + 2);
        let from = self.side(reader, src, bytes, AccessKind::Read);
        let to = self.side(writer, dst, bytes, AccessKind::Write);
        let before = self.kernel.arch.memory.clone();
        let call = if inward { Call::GateCopyIn } else { Call::GateCopyOut };
        // The call's addresses are those of the system that was meant.
        let told = self.asks("copy", call, [K::address(dst), K::address(src), bytes, 0]);
        let what = || format!("domain {callee} copies {bytes} of {caller}, {inward}: {dst:#x} from {src:#x}: {told:?}");
        let whole = |side: &Side| side.sure.len() == bytes as usize;
        if told != super::super::OK {
            let overlaps = from.sure.iter().any(|at| to.sure.contains(at));
            let refusable = !alive || overlaps || bytes > COPY_MAX_BYTES || !whole(&from) || !whole(&to);
            assert!(refusable || told == refused(Error::Untouched), "{}", what());
            assert_eq!(self.kernel.arch.memory, before, "{}", what());
            return;
        }
        assert!(bytes == 0 || alive && bytes <= COPY_MAX_BYTES && from.may && to.may, "{}", what());
        if whole(&from) && whole(&to) {
            let mut after = before.clone();
            for (to, from) in to.sure.iter().zip(&from.sure) {
                after.insert(*to, before.get(from).copied().unwrap_or(0));
            }
            // Memory that is not there yet reads as 0, because it is clear when it comes.
            let moved = |at: &u32| self.kernel.arch.memory.get(at) == after.get(at);
            assert!(after.keys().chain(self.kernel.arch.memory.keys()).all(moved), "{}", what());
        }
    }
}
