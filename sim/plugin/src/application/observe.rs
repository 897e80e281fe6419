//! What happens at each block, access and system instruction of an application core.

use std::sync::atomic::Ordering;

use record::{ClusterWatch, Disagreement, ViolationKind, observed};
use timing::application::{Access, Violation};
use timing::cp15::Operation;
use timing::mmu::{Missing, Stale};
use timing::pl310;

use super::decode::{System, passes};
use crate::api::{MemInfo, api};
use crate::block::{InsnInfo, TbInfo, flag};
use crate::clock::{CLOCK, attention};
use crate::model::{BlockShape, Model};
use crate::observer::Observer;

/// Bytes of the level-2 controller's registers.
const CONTROLLER_BYTES: u32 = 0x1000;
/// ICCIAR of the interrupt controller's CPU interface, from the private devices' base on (ARM DDI 0407, table 1-3).
const ACKNOWLEDGE: u32 = 0x10c;
/// CPSR: mode.
const MODE: u32 = 0x1f;
const USER: u32 = 0x10;
/// VBAR, as MCR names it: primary and secondary register, opcodes.
const VECTOR_BASE: (u8, u8, u8, u8) = (12, 0, 0, 0);

impl Observer {
    /// A block is about to run.
    #[inline]
    pub fn application_block(&mut self, tb: &'static TbInfo) {
        let noticed = CLOCK.attention.load(Ordering::Relaxed);
        self.end_block(noticed);
        let Model::Application(app) = &self.model else { return };
        let is_vector = app.is_vector(tb.pc);
        if is_vector || ((tb.flags ^ self.kernel) & flag::KERNEL) | noticed != 0 {
            self.before_application_block(tb, noticed, is_vector);
        }
        self.block_start = CLOCK.now();
        let Model::Application(app) = &mut self.model else { return };
        let executed = match &tb.shape {
            BlockShape::Instruction(insn) => app.core.instruction(insn, &app.memory),
            BlockShape::Block(block) => app.core.block(block, &app.memory),
            BlockShape::Constant => return,
        };
        CLOCK.pass(u64::from(executed.cycles));
        if let Some(violation) = executed.violation {
            self.translation_violation(tb.pc, tb.pc, tb.end - tb.pc, violation);
        }
        let Model::Application(app) = &self.model else { return };
        if app.core.system().mmu().micro_misses() != self.areas.misses() {
            self.count_miss(tb.pc);
        }
        self.instructions += u64::from(tb.count);
        self.last = tb;
        if tb.flags & flag::RETURNS != 0 {
            CLOCK.attention.fetch_or(attention::RETURN, Ordering::Relaxed);
        }
        self.tick_when_due();
    }

    #[cold]
    fn before_application_block(&mut self, tb: &TbInfo, noticed: u32, is_vector: bool) {
        CLOCK.attention.store(0, Ordering::Relaxed);
        if noticed & attention::SLEPT != 0 {
            self.woke();
        }
        if noticed & attention::RETURN != 0 {
            self.return_from_exception(tb.pc);
        }
        if is_vector {
            self.take_exception(tb);
        } else if (tb.flags ^ self.kernel) & flag::KERNEL != 0 {
            self.cross(tb, false);
        }
    }

    /// An access was made.
    #[inline]
    pub fn application_data(&mut self, insn: &InsnInfo, info: MemInfo, address: u32, store: bool) {
        // SAFETY: `info` belongs to the callback that is running.
        let len = unsafe { insn.bytes_of(info) };
        self.notice_cut(insn);
        self.accesses += 1;
        // SAFETY: as above; the answer stays valid until the next question.
        let went = unsafe {
            let found = (api().qemu_plugin_get_hwaddr)(info, u64::from(address));
            if found.is_null() { None } else { Some((api().qemu_plugin_hwaddr_phys_addr)(found) as u32) }
        };
        let Model::Application(app) = &mut self.model else { return };
        let access = Access { virt: address, phys: went, size: len, store };
        let (devices, bytes) = app.devices;
        if !app.core.data_at_once(&access, &app.memory) {
            self.application_access(insn.pc, access);
        }
        let Some(at) = went else { return };
        if at.wrapping_sub(devices) < bytes {
            self.application_device(info, at, store);
        } else if store {
            self.remember(info, at, address, len);
            if address.wrapping_sub(self.port) < 8 {
                self.trace_port(insn, info, address);
            }
        }
        if store && self.witness.is_watching && self.kernel == 0 {
            self.hostile_store(insn, at, len);
        }
    }

    /// An access of the instruction at `pc` takes time, or something is wrong with it.
    #[inline(never)]
    fn application_access(&mut self, pc: u32, access: Access) {
        let Model::Application(app) = &mut self.model else { return };
        let charge = app.core.data(access, &app.memory);
        CLOCK.pass(u64::from(charge.cycles));
        if app.core.system().mmu().micro_misses() != self.areas.misses() {
            self.count_miss(access.virt);
        }
        if let Some(violation) = charge.violation {
            self.translation_violation(pc, access.virt, access.size, violation);
        }
    }

    /// A store to memory goes into the copy.
    #[inline]
    fn remember(&mut self, info: MemInfo, at: u32, virt: u32, len: u32) {
        const PAGE: u32 = 1 << 12;
        // SAFETY: `info` belongs to the callback that is running.
        let value = unsafe { (api().qemu_plugin_mem_get_value)(info) };
        let value = u128::from(value.high) << 64 | u128::from(value.low);
        let Model::Application(app) = &mut self.model else { return };
        app.memory.store(at, len, value);
        let here = PAGE - at % PAGE;
        if here < len
            && let Some(next) = app.core.system().physical(virt.wrapping_add(here), &app.memory)
        {
            app.memory.store(next, len - here, value >> (8 * here));
        }
    }

    #[cold]
    fn application_device(&mut self, info: MemInfo, at: u32, store: bool) {
        CLOCK.forget_reads();
        // SAFETY: `info` belongs to the callback that is running.
        let value = unsafe { (api().qemu_plugin_mem_get_value)(info) };
        let Model::Application(app) = &mut self.model else { return };
        let ClusterWatch { private, controller } = app.cluster;
        if !store {
            self.meter.loaded(at, CLOCK.now());
            self.rate.loaded(at, value.low as u32, CLOCK.now());
            if at == private + ACKNOWLEDGE {
                self.acknowledged(value.low as u32);
            }
            return;
        }
        self.forget_deadline();
        let Model::Application(app) = &mut self.model else { return };
        let offset = at.wrapping_sub(controller);
        if offset >= CONTROLLER_BYTES {
            return;
        }
        if let Some(operation) = pl310::Operation::decode(offset, value.low as u32) {
            CLOCK.pass(u64::from(app.core.control_l2(operation)));
        }
    }

    /// A system instruction is about to execute.
    #[cold]
    pub fn application_system(&mut self, insn: &InsnInfo) {
        let Some(system) = insn.system else { return };
        let Model::Application(app) = &mut self.model else { return };
        let Some(registers) = &app.registers else { return };
        let operation = match system {
            System::Barrier(operation) => operation,
            System::Write { mcr, condition } => {
                let cpsr = self.bytes.register(registers.cpsr);
                let handle = registers.core.get(usize::from(mcr.rt)).copied();
                let value = handle.map_or(0, |handle| self.bytes.register(handle));
                if !passes(condition, cpsr) {
                    return;
                }
                let privileged = cpsr & MODE != USER;
                if privileged && (mcr.crn, mcr.crm, mcr.opc1, mcr.opc2) == VECTOR_BASE {
                    app.table = value;
                }
                let barrier = |operation: &Operation| {
                    matches!(
                        operation,
                        Operation::SyncBarrier | Operation::MemoryBarrier | Operation::InstructionBarrier
                    )
                };
                let Some(operation) = mcr.operation(value).filter(|operation| privileged || barrier(operation)) else {
                    return;
                };
                operation
            }
        };
        app.review |= matches!(operation, Operation::Tlb(_) | Operation::TlbLockdown { .. });
        let cycles = app.core.operate(operation, &app.memory);
        CLOCK.pass(u64::from(cycles));
    }

    /// The kernel is left: no lock entry may be one that the tables no longer say.
    pub(super) fn review_locked(&mut self, pc: u32) {
        let Model::Application(app) = &mut self.model else { return };
        if !app.reviews() {
            return;
        }
        if let Some(stale) = app.core.system().mmu().left_behind(&app.memory) {
            self.translation_violation(pc, stale.virt, 1, Violation::Stale(stale));
        }
    }

    /// Records what is wrong with a translation.
    #[cold]
    fn translation_violation(&mut self, pc: u32, address: u32, len: u32, found: Violation) {
        let asid = match &self.model {
            Model::Application(app) => app.core.system().mmu().registers().asid(),
            _ => 0,
        };
        let (kind, opinion) = match found {
            Violation::Stale(stale) => (stale_kind(&stale), disagreement(&stale)),
            Violation::UncleanTable { descriptor, .. } => {
                (ViolationKind::UncleanTable, Disagreement { space: asid, held: descriptor, tables: None })
            }
            Violation::Elsewhere { went, expected, .. } => {
                (ViolationKind::Elsewhere, Disagreement { space: asid, held: went, tables: Some(expected) })
            }
        };
        let (cycle, domain) = (CLOCK.now(), self.domain);
        let translation = Some(opinion);
        let index =
            self.log.violation(record::Violation { kind, cycle, pc, address, len, domain, victim: None, translation });
        self.note(observed::VIOLATION, index, address);
    }
}

impl super::Application {
    /// Whether the lock entries have to be compared with the tables again.
    fn reviews(&mut self) -> bool {
        use timing::vmsa::Tables;
        let generation = self.memory.generation();
        let due = self.review || self.reviewed != generation;
        (self.review, self.reviewed) = (false, generation);
        due
    }
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
