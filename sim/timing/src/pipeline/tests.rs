use super::{CostTable, Scoreboard};
use crate::insn::InsnInfo;
use crate::profile::tests::{stm32f767, xc7z020};
use crate::thumb::classify;

fn insn(halves: &[u16]) -> InsnInfo {
    let bytes: std::vec::Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    classify(&bytes)
}

/// Cycles of a sequence of 16-bit instructions on a core that issues `width` per cycle.
fn cycles_at(width: u32, code: &[u16]) -> u32 {
    let mut pipeline = stm32f767().pipeline;
    pipeline.width.value = width;
    let table = CostTable::new(&pipeline);
    let mut board = Scoreboard::new();
    code.iter().map(|half| board.issue(&table, &insn(&[*half]))).sum()
}

fn cycles(code: &[u16]) -> u32 {
    cycles_at(2, code)
}

const ADDS_R1_R2_R3: u16 = 0x18D1;
const ADDS_R4_R5_R6: u16 = 0x19AC;
const ADD_SP: u16 = 0xB002;
const MOV_R10_R1: u16 = 0x468A;
const LDR_R0_R0: u16 = 0x6800;
const LDR_R1_R0: u16 = 0x6801;
const LDR_R2_R3: u16 = 0x681A;
const LDRB_R0_R0: u16 = 0x7800;
const STR_R4_R5: u16 = 0x602C;
const STR_R6_R7: u16 = 0x603E;
const SUBS_R2_1: u16 = 0x3A01;
const SUBS_R1_1: u16 = 0x3901;
const BNE_BACK: u16 = 0xD1FC;
const MULS_R1_R2: u16 = 0x4351;
const MULS_R3_R4: u16 = 0x4363;
const ANDS_R1_R2: u16 = 0x4011;
const LDR_R3_R1: u16 = 0x680B;
const PUSH_R4_R5_LR: u16 = 0xB530;

/// Two independent instructions share a cycle; four take two cycles, and four when the core issues one at a time.
#[test]
fn independent_instructions_pair() {
    let code = [ADDS_R1_R2_R3, ADD_SP, MOV_R10_R1, ADDS_R4_R5_R6];
    assert_eq!(cycles(&code), 2);
    assert_eq!(cycles_at(1, &code), 4);
}

/// Each subtraction needs the one before. The first goes through the early ALU, so that the second issues with it; the others follow one
/// a cycle, as the result of the late ALU is for the late ALU of the next.
#[test]
fn dependent_instructions_do_not_pair() {
    assert_eq!(cycles(&[SUBS_R2_1; 5]), 4);
    assert_eq!(cycles(&[ANDS_R1_R2; 5]), 5);
}

/// The early ALU takes an addition whose operands are there early, as the older of two, and a shift from either slot. Its result is there
/// in the same cycle, as an address in the next; the late ALU's a cycle later. Flags come from the late one.
#[test]
fn the_early_alu_feeds_the_late_one() {
    const EORS_R4_R1: u16 = 0x404C;
    const LSLS_R1_R2_3: u16 = 0x00D1;
    const ADDS_R1_R1_1: u16 = 0x1C49;
    const ADCS_R4_R5: u16 = 0x416C;
    assert_eq!(cycles(&[ADDS_R1_R2_R3, EORS_R4_R1]), 1);
    assert_eq!(cycles(&[ADDS_R1_R2_R3, ADCS_R4_R5]), 2, "its flags");
    assert_eq!(cycles(&[MOV_R10_R1, ADDS_R1_R2_R3, EORS_R4_R1]), 2, "the younger one");
    assert_eq!(cycles(&[MOV_R10_R1, ADDS_R1_R2_R3, LDR_R3_R1]), 3);
    assert_eq!(cycles(&[MOV_R10_R1, LSLS_R1_R2_3, LDR_R3_R1]), 2, "a shift");
    assert_eq!(cycles(&[0xB2D1, LSLS_R1_R2_3, LDR_R3_R1]), 3, "beside UXTB, which has the shifter");
    // Load 0, addition 1 in the late ALU, which has a word loaded a cycle before the early one; address 3.
    assert_eq!(cycles(&[LDR_R1_R0, ADDS_R1_R1_1, LDR_R3_R1]), 4);
}

/// A word loaded in cycle 0 is an operand in 1, a factor in 2, a base in 2 and an index in 3; and in 2, where what is added to it is shifted.
#[test]
fn a_word_is_late_for_factors_and_indices() {
    const LDR_R3_R1_R2: u16 = 0x588B;
    const LDR_R3_R2_R1: u16 = 0x5853;
    assert_eq!(cycles(&[LDR_R1_R0, ANDS_R1_R2]), 2);
    assert_eq!(cycles(&[LDR_R1_R0, MULS_R1_R2]), 3);
    assert_eq!(cycles(&[LDR_R1_R0, LDR_R3_R1_R2]), 3);
    assert_eq!(cycles(&[LDR_R1_R0, LDR_R3_R2_R1]), 4);
    assert_eq!(cycles(&[LDR_R1_R0, MOV_R10_R1, MOV_R10_R1, MULS_R1_R2]), 3, "it is no later for having waited");
    let table = CostTable::new(&stm32f767().pipeline);
    let sum = |halves: &[u16]| {
        let mut board = Scoreboard::new();
        board.issue(&table, &insn(&[LDR_R1_R0])) + board.issue(&table, &insn(halves))
    };
    assert_eq!(sum(&[0xEB01, 0x0302]), 2, "ADD.W r3, r1, r2");
    assert_eq!(sum(&[0xEB01, 0x0382]), 3, "ADD.W r3, r1, r2, LSL #2");
    assert_eq!(sum(&[0xFB02, 0x1302]), 1, "MLA r3, r2, r2, r1: a sum is not late");
}

/// The pipeline behind some 16-bit instructions.
fn issued(code: &[u16]) -> Scoreboard {
    let table = CostTable::new(&stm32f767().pipeline);
    let mut board = Scoreboard::new();
    code.iter().for_each(|half| _ = board.issue(&table, &insn(&[*half])));
    board
}

/// A load of a word that was stored in cycle 0 issues in 4, whatever part of the word it was; one of another word does not wait, and of a base
/// that was written since nothing is known.
#[test]
fn a_load_waits_for_the_store_of_its_word() {
    const LDR_R1_R5: u16 = 0x6829;
    const LDR_R1_R5_4: u16 = 0x6869;
    const STRB_R4_R5_1: u16 = 0x706C;
    const ADDS_R5_R5_0: u16 = 0x1C2D;
    assert_eq!(cycles(&[STR_R4_R5, LDR_R1_R5]), 5);
    assert_eq!(cycles(&[STRB_R4_R5_1, LDR_R1_R5]), 5);
    assert_eq!(cycles(&[STR_R4_R5, LDR_R1_R5_4]), 1);
    assert_eq!(cycles(&[STR_R4_R5, ADDS_R5_R5_0, LDR_R1_R5]), 3);
    // Two stores of the word: the last one counts.
    assert_eq!(cycles(&[STR_R4_R5, STR_R4_R5, LDR_R1_R5]), 6);
    // Five stores: the first one is through, the second is not.
    let stores = [0x602C, 0x606C, 0x60AC, 0x60EC, 0x612C];
    let then = |load: u16| cycles(&[&stores[..], &[load]].concat());
    assert_eq!((then(LDR_R1_R5), then(LDR_R1_R5_4)), (5, 6));
    // A store that is through leaves nothing behind.
    let after = |first: u16| issued(&[&[first][..], &[MOV_R10_R1; 20]].concat());
    assert!(after(STR_R4_R5) == after(ADD_SP));
    let mut pipeline = stm32f767().pipeline;
    pipeline.store_load = None;
    let (table, mut board) = (CostTable::new(&pipeline), Scoreboard::new());
    assert_eq!(board.issue(&table, &insn(&[STR_R4_R5])) + board.issue(&table, &insn(&[LDR_R1_R5])), 1);
}

/// Any result can be stored in the same cycle, a floating-point sum in the next.
#[test]
fn what_is_stored_is_needed_last() {
    const STR_R0_R5: u16 = 0x6028;
    assert_eq!(cycles(&[LDRB_R0_R0, STR_R0_R5]), 1);
    assert_eq!(cycles(&[LDR_R0_R0, STR_R0_R5]), 1);
    let (table, mut board) = (CostTable::new(&stm32f767().pipeline), Scoreboard::new());
    board.issue(&table, &insn(&[0xEE71, 0x0A21]));
    assert_eq!(board.issue(&table, &insn(&[0xEDC1, 0x0A00])), 1, "VADD.F32 s1; VSTR s1, [r1]");
}

/// UXTB is the older of two or issues alone. It needs its operand no earlier than an addition does; UXTAB and REV do.
#[test]
fn an_extension_issues_first() {
    const UXTB_R1_R2: u16 = 0xB2D1;
    const UXTB_R3_R1: u16 = 0xB2CB;
    const REV_R3_R1: u16 = 0xBA0B;
    assert_eq!(cycles(&[UXTB_R1_R2, ADDS_R4_R5_R6]), 1);
    assert_eq!(cycles(&[ADDS_R4_R5_R6, UXTB_R1_R2]), 2);
    assert_eq!(cycles(&[LDR_R1_R0, UXTB_R3_R1]), 2);
    assert_eq!(cycles(&[LDR_R1_R0, REV_R3_R1]), 3);
}

/// Flags of cycle 0 are early for a branch in cycle 3, and not for one in 2; CBZ has none.
#[test]
fn flags_are_known_three_cycles_before() {
    let known = |between: usize, branch: u16| {
        issued(&[&[SUBS_R2_1][..], &std::vec![MOV_R10_R1; between], &[branch]].concat()).known()
    };
    assert_eq!([0, 3, 4, 5, 9].map(|between| known(between, BNE_BACK)), [false, false, false, true, true]);
    assert!(!known(9, 0xB10A), "CBZ r2");
}

/// The calibration: a load whose address is the result of the load before issues 2 cycles after it (latency 1, and 1
/// more as an address is needed early). 100 loads more cost 200 cycles more.
#[test]
fn a_load_costs_two_cycles_to_the_next() {
    assert_eq!(cycles(&[LDR_R0_R0]), 1);
    assert_eq!(cycles(&[LDR_R0_R0; 101]) - cycles(&[LDR_R0_R0; 1]), 200);
    // A byte comes a cycle later.
    assert_eq!(cycles(&[LDRB_R0_R0; 101]) - cycles(&[LDRB_R0_R0; 1]), 300);
}

/// Load and subtraction share cycle 0, the branch issues in cycle 1: 2 cycles a round.
#[test]
fn a_load_in_a_counted_loop_costs_two_cycles() {
    assert_eq!(cycles(&[LDR_R1_R0, SUBS_R2_1, BNE_BACK]), 2);
}

/// One load and one store a cycle, a multiply neither with a multiply nor with a store.
#[test]
fn a_unit_serves_one_instruction_a_cycle() {
    assert_eq!(cycles(&[LDR_R1_R0, LDR_R2_R3]), 2);
    assert_eq!(cycles(&[LDR_R1_R0, STR_R4_R5]), 1);
    assert_eq!(cycles(&[STR_R6_R7, STR_R4_R5]), 2);
    assert_eq!(cycles(&[MULS_R1_R2, MULS_R3_R4]), 2);
    assert_eq!(cycles(&[MULS_R1_R2, STR_R4_R5]), 2);
    assert_eq!(cycles(&[MULS_R1_R2, LDR_R0_R0]), 1);
}

/// Two words beside each other lie in different banks, whatever the base; two words further do not, and of other bases nothing is
/// known. A core without banks loads once a cycle.
#[test]
fn loads_from_different_banks_pair() {
    const LDR_R2_R0_4: u16 = 0x6842;
    const LDR_R2_R0_8: u16 = 0x6882;
    assert_eq!(cycles(&[LDR_R1_R0, LDR_R2_R0_4]), 1);
    assert_eq!(cycles(&[LDR_R1_R0, LDR_R2_R0_8]), 2);
    assert_eq!(cycles(&[LDR_R0_R0, LDR_R2_R0_4]), 3, "its base is the result of the first");
    assert_eq!(cycles(&[0x9900, 0x9A03]), 1, "LDR r1, [sp]; LDR r2, [sp, #12]");
    let mut pipeline = stm32f767().pipeline;
    let wide = |table: &CostTable| {
        let mut board = Scoreboard::new();
        board.issue(table, &insn(&[0xF8D0, 0x1004])) + board.issue(table, &insn(&[0xF850, 0x2C08]))
    };
    assert_eq!(wide(&CostTable::new(&pipeline)), 1, "LDR.W r1, [r0, #4]; LDR.W r2, [r0, #-8]");
    pipeline.load_banks = None;
    assert_eq!(wide(&CostTable::new(&pipeline)), 2);
}

/// Multiply: result 2 cycles after issue, so what uses it issues in cycle 2 and the sequence takes 3.
#[test]
fn results_come_with_their_latency() {
    assert_eq!(cycles(&[MULS_R1_R2, MOV_R10_R1]), 3);
    // A logic result is an address a cycle later than an addition's: issue in 2 against 1.
    assert_eq!(cycles(&[ANDS_R1_R2, LDR_R3_R1]), 3);
    assert_eq!(cycles(&[ADDS_R1_R2_R3, LDR_R3_R1]), 2);
}

/// Two registers a cycle, alone: three registers take 2 cycles, and what follows starts in cycle 2.
#[test]
fn multiple_transfers_take_a_cycle_per_pair() {
    assert_eq!(cycles(&[PUSH_R4_R5_LR]), 2);
    assert_eq!(cycles(&[ADDS_R1_R2_R3, PUSH_R4_R5_LR, ADDS_R4_R5_R6]), 1 + 2 + 1);
    // LDM of r0-r7 takes 4 cycles; r7 is usable a cycle after the last: issue of the move in 4.
    assert_eq!(cycles(&[0xCBFF]), 4);
    assert_eq!(cycles(&[0xCBFF, 0x46BA]), 5);
}

#[test]
fn long_operations_hold_the_pipeline() {
    let table = CostTable::new(&stm32f767().pipeline);
    let alone = |halves: &[u16]| Scoreboard::new().issue(&table, &insn(halves));
    assert_eq!(alone(&[0xFB92, 0xF1F3]), 7, "SDIV");
    assert_eq!(alone(&[0xEEC1, 0x0A21]), 16, "VDIV.F32");
    assert_eq!(alone(&[0xEE82, 0x1B03]), 30, "VDIV.F64");
    assert_eq!(alone(&[0xF3BF, 0x8F6F]), 8, "ISB");
    assert_eq!(alone(&[0xED2D, 0x8B06]), 3, "VPUSH of three doubles");
}

/// VADD.F32 s1: 3 cycles until VMUL.F32 can use it (issue in 3, done in 4); without dependency it follows in cycle 1.
#[test]
fn floating_point_results_take_their_time() {
    let table = CostTable::new(&stm32f767().pipeline);
    let mut board = Scoreboard::new();
    board.issue(&table, &insn(&[0xEE71, 0x0A21]));
    assert_eq!(board.issue(&table, &insn(&[0xEE60, 0x0AA0])), 3, "VMUL.F32 s1, s1, s1");
    board.clear();
    board.issue(&table, &insn(&[0xEE71, 0x0A21]));
    assert_eq!(board.issue(&table, &insn(&[0xEE62, 0x2A22])), 1, "VMUL.F32 s5, s4, s5");
}

/// VMUL.F64 issues for 5 cycles and has its result 2 later, 7 in all: a chain of three takes 7 + 7 + 5. Without dependency the
/// next one follows after 5.
#[test]
fn latency_begins_behind_the_last_issue_cycle() {
    let table = CostTable::new(&stm32f767().pipeline);
    let mut board = Scoreboard::new();
    let chain = insn(&[0xEE20, 0x0B01]);
    assert_eq!((0..3).map(|_| board.issue(&table, &chain)).sum::<u32>(), 19, "VMUL.F64 d0, d0, d1");
    board.clear();
    let apart = insn(&[0xEE22, 0x0B03]);
    assert_eq!((0..3).map(|_| board.issue(&table, &apart)).sum::<u32>(), 15, "VMUL.F64 d0, d2, d3");
}

/// Subtraction and branch share a cycle, as the branch is predicted; its flags come a cycle later. With a load before that the
/// subtraction waits for, LDR r1, SUBS r1, the branch does not wait either, and is resolved after both.
#[test]
fn a_predicted_branch_does_not_wait_for_its_flags() {
    let table = CostTable::new(&stm32f767().pipeline);
    let mut board = Scoreboard::new();
    board.issue(&table, &insn(&[SUBS_R2_1]));
    assert_eq!((board.issue(&table, &insn(&[BNE_BACK])), board.late()), (0, 1));
    board.clear();
    let cycles: u32 = [LDR_R1_R0, SUBS_R1_1, BNE_BACK].iter().map(|&half| board.issue(&table, &insn(&[half]))).sum();
    assert_eq!((cycles, board.late()), (2, 1));
}

/// MLA: a product takes 2 cycles to be a factor, and 1 to be a sum. VMLA.F32: 6 and 3.
#[test]
fn a_sum_is_needed_later_than_its_factors() {
    let table = CostTable::new(&stm32f767().pipeline);
    let ten = |halves: &[u16]| {
        let mut board = Scoreboard::new();
        (0..11).map(|_| board.issue(&table, &insn(halves))).sum::<u32>() - 1
    };
    assert_eq!(ten(&[0xFB01, 0x0002]), 10, "MLA r0, r1, r2, r0");
    assert_eq!(ten(&[0xFB00, 0x3002]), 20, "MLA r0, r0, r2, r3");
    assert_eq!(ten(&[0xEE00, 0x0A81]), 30, "VMLA.F32 s0, s1, s2");
    assert_eq!(ten(&[0xEE00, 0x0A01]), 60, "VMLA.F32 s0, s0, s2");
}

/// Cycles of ten rounds of 16-bit instructions on the Cortex-A9, once its pipeline is full of them.
fn ten_out_of_order(code: &[u16]) -> u32 {
    let table = CostTable::new(&xc7z020().pipeline);
    let mut board = Scoreboard::new();
    let mut round = || code.iter().map(|half| board.issue(&table, &insn(&[*half]))).sum::<u32>();
    (0..40).for_each(|_| _ = round());
    (0..10).map(|_| round()).sum()
}

/// Loads are independent, one a cycle; what uses them waits beside them. Additions fill two slots a cycle, whatever waits.
#[test]
fn what_waits_does_not_hold_up_the_rest() {
    const ADDS_R1_R1_R0: u16 = 0x1809;
    const LDR_R0_R3: u16 = 0x6818;
    assert_eq!(ten_out_of_order(&[LDR_R0_R3, ADDS_R1_R1_R0]), 10);
    assert_eq!(ten_out_of_order(&[LDR_R0_R3, ADDS_R1_R1_R0, MOV_R10_R1, MOV_R10_R1]), 20);
    // A chain is a chain: 4 from load to load, and 3 + 1 with an addition between.
    assert_eq!(ten_out_of_order(&[LDR_R0_R0]), 40);
    assert_eq!(ten_out_of_order(&[LDR_R0_R0, 0x3000]), 40, "LDR r0, [r0]; ADDS r0, #0");
    assert_eq!(ten_out_of_order(&[LDRB_R0_R0]), 40);
    // One path for addresses: a load and a store take two cycles, and neither passes the other.
    assert_eq!(ten_out_of_order(&[LDR_R2_R3, STR_R4_R5]), 20);
    assert_eq!(ten_out_of_order(&[PUSH_R4_R5_LR]), 20);
    assert_eq!(ten_out_of_order(&[MULS_R1_R2]), 40);
}

/// A load chain of 4 cycles, and as many independent instructions beside it: 7 fit beside each load, and 8 do not. Whatever is
/// there, the chain is ahead of dispatch by no more than the window.
#[test]
fn the_window_is_finite() {
    let with = |others: usize| {
        let mut code = std::vec![LDR_R0_R0];
        code.extend(std::iter::repeat_n(MOV_R10_R1, others));
        ten_out_of_order(&code)
    };
    assert_eq!((with(7), with(8), with(9)), (40, 45, 50));
    // 30 loads in a chain, then 60 moves: they and the last three loads fill the slots of 32 cycles, of which 12 are under the chain.
    let table = CostTable::new(&xc7z020().pipeline);
    let mut board = Scoreboard::new();
    let mut run = |half: u16, times: usize| (0..times).map(|_| board.issue(&table, &insn(&[half]))).sum::<u32>();
    let chain = run(LDR_R0_R0, 30);
    assert_eq!((chain, run(MOV_R10_R1, 60)), (29 * 4 + 1, 32 - 12));
}

/// A wrong prediction costs its 8 cycles from when the branch is resolved, and what waited meanwhile has gone on. A serial instruction
/// waits for all.
#[test]
fn a_wrong_branch_begins_anew() {
    let table = CostTable::new(&xc7z020().pipeline);
    let start = |code: &[u16]| {
        let mut board = Scoreboard::new();
        let cycles: u32 = code.iter().map(|half| board.issue(&table, &insn(&[*half]))).sum();
        (board, cycles)
    };
    let (mut board, cycles) = start(&[SUBS_R2_1, BNE_BACK]);
    assert_eq!((cycles, board.turn(&table, true, 8, true)), (1, 8));
    // Load 0, subtraction 3, its flags 4: 4 + 8 instead of 4.
    let (mut board, cycles) = start(&[LDR_R1_R0, SUBS_R1_1, BNE_BACK]);
    assert_eq!((cycles, board.turn(&table, true, 8, true)), (4, 8));
    assert_eq!(board.issue(&table, &insn(&[0x1C08])), 1, "ADDS r0, r1, #0");
    let (mut board, cycles) = start(&[LDR_R1_R0, SUBS_R1_1]);
    assert_eq!((cycles, board.issue(&table, &insn(&[0xF3BF, 0x8F4F]))), (4, 3), "DSB");
}
