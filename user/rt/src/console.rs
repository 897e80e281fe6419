//! Text output through the gate `console` of the console service.

use core::fmt;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::{Error, Gate, info, now, sys};

/// Bytes that one call of the gate may carry: what the console service accepts.
const CALL_MAX_BYTES: usize = 256;
/// Bytes that are collected before they are sent, unless a line ends earlier.
const LINE_BYTES: usize = 120;
/// How often a refused write is tried again, and how long in milliseconds to wait in between.
const TRIES: u32 = 200;
const WAIT_MS: u64 = 1;

/// Name under which a program looks up the gate that writes to the console.
pub const GATE: &str = "console";

/// The console of this domain: a [`fmt::Write`] that sends whole lines.
pub struct Console {
    line: Line<LINE_BYTES>,
}

impl Console {
    /// A console with nothing written yet. Without a capability named `console`, what is written is lost.
    pub const fn new() -> Self {
        Console { line: Line::new() }
    }

    /// Sends what is collected.
    pub fn flush(&mut self) {
        let _ = write_all(self.line.bytes());
        self.line.clear();
    }
}

impl Default for Console {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.line.push(byte).is_err() {
                self.flush();
                let _ = self.line.push(byte);
            }
            if byte == b'\n' {
                self.flush();
            }
        }
        Ok(())
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Prints a line to the domain's console.
#[macro_export]
macro_rules! println {
    ($($format:tt)*) => {{
        use core::fmt::Write as _;
        let mut console = $crate::Console::new();
        let _ = ::core::writeln!(console, $($format)*);
    }};
}

/// Up to `N` bytes of text.
pub struct Line<const N: usize> {
    bytes: [u8; N],
    used: usize,
}

impl<const N: usize> Line<N> {
    /// An empty line.
    pub const fn new() -> Self {
        Line { bytes: [0; N], used: 0 }
    }

    /// Appends a byte.
    ///
    /// # Errors
    /// The byte, when the line is full.
    pub fn push(&mut self, byte: u8) -> Result<(), u8> {
        let slot = self.bytes.get_mut(self.used).ok_or(byte)?;
        *slot = byte;
        self.used += 1;
        Ok(())
    }

    /// The bytes that have been appended.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// Makes the line empty.
    pub fn clear(&mut self) {
        self.used = 0;
    }
}

impl<const N: usize> Default for Line<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes bytes through the gate, waiting while the service is busy, full or being restarted.
///
/// # Errors
/// The last refusal after 200 ms of trying, or at once when trying again cannot help.
pub fn write_all(bytes: &[u8]) -> Result<(), Error> {
    DRAIN.store(drain as *mut (), Ordering::Relaxed);
    let info = info().ok_or(Error::BadState)?;
    let gate = Gate::named(info, GATE).ok_or(Error::BadHandle)?;
    let wait = u64::from(info.ticks_per_second()) * WAIT_MS / 1000;
    for part in bytes.chunks(CALL_MAX_BYTES) {
        let mut tries = 0;
        while let Err(error) = gate.call(part.as_ptr() as u32, part.len() as u32, 0) {
            let passing = matches!(error, Error::Busy | Error::Full | Error::Stopped | Error::BadState);
            tries += 1;
            if !passing || tries > TRIES {
                return Err(error);
            }
            sys::sleep_until(now() + wait)?;
        }
    }
    Ok(())
}

/// [`drain`], once the domain has written something: a program that never does is not made larger by it.
static DRAIN: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Waits until the service has sent what this domain has written, as long as it goes on with that: at most 200 ms for a byte. In a gate, or without
/// budget, the wait is refused.
fn drain() {
    let Some(info) = info() else { return };
    let Some(gate) = Gate::named(info, GATE) else { return };
    let wait = u64::from(info.ticks_per_second()) * WAIT_MS / 1000;
    let (mut tries, mut before) = (0, 0);
    while tries < TRIES {
        match gate.call(0, 0, 0) {
            Ok(0) => return,
            Ok(left) if left != before => (tries, before) = (0, left),
            Ok(_) | Err(Error::Busy | Error::Full | Error::Stopped | Error::BadState) => tries += 1,
            Err(_) => return,
        }
        if sys::sleep_until(now() + wait).is_err() {
            return;
        }
    }
}

/// Ends the thread. The end of its domain can be the end of the run: what it has written is printed first.
pub fn end(code: u32) -> ! {
    let drain = DRAIN.load(Ordering::Relaxed);
    if !drain.is_null() {
        // SAFETY: nothing but the address of a function of this type is stored there.
        unsafe { core::mem::transmute::<*mut (), fn()>(drain)() };
    }
    sys::exit(code)
}
