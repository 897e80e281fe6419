//! Frames of exceptions on the stack, and the value that a handler returns with (ARM DDI 0403, B1.5.7 and B1.5.8; DDI 0553 B3 keeps all that is here).

use crate::Target;
use crate::saved::{Saved, words};

/// EXC_RETURN: the frame holds no floating-point registers.
pub const BASIC_FRAME: u32 = 1 << 4;
/// EXC_RETURN: a thread was interrupted.
pub const TO_THREAD: u32 = 1 << 3;
/// EXC_RETURN: it was on the process stack.
pub const ON_PROCESS_STACK: u32 = 1 << 2;
/// EXC_RETURN: no code of the other state was interrupted, where there are two (DDI 0553 B3); 1 where there are not.
pub const SECURE_STACK: u32 = 1 << 6;
/// CONTROL: a thread is on the process stack, and has used floating-point registers.
pub const SPSEL: u32 = 1 << 1;
pub const FPCA: u32 = 1 << 2;

/// Bytes of a frame without floating-point registers, and with them.
pub const BASIC_BYTES: u32 = 0x20;
pub const EXTENDED_BYTES: u32 = 0x68;

/// The registers of a thread whose context is at this address, and whose frame is `whole`; one with floating-point registers has `extended` bytes.
pub fn saved(target: &mut dyn Target, context: u32, whole: bool, extended: u32) -> Option<Saved> {
    /// xPSR: the hardware left a word out to align the frame.
    const ALIGNED: u32 = 1 << 9;
    const R4: usize = 4;
    const PSP: usize = 8;
    let kept = words::<10>(target, context)?;
    let [psp, exc_return] = [kept[PSP], kept[PSP + 1]];
    let mut registers = [None; 16];
    for (to, value) in registers[R4..].iter_mut().zip(&kept[..PSP]) {
        *to = Some(*value);
    }
    let frame_bytes = if exc_return & BASIC_FRAME == 0 { extended } else { BASIC_BYTES };
    let mut sp = psp.wrapping_add(frame_bytes);
    let frame = words::<8>(target, psp).filter(|_| whole);
    if let Some([r0, r1, r2, r3, r12, lr, pc, xpsr]) = frame {
        for (number, value) in [(0, r0), (1, r1), (2, r2), (3, r3), (12, r12), (14, lr), (15, pc)] {
            registers[number] = Some(value);
        }
        sp = sp.wrapping_add(if xpsr & ALIGNED != 0 { 4 } else { 0 });
    }
    registers[13] = Some(sp);
    Some(Saved { registers, status: frame.map(|[.., xpsr]| xpsr) })
}
