//! The saved registers of a thread, and the exception frame that the hardware puts on its stack.

use core::mem::MaybeUninit;

use kernel::arch::{Request, Start};
use units::VirtAddr;

/// Saved registers. The entry code knows the offsets (see `entry.rs`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Context {
    /// r4 to r11.
    pub saved: [u32; 8],
    /// Process stack pointer; the exception frame is there.
    pub psp: u32,
    /// EXC_RETURN: always to thread mode on the process stack; bit 4 is clear when the frame holds floating-point state.
    pub exc_return: u32,
    /// Lowest address of the stack that the frame must be in: the kernel writes results there, and
    /// a stack pointer elsewhere would have it write into others' memory.
    pub stack_base: u32,
    /// How far above `stack_base` a basic frame may begin. One with floating-point state begins at
    /// least 72 bytes lower, because it is larger.
    pub frame_room: u32,
    /// s16 to s31, if bit 4 of `exc_return` is clear. Otherwise no code reads it, so it need not be
    /// cleared.
    pub float: MaybeUninit<[u32; 16]>,
}

/// Bytes of the first registers.
pub const SAVED_BYTES: usize = core::mem::offset_of!(Context, psp);

/// Offset of the part of an [`Entry`] that the entry code reads, from the beginning of the
/// [`Context`] before it.
pub const START_OFFSET: usize = size_of::<Context>() + core::mem::offset_of!(Entry, psp);

/// How the callee of a gate starts.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    /// Lowest address of the stack.
    stack_base: u32,
    /// Bytes of the stack above the first frame.
    frame_room: u32,
    /// Process stack pointer; the entry code knows the order from here on.
    psp: u32,
    badge: u32,
    /// The rest of the frame, behind its four arguments: r12, link, program counter, xPSR.
    tail: [u32; 4],
}

impl Entry {
    /// Offset of the lowest address of the stack.
    pub const STACK_BASE: usize = core::mem::offset_of!(Entry, stack_base);

    /// An entry that leads nowhere: no frame lies in its stack.
    pub const NOWHERE: Entry = Entry { stack_base: u32::MAX, frame_room: 0, psp: 0, badge: 0, tail: [0; 4] };

    /// Keeps what a start needs except its arguments, because each call brings its own.
    pub fn new(start: Start<u32>) -> Entry {
        let Start { entry, link, stack_base: VirtAddr(stack_base), stack_bytes, .. } = start;
        let frame_room = stack_bytes.0 - 4 * FRAME_WORDS as u32;
        Entry {
            stack_base,
            frame_room,
            psp: stack_base + frame_room,
            badge: 0,
            tail: [0, link.0, entry.0 & !1, XPSR_THUMB],
        }
    }

    /// Notes the caller's badge for the entry code.
    #[inline(always)]
    pub fn introduce(&mut self, badge: u32) {
        self.badge = badge;
    }

    /// Writes the frame of a callee that starts.
    ///
    /// # Safety
    /// See [`kernel::arch::Arch::enter`].
    #[inline(always)]
    pub unsafe fn enter(&self, args: [u32; 4]) {
        let [r0, r1, r2, r3] = args;
        let [r12, link, pc, xpsr] = self.tail;
        // SAFETY: the frame lies within the stack, which the caller owns for the callee; stacks are multiples of 8.
        unsafe { (self.psp as *mut [u32; FRAME_WORDS]).write([r0, r1, r2, r3, r12, link, pc, xpsr]) };
    }
}

/// Return to thread mode, process stack, no floating-point state (DDI 0403 B1.5.8).
const EXC_RETURN_THREAD: u32 = 0xffff_fffd;
/// xPSR of a fresh thread: the Thumb bit.
const XPSR_THUMB: u32 = 1 << 24;

const FRAME_WORDS: usize = 8;
const PC: usize = 6;
const R12: usize = 4;

impl Context {
    /// A context that was never started: no (word-aligned) frame lies in its stack, so that any use is a stack fault.
    pub const EMPTY: Context = Context {
        saved: [0; 8],
        psp: 0,
        exc_return: EXC_RETURN_THREAD,
        stack_base: u32::MAX,
        frame_room: 0,
        float: MaybeUninit::uninit(),
    };

    /// Writes the frame of a fresh thread onto its stack, and the registers with which it starts.
    ///
    /// # Safety
    /// See [`kernel::arch::Arch::prepare`].
    #[inline]
    pub unsafe fn prepare(&mut self, start: Start<u32>) {
        let entry = Entry::new(start);
        // SAFETY: the caller's duty is the same.
        unsafe { entry.enter(start.args) };
        self.fresh(&entry);
    }

    /// Sets the registers with which a callee starts. Its frame is written by [`Entry::enter`].
    #[inline]
    pub fn fresh(&mut self, entry: &Entry) {
        // Field by field: a whole context would be copied, `float` and all.
        self.saved = [0; 8];
        self.psp = entry.psp;
        self.exc_return = EXC_RETURN_THREAD;
        self.stack_base = entry.stack_base;
        self.frame_room = entry.frame_room;
    }

    fn word(&self, index: usize) -> *mut u32 {
        (self.psp as *mut u32).wrapping_add(index)
    }

    /// One word of the exception frame.
    ///
    /// The entry code has checked that the frame lies in the thread's stack.
    pub fn frame(&self, index: usize) -> u32 {
        // SAFETY: `psp` was checked against the stack on entry; the kernel is the only one running.
        unsafe { self.word(index).read() }
    }

    fn set_frame(&mut self, index: usize, value: u32) {
        // SAFETY: as in `frame`.
        unsafe { self.word(index).write(value) }
    }

    /// The program counter in the frame.
    pub fn pc(&self) -> u32 {
        self.frame(PC)
    }

    /// The system call in the frame.
    #[inline]
    pub fn request(&self) -> Request {
        Request { number: self.frame(R12), args: [self.frame(0), self.frame(1), self.frame(2), self.frame(3)] }
    }

    /// Writes a result into the frame: two values at most.
    #[inline(always)]
    pub fn respond<const N: usize>(&mut self, status: u32, values: [u32; N]) {
        const { assert!(N <= 2) };
        self.set_frame(0, status);
        // Not a loop: compiled for size it would stay one, with a call of the iterator for each
        // value.
        if let Some(&first) = values.first() {
            self.set_frame(1, first);
        }
        if let Some(&second) = values.get(1) {
            self.set_frame(2, second);
        }
    }

    /// Moves the program counter back to the SVC (a 16-bit instruction), so that the thread
    /// performs it again.
    pub fn repeat(&mut self) {
        let pc = self.pc();
        self.set_frame(PC, pc.wrapping_sub(2));
    }
}
