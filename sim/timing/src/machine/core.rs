//! The machine as an observer sees it.

use core::convert::Infallible;

use super::{EntryKind, Frame, Machine, Maintenance};
use crate::attr::MemAttr;
use crate::core::{Charged, Code, Core};
use crate::counters::Counters;
use crate::thumb::InsnInfo;

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

/// What the hardware does by itself around a handler.
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
        /// Where the registers go.
        address: u32,
        /// Attributes of the stack.
        attr: MemAttr,
    },
}

impl Core<MemAttr> for Machine {
    type Access = Access;
    type System = Maintenance;
    type Exception = Exception;
    type Violation = Infallible;

    fn describe(&self, pc: u32, instructions: &[InsnInfo], alone: bool) -> Code {
        Code::new(&self.front, pc, instructions, alone)
    }

    #[inline]
    fn fetch(&mut self, code: &Code, attr: &MemAttr) -> Charged<Infallible> {
        let cycles = match code {
            Code::Block(block) => self.block(block, *attr),
            Code::Instruction(insn) => self.instruction(insn, *attr),
            Code::Counted(_) => 0,
        };
        Charged { cycles, violation: None }
    }

    fn behind(&self, code: &Code, count: u32) -> u32 {
        self.front.behind(code, count)
    }

    fn cut(&mut self) {
        self.front.cut();
    }

    #[inline]
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
