//! Decodes an exception of a thread into the kernel's kinds of fault.

use abi::trace::Fault;
use protect::vmsav7::abort::{Reason, Status};
use units::VirtAddr;

use crate::context::Context;
use crate::cp15;
pub use crate::entry::Vector;

/// A fault of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its kind.
    pub kind: Fault,
    /// The address that the kind says.
    pub address: VirtAddr<u32>,
    /// The thread's program counter; 0 when the fault has no exact place.
    pub pc: VirtAddr<u32>,
}

/// Reads what the processor says about an exception of the thread with these registers, and clears
/// it, so that the next thread is not blamed for it.
pub fn report(vector: Vector, context: &Context) -> Report {
    let late = crate::entry::take_late();
    let pc = VirtAddr(context.pc);
    match vector {
        Vector::Undefined => Report { kind: Fault::Usage, address: pc, pc },
        Vector::Prefetch => prefetch(Status::new(cp15::ifsr::read()), VirtAddr(cp15::ifar::read()), pc),
        Vector::Data => data(Status::new(cp15::dfsr::read()), VirtAddr(cp15::dfar::read()), context),
        // Noted on the way in, or taken since by `cofferdam_late`, which has left the same word.
        Vector::Late => Report { kind: Fault::Bus, address: VirtAddr(0), pc: if late == 0 { VirtAddr(0) } else { pc } },
    }
}

fn prefetch(status: Status, address: VirtAddr<u32>, pc: VirtAddr<u32>) -> Report {
    match status.reason() {
        Reason::Debug => Report { kind: Fault::Usage, address: pc, pc },
        _ if status.is_protection() => Report { kind: Fault::Execute, address, pc },
        _ => Report { kind: Fault::Bus, address, pc },
    }
}

fn data(status: Status, address: VirtAddr<u32>, context: &Context) -> Report {
    let pc = VirtAddr(context.pc);
    match status.reason() {
        Reason::Alignment | Reason::Debug => Report { kind: Fault::Usage, address: pc, pc },
        _ if !status.is_protection() => {
            Report { kind: Fault::Bus, address: if status.has_address() { address } else { VirtAddr(0) }, pc }
        }
        _ if context.is_off_its_stack() => {
            Report { kind: Fault::Stack, address: VirtAddr(context.registers[13]), pc: VirtAddr(0) }
        }
        _ if context.pushes_beyond_its_stack(address) => Report { kind: Fault::Stack, address, pc },
        _ => Report { kind: Fault::Data, address, pc },
    }
}
