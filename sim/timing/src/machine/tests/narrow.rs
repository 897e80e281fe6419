//! A core without caches and prediction that pairs little: the Cortex-M33 in the LPC55S69. SRAM and SRAM X have no wait states; a word of the
//! flash has 16 bytes and takes 12 clocks.

use std::vec::Vec;

use super::{FpFrame, Machine, NOP, block, frame, insns};
use crate::block::BlockCost;
use crate::machine::{EntryKind, Maintenance};
use crate::profile::tests::without_caches::lpc55s69;
use crate::{MemAttr, pipeline};

const FLASH: u32 = 0x1000_0000;
const SRAMX: u32 = 0x1020_0000;
const SRAM: u32 = 0x3800_0000;
/// From a Secure address to the Non-secure one of the same memory.
const NON_SECURE: u32 = 0x1000_0000;
const ATTR: MemAttr = MemAttr::WRITE_BACK_ALLOCATE;

const ADDS_R0_R0_R1: u16 = 0x1840;
const ADDS_R2_R2_R3: u16 = 0x18D2;
const ADD_R0_R1: u16 = 0x4408;
const SUBS_R7_1: u16 = 0x3F01;
const BNE_FORWARD: u16 = 0xD102;
const IT_EQ: u16 = 0xBF08;
const LDR_R0_R1: u16 = 0x6808;
const STR_R0_R2: u16 = 0x6010;
const LDM_R6_R0_TO_R3: u16 = 0xCE0F;
const MULS_R0_R1: u16 = 0x4348;
const CBZ_R0: u16 = 0xB110;
const BX_LR: u16 = 0x4770;
const B_SELF: u16 = 0xE7FE;

fn machine() -> Machine {
    Machine::new(&lpc55s69()).unwrap()
}

/// Issue cycles from an empty pipeline.
fn cycles(code: &[u16]) -> u32 {
    block(&machine(), SRAMX, code).cycles()
}

/// The same of 32-bit instructions.
fn wide(code: &[[u16; 2]]) -> u32 {
    let table = machine().costs().clone();
    let code: Vec<_> = code
        .iter()
        .flat_map(|[one, two]| {
            let bytes = [one.to_le_bytes(), two.to_le_bytes()].concat();
            [crate::thumb::classify(&bytes)]
        })
        .collect();
    let mut board = pipeline::Scoreboard::new();
    code.iter().map(|insn| board.issue(&table, insn)).sum()
}

/// A turn of a loop: `code`, whose last instruction branches back.
fn turn(code: &[u16]) -> u32 {
    let mut m = machine();
    let code = block(&m, SRAMX, code);
    let turns: Vec<u32> = (0..5).map(|_| m.block(&code, ATTR)).collect();
    assert_eq!(m.counters().mispredicts, 0, "nothing is predicted");
    turns[4]
}

/// Two additions do not pair. A branch that is not taken and IT cost nothing behind a 16-bit instruction, though it sets their flags. NOP shares
/// its cycle with the instruction behind it, not with the one before.
#[test]
fn only_branches_are_folded() {
    assert_eq!(cycles(&[ADDS_R0_R0_R1, ADDS_R2_R2_R3]), 2);
    assert_eq!(cycles(&[ADDS_R0_R0_R1, BNE_FORWARD]), 1);
    assert_eq!(cycles(&[ADDS_R0_R0_R1, IT_EQ, ADD_R0_R1]), 2);
    assert_eq!(cycles(&[NOP, ADDS_R0_R0_R1]), 1);
    assert_eq!(cycles(&[ADDS_R0_R0_R1, NOP]), 2);
    assert_eq!(cycles(&[LDR_R0_R1, NOP, BNE_FORWARD]), 2);
    assert_eq!(wide(&[[0xF102, 0x0201], [0xF102, 0x0201]]), 2, "add.w r2, r2, #1");
}

/// `jnk0le/random`: SUBS and a taken BNE take 1 + 2, with an addition between 1 + 1 + 1, with LDM of four registers 1 + 4 + 1.
#[test]
fn a_taken_branch_costs_what_was_measured() {
    let bne_back = |halves: u16| 0xD100 | (0x100 - halves - 2);
    assert_eq!(turn(&[SUBS_R7_1, bne_back(1)]), 3);
    assert_eq!(turn(&[SUBS_R7_1, ADD_R0_R1, bne_back(2)]), 3);
    assert_eq!(turn(&[SUBS_R7_1, LDM_R6_R0_TO_R3, bne_back(2)]), 6);
    assert_eq!(turn(&[B_SELF]), 2, "a cycle, and one to fill the pipeline");
}

/// BX: a cycle, and two more, as its target comes from a register. A branch that is not taken costs nothing.
#[test]
fn branches_are_charged_when_they_are_taken() {
    let mut m = machine();
    let (back, next) = (block(&m, SRAMX, &[BX_LR]), block(&m, SRAMX + 0x100, &[NOP]));
    assert_eq!(m.block(&back, ATTR), 1);
    assert_eq!(m.block(&next, ATTR), 2 + 1);
    let (test, behind) = (block(&m, SRAMX, &[SUBS_R7_1, BNE_FORWARD]), block(&m, SRAMX + 4, &[ADD_R0_R1]));
    m.idle(10);
    m.block(&test, ATTR);
    assert_eq!(m.block(&behind, ATTR), 1);
    assert_eq!((m.counters().branches, m.counters().redirects), (2, 1));
}

/// A load brings its word two cycles later: to an addition, to an address, and to the branch that tests it, which no prediction lets go
/// ahead. A store needs its value a cycle later than its address.
#[test]
fn a_load_is_used_after_two_cycles() {
    assert_eq!(cycles(&[LDR_R0_R1, ADDS_R2_R2_R3]), 2);
    assert_eq!(cycles(&[LDR_R0_R1, ADDS_R0_R0_R1]), 3);
    assert_eq!(cycles(&[0x6800, 0x6800]), 3, "ldr r0, [r0]");
    assert_eq!(cycles(&[LDR_R0_R1, CBZ_R0]), 3);
    assert_eq!(cycles(&[LDR_R0_R1, STR_R0_R2]), 2);
    assert_eq!(cycles(&[LDM_R6_R0_TO_R3]), 4);
}

/// Products come after two cycles, sums of them after one. Sums with a shifted operand and parallel arithmetic come after two,
/// bit fields after one.
#[test]
fn what_takes_both_execute_stages_is_later() {
    assert_eq!(cycles(&[MULS_R0_R1, MULS_R0_R1]), 3);
    assert_eq!(wide(&[[0xFB02, 0x4403], [0xFB02, 0x4403]]), 2, "mla r4, r2, r3, r4");
    assert_eq!(wide(&[[0xEB00, 0x0081], [0xEB00, 0x0081]]), 3, "add.w r0, r0, r1, lsl #2");
    assert_eq!(wide(&[[0xFA80, 0xF041], [0xFA80, 0xF041]]), 3, "uadd8 r0, r0, r1");
    assert_eq!(wide(&[[0xF3C0, 0x00C3], [0xF3C0, 0x00C3]]), 2, "ubfx r0, r0, #3, #4");
}

/// VFMA: its result after three cycles, and no other floating-point operation in the two behind it; core registers may be used. There is no
/// double precision: VADD.F64 is an exception, 2.
#[test]
fn an_accumulation_keeps_the_floating_point_unit() {
    let vfma = [0xEEA0, 0x0A81];
    assert_eq!(wide(&[vfma, vfma]), 4, "vfma.f32 s0, s1, s2");
    let add = [0xF102, 0x0201];
    assert_eq!(wide(&[vfma, add, add, [0xEE71, 0x1A22]]), 4, "vadd.f32 s3, s2, s5");
    assert_eq!(wide(&[vfma, [0xEE71, 0x1A22]]), 4);
    assert_eq!(wide(&[[0xEE71, 0x1A22], [0xEE72, 0x2A25]]), 2, "vadd.f32 s5, s4, s11");
    assert_eq!(wide(&[[0xEE32, 0x1B03]]), 2);
}

/// Code and data in SRAM X and in SRAM cost no more than their instructions, at either address, and no cache is asked.
#[test]
fn memory_without_wait_states_adds_nothing() {
    let mut m = machine();
    for at in [SRAMX, SRAM, SRAMX - NON_SECURE, SRAM - NON_SECURE] {
        let code = block(&m, at, &[NOP; 16]);
        assert_eq!(m.block(&code, ATTR), 16, "{at:#x}");
        for n in 0..64 {
            assert_eq!(m.data(at + n * 4, 4, n % 3 == 0, ATTR), 0);
        }
    }
    assert_eq!(m.data(SRAM + 2, 4, false, ATTR), 1, "an unaligned load is two transfers");
    let c = m.counters();
    assert_eq!((c.outside, c.icache_misses, c.dcache_misses, c.dcache_hits), (0, 0, 0, 0));
}

/// 24 NOPs are three words of the flash. The first is waited for, 11, and issues in 8 cycles, until 19. The second is read from 12 on, when the
/// first read has ended, and is there at 23: 4 to wait. So is the third: a word takes 12 cycles. A second execution finds all three in buffers, also at the other address.
#[test]
fn code_in_flash_waits_for_each_word_once() {
    let mut m = machine();
    let code = block(&m, FLASH, &[NOP; 24]);
    assert_eq!(m.block(&code, ATTR), 11 + 8 + 4 + 8 + 4 + 8);
    assert_eq!(m.block(&code, ATTR), 24);
    let alias = block(&m, FLASH - NON_SECURE, &[NOP; 24]);
    assert_eq!(m.block(&alias, ATTR), 24);
    let c = m.counters();
    assert_eq!((c.flash_misses, c.flash_prefetched, c.fetch_stalls), (1, 2, 19));
}

/// A word that was read ahead in time is kept, too: 15 cycles lie between the two fetches, and the second execution finds it.
#[test]
fn a_word_read_ahead_is_kept_when_it_is_used() {
    let mut m = machine();
    let (first, second) = (block(&m, FLASH, &[NOP; 8]), block(&m, FLASH + 16, &[NOP; 8]));
    let far = block(&m, FLASH + 0x1000, &[NOP; 8]);
    assert_eq!(m.block(&first, ATTR), 11 + 8);
    m.idle(100);
    assert_eq!(m.block(&second, ATTR), 8);
    m.idle(100);
    assert_eq!(m.block(&far, ATTR), 11 + 8);
    m.idle(100);
    assert_eq!(m.block(&second, ATTR), 8);
}

/// A literal in a word that no buffer has: 11. Nothing is read ahead for data.
#[test]
fn literals_wait_for_the_flash() {
    let mut m = machine();
    assert_eq!(m.data(FLASH + 0x100, 4, false, ATTR), 11);
    assert_eq!(m.data(FLASH + 0x10C, 4, false, ATTR), 0);
    assert_eq!(m.data(FLASH - NON_SECURE + 0x104, 4, false, ATTR), 0);
    m.idle(100);
    assert_eq!(m.data(FLASH + 0x110, 4, false, ATTR), 11);
}

/// A device: 3 for a load. A store is buffered and takes 3; the next one waits for it, as one is under way at a time.
#[test]
fn one_store_is_under_way() {
    let mut m = machine();
    assert_eq!(m.data(0x5000_0000, 4, false, MemAttr::DEVICE), 3);
    assert_eq!(m.data(0x4000_0000, 4, true, MemAttr::DEVICE), 0);
    assert_eq!(m.data(0x4000_0000, 4, true, MemAttr::DEVICE), 3);
    assert_eq!(m.drain(), 3);
}

/// Stack in SRAM, vectors in SRAM X: 12 in, 12 out, 6 from handler to handler; from flash the vector takes 11 more.
#[test]
fn exceptions_cost_the_published_cycles() {
    let mut m = machine();
    let plain = frame(SRAM, ATTR, FpFrame::None);
    assert_eq!(m.exception_entry(EntryKind::Normal, plain, SRAMX + 0x3C, ATTR), 12);
    assert_eq!(m.exception_entry(EntryKind::TailChained, plain, SRAMX + 0x40, ATTR), 6);
    assert_eq!(m.exception_exit(plain), 12);
    assert_eq!(m.exception_entry(EntryKind::Normal, plain, FLASH + 0x3C, ATTR), 12 + 11);
}

/// There are no caches: their registers do nothing, and no write to CCR switches one on.
#[test]
fn caches_that_are_not_there_stay_off() {
    let mut m = machine();
    assert_eq!(m.maintain(Maintenance::Enable { instruction: true, data: true }), 0);
    assert_eq!(m.maintain(Maintenance::DataLine { addr: SRAM, clean: true, invalidate: true }), 0);
    assert_eq!(m.maintain(Maintenance::DataSetWay { set_way: u32::MAX, clean: true, invalidate: true }), 0);
    assert_eq!(m.maintain(Maintenance::InvalidateInstructions), 0);
    for _ in 0..2 {
        assert_eq!(m.data(0x4000_0000, 4, false, ATTR), 3);
    }
    assert_eq!((m.counters().dcache_hits, m.counters().dcache_misses), (0, 0));
}

/// As bad as others can leave it: the flash has nothing that is wanted and is being read for somebody else, 12 and then 11.
#[test]
fn others_leave_the_flash_at_work() {
    let mut m = machine();
    let code = block(&m, FLASH, &[NOP; 8]);
    m.block(&code, ATTR);
    m.idle(100);
    m.spoil();
    assert_eq!(m.block(&code, ATTR), 12 + 11 + 8);
    assert_eq!(BlockCost::new(m.costs(), FLASH, &insns(&[NOP; 8])).cycles(), 8);
}
