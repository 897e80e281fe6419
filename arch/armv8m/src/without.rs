//! Stands in for `direct` in a kernel that is built without handlers. That kernel takes all
//! interrupts, and nothing is Non-secure.

use core::sync::atomic::AtomicU16;

use kernel::boot::BootError;
use system::{System, direct};

/// True if interrupts can reach handlers.
pub(crate) const ARE_THERE: bool = false;

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

#[inline(always)]
pub(crate) fn acknowledge(_line: u32) -> bool {
    false
}

#[inline(always)]
pub(crate) fn stopped(_domain: u8) {}

#[inline(always)]
pub(crate) fn occupy(_domain: u8) -> bool {
    false
}

#[inline(always)]
pub(crate) fn is_displaced() -> bool {
    false
}

#[inline(always)]
pub(crate) fn displaced() -> u32 {
    0
}

#[inline(always)]
pub(crate) fn server(_place: usize) -> Option<&'static AtomicU16> {
    None
}

#[inline(always)]
pub(crate) fn server_left(_place: usize) -> (u32, u32) {
    (0, 0)
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
