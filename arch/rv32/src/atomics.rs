//! Atomic instructions for domains. The core lacks them (extension A), so each is an illegal
//! instruction, and the kernel performs it. That is atomic for all threads, because nothing
//! interrupts the kernel and there is one core.
//!
//! Source: RISC-V Unprivileged ISA, chapter "A".

use kernel::Kernel;
use protect::AccessKind;
use units::VirtAddr;

use crate::machine::{Board, Rv32};

/// What became of an instruction that was illegal to the core.
pub(crate) enum Outcome {
    /// It was performed, or is to be repeated because it has touched a page for the first time.
    Performed,
    /// The domain may not access the word at this address so.
    Refused(VirtAddr<u32>),
    Illegal,
}

const OPCODE: u32 = 0x2f;
const WORD: u32 = 2;
const LOAD_RESERVED: u32 = 0b00010;
const STORE_CONDITIONAL: u32 = 0b00011;

/// The value that an instruction stores, from the word that is there and its second operand.
type Operation = fn(u32, u32) -> u32;

/// The operation of the instruction with these upper five bits.
fn operation(code: u32) -> Option<Operation> {
    Some(match code {
        0b00000 => u32::wrapping_add,
        0b00001 => |_, operand| operand,
        0b00100 => |there, operand| there ^ operand,
        0b01000 => |there, operand| there | operand,
        0b01100 => |there, operand| there & operand,
        0b10000 => |there, operand| (there as i32).min(operand as i32) as u32,
        0b10100 => |there, operand| (there as i32).max(operand as i32) as u32,
        0b11000 => u32::min,
        0b11100 => u32::max,
        _ => return None,
    })
}

/// Performs the illegal instruction of the running thread if it is an atomic one.
///
/// # Bound
/// Two look-ups, a load and a store; or [`Kernel::on_touch`].
pub(crate) fn perform<B: Board>(kernel: &mut Kernel<Rv32<B>>, instruction: u32) -> Outcome {
    if instruction & 0x7f != OPCODE || instruction >> 12 & 7 != WORD {
        return Outcome::Illegal;
    }
    let code = instruction >> 27;
    let Some(operate) = operation(code).or(match code {
        LOAD_RESERVED if instruction >> 20 & 0x1f == 0 => Some(|there, _| there),
        STORE_CONDITIONAL => Some(|_, operand| operand),
        _ => None,
    }) else {
        return Outcome::Illegal;
    };
    let Some(context) = kernel.current_context() else { return Outcome::Illegal };
    let (whose, at) = (&raw const *context as u32, VirtAddr(context.register(instruction >> 15)));
    let operand = context.register(instruction >> 20);
    let kind = if code == LOAD_RESERVED { AccessKind::Read } else { AccessKind::Write };
    if !at.0.is_multiple_of(4) {
        return Outcome::Refused(at);
    }
    let Some(place) = kernel.reach(at, kind) else {
        let touched = kernel.on_touch(at, kind);
        return if touched { Outcome::Performed } else { Outcome::Refused(at) };
    };
    let reserved = core::mem::take(&mut kernel.arch.reserved) == Some((whose, place.0));
    let word = place.0 as *mut u32;
    // SAFETY: a word of memory that the domain may access so; where it may write, it may read.
    let there = unsafe { word.read_volatile() };
    let stores = match code {
        LOAD_RESERVED => false,
        STORE_CONDITIONAL => reserved,
        _ => true,
    };
    if stores {
        // SAFETY: as above.
        unsafe { word.write_volatile(operate(there, operand)) };
    }
    if code == LOAD_RESERVED {
        kernel.arch.reserved = Some((whose, place.0));
    }
    let value = if code == STORE_CONDITIONAL { u32::from(!reserved) } else { there };
    if let Some(context) = kernel.current_context() {
        context.set_register(instruction >> 7, value);
        context.pc = context.pc.wrapping_add(4);
    }
    Outcome::Performed
}
