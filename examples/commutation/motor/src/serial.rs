//! A serial line by hand, 19 200 baud, eight bits, no parity: the handler sends one bit each time that the watchdog of Non-secure state comes to zero.
//!
//! That watchdog is a timer that counts down from what is loaded, and begins anew when its interrupt is acknowledged or a value is loaded. The handler therefore
//! loads the time of a bit less what has passed since zero: a bit that comes late does not move those behind it. No thread touches the device,
//! which is for privileged code of that state on some chips: the first interrupt of the commutation starts it.

use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use crate::pins;

/// Registers of the watchdog (CMSDK APB watchdog, DDI 0479), by their offsets.
mod register {
    pub const LOAD: u32 = 0x0;
    pub const VALUE: u32 = 0x4;
    pub const CONTROL: u32 = 0x8;
    pub const CLEAR: u32 = 0xc;
}

/// Count and interrupt; no reset.
const ENABLED: u32 = 1;
/// Cycles of the 20 MHz clock for three bits: 3 * 20 000 000 / 19 200.
const THREE_BITS: u32 = 3125;
/// Cycles from the load of the counter's value to the store that starts it again.
const STORING: u32 = 3;
const PIN: u32 = 1 << 0;
const ROOM: usize = 128;

/// Address of the watchdog.
pub static WATCHDOG: AtomicU32 = AtomicU32::new(0);
static LOADED: AtomicU32 = AtomicU32::new(0);
/// Thirds of a cycle that are left over.
static THIRDS: AtomicU32 = AtomicU32::new(0);
/// Bits of the frame that are still to be sent, least significant first, below a bit that is set.
static FRAME: AtomicU32 = AtomicU32::new(1);
/// Bytes for which nobody has sent the frame yet: from `TAIL` to `HEAD`, which both only grow.
static BYTES: [AtomicU8; ROOM] = [const { AtomicU8::new(0) }; ROOM];
static HEAD: AtomicU32 = AtomicU32::new(0);
static TAIL: AtomicU32 = AtomicU32::new(0);

/// Starts the bits: from a handler.
#[inline(always)]
pub fn start() {
    let watchdog = WATCHDOG.load(Relaxed);
    LOADED.store(THREE_BITS / 3, Relaxed);
    pins::set(PIN, PIN);
    pins::store(watchdog + register::LOAD, THREE_BITS / 3);
    pins::store(watchdog + register::CONTROL, ENABLED);
}

/// Ends them: from a handler.
#[inline(always)]
pub fn stop() {
    pins::store(WATCHDOG.load(Relaxed) + register::CONTROL, 0);
}

/// Gives text to the handler, from the thread. False: there is no room for all of it, and nothing was taken.
pub fn send(text: &[u8]) -> bool {
    let head = HEAD.load(Relaxed);
    let used = head.wrapping_sub(TAIL.load(Relaxed)) as usize;
    if text.len() > ROOM - used {
        return false;
    }
    for (index, byte) in text.iter().enumerate() {
        if let Some(place) = BYTES.get((head as usize + index) % ROOM) {
            place.store(*byte, Relaxed);
        }
    }
    HEAD.store(head.wrapping_add(text.len() as u32), Relaxed);
    true
}

/// The handler.
pub fn serve() {
    let watchdog = WATCHDOG.load(Relaxed);
    let frame = next();
    pins::set(PIN, if frame & 1 != 0 { PIN } else { 0 });
    FRAME.store(frame >> 1, Relaxed);
    let sum = THREE_BITS + THIRDS.load(Relaxed);
    THIRDS.store(sum % 3, Relaxed);
    // At zero it began again at what was loaded.
    let elapsed = LOADED.load(Relaxed).wrapping_sub(pins::load(watchdog + register::VALUE)) + STORING;
    pins::store(watchdog + register::CLEAR, 1);
    let load = (sum / 3).saturating_sub(elapsed);
    LOADED.store(load, Relaxed);
    pins::store(watchdog + register::LOAD, load);
}

/// The frame to go on with: that of the next byte when one has ended, and a line at rest when there is none.
#[inline(always)]
fn next() -> u32 {
    const REST: u32 = 3;
    const STOP: u32 = 1 << 9;
    const END: u32 = 1 << 10;
    let frame = FRAME.load(Relaxed);
    let tail = TAIL.load(Relaxed);
    if frame > 1 {
        return frame;
    }
    if tail == HEAD.load(Relaxed) {
        return REST;
    }
    TAIL.store(tail.wrapping_add(1), Relaxed);
    let byte = BYTES.get(tail as usize % ROOM).map_or(0, |byte| byte.load(Relaxed));
    if tail.wrapping_add(1) == HEAD.load(Relaxed) {
        cofferdam::handlers::wake();
    }
    END | STOP | u32::from(byte) << 1
}
