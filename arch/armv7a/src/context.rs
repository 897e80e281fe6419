//! The saved registers of a thread.

use core::mem::{MaybeUninit, offset_of};

use kernel::arch::{Request, Start};
use units::VirtAddr;

/// Saved registers. The entry code knows the offsets, and that the first ones are in this order: the stack pointer of the kernel's
/// mode points behind `cpsr` while the thread runs, so that the exception stores them without a register to spare.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct Context {
    /// r0 to r12, the stack pointer, the link register.
    pub registers: [u32; 15],
    /// Address of the next instruction.
    pub pc: u32,
    /// Always user mode, interrupts allowed; but for [`Context::waiting`].
    pub cpsr: u32,
    /// The word that user mode may write (TPIDRURW).
    pub thread_word: u32,
    /// Lowest address of its stack.
    pub stack_base: u32,
    /// Bytes of its stack.
    pub stack_bytes: u32,
    /// Not 0 if the context has floating-point state. It is in `float` and `fpscr`, or in the unit
    /// while the context owns that.
    pub float_used: u32,
    /// Floating-point status and control.
    pub fpscr: u32,
    /// d0 to d31. They are not read before `float_used` is set, so they need not be cleared.
    pub float: MaybeUninit<[u64; 32]>,
}

/// Bytes from the beginning of a [`Context`] to the return state.
pub const RETURN_OFFSET: usize = offset_of!(Context, pc);

const _: () = assert!(RETURN_OFFSET == 60 && offset_of!(Context, cpsr) == 64);

/// How the callee of a gate starts. The entry code copies the first five words in this order.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    badge: u32,
    /// Stack pointer when the stack is empty.
    stack_top: u32,
    /// Return address of the entry function.
    link: u32,
    /// Address of the entry function; `cpsr` holds its state, Arm or Thumb.
    pc: u32,
    cpsr: u32,
    /// Lowest address of its stack.
    stack_base: u32,
}

/// Offset of the first word of an [`Entry`] from the beginning of the [`Context`] before it, for
/// the entry code.
pub const START_OFFSET: usize = size_of::<Context>();

const _: () = assert!(offset_of!(Entry, badge) == 0 && offset_of!(Entry, stack_top) == 4);
const _: () = assert!(offset_of!(Entry, link) == 8 && offset_of!(Entry, pc) == 12 && offset_of!(Entry, cpsr) == 16);

impl Entry {
    /// An entry that leads nowhere: nothing is mapped at the end of the address space.
    pub const NOWHERE: Entry =
        Entry { badge: 0, stack_top: 0, link: 0, pc: 0xffff_fffc, cpsr: CPSR_USER, stack_base: 0 };

    /// Keeps what a start needs except its arguments, because each call brings its own.
    pub fn new(start: Start<u32>) -> Entry {
        let Start { entry: VirtAddr(entry), link, stack_base: VirtAddr(stack_base), stack_bytes, .. } = start;
        let cpsr = CPSR_USER | if entry & 1 != 0 { CPSR_THUMB } else { 0 };
        Entry { badge: 0, stack_top: stack_base + stack_bytes.0, link: link.0, pc: entry & !1, cpsr, stack_base }
    }

    /// Notes the caller's badge for the entry code.
    #[inline(always)]
    pub fn introduce(&mut self, badge: u32) {
        self.badge = badge;
    }
}

/// User mode; FIQ masked, because no line is signalled as one; everything else allowed (DDI 0406C B1.3.3).
const CPSR_USER: u32 = 0x50;
/// Supervisor mode, everything masked: the idle loop is the kernel's, and waits with WFI.
const CPSR_KERNEL: u32 = 0x1d3;
const CPSR_THUMB: u32 = 1 << 5;

unsafe extern "C" {
    /// The context that owns the floating-point unit's registers; null when none does.
    static mut COFFERDAM_FLOAT: *const Context;
}

impl Context {
    /// A context that was never started: nothing is mapped at the end of the address space, so that it would fault.
    pub const EMPTY: Context = Context {
        registers: [0; 15],
        pc: 0xffff_fffc,
        cpsr: CPSR_USER,
        thread_word: 0,
        stack_base: 0,
        stack_bytes: 0,
        float_used: 0,
        fpscr: 0,
        float: MaybeUninit::uninit(),
    };

    /// Sets the registers of a thread that starts.
    #[inline]
    pub fn prepare(&mut self, start: Start<u32>) {
        self.enter(&Entry::new(start), start.args);
    }

    /// Sets the registers of a callee or a thread that starts. All are written, so that nothing of
    /// the previous user is left.
    #[inline]
    pub fn enter(&mut self, entry: &Entry, args: [u32; 4]) {
        // Field by field: a whole context would be copied, `float` and all.
        self.registers = [0; 15];
        self.registers[..4].copy_from_slice(&args);
        self.registers[13] = entry.stack_top;
        self.registers[14] = entry.link;
        self.pc = entry.pc;
        self.cpsr = entry.cpsr;
        self.thread_word = 0;
        self.stack_base = entry.stack_base;
        self.stack_bytes = entry.stack_top - entry.stack_base;
        self.forget_float();
    }

    /// The context of the idle loop: the kernel waits at `pc` for interrupts when no thread runs,
    /// in its own mode and with everything masked.
    pub(crate) const fn waiting(pc: u32) -> Context {
        Context { pc, cpsr: CPSR_KERNEL, ..Context::EMPTY }
    }

    /// Takes the floating-point unit away from this context if it owns it. Its thread starts anew,
    /// and must not find the registers of its former life there.
    #[inline]
    fn forget_float(&mut self) {
        self.float_used = 0;
        self.fpscr = 0;
        // SAFETY: one CPU, and the kernel is not preempted; the entry code alone uses the word otherwise.
        unsafe {
            if core::ptr::eq((&raw const COFFERDAM_FLOAT).read(), self) {
                (&raw mut COFFERDAM_FLOAT).write(core::ptr::null());
            }
        }
    }

    /// The system call in the registers.
    #[inline]
    pub fn request(&self) -> Request {
        let [a, b, c, d, ..] = self.registers;
        Request { number: self.registers[12], args: [a, b, c, d] }
    }

    /// Writes a result into the registers: two values at most.
    #[inline]
    pub fn respond<const N: usize>(&mut self, status: u32, values: [u32; N]) {
        const { assert!(N <= 2) };
        self.registers[0] = status;
        self.registers[1..=N].copy_from_slice(&values);
    }

    /// Moves back to the SVC, which is 2 bytes long in Thumb state and 4 otherwise, so that the
    /// thread performs it again.
    pub fn repeat(&mut self) {
        let bytes = if self.cpsr & CPSR_THUMB != 0 { 2 } else { 4 };
        self.pc = self.pc.wrapping_sub(bytes);
    }

    /// Returns true if the stack pointer has left the thread's stack (its upper end is where an
    /// empty stack points).
    pub fn is_off_its_stack(&self) -> bool {
        self.registers[13].wrapping_sub(self.stack_base) > self.stack_bytes
    }

    /// Returns true if a denied access to this address can be that of an instruction that pushes
    /// beyond the end of the thread's stack. The stack pointer tells: a base register is unchanged
    /// when a store is aborted (ARM DDI 0406C B1.9.8), and at most sixteen registers are stored.
    pub fn pushes_beyond_its_stack(&self, VirtAddr(address): VirtAddr<u32>) -> bool {
        const MOST_BYTES: u32 = 64;
        address < self.stack_base && self.registers[13].wrapping_sub(address) <= MOST_BYTES
    }
}
