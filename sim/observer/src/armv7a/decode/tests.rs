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
