//! C's interface (ISO C 7.22.3, POSIX `posix_memalign`), and the names under which newlib's own functions call it.

use core::ffi::{c_int, c_void};
use core::ptr::{NonNull, null_mut};

use crate::default;

/// `EINVAL`, `ENOMEM` of newlib.
const INVALID: c_int = 22;
const NO_MEMORY: c_int = 12;

unsafe extern "C" {
    /// Address of newlib's `errno`.
    safe fn __errno() -> *mut c_int;
}

fn told(block: *mut u8) -> *mut c_void {
    if block.is_null() {
        // SAFETY: newlib's function returns the address of an integer.
        unsafe { __errno().write(NO_MEMORY) };
    }
    block.cast()
}

/// In each function that takes a block, and never a call of another one: by the function that a program has, `check` tells whether the program itself
/// allocates, or newlib alone.
#[inline(always)]
fn plain(bytes: usize) -> *mut c_void {
    told(default::alloc(bytes, 1))
}

/// `malloc`.
#[unsafe(no_mangle)]
pub extern "C" fn malloc(bytes: usize) -> *mut c_void {
    plain(bytes)
}

/// `calloc`.
#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    cleared(count, bytes)
}

#[inline(always)]
fn cleared(count: usize, bytes: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(bytes) else { return told(null_mut()) };
    let block = plain(bytes);
    if !block.is_null() {
        // SAFETY: the block has that many bytes.
        unsafe { block.write_bytes(0, bytes) };
    }
    block
}

/// `free`.
///
/// # Safety
/// The block is null, or was returned by a function of this family and is no longer used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    let Some(block) = NonNull::new(block.cast()) else { return };
    // SAFETY: as the caller promises.
    unsafe { default::free(block) }
}

/// `realloc`; a size of 0 frees.
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
    let Some(old) = NonNull::new(block.cast()) else { return plain(bytes) };
    if bytes == 0 {
        // SAFETY: as the caller promises.
        unsafe { default::free(old) };
        return null_mut();
    }
    // SAFETY: as the caller promises.
    told(unsafe { default::realloc(old, bytes) })
}

/// `memalign`; `EINVAL` when the alignment is no power of two.
#[unsafe(no_mangle)]
pub extern "C" fn memalign(align: usize, bytes: usize) -> *mut c_void {
    aligned(align, bytes)
}

#[inline(always)]
fn aligned(align: usize, bytes: usize) -> *mut c_void {
    if !align.is_power_of_two() {
        // SAFETY: newlib's function returns the address of an integer.
        unsafe { __errno().write(INVALID) };
        return null_mut();
    }
    told(default::alloc(bytes, align))
}

/// `aligned_alloc`, as [`memalign`].
#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(align: usize, bytes: usize) -> *mut c_void {
    aligned(align, bytes)
}

/// `posix_memalign`.
///
/// # Safety
/// `place` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, align: usize, bytes: usize) -> c_int {
    if !align.is_power_of_two() || align < size_of::<usize>() {
        return INVALID;
    }
    let block = default::alloc(bytes, align);
    if block.is_null() {
        return NO_MEMORY;
    }
    // SAFETY: as the caller promises.
    unsafe { place.write(block.cast()) };
    0
}

/// `malloc_usable_size`; 0 for a null pointer, and in a gate while another thread is in the heap.
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    let Some(known) = NonNull::new(block.cast()) else { return 0 };
    match default::size(known) {
        Ok(bytes) => bytes as usize,
        Err(crate::Error::Busy) => 0,
        Err(error) => default::fault(error, block as u32),
    }
}

/// newlib's name for `malloc`; the first argument is newlib's state, which is not used.
#[unsafe(no_mangle)]
pub extern "C" fn _malloc_r(_: *mut c_void, bytes: usize) -> *mut c_void {
    plain(bytes)
}

/// newlib's name for `calloc`.
#[unsafe(no_mangle)]
pub extern "C" fn _calloc_r(_: *mut c_void, count: usize, bytes: usize) -> *mut c_void {
    cleared(count, bytes)
}

/// newlib's name for `free`.
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _free_r(_: *mut c_void, block: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe { free(block) }
}

/// newlib's name for `realloc`.
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _realloc_r(_: *mut c_void, block: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as the caller promises.
    unsafe { realloc(block, bytes) }
}

/// newlib's name for `memalign`.
#[unsafe(no_mangle)]
pub extern "C" fn _memalign_r(_: *mut c_void, align: usize, bytes: usize) -> *mut c_void {
    aligned(align, bytes)
}

/// Called by the C run-time when the information block is known (`cof_info_begin`), before anything allocates.
///
/// # Safety
/// As [`default::begin`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cof_heap_begin() {
    if let Some(info) = info::info() {
        // SAFETY: as the caller promises.
        unsafe { default::begin(info) }
    }
}
