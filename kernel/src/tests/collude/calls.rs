//! Calls about frames, capabilities and domains: what the model forbids must be refused, and what is taken must be what the model says.

use abi::trace::Fault;
use abi::{Call, Error, rights};
use units::VirtAddr;

use super::super::maps::Told;
use super::super::rich::{POOL_BASE, POOL_BYTES, domain};
use super::super::sim::{Guard, Part};
use super::super::{OK, refused};
use super::model::{Begun, Change, Typed};
use super::{Made, Play, shows};
use crate::arch::Request;

/// The frames in which domains have areas.
const AREAS_BASE: u32 = 0x6000_0000;
/// Slots that capabilities of which the model knows may be in.
const SLOTS: [u32; 10] = [8, 9, 10, 11, 18, 19, 20, 21, 22, 23];

impl<K: Guard> Play<K> {
    fn made(&mut self) -> Option<Made> {
        let count = self.made.len() as u32;
        let chosen = self.below(count.max(1));
        self.made.get(chosen as usize).copied()
    }

    pub(super) fn maps(&mut self) {
        let shared = if self.rng.chance(3) { None } else { self.made() };
        let part = if let Some(made) = shared {
            made.part
        } else {
            let log2 = K::SMALLEST_LOG2 + self.below((14 - K::SMALLEST_LOG2).min(7));
            let at = POOL_BASE + 32 * self.below(POOL_BYTES / 32);
            let odd = if self.rng.chance(2) { 0 } else { self.below(256) };
            K::mapping(at, log2, odd)
        };
        let access = [1, 3, 3, 1, 3, 5, 9, 11, 7, 2, 17][self.below(11) as usize];
        let target = self.domain_handle();
        self.changes(Made { target, access, part }, false);
    }

    /// Unmaps what was mapped, in one of four cases with one argument changed.
    pub(super) fn unmaps(&mut self) {
        let Some(mut made) = self.made() else { return };
        match self.below(16) {
            0 => made.target = self.domain_handle(),
            1 => made.access ^= 2,
            2 => made.part.physical ^= 1 << K::SMALLEST_LOG2,
            3 => made.part.bytes += 1 << K::SMALLEST_LOG2,
            _ => {}
        }
        self.changes(made, true);
    }

    fn changes(&mut self, made: Made, unmaps: bool) {
        let Made { target, access, part: Part { at, physical, bytes } } = made;
        let (here, frames) = (self.here(), self.frames_handle());
        let needed = if access & abi::access::WRITE != 0 && !unmaps { rights::WRITE } else { rights::READ };
        let of = self.model.object(here, target, false, rights::WRITE);
        let of_frames = self.model.object(here, frames, true, needed);
        // What is meant of one range may be asked of the other.
        let offset = physical.wrapping_sub(POOL_BASE);
        let physical = if of_frames == Some(1) { AREAS_BASE.wrapping_add(offset) } else { physical };
        let change = Change { target: of.unwrap_or(0) as usize, at, bytes, physical, access, unmaps };
        let holds = of.is_some() && of_frames.is_some();
        let admitted = holds && self.model.admits(&change);
        let words = abi::Mapping { target: target as u16, frames: frames as u16, at, access, offset, bytes }.words();
        let begun = Begun { change, admitted, owner: Some(self.kernel.current()), doubtful: false };
        let (name, call) = if unmaps { ("unmap", Call::FramesUnmap) } else { ("map", Call::FramesMap) };
        match self.asks(name, call, words) {
            None => {
                assert!(holds, "domain {here} holds not what {change:x?} needs, handles {target} {frames} ");
                self.model.begun.push(begun);
            }
            Some((0, _)) => self.is_done(begun),
            _ => {}
        }
    }

    /// A change was taken.
    fn is_done(&mut self, Begun { change, admitted, doubtful, .. }: Begun) {
        let Change { target, at, bytes, physical, access, unmaps } = change;
        assert!(admitted, "taken, and nobody may: {change:x?}");
        self.edges = vec![at, at + bytes];
        // Others name the domain by their own handle.
        let target_handle = domain(target as u32);
        if unmaps {
            self.made.retain(|one| one.target != target_handle || one.part.at != at);
        } else {
            self.made.push(Made { target: target_handle, access, part: Part { at, physical, bytes } });
        }
        let there = shows(&self.kernel, change.target);
        self.model.done(change, doubtful, there);
        self.members = self.members.max(self.model.members(change.physical.wrapping_sub(POOL_BASE), change.bytes));
    }

    pub(super) fn goes_on(&mut self, thread: u8, Request { number, args }: Request) {
        let name = if number == Call::FramesMap as u32 { "map" } else { "unmap" };
        let Some(told) = self.kernel.asks(number, args) else { return };
        *self.taken.entry(name).or_default() += u64::from(Some(told) == OK);
        let Some(place) = self.model.begun.iter().position(|begun| begun.owner == Some(thread)) else {
            assert!(self.known.remove(&thread), "thread {thread} goes on with nothing");
            return;
        };
        let begun = self.model.begun.swap_remove(place);
        if Some(told) == OK {
            self.is_done(begun);
        }
    }

    fn part(&mut self) -> (u32, u32) {
        let bytes = 32 << self.below(10);
        ((32 * self.below(POOL_BYTES / 32)) & !(bytes - 1), bytes)
    }

    /// A domain makes a region of its demand area, whose pages it has from their first touch on.
    pub(super) fn makes_region(&mut self) {
        let here = self.here() as u32;
        let mut areas = self.kernel.tables.all::<system::Area>();
        let own = areas.find(|area| area.domain == here && area.flags & system::area::DEMAND != 0);
        if let Some(area) = own {
            self.asks("region", Call::RegionMap, [area.base, area.bytes >> 12, 0, 0]);
        }
    }

    pub(super) fn types(&mut self) {
        let (handle, (offset, bytes)) = (self.frames_handle(), self.part());
        let frames = self.model.object(self.here(), handle, true, rights::WRITE);
        if self.asks("retype", Call::FramesRetype, [handle, offset, bytes, 0]) == OK {
            let free = self.model.all_typed(offset, bytes, Typed::Untyped);
            assert!(frames == Some(0) && free, "{handle} {offset:#x} {bytes:#x}");
            self.model.set_typed(offset, bytes, Typed::Shared);
        }
    }

    pub(super) fn cleans(&mut self) {
        let (handle, (offset, bytes)) = (self.frames_handle(), self.part());
        let frames = self.model.object(self.here(), handle, true, rights::WRITE);
        let Some((0, [left, _])) = self.asks("clean", Call::FramesClean, [handle, offset, bytes, 0]) else { return };
        if frames == Some(1) {
            // What no area lies in there is clear from the start, so nothing is to be cleared.
            return;
        }
        let done = bytes - left;
        assert!(
            frames == Some(0) && self.model.members(offset, done) == 0,
            "{offset:#x} {bytes:#x} was cleared under somebody"
        );
        let states = (offset..offset + done).step_by(32).map(|at| self.model.all_typed(at, 32, Typed::Kernel));
        assert!(!states.into_iter().any(|kernel| kernel), "the kernel's {offset:#x} was cleared");
        self.model.set_typed(offset, done, Typed::Untyped);
        let range = POOL_BASE + offset..POOL_BASE + offset + done;
        assert!(self.kernel.arch.memory.range(range).all(|(_, byte)| *byte == 0), "not clear");
    }

    pub(super) fn gives(&mut self) {
        let (to, handle, (offset, bytes)) = (self.domain_handle(), self.frames_handle(), self.part());
        let here = self.here();
        let frames = self.model.object(here, handle, true, rights::WRITE);
        let holds = frames == Some(0) && self.model.object(here, to, false, rights::WRITE).is_some();
        let given = self.asks("give", Call::NodesGive, [to, handle, offset, bytes]);
        let Some((0, [taken, _])) = given else { return };
        assert!(holds && self.model.all_typed(offset, taken, Typed::Untyped), "{offset:#x} {taken:#x}");
        self.model.set_typed(offset, taken, Typed::Kernel);
    }

    fn slot(&mut self) -> u32 {
        SLOTS[self.below(SLOTS.len() as u32) as usize]
    }

    pub(super) fn copies_cap(&mut self) {
        let (here, from, to, mask) = (self.here(), self.slot(), self.slot(), 1 + self.below(7));
        let held = self.model.held(here, from, mask as u8).filter(|_| self.model.is_empty(here, to));
        if self.asks("copy a capability", Call::CapCopy, [from, to, mask, 0]) == OK {
            let held = held.unwrap_or_else(|| panic!("domain {here} copied {from} to {to}"));
            self.model.put(here, to, super::model::Held { rights: mask as u8, ..held });
        }
    }

    pub(super) fn grants(&mut self) {
        let (here, target, from, to) = (self.here(), self.domain_handle(), self.slot(), 18 + self.below(4));
        let mask = 1 + self.below(7);
        let of = self.model.object(here, target, false, rights::WRITE).map(|of| of as usize);
        // A restart that is under way may have passed the slot or not, so nothing is known of it.
        if of.is_some_and(|of| !self.model.up[of]) {
            return;
        }
        let held = self.model.held(here, from, mask as u8 | rights::GRANT);
        if self.asks("grant", Call::CapGrant, [target, from, to, mask]) == OK {
            let found = of.zip(held).filter(|(of, _)| self.model.is_empty(*of, to));
            let (of, held) = found.unwrap_or_else(|| panic!("domain {here} granted {from} to {of:?}"));
            self.model.put(of, to, super::model::Held { rights: mask as u8, ..held });
        }
    }

    pub(super) fn deletes_or_revokes(&mut self) {
        let (here, slot) = (self.here(), self.slot());
        if !self.rng.chance(6) {
            let slot = 18 + slot % 4;
            if self.asks("delete", Call::CapDelete, [slot, 0, 0, 0]) == OK {
                self.model.delete(here, slot);
            }
            return;
        }
        let held = self.model.held(here, slot, rights::GRANT);
        if self.asks("revoke", Call::Revoke, [slot, 0, 0, 0]) == OK {
            let held = held.unwrap_or_else(|| panic!("domain {here} revoked {slot}"));
            self.model.revoke(here, slot, held.object);
        }
    }

    pub(super) fn stops(&mut self) {
        let (here, handle) = (self.here(), self.domain_handle());
        let of = self.model.object(here, handle, false, rights::WRITE).map(|of| of as usize);
        if !self.can_stop() {
            return;
        }
        self.subject = of;
        self.asks("stop", Call::DomainStop, [handle, 0, 0, 0]);
    }

    /// A step of a restart, or all of it; rather of a domain that is stopped.
    pub(super) fn restarts(&mut self) {
        let here = self.here();
        let down = self.model.up.iter().position(|up| !up);
        let handle = match down {
            Some(down) if !self.rng.chance(4) => domain(down as u32),
            _ => self.domain_handle(),
        };
        self.subject = self.model.object(here, handle, false, rights::WRITE).map(|of| of as usize);
        let steps = if self.rng.chance(2) { 400 } else { 1 + self.below(30) };
        for _ in 0..steps {
            let told = self.asks("restart", Call::DomainRestart, [handle, 0, 0, 0]);
            if told != refused(Error::Again) || self.here() != here {
                break;
            }
        }
    }

    /// An access that is denied stops who made it, and the report of it waits for who may read it.
    pub(super) fn strays(&mut self) {
        let (here, (at, bytes, kind)) = (self.here(), self.draws_access());
        let reached = self.compares(here, at, bytes, kind);
        if reached.is_some() || !self.can_stop() {
            return;
        }
        let fault = Fault::from_number(1 + self.below(2) as u8).unwrap();
        self.model.fault[here].get_or_insert((fault as u8, at));
        self.subject = Some(here);
        self.kernel.on_fault(fault, VirtAddr(at), VirtAddr(0));
        *self.taken.entry("fault").or_default() += 1;
    }

    pub(super) fn reads_fault(&mut self) {
        let waits = self
            .model
            .fault
            .iter()
            .position(Option::is_some)
            .map_or_else(|| self.domain_handle(), |of| domain(of as u32));
        let of = self.model.object(self.here(), waits, false, rights::READ);
        let told: Told = self.asks("read a fault", Call::FaultNext, [waits, 0, 0, 0]);
        let expected = of.map(|of| self.model.fault[of as usize].take().unwrap_or_default());
        match told {
            Some((0, [kind, address])) => assert_eq!(expected, Some((kind as u8, address)), "of domain {of:?}"),
            _ => assert_eq!(expected, None, "{told:?}"),
        }
    }
}
