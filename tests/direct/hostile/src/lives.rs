//! The attack of each life.

/// Actions of `handlers.s`, in its order.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Action {
    Done,
    Spin,
    Call,
    Mask,
    Store,
    Load,
    Forge,
    Sleep,
    Stack,
    Steal,
    Raise,
    Both,
    Vectors,
    Lower,
    Clock,
    Nest,
    Float,
    Open,
    Ever,
    Link,
    Own,
    Flood,
    Doze,
    Rewind,
    Tamper,
    Region,
    Inner,
    Aside,
    Again,
}

/// The thread's part in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Thread {
    Waits,
    /// For not much longer than looks are apart.
    WaitsBriefly,
    Returns,
    Goes(bool),
    /// Its stack is in memory that handlers write.
    Calls,
    Strays,
    Fails,
    Sleeps,
    Naps,
    Keeps,
}

#[derive(Clone, Copy)]
pub struct Life {
    pub action: u32,
    pub operand: u32,
    pub value: u32,
    pub over_kernel: bool,
    pub thread: Thread,
}

/// Stands for the address of the way into the kernel.
pub const WAKE: u32 = 1;
/// The same, behind the instruction that lets Non-secure code in.
pub const BEHIND: u32 = 2;
/// An SG of the domain's own, in the code of its thread.
pub const OWN_GATE: u32 = 3;
/// The frame of a call of the thread, on its stack.
pub const FRAME: u32 = 4;
/// The program counter in the frame of a call that the thread makes on a stack in its statics.
pub const OPEN_FRAME: u32 = 5;
/// The top of a stack in its statics, above the one that handlers have.
pub const OPEN_STACK: u32 = 6;
/// The same at its Secure address, where nothing is while the domain occupies.
pub const OPEN_ALIAS: u32 = 7;

const fn life(action: Action, operand: u32, value: u32) -> Life {
    Life { action: action as u32, operand, value, over_kernel: false, thread: Thread::Waits }
}

const fn over_kernel(action: Action, operand: u32, value: u32) -> Life {
    Life { over_kernel: true, ..life(action, operand, value) }
}

const fn with(thread: Thread, life: Life) -> Life {
    Life { thread, ..life }
}

use Action::*;

/// In the order of tests/suites/tests/direct.rs.
pub static LIVES: [Life; 84] = [
    life(Done, 0, 0),
    over_kernel(Done, 0, 0),
    with(Thread::Returns, life(Spin, 0, 0)),
    with(Thread::Returns, over_kernel(Spin, 0, 0)),
    with(Thread::Returns, life(Sleep, 0, 0)),
    with(Thread::Returns, life(Nest, 0, 0)),
    with(Thread::Returns, over_kernel(Nest, 0, 0)),
    with(Thread::Returns, life(Clock, 0, 0)),
    with(Thread::Returns, life(Stack, 0x3800_9000, 0)),
    life(Store, 0x3800_0800, 1),
    over_kernel(Store, 0x3800_0800, 1),
    life(Load, 0x3800_0800, 0),
    life(Store, 0x2800_0800, 1),
    life(Store, 0x1020_0000, 1),
    life(Store, 0x4000_0008, 1),
    life(Store, 0x5000_2000, 0),
    life(Load, 0x1000_0000, 0),
    life(Store, 0xe000_edd0, 0),
    life(Store, 0xe000_e380, 0xffff_ffff),
    life(Store, 0xe000_e180, 0x28),
    life(Store, 0xe000_ed0c, 0x05fa_0004),
    life(Store, 0xe000_ed10, 0x0000_0004),
    life(Forge, 0xffff_ffd8, 0),
    life(Forge, 0xffff_ffe8, 0),
    life(Forge, 0xffff_fff9, 0),
    life(Forge, 0xffff_fff0, 0),
    over_kernel(Forge, 0xffff_fff8, 0),
    life(Mask, 0, 0),
    over_kernel(Mask, 0, 0),
    life(Raise, 0x20, 0),
    life(Both, 0x3800_9000, 0),
    life(Vectors, 0x3800_9000, 0),
    life(Lower, WAKE, 0),
    life(Float, 0x3800_0800, 0),
    life(Steal, 0, 0),
    life(Open, 0, 0),
    life(Region, 0, 0),
    over_kernel(Open, 0, 0),
    life(Ever, 0, 0),
    life(Call, WAKE, 0),
    life(Link, WAKE, 0xffff_fff8),
    life(Call, BEHIND, 0),
    with(Thread::Goes(false), life(Done, 0, 0)),
    with(Thread::Goes(true), life(Done, 0, 0)),
    with(Thread::Calls, over_kernel(Store, OPEN_FRAME, 0x1000_0000)),
    with(Thread::Fails, life(Store, 0x3800_0800, 1)),
    with(Thread::Returns, life(Own, 0, 0)),
    with(Thread::Sleeps, life(Forge, 0xffff_ffd8, 0)),
    with(Thread::Sleeps, life(Forge, 0xffff_fff9, 0)),
    with(Thread::Sleeps, life(Forge, 0xffff_fff0, 0)),
    with(Thread::Naps, life(Lower, 0, 0)),
    with(Thread::Keeps, life(Call, WAKE, 0)),
    with(Thread::Sleeps, life(Stack, 0x3800_9000, 0)),
    with(Thread::Sleeps, life(Both, 0x3800_9000, 0)),
    with(Thread::Returns, life(Flood, WAKE, 0)),
    with(Thread::Sleeps, life(Lower, WAKE, 0)),
    with(Thread::Sleeps, life(Store, 0xe000_ed24, 1 << 11)),
    with(Thread::Returns, life(Doze, 0, 0)),
    with(Thread::Returns, life(Rewind, 0xe000_1004, 0)),
    with(Thread::Returns, life(Tamper, 0xe000_1000, 0)),
    with(Thread::Returns, life(Tamper, 0xe000_1020, 0)),
    with(Thread::Returns, life(Tamper, 0xe000_1004, 0x2000_0000)),
    with(Thread::WaitsBriefly, life(Store, 0xe000_1020, 0)),
    with(Thread::Strays, life(Done, 0, 0)),
    with(Thread::Strays, life(Spin, 0, 0)),
    over_kernel(Store, FRAME, 1),
    life(Call, OWN_GATE, 0),
    with(Thread::Sleeps, life(Store, 0xe000_ed10, 1 << 1)),
    life(Inner, 0xffff_fffc, 0),
    with(Thread::Sleeps, life(Inner, 0xffff_fffc, 0)),
    with(Thread::Returns, life(Inner, 0xffff_fffc, 0)),
    over_kernel(Inner, 0xffff_fff0, 0),
    life(Stack, 0x4000_1900, 0),
    life(Stack, OPEN_STACK, 0),
    life(Aside, OPEN_ALIAS, 0),
    life(Aside, 0x3800_0800, 0),
    life(Aside, 0x5000_2000, 0),
    life(Aside, 0, 0),
    life(Aside, 0xffff_ffff, 0),
    with(Thread::Sleeps, life(Steal, 0, 0)),
    life(Again, 0, 0),
    life(Forge, 0xffff_ffe2, 0),
    with(Thread::Sleeps, life(Forge, 0xffff_fffa, 0)),
    with(Thread::Sleeps, life(Mask, 0, 0)),
];
