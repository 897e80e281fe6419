//! Attacks that must end in a fault of the attacker.

use cofferdam::{Area, hostile, now, sys};
use repertoire::lethal::{floats_on_stack, jump, jump_exactly, on_stack, read, spin_on_stack, write};

use crate::gate::{moods, wait_for_a_client};
use crate::refused::end;
use crate::world::{World, victim_data};

/// The first byte behind an area that is in none of the own ones: the planner may have put the own code there.
fn behind(area: Area) -> u32 {
    let mut at = end(area);
    let areas = || cofferdam::info().into_iter().flat_map(cofferdam::Info::areas);
    while let Some((_, own)) = areas().find(|(_, own)| at.wrapping_sub(own.base) < own.bytes) {
        at = end(own);
    }
    at
}

/// Name and attack.
pub type Attack = (&'static str, fn(&World));

/// The attacks.
pub const ATTACKS: &[Attack] = &[
    ("write a victim's data", |world| write(victim_data(world.own.chip))),
    ("write a victim's heap", |world| write(world.victim_heap())),
    ("write the first byte behind a heap of sub-regions", |world| byte(end(world.heap))),
    ("write the last byte of the region behind a heap of sub-regions", |world| byte(region_end(world.heap) - 1)),
    ("write the last byte below the own heap", |world| byte(world.heap.base - 1)),
    ("write a constant file", |world| write(world.order.base)),
    ("read behind a constant file", |world| read(behind(world.order))),
    ("write shared memory that is only lent for reading", |world| write(world.notices.base() as u32)),
    ("read behind shared memory", |world| read(world.notices.base() as u32 + 4 * world.notices.words() as u32)),
    ("write behind the own device", |world| write(world.device + 0x1000)),
    ("write another's memory after its gate has returned", after_the_gate),
    ("execute the own heap", |world| jump(fill(world.heap.base))),
    ("execute shared memory", |world| jump(fill(world.requests.base() as u32))),
    ("execute a constant file", |world| jump(world.order.base)),
    ("call with a frame one word below the stack", |world| on_stack(world.own.stack.base + 28)),
    ("call with the stack in the own heap", |world| on_stack(fill(world.heap.base) + 0x400)),
    ("call with the stack in shared memory", |world| on_stack(fill(world.requests.base() as u32) + 0x80)),
    ("call with the stack in read-only memory", |world| on_stack(world.order.base + 64)),
    ("call with the stack in the own device", |world| on_stack(world.device + 0x80)),
    ("call with the stack in the system registers", |_| on_stack(0xe000_edb0)),
    ("call with the stack at the end of the address space", |_| on_stack(0xffff_fff8)),
    // SAFETY: there is none; this is the attack.
    ("execute an undefined instruction with the stack in kernel data", |world| unsafe {
        hostile::undefined_on_stack(world.own.chip.foreign.kernel_objects + 0x400)
    }),
    // SAFETY: as above.
    ("execute a breakpoint with the stack in kernel data", |world| unsafe {
        hostile::breakpoint_on_stack(world.own.chip.foreign.kernel_objects + 0x400)
    }),
    ("be interrupted with the stack in shared memory", |world| {
        spin_on_stack(fill(world.requests.base() as u32) + 0x80)
    }),
    ("save floating-point state in shared memory", |world| floats_on_stack(fill(world.requests.base() as u32) + 0x80)),
    ("save floating-point state above the own stack", |world| floats_on_stack(stack_top(world) + 64)),
    ("return from an exception to the main stack", |_| jump_exactly(0xffff_fff9)),
    ("return from an exception with floating-point state", |_| jump_exactly(0xffff_ffed)),
    ("return from an exception to handler mode with floating-point state", |_| jump_exactly(0xffff_ffe1)),
    ("pop the return from an exception into the program counter", |_| pop(0xffff_fff9)),
    ("jump behind the own code", |world| jump(end(world.own.code))),
    ("return into a sibling's forged frame", forge),
    ("return into a sibling's forged frame, once", forge),
    ("fetch with the stack in debug registers", |world| jump_on_stack(DEBUG_REGISTERS, end(world.own.code))),
    ("fetch with the stack in the own device", |world| jump_on_stack(world.device + 0x80, end(world.own.code))),
    ("fault with a caller inside", |_| wait_for_a_client(moods::FAULT)),
    ("keep a caller inside", |_| wait_for_a_client(moods::STAY)),
    ("move the stack with a caller inside", |_| wait_for_a_client(moods::MOVE_STACK)),
];

/// Attacks that are performed in so many lives, because the harm of each adds up.
const LIVES: &[(&str, usize)] = &[("return into a sibling's forged frame", 64)];

/// In how many lives an attack is performed.
pub fn lives(name: &str) -> usize {
    LIVES.iter().find(|attack| attack.0 == name).map_or(1, |attack| attack.1)
}

/// Registers of the processor that the kernel never looks at, with room for a frame (DDI 0403 C1.8: data watchpoints).
const DEBUG_REGISTERS: u32 = 0xe000_1040;

/// The end of the main thread's stack, which is the lowest of its area; `system.toml` gives it this size.
fn stack_top(world: &World) -> u32 {
    const STACK_BYTES: u32 = 2048;
    world.own.stack.base + STACK_BYTES
}

/// The helper is about to begin, waits in a call, or was interrupted, with its registers in a frame on its stack. There the exception's number
/// becomes that of SysTick, so that the return to the helper is a return to thread mode and, by the frame, to a handler (DDI 0403 B1.5.8).
fn forge(world: &World) {
    const TRIES: u32 = 20;
    for _ in 0..TRIES {
        forge_frames(world);
        crate::order_helper();
        let _ = sys::sleep_until(now() + HELPER_TICKS);
    }
}

/// Changes everything on the helper's stack that looks like a frame.
fn forge_frames(world: &World) {
    const THUMB: u32 = 1 << 24;
    const EXCEPTION: u32 = 0x1ff;
    const SYSTICK: u32 = 15;
    let code = world.own.code;
    for frame in (stack_top(world)..end(world.own.stack) - 28).step_by(8) {
        let word = |offset: u32| (frame + offset) as *mut u32;
        // SAFETY: the own stack area; what is not a frame after all is the helper's loss.
        let (pc, status) = unsafe { (word(24).read_volatile(), word(28).read_volatile()) };
        if pc.wrapping_sub(code.base) < code.bytes && status & (THUMB | EXCEPTION) == THUMB {
            // SAFETY: as above.
            unsafe { word(28).write_volatile(status | SYSTICK) };
        }
    }
}

/// Enough for the helper to run until it waits.
const HELPER_TICKS: u64 = 50_000;

fn jump_on_stack(stack: u32, address: u32) {
    // SAFETY: there is none; this is the attack.
    unsafe { hostile::jump_on_stack(stack, address | 1) }
}

fn byte(address: u32) {
    // SAFETY: there is none; this is the attack.
    unsafe { (address as *mut u8).write_volatile(0x5a) };
}

/// Touches memory, so that its region is loaded, and returns its address.
fn fill(address: u32) -> u32 {
    // SAFETY: the caller passes memory of this domain.
    unsafe { (address as *mut u32).write_volatile(0xe7fe_e7fe) };
    address
}

/// The end of the smallest power of two of bytes, aligned to it, that holds the area.
fn region_end(area: Area) -> u32 {
    let mut log2 = 5;
    while (area.base ^ (end(area) - 1)) >> log2 != 0 {
        log2 += 1;
    }
    ((area.base >> log2) + 1) << log2
}

/// The service tells where its buffer is, which is harmless.
fn after_the_gate(world: &World) {
    let own = [7_u32; 4];
    if let Ok(address) = world.service.call(own.as_ptr() as u32, 16, 0) {
        let _ = sys::mark(7, address);
        write(address);
    }
}

fn pop(address: u32) {
    // SAFETY: there is none; this is the attack.
    unsafe { hostile::pop_pc(address) }
}
