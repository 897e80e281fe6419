//! The machine as an observer sees it.

use core::convert::Infallible;

use super::{EntryKind, Frame, Machine, Maintenance};
use crate::attr::MemAttr;
use crate::block::{BlockCost, InsnCost};
use crate::core::{Charged, Core};
use crate::counters::Counters;
use crate::front::{Code, Executes, Front};
use crate::insn::InsnInfo;

/// One data access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Address.
    pub addr: u32,
    /// Bytes, 1 to 32.
    pub size: u32,
    /// Whether it is a store.
    pub store: bool,
}

/// An action of the hardware's own around a handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exception {
    /// See [`Machine::exception_entry`].
    Entry {
        /// How.
        kind: EntryKind,
        /// The frame.
        frame: Frame,
        /// Address of the vector.
        vector: u32,
        /// Attributes of the vector table.
        vector_attr: MemAttr,
    },
    /// See [`Machine::exception_exit`].
    Return(Frame),
    /// See [`Machine::lazy_fp_save`].
    LazySave {
        /// Address to which the registers are stored.
        address: u32,
        /// Attributes of the stack.
        attr: MemAttr,
    },
}

impl Machine {
    /// One execution of `block`, whose code has attributes `attr`. Returns the cycles spent, those of the previous
    /// block's branch included. Time: proportional to the lines that the code touches.
    pub fn block(&mut self, block: &BlockCost, attr: MemAttr) -> u32 {
        self.execute_block(block, &attr)
    }

    /// One execution of one instruction: as a block of its own.
    pub fn instruction(&mut self, insn: &InsnCost, attr: MemAttr) -> u32 {
        self.execute_instruction(insn, &attr)
    }

    /// Waits until every buffered store has reached its memory, as DSB does.
    pub fn drain(&mut self) -> u32 {
        let stall = self.side.stores.drain(self.now);
        self.counters.drain_stalls += u64::from(stall);
        self.spend(stall)
    }
}

impl Executes<MemAttr> for Machine {
    #[inline]
    fn front(&mut self) -> &mut Front {
        &mut self.front
    }

    #[inline]
    fn counts(&mut self) -> &mut Counters {
        &mut self.counters
    }

    #[inline]
    fn pass(&mut self, cycles: u32) -> u32 {
        self.spend(cycles)
    }

    fn fetch_line(&mut self, line: u32, attr: &MemAttr) -> u32 {
        self.fetch_attributed(line, *attr)
    }

    fn wait_for_stores(&mut self, _: &MemAttr) -> u32 {
        self.drain()
    }
}

impl Core<MemAttr> for Machine {
    type Insn = InsnInfo;
    type Code = Code;
    type Access = Access;
    type System = Maintenance;
    type Exception = Exception;
    type Violation = Infallible;

    fn describe(&self, pc: u32, instructions: &[InsnInfo], alone: bool) -> Code {
        self.front.describe(pc, instructions, alone)
    }

    #[inline]
    fn fetch(&mut self, code: &Code, attr: &MemAttr) -> Charged<Infallible> {
        let cycles = match code {
            Code::Block(block) => self.block(block, *attr),
            Code::Instruction(insn) => self.instruction(insn, *attr),
        };
        Charged { cycles, violation: None }
    }

    fn behind(&self, code: &Code, count: u32) -> u32 {
        self.front.behind(code, count)
    }

    fn cut(&mut self) {
        self.front.cut();
    }

    // Every access of a run comes here. With two callers the compiler makes it a function, which costs an observer 7 % of its speed.
    #[inline(always)]
    fn data(&mut self, access: Access, attr: &MemAttr) -> Charged<Infallible> {
        Charged { cycles: Machine::data(self, access.addr, access.size, access.store, *attr), violation: None }
    }

    fn system(&mut self, operation: Maintenance, _: &MemAttr) -> u32 {
        self.maintain(operation)
    }

    fn exception(&mut self, exception: Exception) -> u32 {
        match exception {
            Exception::Entry { kind, frame, vector, vector_attr } => {
                self.exception_entry(kind, frame, vector, vector_attr)
            }
            Exception::Return(frame) => self.exception_exit(frame),
            Exception::LazySave { address, attr } => self.lazy_fp_save(address, attr),
        }
    }

    fn check(&self, _: &MemAttr) -> Option<Infallible> {
        None
    }

    fn sleep(&mut self, cycles: u64) {
        self.idle(cycles);
    }

    fn spoil(&mut self) {
        Machine::spoil(self);
    }

    fn counters(&self) -> Counters {
        Machine::counters(self)
    }
}
