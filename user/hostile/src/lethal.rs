//! Attacks that must end in a fault of this domain. Each returns only when it has succeeded.

use core::hint::black_box;

use cofferdam::hostile;

use crate::places::Places;
use crate::trap::orders;

/// Name and attack.
pub type Attack = (&'static str, fn(&Places));

/// The attacks, in order.
pub const ATTACKS: &[Attack] = &[
    ("read kernel data", |own| read(own.chip.foreign.kernel_objects)),
    ("write kernel data", |own| write(own.chip.foreign.kernel_objects)),
    ("read the vector table", |own| read(own.chip.foreign.kernel_code)),
    ("read the kernel's tables in flash", |own| read(own.chip.foreign.kernel_tables)),
    ("read another domain's heap", |own| read(own.chip.foreign.heaps)),
    ("write another domain's heap", |own| write(own.chip.foreign.heaps)),
    ("read the word below the own memory", |own| read(own.stack.base - 4)),
    ("write the word behind the own memory", |own| write(own.stack.base + own.stack.bytes)),
    ("read the word behind the own code", |own| read(own.code.base + own.code.bytes)),
    // A word or a pair that only ends outside is denied by silicon but not by QEMU (see CAVEATS.md), so that it cannot be
    // contained here; the plug-in fails a run in which it happens.
    ("load four words across the end", |own| touch_four(own.stack.base + own.stack.bytes - 8)),
    ("store exclusively to kernel data", |own| exclusive(own.chip.foreign.kernel_objects)),
    ("write the own code", |own| write(own.code.base)),
    ("execute the own data", |own| jump(own.stack.base + own.stack.bytes - 64)),
    ("execute kernel code in ITCM", |own| jump(own.chip.foreign.kernel_code + 0x400)),
    ("execute kernel code in flash", |own| jump(own.chip.foreign.kernel_tables + 0x1000)),
    ("execute a device", |own| jump(own.chip.foreign.console)),
    ("write the console's UART", |own| write(own.chip.foreign.console)),
    ("stop the kernel's timer", |own| write(own.chip.foreign.kernel_timer)),
    ("switch the memory protection off", |own| write(own.chip.core.protection)),
    ("move the vector table", |own| write(own.chip.core.vectors)),
    ("trigger an interrupt", |own| write(own.chip.core.trigger)),
    ("change how floating-point state is saved", |own| write(own.chip.core.context)),
    ("overflow the stack", |_| overflow()),
    ("call with the stack in kernel data", |own| on_stack(own.chip.foreign.kernel_objects + 0x400)),
    ("call with the stack in another domain", |own| on_stack(own.chip.foreign.heaps + 0x400)),
    ("call with the stack in the own code", |own| on_stack(own.code.base + own.code.bytes)),
    ("call with the stack at address 0", |_| on_stack(0)),
    ("be interrupted with the stack in kernel data", |own| spin_on_stack(own.chip.foreign.kernel_objects + 0x400)),
    ("save floating-point state in kernel data", |own| floats_on_stack(own.chip.foreign.kernel_objects + 0x400)),
    ("save floating-point state below the own stack", |own| floats_on_stack(own.stack.base + 96)),
    ("return from an exception that never was", |_| jump_exactly(0xffff_fffd)),
    ("return from an exception to privileged mode", |_| jump_exactly(0xffff_fff1)),
    ("leave Thumb state", |own| leave_state(own.chip.foreign.kernel_objects)),
    ("execute an undefined instruction", |_| hostile::undefined()),
    ("execute a breakpoint", |_| hostile::breakpoint()),
    ("read behind the end of the address space", |_| read(0xffff_fffe)),
    ("write special registers, then kernel data", privileged),
    ("become privileged inside a gate", |own| through_gate(own, orders::PRIVILEGED, own.chip.foreign.kernel_objects)),
    ("fault inside a gate", |own| through_gate(own, orders::FAULT, own.chip.foreign.kernel_objects)),
    ("move the stack inside a gate", |own| through_gate(own, orders::MOVE_STACK, own.chip.foreign.heaps + 0x400)),
    ("never return from a gate", |own| through_gate(own, orders::STAY, 0)),
];

// SAFETY of everything below: there is none, on purpose. The hardware and the kernel refuse every
// access that the domain may not make.

/// Loads a word.
pub fn read(address: u32) {
    // SAFETY: see above.
    black_box(unsafe { (address as *const u32).read_volatile() });
}

/// Stores a word.
pub fn write(address: u32) {
    // SAFETY: see above.
    unsafe { (address as *mut u32).write_volatile(0xbad0_bad0) };
}

fn exclusive(address: u32) {
    // SAFETY: see above.
    black_box(unsafe { hostile::store_exclusive(address) });
}

fn touch_four(address: u32) {
    // SAFETY: see above.
    black_box(unsafe { hostile::load_multiple(address) });
}

/// Branches there, in Thumb state.
pub fn jump(address: u32) {
    jump_exactly(address | 1);
}

/// Branches there.
pub fn jump_exactly(address: u32) {
    // SAFETY: see above.
    unsafe { hostile::jump(address) }
}

/// Makes a system call with the stack pointer there.
pub fn on_stack(address: u32) {
    // SAFETY: see above.
    unsafe { hostile::call_on_stack(address) }
}

/// Waits for an interrupt with the stack pointer there.
pub fn spin_on_stack(address: u32) {
    // SAFETY: see above.
    unsafe { hostile::spin_on_stack(address) }
}

/// Leaves the state that instructions are executed in, and loads a word where there is another.
pub fn leave_state(address: u32) {
    // SAFETY: see above.
    unsafe { hostile::leave_state(address) }
}

/// As [`on_stack`], with floating-point state to save.
pub fn floats_on_stack(address: u32) {
    // SAFETY: see above.
    unsafe { hostile::call_on_stack_with_floats(address) }
}

fn overflow() {
    black_box(deeper(0));
}

#[expect(unconditional_recursion, reason = "this is the attack")]
fn deeper(depth: u32) -> u32 {
    let frame = black_box([depth; 16]);
    deeper(depth + 1) + frame[depth as usize % 16]
}

fn privileged(own: &Places) {
    hostile::write_special_registers();
    write(own.chip.foreign.kernel_objects);
}

fn through_gate(own: &Places, order: u32, with: u32) {
    let _ = black_box(own.trap.call(order, with, 0));
}
