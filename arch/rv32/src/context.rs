//! The saved registers of a thread.

use core::mem::offset_of;

use kernel::arch::{Request, Start};
use units::VirtAddr;

/// Saved registers. The entry code knows the offsets.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct Context {
    /// x1 to x31.
    pub registers: [u32; 31],
    /// Address of the next instruction.
    pub pc: u32,
    /// `mstatus` with which it is resumed: user mode, but for [`Context::waiting`].
    status: u32,
    stack_base: u32,
    /// Address behind its stack.
    stack_top: u32,
}

pub(crate) const PC_OFFSET: usize = offset_of!(Context, pc);
pub(crate) const STATUS_OFFSET: usize = offset_of!(Context, status);
pub(crate) const A0_OFFSET: usize = 4 * A0;
pub(crate) const A7_OFFSET: usize = 4 * A7;

const RA: usize = 0;
const SP: usize = 1;
const A0: usize = 9;
const A7: usize = 16;

/// `mstatus`: back to user mode (MPP is 0), interrupts on there (MPIE), and WFI illegal there (TW),
/// so that only the kernel sleeps.
const USER: u32 = 1 << 21 | 1 << 7;
/// Stay in machine mode, interrupts off (MPP is 3): the idle loop is the kernel's, and waits with
/// WFI.
const MACHINE: u32 = 3 << 11;
/// Nothing can be executed there: the last half-word of the address space. A space as large as that would end before it.
const NOWHERE: u32 = 0xffff_fffe;
/// Alignment of the stack pointer at a call (RISC-V ELF psABI, integer calling convention).
const STACK_ALIGN: u32 = 16;

/// How the callee of a gate starts, kept so that a call computes nothing. The entry code knows the
/// offsets.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    badge: u32,
    stack_base: u32,
    stack_top: u32,
    link: u32,
    pc: u32,
}

impl Entry {
    pub(crate) const BADGE_OFFSET: usize = offset_of!(Entry, badge);
    pub(crate) const TOP_OFFSET: usize = offset_of!(Entry, stack_top);
    pub(crate) const LINK_OFFSET: usize = offset_of!(Entry, link);
    pub(crate) const PC_OFFSET: usize = offset_of!(Entry, pc);

    /// An entry that leads nowhere.
    pub const NOWHERE: Entry = Entry { badge: 0, stack_base: 0, stack_top: 0, link: 0, pc: NOWHERE };

    /// Keeps what a start needs except its arguments, because each call brings its own.
    pub fn new(start: Start<u32>) -> Entry {
        let Start { entry: VirtAddr(pc), link: VirtAddr(link), stack_base: VirtAddr(stack_base), stack_bytes, .. } =
            start;
        Entry { badge: 0, stack_base, stack_top: stack_base + stack_bytes.0, link, pc }
    }

    /// Notes the caller's badge for a start without arguments.
    #[inline(always)]
    pub fn introduce(&mut self, badge: u32) {
        self.badge = badge;
    }
}

impl Context {
    /// A context that was never started: it would fault.
    pub const EMPTY: Context = Context { registers: [0; 31], pc: NOWHERE, status: USER, stack_base: 0, stack_top: 0 };

    /// Sets the registers of a thread that starts.
    #[inline]
    pub fn prepare(&mut self, start: Start<u32>) {
        self.enter(&Entry::new(start), start.args);
    }

    /// Sets the registers of a callee or a thread that starts. All are written, so that nothing of
    /// the previous user is left.
    #[inline]
    pub fn enter(&mut self, entry: &Entry, args: [u32; 4]) {
        self.registers = [0; 31];
        self.registers[RA] = entry.link;
        self.registers[SP] = entry.stack_top & !(STACK_ALIGN - 1);
        self.registers[A0..A0 + 4].copy_from_slice(&args);
        self.pc = entry.pc;
        self.status = USER;
        (self.stack_base, self.stack_top) = (entry.stack_base, entry.stack_top);
    }

    /// The context of the idle loop: the kernel waits at `pc` for interrupts when no thread runs,
    /// in machine mode.
    pub(crate) const fn waiting(pc: u32) -> Context {
        Context { pc, status: MACHINE, ..Context::EMPTY }
    }

    /// The system call in the registers: number in a7, arguments in a0 to a3.
    #[inline]
    pub fn request(&self) -> Request {
        let mut args = [0; 4];
        args.copy_from_slice(&self.registers[A0..A0 + 4]);
        Request { number: self.registers[A7], args }
    }

    /// Writes a result into the registers: status in a0, two values at most in a1 and a2.
    #[inline]
    pub fn respond<const N: usize>(&mut self, status: u32, values: [u32; N]) {
        const { assert!(N <= 2) };
        self.registers[A0] = status;
        self.registers[A0 + 1..=A0 + N].copy_from_slice(&values);
    }

    /// Moves back to the ECALL, which has no short form, so it is 4 bytes long.
    pub fn repeat(&mut self) {
        self.pc = self.pc.wrapping_sub(4);
    }

    /// The register that the low five bits of a number name.
    pub(crate) fn register(&self, number: u32) -> u32 {
        (number & 0x1f).checked_sub(1).map_or(0, |place| self.registers[place as usize])
    }

    pub(crate) fn set_register(&mut self, number: u32, value: u32) {
        if let Some(place) = (number & 0x1f).checked_sub(1) {
            self.registers[place as usize] = value;
        }
    }

    pub(crate) fn stack_pointer(&self) -> VirtAddr<u32> {
        VirtAddr(self.registers[SP])
    }

    /// Returns true if the stack pointer has left the thread's stack (its upper end is where an
    /// empty stack points).
    pub(crate) fn is_off_its_stack(&self) -> bool {
        !(self.stack_base..=self.stack_top).contains(&self.registers[SP])
    }
}
