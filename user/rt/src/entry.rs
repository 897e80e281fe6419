//! Entry functions of threads and gates.

use crate::{Error, Info, sys};

/// The facts that a thread gets at its start.
#[derive(Clone, Copy)]
pub struct Start {
    /// The domain's information block.
    pub info: Info,
    /// The thread's argument from the manifest (by default its number within the domain).
    pub argument: u32,
    /// How often the domain has been restarted.
    pub restarts: u32,
}

/// Declares the function at which the domain's first thread starts: `fn(Start) -> u32`, whose result is the exit code.
#[macro_export]
macro_rules! entry {
    ($main:path) => {
        /// The version of the interface that this run-time is made for; the tool reads it in the finished program.
        #[used]
        #[unsafe(link_section = ".note.cofferdam")]
        static COFFERDAM_NOTE: [u32; 7] = $crate::abi::info::NOTE;

        /// Entry of the domain's first thread.
        ///
        /// # Safety
        /// Only the kernel starts threads.
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".cofferdam.entry")]
        pub unsafe extern "C" fn __cofferdam_entry(info: *const u32, argument: u32, restarts: u32) -> ! {
            // SAFETY: the kernel starts the thread with these values in r0-r2.
            let start = unsafe { $crate::begin(info, argument, restarts) };
            let main: fn($crate::Start) -> u32 = $main;
            $crate::end(main(start))
        }
    };
}

/// Declares the entry of a further thread under the symbol that the manifest names: `thread!(symbol, function)` with
/// `fn(Start) -> u32`.
#[macro_export]
macro_rules! thread {
    ($symbol:ident, $main:path) => {
        /// Entry of a thread.
        ///
        /// # Safety
        /// Only the kernel starts threads.
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".cofferdam.entry")]
        pub unsafe extern "C" fn $symbol(info: *const u32, argument: u32, restarts: u32) -> ! {
            // SAFETY: the kernel starts the thread with these values in r0-r2.
            let start = unsafe { $crate::begin_thread(info, argument, restarts) };
            let main: fn($crate::Start) -> u32 = $main;
            $crate::end(main(start))
        }
    };
}

/// Declares a gate's entry under the symbol that the manifest names: `gate!(symbol, function)` with
/// `fn(badge, a0, a1, a2) -> Result<u32, Error>`.
#[macro_export]
macro_rules! gate {
    ($symbol:ident, $serve:path) => {
        /// Entry of a gate; the low word of the result is the status, the high word the value.
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".cofferdam.entry")]
        pub extern "C" fn $symbol(badge: u32, a0: u32, a1: u32, a2: u32) -> u64 {
            let serve: fn(u32, u32, u32, u32) -> Result<u32, $crate::Error> = $serve;
            $crate::gate_result(serve(badge, a0, a1, a2))
        }
    };
}

/// Prepares the run-time for the first thread.
///
/// # Safety
/// The arguments are the values of r0-r2 at the start of the thread.
pub unsafe fn begin(info: *const u32, argument: u32, restarts: u32) -> Start {
    // SAFETY: as the caller promises.
    let start = unsafe { begin_thread(info, argument, restarts) };
    #[cfg(any(feature = "heap", feature = "memory"))]
    // SAFETY: the block is the domain's, and only the heap uses the memory of its default arena.
    unsafe {
        heap::begin(start.info);
    }
    start
}

/// Prepares the run-time for a further thread.
///
/// # Safety
/// The arguments are the values of r0-r2 at the start of the thread.
pub unsafe fn begin_thread(info: *const u32, argument: u32, restarts: u32) -> Start {
    // SAFETY: as the caller promises.
    let Some(info) = (unsafe { info::begin(info) }) else { sys::exit(WRONG_VERSION) };
    #[cfg(feature = "memory")]
    crate::RESTARTS.store(restarts, core::sync::atomic::Ordering::Relaxed);
    Start { info, argument, restarts }
}

/// Exit code of a domain whose information block has another version than this run-time.
const WRONG_VERSION: u32 = 100;

/// Packs a gate's outcome: status in the low word, value in the high word.
#[inline]
pub fn gate_result(outcome: Result<u32, Error>) -> u64 {
    match outcome {
        Ok(value) => u64::from(value) << 32,
        Err(error) => u64::from(error.status()),
    }
}
