//! Cases beyond system calls: encodings, saved frames, stack pointers, branch targets. Everything that a life of the hostile domain does
//! follows from a seed, its role and the number of the life, so that a life can be had alone again.

#![no_std]

pub mod encodings;
mod table;
mod tables;
mod values;

use cofferdam::hostile::{EXPOSED, Registers};

use attacks::Random;
use encodings::scatter;
pub use tables::{ARM, EXCHANGE, GADGET, NOTHING, STAY, THUMB};
pub use values::Values;

/// The contents of the file `plan`, one number a line.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Everything that is random follows from it.
    pub seed: u32,
    /// Number of the first life.
    pub first: u32,
    /// Lives of each hostile domain.
    pub lives: u32,
}

impl Plan {
    /// Reads it; `None` if the file is not there or not whole.
    pub fn read(info: cofferdam::Info) -> Option<Plan> {
        let mut numbers = attacks::order::numbers(info, "plan")?;
        Some(Plan { seed: numbers.next()?, first: numbers.next()?, lives: numbers.next()? })
    }
}

/// Kinds of case; the upper bits of its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A T32 encoding.
    Thumb = 1,
    /// An A32 encoding.
    Arm = 2,
    /// A gadget with a hostile stack pointer or address.
    Gadget = 3,
    /// A branch to where there may be no code.
    Branch = 4,
    /// The frame, or whatever else lies around the stack pointer, of a thread that waits is forged.
    Waiting = 5,
    /// The same of a thread that was interrupted.
    Interrupted = 6,
    /// A register of the processor is read, then written.
    Exchange = 7,
}

/// Something to execute.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its kind.
    pub kind: Kind,
    /// Address to branch to; bit 0 is the state.
    pub at: u32,
    /// With what in the registers.
    pub registers: Registers,
    /// The first two halfwords there, if it is an encoding.
    pub encoding: u32,
}

/// The cases of one life, in order.
pub struct Life<'a> {
    random: Random,
    values: &'a Values,
    /// The systematic encoding that it begins with, counted over the lives of both domains, if it does.
    turn: Option<u32>,
    /// The register that it exchanges first, if it does: in lives of the same number both domains take the same, so that the later one
    /// would find what the other one has left.
    exchange: Option<u32>,
}

/// Cases of a life that nothing ends.
pub const STEPS: u32 = 12;
/// Odd and no divisor of the number of encodings, so that successive lives try encodings far from
/// each other.
const STRIDE: u32 = 30_011;
const _: () = assert!(encodings::thumb::COUNT % STRIDE as usize != 0 && encodings::arm::COUNT % STRIDE as usize != 0);

impl<'a> Life<'a> {
    /// The life with this number of the domain with this role (0 or 1).
    pub fn new(plan: Plan, role: u32, life: u32, values: &'a Values) -> Life<'a> {
        let random = Random(scatter(plan.seed ^ scatter(2 * life + role)) | 1);
        // Four of six lives, one, and one that begins with whatever comes.
        let (round, place) = (life / 6, life % 6);
        let turn = (place % 3 != 2).then_some(2 * (4 * round + place - place / 3) + role);
        let exchange = (place == 5).then_some(round);
        Life { random, values, turn, exchange }
    }

    /// The next case.
    pub fn case(&mut self) -> Case {
        if let Some(turn) = self.turn.take() {
            return self.encoding_in_turn(turn);
        }
        if let Some(turn) = self.exchange.take() {
            return self.exchange(turn);
        }
        match self.random.below(16) {
            0..=3 => self.encoding(),
            4..=7 => self.gadget(),
            8 | 9 => self.branch(),
            10..=12 => self.forged(Kind::Waiting, NOTHING),
            _ => self.forged(Kind::Interrupted, STAY),
        }
    }

    fn registers(&mut self, sp: u32) -> Registers {
        let low = core::array::from_fn(|_| self.values.word(&mut self.random));
        Registers { low, sp, lr: self.values.word(&mut self.random), flags: self.random.next() & 0xf800_0000 }
    }

    /// A stack pointer below what the thread needs, with which it can be interrupted.
    fn good_stack(&mut self) -> u32 {
        (EXPOSED.words()[0].wrapping_sub(128 + self.random.below(256))) & !7
    }

    fn stack(&mut self, hostile: bool) -> u32 {
        if hostile { self.values.stack_pointer(&mut self.random) } else { self.good_stack() }
    }

    /// One of the encodings, at random.
    fn encoding(&mut self) -> Case {
        let (index, arm) = (self.random.next(), self.random.below(2) == 1);
        self.encoded(index, arm)
    }

    /// Each domain takes the tables in turns, and no two lives take the same.
    fn encoding_in_turn(&mut self, turn: u32) -> Case {
        let index = if Values::has_arm_state() { turn / 2 } else { turn };
        self.encoded(index.wrapping_mul(STRIDE), (turn ^ turn >> 1) & 1 == 1)
    }

    fn encoded(&mut self, index: u32, arm: bool) -> Case {
        let hostile = self.random.below(8) == 0;
        let sp = self.stack(hostile);
        let registers = self.registers(sp);
        let within = |count: usize| index as usize % count;
        if Values::has_arm_state() && arm {
            let index = within(ARM.len());
            Case { kind: Kind::Arm, at: ARM.slot(index), registers, encoding: ARM.word(index) }
        } else {
            let index = within(THUMB.len());
            Case { kind: Kind::Thumb, at: THUMB.slot(index) | 1, registers, encoding: THUMB.word(index) }
        }
    }

    fn exchange(&mut self, turn: u32) -> Case {
        let count = if Values::has_arm_state() { EXCHANGE.len() } else { encodings::exchange::SPECIAL };
        let index = turn.wrapping_mul(STRIDE) as usize % count;
        let sp = self.good_stack();
        let mut registers = self.registers(sp);
        registers.low[1] = self.values.token();
        Case { kind: Kind::Exchange, at: EXCHANGE.slot(index) | 1, registers, encoding: EXCHANGE.word(index) }
    }

    fn gadget(&mut self) -> Case {
        let index = self.random.below(GADGET.len() as u32) as usize;
        let hostile = self.random.below(3) != 0;
        let sp = self.stack(hostile);
        let registers = self.registers(sp);
        Case { kind: Kind::Gadget, at: GADGET.slot(index) | 1, registers, encoding: GADGET.word(index) }
    }

    fn branch(&mut self) -> Case {
        let at = self.values.target(&mut self.random);
        let sp = self.good_stack();
        Case { kind: Kind::Branch, at, registers: self.registers(sp), encoding: at }
    }

    /// A thread that waits, or counts until the driver has interrupted it: for more than a turn on either processor.
    fn forged(&mut self, kind: Kind, gadget: usize) -> Case {
        let sp = self.good_stack();
        let mut registers = self.registers(sp);
        registers.low[0] = if Values::has_arm_state() { 40_000 } else { 8_000 };
        Case { kind, at: GADGET.slot(gadget) | 1, registers, encoding: 0 }
    }

    /// Forges what lies below and at a stack pointer: a frame without or with floating-point state, where exceptions store one there.
    /// One word of it, most often that of the state or the program counter, or all.
    pub fn forge(&mut self, sp: u32) {
        let frame_bytes = if self.random.below(4) == 0 { 104 } else { 32 };
        let base = sp.wrapping_sub(frame_bytes) & !7;
        let set = |word: u32, value: u32| {
            // SAFETY: memory of this domain; what it breaks is this domain's.
            unsafe { ((base + 4 * word) as *mut u32).write_volatile(value) };
        };
        const PC: u32 = 6;
        const STATE: u32 = 7;
        match self.random.below(8) {
            0..=2 => set(STATE, self.values.state(&mut self.random)),
            3 => set(PC, self.values.target(&mut self.random)),
            4 => {
                set(PC, self.values.target(&mut self.random));
                set(STATE, self.values.state(&mut self.random));
            }
            5 => {
                let word = self.random.below(frame_bytes / 4 + 4);
                set(word, self.values.word(&mut self.random));
            }
            6 => {
                for word in 0..frame_bytes / 4 {
                    set(word, self.values.word(&mut self.random));
                }
            }
            _ => {
                for word in 0..frame_bytes / 4 + 8 {
                    set(word, self.random.next());
                }
            }
        }
    }
}
