//! One step of a script: what it is on a machine, and whether what came of it is right.

use abi::{Call, Error};

use crate::Places;
use crate::cast::{Dom, Hand};
use crate::setting::INITIAL;

/// An address by what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A word of a domain's initialised data, which begins as [`INITIAL`].
    Initial(Dom),
    /// A word of its zeroed data.
    Zeroed(Dom),
    /// Its information block, in its code area.
    Info(Dom),
    /// Memory that client and server share: the client may write, the server may read.
    Lent(u32),
    /// The heap of the client, which is paged; an offset.
    Heap(u32),
    /// The frames of the pool where rows map them; an offset.
    Pool(u32),
    /// The device of the driver.
    Device,
    /// Data of the kernel.
    KernelData,
    /// Code of the kernel.
    KernelCode,
    /// Registers of the processor.
    Core,
    /// A device that the kernel keeps.
    KernelDevice,
    /// A device that nobody was given.
    OtherDevice,
    /// Nothing.
    Nowhere,
}

/// The addresses and numbers that a script cannot know in advance.
pub trait Scene {
    /// Addresses that no domain gets on this board.
    fn places(&self) -> &'static Places;
    /// The handle of a capability in the domain that performs the step; [`Hand::NONE`] if it has none.
    fn hand(&self, hand: Hand) -> u32;
    /// Address of what belongs to the cast: `Initial`, `Zeroed`, `Info`, `Lent(0)`, `Heap(0)`, `Device`; a register of
    /// the processor, `Core`; and `Pool(0)`: the board's `window`, or where addresses are physical the beginning of the pool.
    fn place(&self, place: Place) -> u32;
    /// Address of what belongs to a domain, `Initial`, `Zeroed` or `Info`, as that domain has it.
    fn own_place(&self, place: Place) -> u32 {
        self.place(place)
    }
    /// Ticks of the kernel's clock in a microsecond of a row ([`crate::stretch`]), at least 1.
    fn ticks_per_us(&self) -> u32;
    /// When the row started, in ticks since boot.
    fn start(&self) -> u64;
    /// Of a gate: badge and arguments of the call.
    fn given(&self) -> [u32; 4];
}

/// An argument of a system call.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    /// A word.
    Word(u32),
    /// A handle.
    Cap(Hand),
    /// An address.
    At(Place),
    /// An address, as the caller of the gate has it: each domain may have a space of its own.
    Callers(Place),
    /// An address and so many bytes.
    Behind(Place, u32),
    /// Low word of a time so many microseconds after the start of the row.
    Low(u32),
    /// High word of it.
    High(u32),
    /// A domain and frames: the first argument of `FRAMES_MAP`.
    Handles(Slot, Slot),
    /// The second: the address of the pool's memory at an offset, and how it may be used.
    Usable(u32, u32),
    /// Of a gate: badge (0) or an argument (1 to 3).
    Given(usize),
}

/// A handle.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    /// Of a capability of the cast.
    Of(Hand),
    /// Of this slot.
    Number(u16),
}

impl Slot {
    fn resolve(self, scene: &dyn Scene) -> u16 {
        match self {
            Slot::Of(hand) => scene.hand(hand) as u16,
            Slot::Number(number) => number,
        }
    }
}

/// The result that a call must return.
#[derive(Clone, Copy, Debug)]
pub enum Told {
    /// Success.
    Ok,
    /// Success and this first value.
    Is(u32),
    /// Success and, as the first value, a time in ticks from so many to so many microseconds.
    Lasts(u32, u32),
    /// Success and this second value.
    Second(u32),
    /// This error.
    Err(Error),
    /// A status that a callee chose.
    Status(u32),
}

/// A step.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A system call.
    Call {
        /// Its number.
        number: u32,
        /// Its arguments.
        args: [Arg; 4],
        /// The result that it must return.
        told: Told,
        /// It is made again and again while it returns `AGAIN`.
        again: bool,
    },
    /// Reads a word, which must be this one if one is given.
    Load(Place, Option<u32>),
    /// Writes a word.
    Store(Place, u32),
    /// Jumps there.
    Jump(Place),
    /// Computes for so many microseconds.
    Spin(u32),
    /// It is now from so many to so many microseconds after the start of the row.
    Clock(u32, u32),
    /// Of a gate: badge (0) or an argument (1 to 3) is this.
    Given(usize, u32),
    /// Makes the line of the driver's device active.
    Raise,
    /// Makes it inactive.
    Quiet,
    /// Executes an undefined instruction.
    Undefined,
    /// Calls itself until the stack is full.
    Overflow,
    /// Of a gate, as its last step: returns this status and value.
    Return(u32, u32),
}

/// A step as the machine performs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A system call; again while it returns `AGAIN` if so.
    Call(u32, [u32; 4], bool),
    /// Read a word.
    Load(u32),
    /// Write a word.
    Store(u32, u32),
    /// Jump.
    Jump(u32),
    /// Compute for so many ticks.
    Spin(u32),
    /// Read the clock.
    Clock,
    /// Take this word as what was seen.
    Word(u32),
    /// Make the line `tx` of the device whose registers begin there active, or inactive.
    Device(u32, bool),
    /// Execute an undefined instruction.
    Undefined,
    /// Overflow the stack.
    Overflow,
    /// Return from the gate.
    Return(u32, u32),
}

/// The observed result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Status and values of a call.
    Told(u32, [u32; 2]),
    /// A word.
    Word(u32),
    /// Ticks since boot.
    Time(u64),
    /// It is over.
    Nothing,
}

impl Arg {
    fn resolve(self, scene: &dyn Scene) -> u32 {
        let time = |us: u32| scene.start() + u64::from(us) * u64::from(scene.ticks_per_us());
        match self {
            Arg::Word(word) => word,
            Arg::Cap(hand) => scene.hand(hand),
            Arg::At(place) => place.resolve(scene),
            Arg::Callers(place) => scene.own_place(place),
            Arg::Behind(place, bytes) => place.resolve(scene).wrapping_add(bytes),
            Arg::Low(us) => time(us) as u32,
            Arg::High(us) => (time(us) >> 32) as u32,
            Arg::Handles(target, frames) => u32::from(target.resolve(scene)) | u32::from(frames.resolve(scene)) << 16,
            Arg::Usable(offset, access) => Place::Pool(offset).resolve(scene) | access,
            Arg::Given(index) => scene.given()[index & 3],
        }
    }
}

impl Place {
    /// Its address.
    pub fn resolve(self, scene: &dyn Scene) -> u32 {
        let foreign = scene.places();
        match self {
            Place::Lent(offset) => scene.place(Place::Lent(0)) + offset,
            Place::Heap(offset) => scene.place(Place::Heap(0)) + offset,
            Place::Pool(offset) => scene.place(Place::Pool(0)) + offset,
            Place::KernelData => foreign.kernel_data,
            Place::KernelCode => foreign.kernel_code,
            Place::KernelDevice => foreign.kernel_device,
            Place::OtherDevice => foreign.other_device,
            Place::Nowhere => foreign.nowhere,
            Place::Initial(_) | Place::Zeroed(_) | Place::Info(_) | Place::Device | Place::Core => scene.place(self),
        }
    }
}

impl Step {
    /// This step with its arguments resolved.
    pub fn action(&self, scene: &dyn Scene) -> Action {
        match *self {
            Step::Call { number, args, again, .. } => Action::Call(number, args.map(|arg| arg.resolve(scene)), again),
            Step::Load(place, _) => Action::Load(place.resolve(scene)),
            Step::Store(place, word) => Action::Store(place.resolve(scene), word),
            Step::Jump(place) => Action::Jump(place.resolve(scene)),
            Step::Spin(us) => Action::Spin(us * scene.ticks_per_us()),
            Step::Clock(..) => Action::Clock,
            Step::Given(index, _) => Action::Word(scene.given()[index & 3]),
            Step::Raise => Action::Device(scene.place(Place::Device), true),
            Step::Quiet => Action::Device(scene.place(Place::Device), false),
            Step::Undefined => Action::Undefined,
            Step::Overflow => Action::Overflow,
            Step::Return(status, value) => Action::Return(status, value),
        }
    }

    /// Whether what came of the step is right; if not, a word that says what it was.
    ///
    /// # Errors
    /// That word.
    pub fn judge(&self, scene: &dyn Scene, seen: Seen) -> Result<(), u32> {
        match (*self, seen) {
            (Step::Call { told, .. }, Seen::Told(status, values)) => told.judge(scene, status, values),
            (Step::Load(_, Some(wanted)) | Step::Given(_, wanted), Seen::Word(word)) if word != wanted => Err(word),
            (Step::Clock(from, to), Seen::Time(now)) => {
                let us = now.wrapping_sub(scene.start()) / u64::from(scene.ticks_per_us());
                if (u64::from(from)..=u64::from(to)).contains(&us) { Ok(()) } else { Err(us as u32) }
            }
            _ => Ok(()),
        }
    }
}

impl Told {
    fn judge(self, scene: &dyn Scene, status: u32, [first, second]: [u32; 2]) -> Result<(), u32> {
        let right = |holds: bool, word: u32| if holds { Ok(()) } else { Err(word) };
        match self {
            Told::Err(error) => right(status == error.status(), status),
            Told::Status(wanted) => right(status == wanted, status),
            _ if status != 0 => Err(status),
            Told::Ok => Ok(()),
            Told::Is(wanted) => right(first == wanted, first),
            Told::Lasts(from, to) => right((from..=to).contains(&(first / scene.ticks_per_us())), first),
            Told::Second(wanted) => right(second == wanted, second),
        }
    }
}

/// A word.
pub const fn w(word: u32) -> Arg {
    Arg::Word(word)
}

/// A handle.
pub const fn cap(hand: Hand) -> Arg {
    Arg::Cap(hand)
}

/// A call without arguments.
pub const fn c0(call: Call, told: Told) -> Step {
    c4(call, [w(0); 4], told)
}

/// A call with one argument.
pub const fn c1(call: Call, a: Arg, told: Told) -> Step {
    c4(call, [a, w(0), w(0), w(0)], told)
}

/// A call with two arguments.
pub const fn c2(call: Call, a: Arg, b: Arg, told: Told) -> Step {
    c4(call, [a, b, w(0), w(0)], told)
}

/// A call with three arguments.
pub const fn c3(call: Call, a: Arg, b: Arg, c: Arg, told: Told) -> Step {
    c4(call, [a, b, c, w(0)], told)
}

/// A call.
pub const fn c4(call: Call, args: [Arg; 4], told: Told) -> Step {
    Step::Call { number: call as u32, args, told, again: false }
}

/// A call that is made while it returns `AGAIN`.
pub const fn steps_of(call: Call, a: Arg, told: Told) -> Step {
    Step::Call { number: call as u32, args: [a, w(0), w(0), w(0)], told, again: true }
}

/// This error.
pub const fn err(error: Error) -> Told {
    Told::Err(error)
}

/// Reads a word that must be as it was linked.
pub const fn intact(dom: Dom) -> Step {
    Step::Load(Place::Initial(dom), Some(INITIAL))
}

/// Reads a word.
pub const fn load(place: Place, word: u32) -> Step {
    Step::Load(place, Some(word))
}

/// Maps or unmaps bytes of the pool from an offset on for a domain.
pub const fn map(call: Call, hand: Hand, access: u32, offset: u32, bytes: u32, told: Told) -> Step {
    let handles = Arg::Handles(Slot::Of(hand), Slot::Of(Hand::Pool));
    c4(call, [handles, Arg::Usable(offset, access), Arg::Word(offset), Arg::Word(bytes)], told)
}

/// Sleeps until so many microseconds after the start.
pub const fn sleep(us: u32) -> Step {
    c2(Call::SleepUntil, Arg::Low(us), Arg::High(us), Told::Ok)
}
