//! Stands in for `direct` in a kernel that is built without handlers. That kernel takes all
//! interrupts, and nothing is Non-secure.

use kernel::boot::BootError;
use system::{System, direct};

pub use kernel::virtual_processor::Absent as NonSecure;

/// Refuses tables with handlers.
///
/// # Errors
/// [`BootError::BadTables`]: there are some.
pub fn open(system: &System<'_>) -> Result<(), BootError> {
    if direct::owners(system).next().is_some() { Err(BootError::BadTables) } else { Ok(()) }
}

/// Opens nothing.
#[macro_export]
macro_rules! open {
    ($tables:expr, $board:ident) => {
        $crate::direct::open($tables)
    };
}

// Imported, not called by a macro of this module: that would be expanded later than the code of a miss, which needs these macros in front of it.
pub(crate) use armv_m::only_threads as entry_macros;

// The meter has no lines here, so they are served as any other.
core::arch::global_asm!(
    r#"
    .section .hot.without, "ax", %progbits
    .global cofferdam_meter_entry
    .type cofferdam_meter_entry, %function
    .thumb_func
cofferdam_meter_entry:
    b       cofferdam_interrupt_entry
"#
);
