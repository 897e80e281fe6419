//! A gate that does as it is told: its caller is the attacker itself, or a victim that has called in good faith.

use cofferdam::abi::Call;
use cofferdam::{Error, hostile, sys};

/// Orders to the gate, from its caller.
pub mod orders {
    /// Store where no domain may.
    pub const FAULT: u32 = 0;
    /// Never return.
    pub const STAY: u32 = 1;
    /// Move the stack away and make a system call.
    pub const MOVE_STACK: u32 = 2;
    /// Try what is not allowed inside a gate; the value counts what was not refused.
    pub const BLOCK: u32 = 3;
    /// Write the special registers, then where only privileged code may.
    pub const PRIVILEGED: u32 = 4;
}

/// The gate's entry function; `with` is the address for those orders that need one.
///
/// # Errors
/// `BAD_ARGUMENT` for an unknown order.
pub fn serve(_badge: u32, order: u32, with: u32, _unused: u32) -> Result<u32, Error> {
    match order {
        orders::FAULT => {
            // SAFETY: there is none; this is the attack.
            unsafe { (with as *mut u32).write_volatile(0xbad) };
            Ok(0)
        }
        orders::STAY => loop {
            core::hint::spin_loop();
        },
        // SAFETY: there is none; this is the attack.
        orders::MOVE_STACK => unsafe { hostile::call_on_stack(with) },
        orders::BLOCK => Ok(block_in_gate()),
        orders::PRIVILEGED => {
            hostile::write_special_registers();
            // SAFETY: as above.
            unsafe { (with as *mut u32).write_volatile(0xbad) };
            Ok(0)
        }
        _ => Err(Error::BadArgument),
    }
}

fn block_in_gate() -> u32 {
    let waits = [
        sys::sleep_until(u64::MAX) == Err(Error::InGate),
        sys::wait_period() == Err(Error::InGate),
        // SAFETY: the call does not touch memory.
        unsafe { sys::any(Call::Exit as u32, [0; 4]) }.0 == Error::InGate.status(),
    ];
    waits.into_iter().filter(|refused| !refused).count() as u32
}
