//! The start-up information block of this domain, at the address that the kernel passes; `abi::info` reads it. With the feature `c`
//! also for C (`cofferdam.h`).
#![no_std]

#[cfg(feature = "c")]
mod c;

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use abi::info::HEADER_WORDS;
pub use abi::info::{Area, Cap, Envelope, Info};

/// Address of the block. The tool writes it into the initial data of every program that has this
/// symbol. So it is there for whatever runs first in the domain: a call of a gate, or a thread that
/// is more important than the first one.
#[used]
#[unsafe(export_name = "__cofferdam_info")]
#[unsafe(link_section = ".data.cofferdam_info")]
static BLOCK: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());

/// The way from handlers into the kernel, once the first thread has started; 0 before, and of a domain without handlers. Handlers cannot read
/// the block, which is Secure.
#[unsafe(export_name = "cof_wake_address")]
static WAKE: AtomicU32 = AtomicU32::new(0);

/// Address of the kernel's function by which a handler asks for its signal; 0 if there is none, or before the domain's first thread has started.
#[inline(always)]
pub fn wake() -> u32 {
    WAKE.load(Ordering::Relaxed)
}

/// The block of this domain. `None` only if it has another version than this run-time: then the domain's first thread ends.
pub fn info() -> Option<Info> {
    let address = BLOCK.load(Ordering::Relaxed);
    // SAFETY: the pointer is null, or the tool or `begin` stored it: the address of the domain's block.
    if address.is_null() { None } else { unsafe { at(address) } }
}

/// Reads the block at `address` and makes it the one that [`info`] returns; `None` when there is none of this version.
///
/// # Safety
/// `address` is what the kernel passed in r0 at the start of a thread.
pub unsafe fn begin(address: *const u32) -> Option<Info> {
    // SAFETY: as the caller promises.
    let info = unsafe { at(address.cast()) }?;
    WAKE.store(info.wake(), Ordering::Relaxed);
    BLOCK.store(address.cast_mut().cast(), Ordering::Relaxed);
    Some(info)
}

/// # Safety
/// As [`begin`].
unsafe fn at(address: *const u8) -> Option<Info> {
    // SAFETY: the kernel passes the address of a block, which begins with a header.
    let header = unsafe { &*address.cast::<[u8; HEADER_WORDS * 4]>() };
    let bytes = Info::bytes_of(header)?;
    // SAFETY: a block of this version is as long as its header says, read-only and never moved.
    Info::read(unsafe { core::slice::from_raw_parts(address, bytes) })
}
