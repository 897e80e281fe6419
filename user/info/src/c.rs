//! The reader for C (`cofferdam.h`).

use core::ffi::{CStr, c_char};

use abi::{Error, Kind};

use crate::{Info, begin, info};

/// Slot of no capability (`COF_NO_SLOT`).
const NO_SLOT: u32 = u32::MAX;

/// `struct cof_area`.
#[repr(C)]
#[derive(Debug)]
pub struct CArea {
    base: u32,
    bytes: u32,
    access: u32,
    kind: u32,
}

/// Remembers the block at the start of a thread; 0 when there is none of this version.
///
/// # Safety
/// As [`begin`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cof_info_begin(block: *const u32) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { begin(block) }.is_some().into()
}

/// Address of the block.
#[unsafe(no_mangle)]
pub extern "C" fn cof_info() -> *const u32 {
    info().map_or(core::ptr::null(), Info::address)
}

/// The domain's name, which a zero byte ends.
#[unsafe(no_mangle)]
pub extern "C" fn cof_name() -> *const c_char {
    info().map_or(core::ptr::null(), |info| info.name_bytes().as_ptr().cast())
}

/// The slot of the capability of that name and kind; `COF_NO_SLOT` when there is none.
///
/// # Safety
/// `name` is a string that a zero byte ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cof_cap(name: *const c_char, kind: u32) -> u32 {
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let kind = u8::try_from(kind).ok().and_then(Kind::from_number);
    let found = info().zip(kind).and_then(|(info, kind)| info.cap_named(name, kind));
    found.map_or(NO_SLOT, |cap| cap.slot)
}

/// Describes the area of that name: 0, or `BAD_ARGUMENT` without such an area.
///
/// # Safety
/// `name` is a string that a zero byte ends; `to` points to an area that the caller may write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cof_area(name: *const c_char, to: *mut CArea) -> i32 {
    let Some(info) = info() else { return Error::BadState as i32 };
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let Some(found) = info.area_named(name) else { return Error::BadArgument as i32 };
    // SAFETY: as the caller promises.
    unsafe { to.write(CArea { base: found.base, bytes: found.bytes, access: found.access, kind: found.kind }) };
    0
}
