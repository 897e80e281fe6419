//! The Cortex-M7's pieces: code in flash behind its accelerator, data in tightly coupled memory.

use cofferdam::Info;

use crate::stretch;
use crate::stretch::{ROUNDS, Words};

static mut WORDS: Words = Words::new();

macro_rules! start {
    () => {
        "movs r0, #0\nmovs r1, #1\nmovs r2, #2\nmovs r3, #3\nmov r8, r1\nmov r12, r2\nmov r5, r4"
    };
}
macro_rules! chain {
    () => {
        "str r4, [r4]\nmov r0, r4"
    };
}
// The word that was loaded is an offset: the chains leave an address there.
macro_rules! index {
    () => {
        "movs r0, #0\nstr r0, [r4]"
    };
}
macro_rules! fp {
    () => {
        "vmov.f32 s0, #1.0\nvmov.f32 s1, #1.0\nvmov.f32 s2, #1.0"
    };
}
macro_rules! fp64 {
    () => {
        "vmov.f64 d0, #1.0\nvmov.f64 d1, #1.0"
    };
}

stretch!(alu_pair, "m7_alu_pair", start!(), 8, 16, "add r0, r8\nadd r1, r12");
stretch!(alu_chain, "m7_alu_chain", start!(), 16, 32, "add r0, r8");
stretch!(multiply_chain, "m7_multiply_chain", start!(), 8, 32, "muls r0, r1, r0");
stretch!(accumulate_chain, "m7_accumulate_chain", start!(), 8, 32, "mla r0, r1, r2, r0");
stretch!(divide, "m7_divide", start!(), 4, 16, "udiv r0, r3, r1");
stretch!(load_chain, "m7_load_chain", chain!(), 8, 32, "ldr r0, [r0]");
stretch!(load_use, "m7_load_use", start!(), 8, 16, "ldr r0, [r4]\nadd r1, r0");
stretch!(load_banks, "m7_load_banks", start!(), 8, 16, "ldr r0, [r4]\nldr r1, [r4, #4]");
stretch!(load_bank, "m7_load_bank", start!(), 8, 16, "ldr r0, [r4]\nldr r1, [r4, #8]");
stretch!(load_store, "m7_load_store", start!(), 8, 16, "ldr r0, [r4]\nstr r1, [r5, #4]");
stretch!(load_byte, "m7_load_byte", start!(), 8, 32, "ldrb r0, [r4, r0]");
stretch!(load_multiple, "m7_load_multiple", start!(), 4, 16, "ldm r4, {{r0, r1, r2, r3}}");
stretch!(load_address, "m7_load_address", chain!(), 8, 32, "ldr r0, [r0]\nadds r0, #0");
stretch!(load_index, "m7_load_index", index!(), 8, 32, "ldr r0, [r4, r0]");
stretch!(load_multiply, "m7_load_multiply", start!(), 8, 16, "ldr r0, [r4]\nmul r1, r0, r2");
stretch!(store_load, "m7_store_load", start!(), 8, 16, "str r0, [r4]\nldr r0, [r4]");
// An extension issues as the older of two: the two before it issue together, or it would be a cycle later.
stretch!(alu_late, "m7_alu_late", start!(), 4, 16, "add.w r0, r1, r8\neor.w r5, r0, r2\nuxtb r3, r1\nadd r12, r8");
stretch!(store_byte, "m7_store_byte", start!(), 4, 16, "ldrb r0, [r4]\nstr r0, [r4, #32]\nuxtb r3, r1\nadd r12, r8");
stretch!(extend, "m7_extend", start!(), 4, 16, "uxtb r3, r1\nadd r12, r8\nadd.w r0, r1, r8");
stretch!(fp_add, "m7_fp_add", fp!(), 8, 32, "vadd.f32 s0, s0, s1");
stretch!(fp_accumulate, "m7_fp_accumulate", fp!(), 8, 32, "vmla.f32 s0, s1, s2");
stretch!(fp_divide, "m7_fp_divide", fp!(), 4, 16, "vdiv.f32 s0, s1, s2");
stretch!(fp_multiply64, "m7_fp_multiply64", fp64!(), 4, 16, "vmul.f64 d0, d0, d1");

// 128 turns of two instructions that fill no line of flash: all of it stays at hand.
stretch!(counted_loop, "m7_loop", ".balign 8", 0, 1, "nop\nnop\nnop\nmovs r0, #128\n2: subs r0, #1\nbne 2b");
// 40 instructions of 32 bits, their count and a branch: 168 bytes. The first lap warms.
stretch!(
    flash_loop,
    "m7_flash_loop",
    "movs r0, #0\nmovs r1, #1\nmov r8, r1\nmov r12, r1",
    0,
    1,
    "movs r3, #32\n.balign 32\n2:\n.rept 20\nadd.w r0, r0, r8\nadd.w r1, r1, r12\n.endr\nsubs.w r3, r3, #1\nbne.w 2b"
);

// 4 KiB of straight code, twice what the accelerator keeps.
stretch!(flash_straight, "m7_flash_straight", start!(), 32, 512, "add.w r0, r0, r8\nadd.w r1, r1, r12");

// The branch back is taken three times and then not: what has been taken lately is expected to be taken.
stretch!(
    branch_wrong,
    "m7_branch_wrong",
    "movs r0, #4\n.balign 8\n2: nop\nnop\nnop\nsubs r0, #1",
    0,
    1,
    "bne 2b\nnop\nnop\nnop\nnop"
);
// The same with the flags three cycles before.
stretch!(
    branch_wrong_early,
    "m7_branch_wrong_early",
    "movs r0, #4\n.balign 8\n2: subs r0, #1\nnop\nnop\nnop\nnop\nnop\nnop\nnop",
    0,
    1,
    "bne 2b\nnop\nnop\nnop\nnop"
);
// The same branch forward, which is never taken.
stretch!(
    branch_right,
    "m7_branch_right",
    "b 2f\n.balign 8\n2: nop\nnop\nnop\nmovs r0, #0",
    0,
    1,
    "bne 3f\nnop\nnop\nnop\nnop",
    "3:"
);

const ALL: [fn(u32); 29] = [
    alu_pair,
    alu_chain,
    multiply_chain,
    accumulate_chain,
    divide,
    load_chain,
    load_use,
    load_banks,
    load_bank,
    load_store,
    load_byte,
    load_multiple,
    load_address,
    load_index,
    load_multiply,
    store_load,
    alu_late,
    store_byte,
    extend,
    fp_add,
    fp_accumulate,
    fp_divide,
    fp_multiply64,
    counted_loop,
    flash_loop,
    flash_straight,
    branch_wrong,
    branch_wrong_early,
    branch_right,
];

/// Every stretch, round after round.
pub fn measure(_: Info) -> u32 {
    // SAFETY: the only thread; nobody else has the words.
    let data = unsafe { (*core::ptr::addr_of_mut!(WORDS)).address() };
    for piece in ALL {
        (0..ROUNDS).for_each(|_| piece(data));
    }
    0
}
