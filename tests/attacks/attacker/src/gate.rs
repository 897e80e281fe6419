//! The attacker's gate. The attacker calls it with orders; a client that calls it in good faith meets what the attacker has
//! set the mood to.

use core::sync::atomic::{AtomicU32, Ordering};

use cofferdam::{Error, hostile, sys};
use repertoire::{Chip, trap};

use crate::marks::{LEAK, mark};
use crate::world::victim_data;

/// How the gate serves others.
pub mod moods {
    /// As it should.
    pub const POLITE: u32 = 0;
    /// Fault with the caller inside.
    pub const FAULT: u32 = 1;
    /// Never return.
    pub const STAY: u32 = 2;
    /// Change every register and how floating point rounds, then return.
    pub const SPOIL: u32 = 3;
    /// Ask the kernel to copy what is neither the caller's nor the own.
    pub const COPY: u32 = 4;
    /// Move the stack into the caller's memory and enter the kernel.
    pub const MOVE_STACK: u32 = 5;
    /// Return what the registers held at the entry to the trace.
    pub const LOOK: u32 = 6;
    /// Exit the thread, which belongs to the caller.
    pub const EXIT: u32 = 7;
}

static MOOD: AtomicU32 = AtomicU32::new(moods::POLITE);
static CALLS: AtomicU32 = AtomicU32::new(0);
/// Of the copies one call of a client tries those whose number leaves this rest by [`TURNS`].
static TURN: AtomicU32 = AtomicU32::new(0);
static TURNS: AtomicU32 = AtomicU32::new(1);

/// Sets the mood and sleeps until a client has called.
pub fn wait_for_a_client(mood: u32) {
    let before = CALLS.load(Ordering::Relaxed);
    MOOD.store(mood, Ordering::Relaxed);
    while CALLS.load(Ordering::Relaxed) == before {
        let _ = sys::sleep_until(sys::time_now() + 5_000);
    }
    MOOD.store(moods::POLITE, Ordering::Relaxed);
}

/// Tries all copies, in so many calls: a gate has a bound.
pub fn copy_in_turns(turns: u32) {
    TURNS.store(turns, Ordering::Relaxed);
    for turn in 0..turns {
        TURN.store(turn, Ordering::Relaxed);
        wait_for_a_client(moods::COPY);
    }
}

/// The gate's function, after the registers at its entry were stored.
///
/// # Errors
/// Any error that the order leads to.
pub fn serve(badge: u32, a0: u32, a1: u32, a2: u32) -> Result<u32, Error> {
    if cofferdam::info().is_some_and(|info| info.domain() == badge) {
        return trap::serve(badge, a0, a1, a2);
    }
    let mood = MOOD.load(Ordering::Relaxed);
    let calls = CALLS.load(Ordering::Relaxed);
    CALLS.store(calls.wrapping_add(1), Ordering::Relaxed);
    let chip = cofferdam::info().and_then(Chip::find).ok_or(Error::BadState)?;
    // SAFETY: there is none; these are attacks.
    unsafe {
        match mood {
            moods::FAULT => (chip.foreign.kernel_objects as *mut u32).write_volatile(0xbad),
            moods::STAY => drop(trap::serve(badge, trap::orders::STAY, 0, 0)),
            moods::SPOIL => hostile::spoil_registers(),
            moods::COPY => copy(chip, a1, a2),
            moods::MOVE_STACK => hostile::call_on_stack(a1),
            moods::LOOK => look(),
            moods::EXIT => drop(sys::any(cofferdam::abi::Call::Exit as u32, [1, 0, 0, 0])),
            _ => {}
        }
    }
    Ok(0)
}

/// Marks a leak: a register that is not zero at the entry of a gate holds another domain's value.
fn look() {
    let seen = hostile::SEEN_AT_GATE.words();
    mark(LEAK, seen.into_iter().find(|word| *word != 0).unwrap_or(0));
}

/// The caller has passed `len` bytes at `address`, which end where its memory ends.
fn copy(chip: Chip, address: u32, len: u32) {
    let mut word = [0_u8; 4];
    let own = word.as_mut_ptr() as u32;
    let sources = [
        (address, len + 1),
        (address + len - 1, 2),
        (address + len, 4),
        (chip.foreign.kernel_objects, 64),
        (chip.foreign.heaps, 4),
        (0xffff_fff0, 64),
        (0xffff_ffff, 2),
        (0, 64),
        (address, 65),
        (address, 0x8000_0000),
        (address, u32::MAX),
        (address.wrapping_sub(0x7fff_ffff), 0x8000_0000),
    ];
    let (turn, turns) = (TURN.load(Ordering::Relaxed), TURNS.load(Ordering::Relaxed));
    let is_due = |number: usize| number as u32 % turns == turn;
    for (_, (from, bytes)) in (0..).zip(sources).filter(|(number, _)| is_due(*number)) {
        // SAFETY: there is none; what would be copied is larger than what is there.
        unsafe {
            let _ = sys::any(cofferdam::abi::Call::GateCopyIn as u32, [own, from, bytes, 0]);
            let _ = sys::any(cofferdam::abi::Call::GateCopyOut as u32, [from, own, bytes, 0]);
        }
    }
    let places = [
        victim_data(chip),
        chip.foreign.heaps,
        chip.foreign.kernel_objects,
        chip.foreign.kernel_objects - 2,
        own - 1 + 0x2000_0000,
    ];
    for (_, to) in (0..).zip(places).filter(|(number, _)| is_due(*number)) {
        // SAFETY: as above.
        let _ = unsafe { sys::any(cofferdam::abi::Call::GateCopyIn as u32, [to, address, 4, 0]) };
    }
}
