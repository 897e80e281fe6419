//! The stack of calls, from registers and memory that a domain has left and its program's description of frames (`.debug_frame`).

use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EndianSlice, LittleEndian, Register, RegisterRule, UnwindContext,
    UnwindSection, UnwindTableRow,
};
use record::FaultContext;

/// Calls that are followed.
pub const MAX_CALLS: usize = 32;
/// Instructions of the block that ran last of which each may be the one that faulted.
const MAX_ROWS: usize = 64;

const SP: usize = 13;
const LR: usize = 14;
const PC: usize = 15;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Registers = [Option<u32>; 16];

/// A program as it is asked about frames and instructions.
pub trait Code {
    /// How frames are laid out.
    fn frames(&self) -> &DebugFrame<Slice<'_>>;
    /// Bytes of its instructions.
    fn bytes(&self, address: u32, len: usize) -> Option<&[u8]>;
}

/// A place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Address at which the fault happened, or to which the call returns.
    pub address: u32,
    /// An address in the instruction that is meant.
    pub look_up: u32,
    /// It is that instruction; otherwise one near by.
    pub exact: bool,
}

/// The places, the innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// At most [`MAX_CALLS`].
    pub places: Vec<Place>,
    /// Why it ends before the thread's entry.
    pub end: Option<String>,
}

/// Follows the calls of a thread.
///
/// # Time complexity
/// O([`MAX_CALLS`] * size of `.debug_frame`).
pub fn walk(code: &impl Code, context: &FaultContext) -> Walk {
    let mut walk = Walk::default();
    let mut registers = context.registers;
    // Only of the function that faulted is the link register what the processor held.
    let mut first = false;
    match registers[PC] {
        Some(pc) if code.bytes(pc & !1, 2).is_some() => {
            walk.places.push(Place { address: pc, look_up: pc & !1, exact: true });
            if registers[SP].is_none() {
                return ended(walk, "nothing but the place was recorded".to_owned());
            }
            first = true;
        }
        Some(pc) => match registers[LR].filter(|link| is_behind_call(code, *link)) {
            // A call through a bad pointer: nothing has been pushed yet.
            Some(link) => {
                walk.places.push(returning_to(link));
                registers = [(PC, Some(link & !1)), (LR, None)].into_iter().fold(registers, with);
            }
            None => {
                return ended(walk, format!("{pc:#x} is no code of the domain, and the link register names no call"));
            }
        },
        None => {
            let (start, end) = (context.ran.start, context.ran.end);
            if code.bytes(start, 2).is_none() {
                return ended(walk, "the processor could not store where it was".to_owned());
            }
            walk.places.push(Place { address: start, look_up: start, exact: false });
            let Some(caller) = only_caller(code, context, (start, end)) else {
                return ended(
                    walk,
                    "the processor could not store where it was, and the stack does not tell".to_owned(),
                );
            };
            registers = caller;
            walk.places.push(returning_to(registers[PC].unwrap_or(0) | 1));
        }
    }
    while walk.places.len() < MAX_CALLS {
        let look_up = walk.places.last().map_or(0, |place| place.look_up);
        match caller(code, context, &registers, look_up, std::mem::take(&mut first)) {
            Ok(Some(next)) => {
                registers = next;
                // Bit 0 was looked at already.
                walk.places.push(returning_to(registers[PC].unwrap_or(0)));
            }
            Ok(None) => return walk,
            Err(end) => return ended(walk, end),
        }
    }
    ended(walk, format!("{MAX_CALLS} calls were followed"))
}

fn ended(walk: Walk, end: String) -> Walk {
    Walk { end: Some(end), ..walk }
}

fn with(mut registers: Registers, (number, value): (usize, Option<u32>)) -> Registers {
    registers[number] = value;
    registers
}

/// The call in front of a return address.
fn returning_to(address: u32) -> Place {
    let address = address & !1;
    Place { address, look_up: address.wrapping_sub(1), exact: true }
}

/// The registers of the caller; nothing at the thread's entry.
fn caller(
    code: &impl Code,
    context: &FaultContext,
    registers: &Registers,
    look_up: u32,
    first: bool,
) -> Result<Option<Registers>, String> {
    let mut scratch = UnwindContext::new();
    let bases = BaseAddresses::default();
    let row = code.frames().unwind_info_for_address(&bases, &mut scratch, look_up.into(), DebugFrame::cie_from_offset);
    let Ok(row) = row else {
        // A leaf written in assembly has often pushed nothing.
        let link = registers[LR].filter(|link| first && is_behind_call(code, *link));
        let Some(link) = link else { return Err(format!("nothing describes the frame at {look_up:#x}")) };
        return Ok(Some([(PC, Some(link & !1)), (LR, None)].into_iter().fold(*registers, with)));
    };
    let next = step(context, registers, row)?;
    let (Some(before), Some(after)) = (registers[SP], next[SP]) else {
        return Err("the stack pointer is lost".to_owned());
    };
    if after < before || (after == before && !first) {
        return Err(format!("the frame at {before:#x} does not lie below its caller's"));
    }
    match next[PC] {
        None if first => Err("the link register is not known".to_owned()),
        // The outermost function has nowhere to return to.
        None | Some(0) => Ok(None),
        Some(to) if is_behind_call(code, to) => Ok(Some(with(next, (PC, Some(to & !1))))),
        Some(to) if code.bytes(to & !1, 2).is_some() => Ok(None),
        Some(to) => Err(format!("{to:#x} on the stack is no code of the domain")),
    }
}

/// One frame up; the program counter is the return address as it was stored.
fn step(context: &FaultContext, registers: &Registers, row: &UnwindTableRow<usize>) -> Result<Registers, String> {
    let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else {
        return Err("a frame is described by an expression".to_owned());
    };
    let base = registers.get(usize::from(register.0)).copied().flatten();
    let cfa =
        base.map(|base| base.wrapping_add(*offset as u32)).ok_or("a register that says where the frame is, is lost")?;
    let mut next = *registers;
    for (number, to) in next.iter_mut().enumerate().take(PC) {
        *to = match row.register(Register(number as u16)) {
            // Registers that nobody describes are as they were.
            RegisterRule::Undefined | RegisterRule::SameValue => *to,
            RegisterRule::Offset(offset) => Some(load(context, cfa.wrapping_add(offset as u32))?),
            RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add(offset as u32)),
            RegisterRule::Register(other) => registers.get(usize::from(other.0)).copied().flatten(),
            _ => None,
        };
    }
    (next[PC], next[LR], next[SP]) = (next[LR], None, Some(cfa));
    Ok(next)
}

/// A word of the recorded stack.
fn load(context: &FaultContext, address: u32) -> Result<u32, String> {
    let word = || {
        let at = address.checked_sub(context.stack_at)? as usize;
        let bytes = context.stack.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    word()
        .ok_or_else(|| format!("{address:#x} is beyond the {} bytes of stack that were recorded", context.stack.len()))
}

/// The registers of the caller when any instruction of a block may have faulted: if all that fit the stack agree.
fn only_caller(code: &impl Code, context: &FaultContext, (start, end): (u32, u32)) -> Option<Registers> {
    let bases = BaseAddresses::default();
    let frames = code.frames();
    let entry = frames.fde_for_address(&bases, start.into(), DebugFrame::cie_from_offset).ok()?;
    let mut scratch = UnwindContext::new();
    let mut rows = entry.rows(frames, &bases, &mut scratch).ok()?;
    let mut found: Option<Registers> = None;
    let mut seen = 0;
    while let (Ok(Some(row)), true) = (rows.next_row(), seen < MAX_ROWS) {
        if row.end_address() <= start.into() || row.start_address() >= end.into() {
            continue;
        }
        seen += 1;
        let Ok(next) = step(context, &context.registers, row) else { continue };
        let Some(to) = next[PC].filter(|to| is_behind_call(code, *to)) else { continue };
        let next = with(next, (PC, Some(to & !1)));
        if found.replace(next).is_some_and(|before| (before[PC], before[SP]) != (next[PC], next[SP])) {
            return None;
        }
    }
    found
}

/// Whether the instruction in front of a return address is a call.
fn is_behind_call(code: &impl Code, to: u32) -> bool {
    let half = |back: u32| {
        let bytes = code.bytes((to & !1).wrapping_sub(back), 2)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    };
    if to & 1 == 0 {
        let Some(word) = half(4).zip(half(2)).map(|(low, high)| u32::from(high) << 16 | u32::from(low)) else {
            return false;
        };
        return word & 0x0f00_0000 == 0x0b00_0000
            || word & 0xfe00_0000 == 0xfa00_0000
            || word & 0x0fff_fff0 == 0x012f_ff30;
    }
    let long =
        || half(4).zip(half(2)).is_some_and(|(first, second)| first & 0xf800 == 0xf000 && second & 0xc000 == 0xc000);
    half(2).is_some_and(|short| short & 0xff87 == 0x4780) || long()
}

#[cfg(test)]
mod tests;
