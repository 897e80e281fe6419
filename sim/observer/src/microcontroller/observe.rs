//! Actions at each block and access of a core of the M profile.

use std::ops::Range;

use protect::AccessKind;
use protect::regions::{Attributes, default_attributes};
use record::ViolationKind;
use timing::machine::Access;
use timing::{Maintenance, MemAttr};

use super::attributes::memory_attr;
use super::{BELOW_STACK_BYTES, Microcontroller, Modelled, Protects};
use crate::Seen;
use crate::block::{flag, noticed};
use crate::per_core::{BlockOf, CoreObserver, Family, InsnOf};

const PRIVATE_BUS: u32 = 0xe000_0000;
/// Registers of SysTick.
const SYSTICK: Range<u32> = 0xe000_e010..0xe000_e020;

impl<C: Modelled, P: Protects> CoreObserver<Microcontroller<C, P>> {
    pub(super) fn before_block_here(&mut self, tb: &BlockOf<Microcontroller<C, P>>, noticed: u32) {
        if noticed & noticed::WAIT != 0 {
            self.waited();
        }
        self.family.protection.runs_at(tb.pc);
        let returned = noticed & noticed::RETURN != 0;
        let begun = self.clock.now();
        if self.family.protection.is_apart() {
            self.displace(tb);
            self.begin_count(begun);
        }
        let mut entered = tb.flags & flag::VECTOR != 0 && self.enter_exception(tb, returned);
        if self.is_served(tb.pc) {
            self.replace(tb);
            entered = true;
        }
        if !entered && returned {
            self.leave_exception();
        }
        if !self.family.protection.is_apart() {
            let out = if entered { begun } else { self.clock.now() };
            if self.family.counter.end(&*self.target, out) {
                self.tick_by(out);
            }
        }
        if self.family.is_displaced() && !self.family.protection.is_apart() && self.goes_on_displaced(tb) {
            return;
        }
        if noticed & noticed::MASK != 0 {
            self.check_masks(tb.pc);
        }
        if tb.flags & flag::FP & self.watched != 0 {
            self.save_lazily();
        }
        if (tb.flags ^ self.kernel) & flag::KERNEL != 0 {
            self.cross(tb, entered);
        }
    }

    /// The first run of a block since the shadowed MPU changed.
    #[cold]
    pub(super) fn check_fetch(&mut self, tb: &BlockOf<Microcontroller<C, P>>) {
        tb.checked.set(self.family.generation);
        let (privileged, len) = (self.is_privileged(), tb.end - tb.pc);
        let (attributes, note) = self.family.protection.fetch(tb.pc, len, privileged);
        let known = attributes.unwrap_or_else(|| default_attributes(tb.pc));
        tb.attributes.set(known.bits() | note);
        if attributes.is_none() && !privileged && !self.is_spared(tb.pc, len, false, AccessKind::Exec) {
            self.violation(ViolationKind::Execute, tb.pc, tb.pc, len, None);
        }
    }

    #[inline]
    pub(super) fn data_here(
        &mut self,
        insn: &InsnOf<Microcontroller<C, P>>,
        seen: &impl Seen,
        (address, store): (u32, bool),
    ) {
        let len = seen.bytes();
        let kind = if store { AccessKind::Write } else { AccessKind::Read };
        let privileged = self.is_privileged();
        let attributes = match self.family.protection.permits(address, len, privileged, kind) {
            Some(attributes) => attributes,
            None => self.denied(insn, address, len, kind),
        };
        let charged = self.family.core.data(Access { addr: address, size: len, store }, &memory_attr(attributes));
        self.clock.pass(u64::from(charged.cycles));
        if address.wrapping_sub(self.family.below_stack) < BELOW_STACK_BYTES {
            self.below_stack(insn, address, len);
        }
        if matches!(address >> 29, 2 | 7) {
            self.device(insn, seen, address, store);
        } else if store && address.wrapping_sub(self.port) < 8 {
            self.trace_port(insn, seen, address);
        }
        if store && self.family.protection.is_apart() {
            self.family.counter.store(&*self.target, address, seen.value() as u32, self.clock.now());
            self.begin_count(self.clock.now());
        }
        if store && self.witness.is_watching && self.kernel == 0 && !self.is_own_register(address) {
            self.hostile_store(insn, address, len);
        }
    }

    #[cold]
    fn denied(&mut self, insn: &InsnOf<Microcontroller<C, P>>, address: u32, len: u32, kind: AccessKind) -> Attributes {
        let privileged = self.is_privileged();
        if self.kernel == 0 && !self.is_spared(address, len, privileged, kind) {
            let kind = if kind == AccessKind::Write { ViolationKind::Write } else { ViolationKind::Read };
            self.violation(kind, insn.pc(), address, len, None);
        }
        default_attributes(address)
    }

    fn is_spared(&mut self, address: u32, len: u32, privileged: bool, kind: AccessKind) -> bool {
        self.family.protection.is_spared(&mut *self.target, address, len, privileged, kind)
    }

    #[cold]
    fn device(&mut self, insn: &InsnOf<Microcontroller<C, P>>, seen: &impl Seen, address: u32, store: bool) {
        self.device_accessed();
        let (len, value) = (seen.bytes(), seen.value());
        if self.kernel != 0 {
            self.kernel_device(insn, address, len, store);
        }
        if !store {
            self.device_loaded(address, value as u32);
            self.family.regions.loaded(address, value as u32);
            return;
        }
        self.device_stored(address, value as u32);
        if address < PRIVATE_BUS || SYSTICK.contains(&address) {
            self.forget_deadline();
        }
        if address >= PRIVATE_BUS {
            self.control(insn, (address, len), value as u64);
        }
    }

    /// A store to the system control space.
    fn control(&mut self, insn: &InsnOf<Microcontroller<C, P>>, (address, len): (u32, u32), value: u64) {
        if self.family.protection.pends_foreign(address, len, value).is_some() {
            self.violation(ViolationKind::SoftwareTrigger, insn.pc(), address, len, None);
        }
        self.maintain(address, value as u32);
        if self.family.protection.control(address, len, value) {
            self.family.generation = self.shared.next_generation();
        }
    }

    /// Maintains the caches, if that is what the store does.
    fn maintain(&mut self, address: u32, value: u32) {
        let Some(mut operation) = Maintenance::decode(address, value) else { return };
        if let Maintenance::Enable { instruction, data } = &mut operation {
            let on = &mut self.family.caches_on;
            *on = (on.0 | *instruction, on.1 | *data);
            (*instruction, *data) = *on;
        }
        let cycles = self.family.core.system(operation, &MemAttr::STRONGLY_ORDERED);
        self.clock.pass(u64::from(cycles));
    }
}
