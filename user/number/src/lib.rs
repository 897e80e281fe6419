//! The functions by which the run-time of C writes and reads floating-point numbers (`glue.h`).
#![no_std]

use core::ffi::c_char;

use number::binary::Binary;
use number::scan::{Found, Letters, read};
use number::text::{Form, write};

/// A string that a zero byte ends.
struct Text(*const u8);

impl Letters for Text {
    fn at(&self, index: usize) -> u8 {
        // SAFETY: `read` asks for no byte behind one that is no number's, as the zero at the string's end is none.
        unsafe { self.0.add(index).read() }
    }
    fn part(&self, from: usize, to: usize) -> &[u8] {
        // SAFETY: bytes of the string.
        unsafe { core::slice::from_raw_parts(self.0.add(from), to - from) }
    }
}

/// Writes the magnitude of a finite number with so many digits behind the point, as `%f` does, or with an exponent (`1.5e-5`). Returns its length, or 0 when
/// there is no room.
///
/// # Safety
/// `room` bytes from `to` on may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cof_number_write(value: f64, exponent: bool, places: u32, to: *mut u8, room: usize) -> usize {
    // SAFETY: as the caller promises.
    let to = unsafe { core::slice::from_raw_parts_mut(to, room) };
    let form = if exponent { Form::Exponent } else { Form::Fixed };
    write(value, form(places as usize), to).unwrap_or(0)
}

/// # Safety
/// `text` is a string that a zero byte ends; `taken` and `out_of_range` may be written.
unsafe fn read_to<F: Binary>(text: *const c_char, taken: *mut usize, out_of_range: *mut bool) -> F {
    let found: Found<F> = read(&Text(text.cast()));
    // SAFETY: as the caller promises.
    unsafe {
        taken.write(found.taken);
        out_of_range.write(found.out_of_range);
    }
    found.value
}

/// The number that a string begins with; how many letters it has; and whether it is out of range.
///
/// # Safety
/// `text` is a string that a zero byte ends; `taken` and `out_of_range` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cof_number_read(text: *const c_char, taken: *mut usize, out_of_range: *mut bool) -> f64 {
    // SAFETY: as the caller promises.
    unsafe { read_to(text, taken, out_of_range) }
}

/// As [`cof_number_read`], rounded to a `float`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cof_number_read_single(
    text: *const c_char,
    taken: *mut usize,
    out_of_range: *mut bool,
) -> f32 {
    // SAFETY: as the caller promises.
    unsafe { read_to(text, taken, out_of_range) }
}
