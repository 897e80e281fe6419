//! `cofferdam_memory.h`.

use core::ffi::{c_char, c_int, c_void};
use core::fmt::{self, Write};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicU32, Ordering};

use abi::Error;

use crate::{Failure, Granted, Refused, SharedWanted, TemporalSpec, client::Manager};

/// The last refusal of this domain: the words of a [`Refused`]. Rule 0 with a status says that the manager could not be asked.
static LAST: [AtomicU32; 5] = [const { AtomicU32::new(0) }; 5];

fn remember(refused: &Refused) {
    let Refused { rule, asked, left, change, value } = *refused;
    for (slot, word) in LAST.iter().zip([rule, asked, left, change, value]) {
        slot.store(word, Ordering::Relaxed);
    }
}

/// The last refusal, with the change that would be admitted.
fn last() -> Refused {
    let [rule, asked, left, change, value] = [0, 1, 2, 3, 4].map(|index: usize| LAST[index].load(Ordering::Relaxed));
    let refused = crate::client::explained(Refused { rule, asked, left, change, value });
    remember(&refused);
    refused
}

fn told<T>(outcome: Result<T, Failure>) -> Result<T, i32> {
    outcome.map_err(|failure| match failure {
        Failure::Refused(refused) => {
            remember(&refused);
            Error::BadArgument as i32
        }
        Failure::Failed(error) => {
            remember(&Refused { asked: error.status(), ..Refused::default() });
            error as i32
        }
    })
}

fn pointer(outcome: Result<NonNull<u8>, Failure>) -> *mut c_void {
    told(outcome).map_or(null_mut(), |block| block.as_ptr().cast())
}

fn status(outcome: Result<(), Failure>) -> i32 {
    told(outcome).map_or_else(|error| error, |()| 0)
}

/// A specification, or the refusal of bits that are none.
fn specified(bits: u32) -> Result<TemporalSpec, Failure> {
    let refused = Refused {
        rule: manager::rule::SPECIFIED,
        asked: bits,
        change: manager::rule::change::SPEC,
        ..Refused::default()
    };
    TemporalSpec::from_bits(bits).map_err(|_| Failure::Refused(refused))
}

/// `rt_malloc`.
#[unsafe(no_mangle)]
pub extern "C" fn rt_malloc(bytes: usize, spec: u32) -> *mut c_void {
    pointer(specified(spec).and_then(|spec| crate::malloc(bytes as u32, spec)))
}

/// `rt_malloc_at`.
#[unsafe(no_mangle)]
pub extern "C" fn rt_malloc_at(at: *mut c_void, bytes: usize, spec: u32) -> *mut c_void {
    pointer(specified(spec).and_then(|spec| crate::malloc_at(at as u32, bytes as u32, spec)))
}

/// `rt_shmget`.
///
/// # Safety
/// `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_shmget(
    name: *const c_char,
    bytes: usize,
    align: usize,
    spec: u32,
    access: u32,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let name = unsafe { text(name) };
    let (bytes, alignment) = (bytes as u32, align as u32);
    pointer(crate::shmget(&SharedWanted { name, bytes, alignment, spec, access }))
}

/// `rt_shmget_of`.
///
/// # Safety
/// `owner` and `name` are null or strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_shmget_of(
    owner: *const c_char,
    name: *const c_char,
    bytes: usize,
    spec: u32,
    access: u32,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let (owner, name) = unsafe { (text(owner), text(name)) };
    pointer(crate::shmget_of(owner, &SharedWanted { name, bytes: bytes as u32, alignment: 0, spec, access }))
}

/// `rt_shmpermit`.
///
/// # Safety
/// `name` and `domain` are null or strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_shmpermit(name: *const c_char, domain: *const c_char, access: u32) -> i32 {
    // SAFETY: as the caller promises.
    let (name, domain) = unsafe { (text(name), text(domain)) };
    status(with(|manager| manager.permit(name, domain, access)))
}

/// `rt_shmrevoke`.
///
/// # Safety
/// `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_shmrevoke(name: *const c_char) -> i32 {
    // SAFETY: as the caller promises.
    let name = unsafe { text(name) };
    status(with(|manager| manager.revoke(name)))
}

/// `rt_free`.
///
/// # Safety
/// The memory is null, or no longer in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_free(memory: *mut c_void) -> i32 {
    // SAFETY: as the caller promises.
    NonNull::new(memory.cast()).map_or(0, |block| status(unsafe { crate::free(block) }))
}

/// `rt_query`.
///
/// # Safety
/// `bound` may be written: ten words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_query(address: *const c_void, bound: *mut [u32; 10]) -> i32 {
    match told(crate::query(address as u32)) {
        Ok(granted) => {
            let Granted { base, bytes, spec, level, cycles, method, .. } = granted;
            let Granted { place, descriptors, map_cycles, release_cycles, .. } = granted;
            let words = [base, bytes, spec, level, cycles, method, place, descriptors, map_cycles, release_cycles];
            // SAFETY: as the caller promises.
            unsafe { bound.write(words) };
            0
        }
        Err(error) => error,
    }
}

/// `rt_refused`.
///
/// # Safety
/// `refusal` may be written: five words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_refused(refusal: *mut [u32; 5]) {
    let Refused { rule, asked, left, change, value } = last();
    // SAFETY: as the caller promises.
    unsafe { refusal.write([rule, asked, left, change, value]) }
}

/// `rt_refusal_text`.
///
/// # Safety
/// `to` may be written: `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_refusal_text(to: *mut c_char, room: usize) -> c_int {
    let mut out = Out { to: to.cast(), room: room.saturating_sub(1), length: 0 };
    let refused = last();
    let _ = match Error::from_status(refused.asked).filter(|_| refused.rule == 0) {
        Some(error) => write!(out, "{}", Failure::Failed(error)),
        None => write!(out, "{refused}"),
    };
    if room > 0 {
        // SAFETY: as the caller promises; one byte was kept.
        unsafe { to.add(out.length.min(room - 1)).write(0) };
    }
    out.length as c_int
}

/// Writes what fits and counts the rest.
struct Out {
    to: *mut u8,
    room: usize,
    length: usize,
}

impl Write for Out {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.length < self.room {
                // SAFETY: the caller of `rt_refusal_text` promises so many bytes.
                unsafe { self.to.add(self.length).write(byte) };
            }
            self.length += 1;
        }
        Ok(())
    }
}

fn with(use_it: impl FnOnce(Manager) -> Result<(), Failure>) -> Result<(), Failure> {
    use_it(Manager::find().ok_or(Error::BadHandle)?)
}

/// A string of at most 16 bytes, empty for null or what is no text.
///
/// # Safety
/// `start` is null, or a string.
unsafe fn text<'a>(start: *const c_char) -> &'a str {
    if start.is_null() {
        return "";
    }
    let mut length = 0;
    // SAFETY: a string ends with a zero byte.
    while length < 16 && unsafe { start.add(length).read() } != 0 {
        length += 1;
    }
    // SAFETY: the bytes have just been read; the caller keeps the string.
    let bytes = unsafe { core::slice::from_raw_parts(start.cast(), length) };
    core::str::from_utf8(bytes).unwrap_or("")
}
