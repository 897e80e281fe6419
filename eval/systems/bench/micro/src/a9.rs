//! The Cortex-A9's pieces: code and data in DRAM, behind both levels of caches.

use cofferdam::Info;

use crate::stretch;
use crate::stretch::{ROUNDS, Words};

static mut WORDS: Words = Words::new();

macro_rules! start {
    () => {
        "mov r0, #0\nmov r1, #1\nmov r2, #2\nmov r3, #3\nmov r8, #1\nmov r12, #2\nmov r5, r4"
    };
}
macro_rules! chain {
    () => {
        "str r4, [r4]\nmov r0, r4"
    };
}
macro_rules! resume {
    () => {
        "mov r5, r4\nldr r0, [r5]"
    };
}
macro_rules! fp {
    () => {
        "vmov.f32 s0, #1.0\nvmov.f32 s1, #1.0\nvmov.f32 s2, #1.0"
    };
}

stretch!(alu_pair, "a9_alu_pair", start!(), 8, 16, "add r0, r0, r8\nadd r1, r1, r12");
stretch!(alu_chain, "a9_alu_chain", start!(), 8, 32, "add r0, r0, r8");
stretch!(shift_chain, "a9_shift_chain", start!(), 8, 32, "add r0, r8, r0, lsl #2");
stretch!(multiply_chain, "a9_multiply_chain", start!(), 8, 32, "mul r0, r0, r1");
stretch!(multiply, "a9_multiply", start!(), 8, 16, "mul r0, r8, r12\nmul r1, r8, r12");
stretch!(load_chain, "a9_load_chain", chain!(), 8, 32, "ldr r0, [r0]");
stretch!(load_independent, "a9_load_independent", start!(), 8, 16, "ldr r0, [r4]\nldr r1, [r4, #4]");
stretch!(load_use, "a9_load_use", start!(), 8, 16, "ldr r0, [r4]\nadd r1, r1, r0");
stretch!(
    load_gap,
    "a9_load_gap",
    start!(),
    4,
    16,
    "ldr r0, [r4]\nadd r2, r2, r8\nadd r3, r3, r8\nadd r2, r2, r8\nadd r3, r3, r8\nadd r2, r2, r8\nadd r3, r3, r8\nadd r1, r1, r0"
);
stretch!(load_add, "a9_load_add", chain!(), 8, 32, "ldr r0, [r0]\nadd r0, r0, #0");
stretch!(load_byte, "a9_load_byte", start!(), 8, 32, "ldrb r0, [r4, r0]");
stretch!(load_multiple, "a9_load_multiple", start!(), 4, 16, "ldm r4, {{r0, r1, r2, r3}}");
stretch!(store, "a9_store", start!(), 8, 32, "str r1, [r4, #4]");
stretch!(level2, "a9_level2", resume!(), 8, 64, "ldr r0, [r0]", "str r0, [r5]");
stretch!(dram, "a9_dram", resume!(), 8, 64, "ldr r0, [r0]", "str r0, [r5]");
stretch!(fp_add, "a9_fp_add", fp!(), 8, 32, "vadd.f32 s0, s0, s1");
stretch!(fp_multiply, "a9_fp_multiply", fp!(), 8, 32, "vmul.f32 s0, s0, s1");
stretch!(fp_divide, "a9_fp_divide", fp!(), 4, 16, "vdiv.f32 s0, s0, s1");

stretch!(counted_loop, "a9_loop", ".balign 32", 0, 1, "nop\nnop\nnop\nmov r0, #128\n2: subs r0, r0, #1\nbhi 2b");
// Each call stands at another place than the one before it.
stretch!(calls, "a9_calls", "b 4f\n.balign 32\n3: bx lr\n4:", 8, 32, "bl 3b");
stretch!(
    branch_wrong,
    "a9_branch_wrong",
    "mov r0, #4\n.balign 32\n2: nop\nnop\nnop\nsubs r0, r0, #1",
    0,
    1,
    "bne 2b\nnop\nnop\nnop\nnop"
);
stretch!(
    branch_right,
    "a9_branch_right",
    "b 2f\n.balign 32\n2: nop\nnop\nnop\nmovs r0, #0",
    0,
    1,
    "bne 3f\nnop\nnop\nnop\nnop",
    "3:"
);

const ON_WORDS: [fn(u32); 20] = [
    alu_pair,
    alu_chain,
    shift_chain,
    multiply_chain,
    multiply,
    load_chain,
    load_independent,
    load_use,
    load_gap,
    load_add,
    load_byte,
    load_multiple,
    store,
    fp_add,
    fp_multiply,
    fp_divide,
    counted_loop,
    calls,
    branch_wrong,
    branch_right,
];

/// Bytes of a line.
const LINE: u32 = 32;
/// More than the first level holds, less than the second.
const IN_LEVEL2: u32 = 256 * 1024;
/// More than the second level holds.
const IN_DRAM: u32 = 3 * 1024 * 1024;

/// Every stretch, round after round.
pub fn measure(info: Info) -> u32 {
    // SAFETY: the only thread; nobody else has the words.
    let data = unsafe { (*core::ptr::addr_of_mut!(WORDS)).address() };
    for piece in ON_WORDS {
        (0..ROUNDS).for_each(|_| piece(data));
    }
    let (heap, bytes) = info.heap();
    if bytes < IN_DRAM {
        return 1;
    }
    for (piece, size) in [(level2 as fn(u32), IN_LEVEL2), (dram, IN_DRAM)] {
        ring(heap, size);
        // SAFETY: the words are this thread's.
        unsafe { (data as *mut u32).write_volatile(heap) };
        (0..ROUNDS).for_each(|_| piece(data));
    }
    0
}

/// The first word of each line holds the address of the next line; the last line's that of the first.
fn ring(base: u32, bytes: u32) {
    for at in (0..bytes).step_by(LINE as usize) {
        let next = if at + LINE == bytes { base } else { base + at + LINE };
        // SAFETY: within the heap.
        unsafe { ((base + at) as *mut u32).write_volatile(next) };
    }
}
