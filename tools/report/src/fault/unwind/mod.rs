//! The stack of calls, from registers and memory that a domain has left and its program's description of frames (`.debug_frame`).

use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EndianSlice, LittleEndian, Register, RegisterRule, UnwindContext,
    UnwindSection, UnwindTableRow,
};
use record::{Architecture, FaultContext, Registers as Places};

/// Calls that are followed.
pub const MAX_CALLS: usize = 32;
/// Instructions of the block that ran last of which each may be the one that faulted.
const MAX_ROWS: usize = 64;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Registers = Vec<Option<u32>>;

/// A thread whose calls are followed.
struct Thread<'a, C> {
    code: &'a C,
    context: &'a FaultContext,
    architecture: Architecture,
    of: Places,
}

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
pub fn walk(code: &impl Code, context: &FaultContext, architecture: Architecture) -> Walk {
    let of = architecture.registers();
    let thread = Thread { code, context, architecture, of };
    let mut walk = Walk::default();
    let mut registers = context.registers.clone();
    registers.resize(of.count, None);
    // Only of the function that faulted is the link register what the processor held.
    let mut first = false;
    match registers[of.pc] {
        Some(pc) if code.bytes(pc & !1, 2).is_some() => {
            walk.places.push(Place { address: pc, look_up: pc & !1, exact: true });
            if registers[of.sp].is_none() {
                return ended(walk, "nothing but the place was recorded".to_owned());
            }
            first = true;
        }
        Some(pc) => match registers[of.link].filter(|link| thread.is_behind_call(*link)) {
            // A call through a bad pointer: nothing has been pushed yet.
            Some(link) => {
                walk.places.push(returning_to(link));
                (registers[of.pc], registers[of.link]) = (Some(link & !1), None);
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
            let Some(caller) = thread.only_caller(&registers, (start, end)) else {
                return ended(
                    walk,
                    "the processor could not store where it was, and the stack does not tell".to_owned(),
                );
            };
            registers = caller;
            walk.places.push(returning_to(registers[of.pc].unwrap_or(0) | 1));
        }
    }
    while walk.places.len() < MAX_CALLS {
        let look_up = walk.places.last().map_or(0, |place| place.look_up);
        match thread.caller(&registers, look_up, std::mem::take(&mut first)) {
            Ok(Some(next)) => {
                registers = next;
                // Bit 0 was looked at already.
                walk.places.push(returning_to(registers[of.pc].unwrap_or(0)));
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

/// The call in front of a return address.
fn returning_to(address: u32) -> Place {
    let address = address & !1;
    Place { address, look_up: address.wrapping_sub(1), exact: true }
}

impl<C: Code> Thread<'_, C> {
    /// The registers of the caller; nothing at the thread's entry.
    fn caller(&self, registers: &Registers, look_up: u32, first: bool) -> Result<Option<Registers>, String> {
        let Places { sp, link, pc, .. } = self.of;
        let mut scratch = UnwindContext::new();
        let (bases, frames) = (BaseAddresses::default(), self.code.frames());
        let row = frames.unwind_info_for_address(&bases, &mut scratch, look_up.into(), DebugFrame::cie_from_offset);
        let Ok(row) = row else {
            // A leaf written in assembly has often pushed nothing.
            let held = registers[link].filter(|link| first && self.is_behind_call(*link));
            let Some(held) = held else { return Err(format!("nothing describes the frame at {look_up:#x}")) };
            let mut next = registers.clone();
            (next[pc], next[link]) = (Some(held & !1), None);
            return Ok(Some(next));
        };
        let mut next = self.step(registers, row)?;
        let (Some(before), Some(after)) = (registers[sp], next[sp]) else {
            return Err("the stack pointer is lost".to_owned());
        };
        if after < before || (after == before && !first) {
            return Err(format!("the frame at {before:#x} does not lie below its caller's"));
        }
        match next[pc] {
            None if first => Err("the link register is not known".to_owned()),
            // The outermost function has nowhere to return to.
            None | Some(0) => Ok(None),
            Some(to) if self.is_behind_call(to) => {
                next[pc] = Some(to & !1);
                Ok(Some(next))
            }
            Some(to) if self.code.bytes(to & !1, 2).is_some() => Ok(None),
            Some(to) => Err(format!("{to:#x} on the stack is no code of the domain")),
        }
    }

    /// One frame up; the program counter is the return address as it was stored.
    fn step(&self, registers: &Registers, row: &UnwindTableRow<usize>) -> Result<Registers, String> {
        let Places { sp, link, pc, .. } = self.of;
        let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else {
            return Err("a frame is described by an expression".to_owned());
        };
        let base = registers.get(usize::from(register.0)).copied().flatten();
        let cfa = base
            .map(|base| base.wrapping_add(*offset as u32))
            .ok_or("a register that says where the frame is, is lost")?;
        let mut next = registers.clone();
        for (number, to) in next.iter_mut().enumerate().take(pc) {
            *to = match row.register(Register(number as u16)) {
                // Registers that nobody describes are as they were.
                RegisterRule::Undefined | RegisterRule::SameValue => *to,
                RegisterRule::Offset(offset) => Some(load(self.context, cfa.wrapping_add(offset as u32))?),
                RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add(offset as u32)),
                RegisterRule::Register(other) => registers.get(usize::from(other.0)).copied().flatten(),
                _ => None,
            };
        }
        (next[pc], next[link], next[sp]) = (next[link], None, Some(cfa));
        Ok(next)
    }

    /// The registers of the caller when any instruction of a block may have faulted: if all that fit the stack agree.
    fn only_caller(&self, registers: &Registers, (start, end): (u32, u32)) -> Option<Registers> {
        let Places { sp, pc, .. } = self.of;
        let (bases, frames) = (BaseAddresses::default(), self.code.frames());
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
            let Ok(mut next) = self.step(registers, row) else { continue };
            let Some(to) = next[pc].filter(|to| self.is_behind_call(*to)) else { continue };
            next[pc] = Some(to & !1);
            let place = (next[pc], next[sp]);
            if found.replace(next).is_some_and(|before| (before[pc], before[sp]) != place) {
                return None;
            }
        }
        found
    }

    /// Whether the instruction in front of a return address is a call.
    fn is_behind_call(&self, to: u32) -> bool {
        let half = |back: u32| {
            let bytes = self.code.bytes((to & !1).wrapping_sub(back), 2)?;
            Some(u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        self.architecture.is_behind_call(to, half(4), half(2))
    }
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

#[cfg(test)]
mod tests;
