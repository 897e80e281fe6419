//! The costs of classes as a profile gives them, ready for issue.

use crate::insn::{Class, Flags, InsnInfo};
use crate::profile::{ClassCost, Pairing, Param, PipelineParams};

/// The cost of each class, ready for use.
#[derive(Clone, Debug)]
pub struct CostTable {
    pub(super) width: u8,
    /// Cycles by which dispatch can be ahead of what has begun; 0: in order.
    pub(super) window: u8,
    /// Whether loads from different banks issue together.
    pub(super) banks: bool,
    /// Of what goes through the early ALU.
    pub(super) early_alu: Option<ClassCost>,
    pub(super) load_late: u8,
    pub(super) store_load: u8,
    pub(super) flags_ahead: u8,
    /// Whether only branches, IT, and what follows a NOP share a cycle.
    pub(super) folds: bool,
    /// Whether a conditional branch waits for its operands, as nothing is predicted.
    pub(super) waits: bool,
    /// Registers that an issue of a multiple transfer moves.
    pub(super) transfer: u32,
    /// Of [`Flags::PARALLEL`].
    pub(super) parallel: Option<ClassCost>,
    pub(super) fp_busy: u8,
    pub(super) costs: [ClassCost; Class::COUNT],
}

impl CostTable {
    /// The costs that a profile gives.
    pub fn new(p: &PipelineParams) -> Self {
        let mut costs = [p.alu.value; Class::COUNT];
        for (class, cost) in [
            (Class::AluLate, &p.alu_late),
            (Class::AluShifted, &p.alu_shifted),
            (Class::Dsp, &p.dsp),
            (Class::Multiply, &p.multiply),
            (Class::Divide, &p.divide),
            (Class::Load, &p.load),
            (Class::LoadNarrow, &p.load_narrow),
            (Class::LoadMultiple, &p.load_multiple),
            (Class::LoadExclusive, &p.exclusive),
            (Class::Store, &p.store),
            (Class::StoreMultiple, &p.store_multiple),
            (Class::StoreExclusive, &p.exclusive),
            (Class::Preload, &p.load),
            (Class::Branch, &p.branch),
            (Class::Wait, &p.system),
            (Class::Exception, &p.system),
            (Class::System, &p.system),
            (Class::DataMemoryBarrier, &p.barrier),
            (Class::DataSyncBarrier, &p.barrier),
            (Class::InstructionBarrier, &p.instruction_barrier),
            (Class::FpMove, &p.fp_move),
            (Class::FpAlu32, &p.fp_alu32),
            (Class::FpMultiply32, &p.fp_multiply32),
            (Class::FpAccumulate32, &p.fp_accumulate32),
            (Class::FpDivide32, &p.fp_divide32),
            // An instruction that the core does not have raises an exception.
            (Class::FpAlu64, p.fp_alu64.as_ref().unwrap_or(&p.system)),
            (Class::FpMultiply64, p.fp_multiply64.as_ref().unwrap_or(&p.system)),
            (Class::FpAccumulate64, p.fp_accumulate64.as_ref().unwrap_or(&p.system)),
            (Class::FpDivide64, p.fp_divide64.as_ref().unwrap_or(&p.system)),
            (Class::FpLoad, &p.fp_load),
            (Class::FpLoadMultiple, &p.load_multiple),
            (Class::FpStore, &p.store),
            (Class::FpStoreMultiple, &p.store_multiple),
            (Class::Undefined, &p.system),
        ] {
            costs[class as usize] = cost.value;
        }
        // As many instructions fill the window in so many cycles.
        let window = p.window.as_ref().map_or(0, |window| window.value / p.width.value);
        let cycles = |param: &Option<Param<u32>>| param.as_ref().map_or(0, |param| short(param.value));
        Self {
            width: short(p.width.value),
            window: short(window),
            banks: p.load_banks.is_some(),
            early_alu: p.alu_early.as_ref().map(|cost| cost.value),
            load_late: cycles(&p.load_late),
            store_load: cycles(&p.store_load),
            flags_ahead: cycles(&p.flags_ahead),
            folds: p.pairing.as_ref().is_some_and(|pairing| pairing.value == Pairing::FoldedBranches),
            waits: false,
            transfer: p.transfer.as_ref().map_or(2, |count| count.value),
            parallel: p.parallel.as_ref().map(|cost| cost.value),
            fp_busy: cycles(&p.fp_busy),
            costs,
        }
    }

    /// The same for a core that predicts its branches, or does not.
    pub(crate) fn predicted(self, predicted: bool) -> Self {
        Self { waits: !predicted, ..self }
    }

    /// Cost of `insn`, a multiple transfer's issue cycles already multiplied.
    pub(super) fn of(&self, insn: &InsnInfo) -> ClassCost {
        let mut cost = self.costs[insn.class as usize];
        if insn.flags.has(Flags::PARALLEL) {
            cost = self.parallel.unwrap_or(cost);
        }
        if insn.count > 0 {
            cost.issue *= u32::from(insn.count).div_ceil(self.transfer);
        }
        cost
    }

    /// Whether another instruction may issue beside `insn` in its cycle.
    pub(super) fn leaves_room(&self, insn: &InsnInfo, cost: ClassCost) -> bool {
        if self.folds {
            // A branch is folded beside the last issue of a multiple transfer, too.
            return insn.size == 2 && cost.dual && !is_folded(insn.class);
        }
        cost.dual && !insn.flags.has(Flags::SINGLE)
    }
}

/// Cycles are kept in a byte; the profile's check keeps them below.
pub(super) fn short(cycles: u32) -> u8 {
    cycles.min(u32::from(u8::MAX)) as u8
}

/// Whether a core that folds branches issues an instruction of this class beside an older one.
pub(super) const fn is_folded(class: Class) -> bool {
    matches!(class, Class::Branch | Class::IfThen)
}
