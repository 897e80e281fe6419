//! What the observer must know of an instruction before it executes (ARM DDI 0406, chapters A5 and A6).

use timing::cp15::{Mcr, Operation, barrier};

use crate::block::RawInsn;

/// An instruction that changes what the modelled core does with addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// A write to the system control coprocessor.
    Write {
        /// Which.
        mcr: Mcr,
        /// The condition under which it executes.
        condition: u32,
    },
    /// A barrier.
    Barrier(Operation),
}

const ALWAYS: u32 = 14;

impl System {
    /// What `insn` is, if it is one. The condition of an IT block is not followed: a write in one counts as executed.
    pub fn decode(insn: &RawInsn) -> Option<Self> {
        if insn.size != 4 {
            return None;
        }
        let word = if insn.thumb { insn.code.rotate_left(16) } else { insn.code };
        if let Some(operation) = barrier(word) {
            return Some(Self::Barrier(operation));
        }
        let (mcr, condition) = match insn.thumb {
            true => (Mcr::decode_t32(word)?, ALWAYS),
            false => (Mcr::decode_a32(word)?, word >> 28),
        };
        Some(Self::Write { mcr, condition })
    }
}

/// Whether `insn` returns from an exception: RFE, a load of several registers with the saved status, or data processing that
/// writes the program counter and restores it.
pub const fn is_return(insn: &RawInsn) -> bool {
    let (first, second) = (insn.code & 0xffff, insn.code >> 16);
    if insn.thumb {
        let rfe = insn.size == 4 && (first & 0xffd0 == 0xe810 || first & 0xffd0 == 0xe990);
        return rfe || first == 0xf3de && second >> 8 == 0x8f;
    }
    let word = insn.code;
    if word >> 28 == 15 {
        return word & 0x0e50_0000 == 0x0810_0000;
    }
    let compares = matches!(word >> 21 & 15, 8..=11);
    let restores = word & 0x0c10_f000 == 0x0010_f000 && !compares && word & 0x0200_0090 != 0x0000_0090;
    restores || word & 0x0e50_8000 == 0x0850_8000
}

/// Whether an instruction under `condition` executes with the flags of `cpsr`.
pub const fn passes(condition: u32, cpsr: u32) -> bool {
    let (n, z, c, v) = (cpsr >> 31 & 1 != 0, cpsr >> 30 & 1 != 0, cpsr >> 29 & 1 != 0, cpsr >> 28 & 1 != 0);
    let holds = match condition >> 1 {
        0 => z,
        1 => c,
        2 => n,
        3 => v,
        4 => c && !z,
        5 => n == v,
        6 => n == v && !z,
        _ => return true,
    };
    holds != (condition & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::{System, is_return, passes};
    use crate::block::RawInsn;
    use timing::cp15::Operation;

    const fn arm(code: u32) -> RawInsn {
        RawInsn { pc: 0, size: 4, code, thumb: false }
    }

    const fn wide(first: u32, second: u32) -> RawInsn {
        RawInsn { pc: 0, size: 4, code: first | second << 16, thumb: true }
    }

    #[test]
    fn returns_from_exceptions_are_told_from_other_branches() {
        let rfeia_sp = arm(0xf8bd_0a00);
        let movs_pc_lr = arm(0xe1b0_f00e);
        let subs_pc_lr_4 = arm(0xe25e_f004);
        let ldm_sp_pc_spsr = arm(0xe8fd_8001);
        for insn in [rfeia_sp, movs_pc_lr, subs_pc_lr_4, ldm_sp_pc_spsr, wide(0xe9bd, 0xc000), wide(0xf3de, 0x8f04)] {
            assert!(is_return(&insn), "{:#x}", insn.code);
        }
        let bx_lr = arm(0xe12f_ff1e);
        let mov_pc_lr = arm(0xe1a0_f00e);
        let pop_pc = arm(0xe8bd_8010);
        let ldm_user = arm(0xe95d_7fff);
        let cmp = arm(0xe15f_f00e);
        let srsdb = arm(0xf96d_0513);
        for insn in [bx_lr, mov_pc_lr, pop_pc, ldm_user, cmp, srsdb, wide(0xe8bd, 0x8010)] {
            assert!(!is_return(&insn), "{:#x}", insn.code);
        }
    }

    #[test]
    fn writes_and_barriers_are_found_in_both_instruction_sets() {
        let ttbr0 = 0xee02_0f10;
        let Some(System::Write { mcr, condition: 14 }) = System::decode(&arm(ttbr0)) else { panic!("mcr") };
        assert_eq!(mcr.operation(0x40), Some(Operation::Table0(0x40)));
        assert_eq!(System::decode(&arm(0x0e02_0f10)), Some(System::Write { mcr, condition: 0 }));
        assert_eq!(System::decode(&wide(0xee02, 0x0f10)), Some(System::Write { mcr, condition: 14 }));
        assert_eq!(System::decode(&wide(0xf3bf, 0x8f4f)), Some(System::Barrier(Operation::SyncBarrier)));
        assert_eq!(System::decode(&arm(0xf57f_f04f)), Some(System::Barrier(Operation::SyncBarrier)));
        assert_eq!(System::decode(&arm(0xe1a0_f00e)), None);
    }

    #[test]
    fn conditions_follow_the_flags() {
        const Z: u32 = 1 << 30;
        assert!(passes(0, Z) && !passes(0, 0) && passes(1, 0) && !passes(1, Z));
        assert!(passes(14, 0) && passes(12, 0) && !passes(12, Z) && passes(13, Z));
    }
}
