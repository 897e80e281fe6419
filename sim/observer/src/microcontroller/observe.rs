//! Actions at each block and access of a core of the M profile.

use std::ops::{Range, RangeInclusive};

use protect::AccessKind;
use protect::pmsav7::Attr;
use record::ViolationKind;
use timing::Maintenance;
use timing::machine::Access;

use super::regions::MPU_TYPE;
use super::{Armv7m, BELOW_STACK_BYTES, Modelled, attributes, default_attr, memory_attr};
use crate::Seen;
use crate::block::{flag, noticed};
use crate::per_core::{BlockOf, CoreObserver, InsnOf};

/// Registers of the memory protection unit, from `MPU_TYPE`.
const MPU_WRITABLE: RangeInclusive<u32> = 0x04..=0x28;
const PRIVATE_BUS: u32 = 0xe000_0000;
const VTOR: u32 = 0xe000_ed08;
/// Registers of SysTick.
const SYSTICK: Range<u32> = 0xe000_e010..0xe000_e020;

impl<C: Modelled> CoreObserver<Armv7m<C>> {
    pub(super) fn before_block_here(&mut self, tb: &BlockOf<Armv7m<C>>, noticed: u32) {
        let returned = noticed & noticed::RETURN != 0;
        let entered = tb.flags & flag::VECTOR != 0 && self.enter_exception(tb, returned);
        if !entered && returned {
            self.leave_exception();
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
    pub(super) fn check_fetch(&mut self, tb: &BlockOf<Armv7m<C>>) {
        tb.checked.set(self.family.generation);
        let privileged = self.kernel != 0;
        match self.family.shadow.permits(tb.pc, tb.end - tb.pc, privileged, AccessKind::Exec) {
            Ok(attr) => tb.attributes.set(attr.tex_s_c_b),
            Err(_) => {
                tb.attributes.set(default_attr(tb.pc).tex_s_c_b);
                if !privileged {
                    self.violation(ViolationKind::Execute, tb.pc, tb.pc, tb.end - tb.pc, None);
                }
            }
        }
    }

    #[inline]
    pub(super) fn data_here(&mut self, insn: &InsnOf<Armv7m<C>>, seen: &impl Seen, (address, store): (u32, bool)) {
        let len = seen.bytes();
        let kind = if store { AccessKind::Write } else { AccessKind::Read };
        let attr = match self.family.shadow.permits(address, len, self.kernel != 0, kind) {
            Ok(attr) => attr,
            Err(_) => self.denied(insn, address, len, kind),
        };
        let charged = self.family.core.data(Access { addr: address, size: len, store }, &memory_attr(attr));
        self.clock.pass(u64::from(charged.cycles));
        if address.wrapping_sub(self.family.below_stack) < BELOW_STACK_BYTES {
            self.below_stack(insn, address, len);
        }
        if matches!(address >> 29, 2 | 7) {
            self.device(insn, seen, address, store);
        } else if store && address.wrapping_sub(self.port) < 8 {
            self.trace_port(insn, seen, address);
        }
        if store && self.witness.is_watching && self.kernel == 0 {
            self.hostile_store(insn, address, len);
        }
    }

    #[cold]
    fn denied(&mut self, insn: &InsnOf<Armv7m<C>>, address: u32, len: u32, kind: AccessKind) -> Attr {
        if self.kernel == 0 {
            let kind = if kind == AccessKind::Write { ViolationKind::Write } else { ViolationKind::Read };
            self.violation(kind, insn.pc(), address, len, None);
        }
        default_attr(address)
    }

    #[cold]
    fn device(&mut self, insn: &InsnOf<Armv7m<C>>, seen: &impl Seen, address: u32, store: bool) {
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
        if address < PRIVATE_BUS || SYSTICK.contains(&address) {
            self.forget_deadline();
        }
        if address >= PRIVATE_BUS {
            self.control(address, len, value as u64);
        }
    }

    /// A store to the system control space.
    fn control(&mut self, address: u32, len: u32, value: u64) {
        let word = value as u32;
        if address == VTOR {
            self.family.table = word;
        }
        self.maintain(address, word);
        let offset = address.wrapping_sub(MPU_TYPE);
        if !MPU_WRITABLE.contains(&offset) {
            return;
        }
        // The shadow ignores values that the architecture leaves open, as QEMU does.
        let _ = self.family.shadow.write(offset, word);
        if len == 8 {
            let _ = self.family.shadow.write(offset + 4, (value >> 32) as u32);
        }
        self.family.generation = self.shared.next_generation();
    }

    /// Maintains the caches, if that is what the store does.
    fn maintain(&mut self, address: u32, value: u32) {
        let Some(mut operation) = Maintenance::decode(address, value) else { return };
        if let Maintenance::Enable { instruction, data } = &mut operation {
            let on = &mut self.family.caches_on;
            *on = (on.0 | *instruction, on.1 | *data);
            (*instruction, *data) = *on;
        }
        let cycles = self.family.core.system(operation, &attributes(0));
        self.clock.pass(u64::from(cycles));
    }
}
