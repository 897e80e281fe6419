//! A workload's reports to the harness: marks in the record of the run. They carry no time that
//! counts.

use cofferdam::sys;

/// The next stretch has this number: what follows belongs to it.
pub const STRETCH: u32 = 1;
/// Low word of a result of the workload; its high word follows.
pub const RESULT_LOW: u32 = 2;
/// High word of a result.
pub const RESULT_HIGH: u32 = 3;
/// Something did not fit: the bytes that were asked for.
pub const TOO_LARGE: u32 = 4;
/// Caches and TLBs are to be emptied, where the harness asks the observer for it.
pub const INTERFERE: u32 = 5;

/// Says that stretch `number` begins; 0: none.
pub fn stretch(number: u32) {
    let _ = sys::mark(STRETCH, number);
}

/// Reports a result that the harness checks.
pub fn report(value: u64) {
    let _ = sys::mark(RESULT_LOW, value as u32);
    let _ = sys::mark(RESULT_HIGH, (value >> 32) as u32);
}

/// Reports that `bytes` could not be had in one piece.
pub fn too_large(bytes: u32) {
    let _ = sys::mark(TOO_LARGE, bytes);
}

/// Declares functions that do nothing: their first instructions are where the observer measures.
#[macro_export]
macro_rules! probes {
    ($($name:ident)*) => {$(
        /// A place at which the observer measures.
        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $name() {
            // SAFETY: a comment, no instruction; it differs from place to place, so that no two of them become one.
            unsafe { core::arch::asm!(concat!("/* ", stringify!($name), " */"), options(nostack)) };
        }
    )*};
}

/// Has caches and TLBs emptied, as another program would.
pub fn interfere() {
    let _ = sys::mark(INTERFERE, 0);
}
