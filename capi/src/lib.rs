//! The memory crates for programs in C: `include/cofferdam_mem.h` is this crate's documentation for its users.
//!
//! The caller provides all memory, nothing here allocates, and there is no global state. Unsafe code is confined to this
//! border: a pointer is checked for null, alignment and, for an object, for the mark of its initialisation before it
//! becomes a reference; what cannot be checked is that it points to as many bytes as its type says. Those duties stand in
//! the header, and every function here has the same ones:
//!
//! # Safety
//! A pointer is null or points to memory of its type (arrays: of the count given) that nothing else uses during the call.
//! Memory given to an object stays the object's until it is initialised again or no longer used.
#![no_std]

#[cfg(any(test, feature = "hosted"))]
extern crate std;

pub mod heap;
pub mod ledger;
mod pointer;
pub mod region;
pub mod slots;
pub mod status;
pub mod trie;

pub use status::Status;

/// `CFM_VERSION` of the header: a program and a library with different numbers do not fit.
pub const VERSION: u32 = 1;

/// `cfm_version`: the version that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn cfm_version() -> u32 {
    VERSION
}

#[cfg(feature = "firmware")]
mod defect {
    unsafe extern "C" {
        /// Defined by the program; see the header.
        safe fn cfm_panic();
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        cfm_panic();
        loop {}
    }
}
