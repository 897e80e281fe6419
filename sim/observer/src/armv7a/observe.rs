//! Actions at each block, access and system instruction of an application core.

use record::{ClusterWatch, Disagreement, ViolationKind};
use timing::Core;
use timing::application::{Access, System as Change, Violation};
use timing::cp15::Operation;
use timing::mmu::{Missing, Stale};
use timing::pl310;
use timing::vmsa::Tables;

use super::decode::{System, passes};
use super::{Armv7a, Memory};
use crate::Seen;
use crate::block::{flag, noticed};
use crate::per_core::{BlockOf, CoreObserver, Family, InsnOf};

/// Bytes of the level-2 controller's registers.
const CONTROLLER_BYTES: u32 = 0x1000;
/// ICCIAR of the interrupt controller's CPU interface, from the private devices' base on (ARM DDI 0407, table 1-3).
const ACKNOWLEDGE: u32 = 0x10c;
/// CPSR: mode.
const MODE: u32 = 0x1f;
const USER: u32 = 0x10;
/// Translation leads each page to an address of its own.
const PAGE_BYTES: u32 = 1 << 12;
/// VBAR, as MCR names it: primary and secondary register, opcodes.
const VECTOR_BASE: (u8, u8, u8, u8) = (12, 0, 0, 0);

impl CoreObserver<Armv7a> {
    pub(super) fn before_block_here(&mut self, memory: &Memory, tb: &BlockOf<Armv7a>, noticed: u32) {
        if noticed & noticed::RETURN != 0 {
            self.return_from_exception(memory, tb.pc);
        }
        if self.family.is_vector(tb.pc) {
            self.take_exception(tb);
        } else if (tb.flags ^ self.kernel) & flag::KERNEL != 0 {
            self.cross(tb, false);
        }
    }

    #[inline]
    pub(super) fn data_here(
        &mut self,
        memory: &mut Memory,
        insn: &InsnOf<Armv7a>,
        seen: &impl Seen,
        (address, store): (u32, bool),
    ) {
        let (size, phys) = (seen.bytes(), seen.physical(address));
        let here = PAGE_BYTES - address % PAGE_BYTES;
        let second = if here < size { Some(address.wrapping_add(here)) } else { None };
        let beyond = second.and_then(|next| seen.physical(next));
        let access = Access { virt: address, phys, beyond, size, store };
        if !self.family.core.data_at_once(&access, memory) {
            self.data_slowly(memory, insn.pc(), access);
        }
        if let Some(at) = phys {
            self.reached(memory, insn, seen, (at, here.min(size), 0), store);
        }
        if let Some(next) = second {
            // What the tables say, if the simulator does not.
            let at = beyond.or_else(|| self.family.core.system().physical(next, memory));
            at.into_iter().for_each(|at| self.reached(memory, insn, seen, (at, size - here, here), store));
        }
        if store && address.wrapping_sub(self.port) < 8 {
            self.trace_port(insn, seen, address);
        }
    }

    /// The part of an access that lies in one page went to `at`: so many bytes, behind so many in the page before.
    #[inline]
    fn reached(
        &mut self,
        memory: &mut Memory,
        insn: &InsnOf<Armv7a>,
        seen: &impl Seen,
        (at, len, before): (u32, u32, u32),
        store: bool,
    ) {
        let (devices, bytes) = self.family.devices;
        if at.wrapping_sub(devices) < bytes {
            self.device((seen.value() >> (8 * before)) as u32, at, store);
        } else if store {
            memory.store(at, len, seen.value() >> (8 * before));
        }
        if store && self.witness.is_watching && self.kernel == 0 {
            self.hostile_store(insn, at, len);
        }
    }

    /// An access or a fetch at `address` missed in a micro-TLB.
    #[cold]
    pub(super) fn count_miss(&mut self, address: u32) {
        let now = self.family.translation();
        let domain = (self.kernel == 0).then_some(self.domain);
        self.family.areas.count_miss(now, domain, address);
    }

    /// An access of the instruction at `pc` takes time, or something is wrong with it.
    #[inline(never)]
    fn data_slowly(&mut self, memory: &Memory, pc: u32, access: Access) {
        let charged = Core::data(&mut self.family.core, access, memory);
        self.clock.pass(u64::from(charged.cycles));
        if self.family.has_missed() {
            self.count_miss(access.virt);
        }
        if let Some(violation) = charged.violation {
            // Of an access that straddles two pages, only the part in the second may be wrong.
            let before = violation.virt().wrapping_sub(access.virt);
            let before = if before < access.size { before } else { 0 };
            self.translation_violation(pc, access.virt.wrapping_add(before), access.size - before, violation);
        }
    }

    #[cold]
    fn device(&mut self, value: u32, at: u32, store: bool) {
        self.device_accessed();
        let ClusterWatch { private, controller } = self.family.cluster;
        if !store {
            self.device_loaded(at, value);
            if at == private + ACKNOWLEDGE {
                self.acknowledged(value);
            }
            return;
        }
        self.forget_deadline();
        self.device_stored(at, value);
        let offset = at.wrapping_sub(controller);
        if offset >= CONTROLLER_BYTES {
            return;
        }
        if let Some(operation) = pl310::Operation::decode(offset, value) {
            self.clock.pass(u64::from(self.family.core.control_l2(operation)));
        }
    }

    /// A system instruction is about to execute.
    #[cold]
    pub(super) fn system_here(&mut self, memory: &Memory, insn: &InsnOf<Armv7a>) {
        let Some(system) = System::decode(&insn.raw) else { return };
        let operation = match system {
            System::Barrier(operation) => operation,
            System::Write { mcr, condition } => {
                let registers = self.family.registers;
                let cpsr = self.target.register(registers.cpsr);
                let source = registers.core.get(usize::from(mcr.rt)).copied();
                let value = source.map_or(0, |register| self.target.register(register));
                if !passes(condition, cpsr) {
                    return;
                }
                let privileged = cpsr & MODE != USER;
                if privileged && (mcr.crn, mcr.crm, mcr.opc1, mcr.opc2) == VECTOR_BASE {
                    self.family.table = value;
                }
                let Some(operation) = mcr.operation(value).filter(|found| privileged || is_barrier(found)) else {
                    return;
                };
                operation
            }
        };
        self.family.review |= matches!(operation, Operation::Tlb(_) | Operation::TlbLockdown { .. });
        let cycles = Core::system(&mut self.family.core, Change::Coprocessor(operation), memory);
        self.clock.pass(u64::from(cycles));
    }

    /// The kernel is left: no lock entry may be one that the tables no longer say.
    pub(super) fn review_locked(&mut self, memory: &Memory, pc: u32) {
        let family = &mut self.family;
        let generation = memory.generation();
        let due = family.review || family.reviewed != generation;
        (family.review, family.reviewed) = (false, generation);
        if let Some(Violation::Stale(stale)) = due.then(|| family.core.check(memory)).flatten() {
            self.translation_violation(pc, stale.virt, 1, Violation::Stale(stale));
        }
    }

    /// Records a defect of a translation.
    #[cold]
    pub(super) fn translation_violation(&mut self, pc: u32, address: u32, len: u32, found: Violation) {
        let space = self.family.space();
        let (kind, opinion) = match found {
            Violation::Stale(stale) => (stale_kind(&stale), disagreement(&stale)),
            Violation::UncleanTable { descriptor, .. } => {
                (ViolationKind::UncleanTable, Disagreement { space, held: descriptor, tables: None })
            }
            Violation::Elsewhere { went, expected, .. } => {
                (ViolationKind::Elsewhere, Disagreement { space, held: went, tables: Some(expected) })
            }
        };
        let (core, cycle, domain) = (self.id, self.clock.now(), self.domain);
        let translation = Some(opinion);
        self.list(record::Violation { core, kind, cycle, pc, address, len, domain, victim: None, translation });
    }
}

/// Barriers are not privileged.
const fn is_barrier(operation: &Operation) -> bool {
    matches!(operation, Operation::SyncBarrier | Operation::MemoryBarrier | Operation::InstructionBarrier)
}

const fn stale_kind(stale: &Stale) -> ViolationKind {
    match stale.missing {
        Missing::ByAddress { locked: false } => ViolationKind::StaleTranslation,
        Missing::ByAddress { locked: true } => ViolationKind::StaleLocked,
        Missing::ByAsid => ViolationKind::StaleSpace,
        Missing::Barrier => ViolationKind::StaleBarrier,
    }
}

fn disagreement(stale: &Stale) -> Disagreement {
    let tables = stale.tables.ok().map(|mapping| mapping.translate(stale.virt));
    Disagreement { space: stale.asid, held: stale.held.translate(stale.virt), tables }
}
