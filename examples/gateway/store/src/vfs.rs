//! SQLite's view of the files in memory (https://sqlite.org/c3ref/vfs.html). One thread, so nothing is locked.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::{ptr, slice};

use crate::files::Files;
use crate::sqlite::code;

const LONGEST_NAME: c_int = 31;
const SECTOR: c_int = 4096;

struct OneThread<T>(UnsafeCell<T>);
// SAFETY: `store` has one thread and no gates.
unsafe impl<T> Sync for OneThread<T> {}

static FILES: OneThread<Files> = OneThread(UnsafeCell::new(Files::new()));

fn files() -> &'static mut Files {
    // SAFETY: one thread; no function below holds the reference while it calls anything else that takes it.
    unsafe { &mut *FILES.0.get() }
}

/// An open file: what SQLite allocates `size_os_file` bytes for.
#[repr(C)]
struct Open {
    methods: *const Methods,
    number: usize,
    /// Deleted when it is closed.
    temporary: bool,
}

#[repr(C)]
struct Methods {
    version: c_int,
    close: unsafe extern "C" fn(*mut Open) -> c_int,
    read: unsafe extern "C" fn(*mut Open, *mut u8, c_int, i64) -> c_int,
    write: unsafe extern "C" fn(*mut Open, *const u8, c_int, i64) -> c_int,
    truncate: unsafe extern "C" fn(*mut Open, i64) -> c_int,
    sync: extern "C" fn(*mut Open, c_int) -> c_int,
    size: unsafe extern "C" fn(*mut Open, *mut i64) -> c_int,
    lock: extern "C" fn(*mut Open, c_int) -> c_int,
    unlock: extern "C" fn(*mut Open, c_int) -> c_int,
    reserved: unsafe extern "C" fn(*mut Open, *mut c_int) -> c_int,
    control: extern "C" fn(*mut Open, c_int, *mut c_void) -> c_int,
    sector: extern "C" fn(*mut Open) -> c_int,
    characteristics: extern "C" fn(*mut Open) -> c_int,
}

#[repr(C)]
struct Vfs {
    version: c_int,
    size_os_file: c_int,
    longest_name: c_int,
    next: *mut Vfs,
    name: *const c_char,
    data: *mut c_void,
    open: unsafe extern "C" fn(*mut Vfs, *const c_char, *mut Open, c_int, *mut c_int) -> c_int,
    delete: unsafe extern "C" fn(*mut Vfs, *const c_char, c_int) -> c_int,
    access: unsafe extern "C" fn(*mut Vfs, *const c_char, c_int, *mut c_int) -> c_int,
    full_name: unsafe extern "C" fn(*mut Vfs, *const c_char, c_int, *mut c_char) -> c_int,
    /// Loading of extensions: left out of this SQLite.
    dynamic: [*const c_void; 4],
    randomness: unsafe extern "C" fn(*mut Vfs, c_int, *mut u8) -> c_int,
    sleep: extern "C" fn(*mut Vfs, c_int) -> c_int,
    time: unsafe extern "C" fn(*mut Vfs, *mut f64) -> c_int,
    last_error: extern "C" fn(*mut Vfs, c_int, *mut c_char) -> c_int,
}

unsafe extern "C" {
    fn sqlite3_vfs_register(vfs: *mut Vfs, default: c_int) -> c_int;
}

static METHODS: Methods = Methods {
    version: 1,
    close,
    read,
    write,
    truncate,
    sync: nothing,
    size,
    lock: nothing,
    unlock: nothing,
    reserved,
    control,
    sector,
    characteristics,
};

static VFS: OneThread<Vfs> = OneThread(UnsafeCell::new(Vfs {
    version: 1,
    size_os_file: size_of::<Open>() as c_int,
    longest_name: LONGEST_NAME,
    next: ptr::null_mut(),
    name: c"memory".as_ptr(),
    data: ptr::null_mut(),
    open,
    delete,
    access,
    full_name,
    dynamic: [ptr::null(); 4],
    randomness,
    sleep,
    time,
    last_error,
}));
// SAFETY: the pointers in it are constant strings and null.
unsafe impl Sync for Methods {}

/// Called by SQLite when it starts, because it is built for no operating system.
#[unsafe(no_mangle)]
extern "C" fn sqlite3_os_init() -> c_int {
    // SAFETY: the structure lives for ever and is SQLite's from now on.
    unsafe { sqlite3_vfs_register(VFS.0.get(), 1) }
}

/// Called by SQLite when it ends.
#[unsafe(no_mangle)]
extern "C" fn sqlite3_os_end() -> c_int {
    code::OK
}

extern "C" fn nothing(_: *mut Open, _how: c_int) -> c_int {
    code::OK
}

extern "C" fn control(_: *mut Open, _what: c_int, _with: *mut c_void) -> c_int {
    code::NOTFOUND
}

extern "C" fn sector(_: *mut Open) -> c_int {
    SECTOR
}

extern "C" fn characteristics(_: *mut Open) -> c_int {
    0
}

extern "C" fn sleep(_: *mut Vfs, _microseconds: c_int) -> c_int {
    0
}

extern "C" fn last_error(_: *mut Vfs, _bytes: c_int, _text: *mut c_char) -> c_int {
    0
}

/// # Safety
/// `name` is null or ends with a zero byte.
unsafe fn bytes_of<'a>(name: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: as the caller promises.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_bytes())
}

// SAFETY of what follows: SQLite calls these functions with the arguments that its documentation of the interface
// describes: valid pointers, lengths that fit, offsets that are not negative.

unsafe extern "C" fn open(
    _: *mut Vfs,
    name: *const c_char,
    file: *mut Open,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        (*file).methods = ptr::null();
        let given = bytes_of(name);
        let Ok(number) = files().open(given.unwrap_or(b"temporary")) else { return code::CANTOPEN };
        *file = Open { methods: &METHODS, number, temporary: given.is_none() };
        if !out_flags.is_null() {
            *out_flags = flags;
        }
    }
    code::OK
}

unsafe extern "C" fn delete(_: *mut Vfs, name: *const c_char, _sync: c_int) -> c_int {
    // SAFETY: see above.
    if let Some(number) = unsafe { bytes_of(name) }.and_then(|name| files().find(name)) {
        files().delete(number);
    }
    code::OK
}

unsafe extern "C" fn access(_: *mut Vfs, name: *const c_char, _flags: c_int, result: *mut c_int) -> c_int {
    // SAFETY: see above.
    unsafe { *result = c_int::from(bytes_of(name).is_some_and(|name| files().find(name).is_some())) };
    code::OK
}

unsafe extern "C" fn full_name(_: *mut Vfs, name: *const c_char, room: c_int, into: *mut c_char) -> c_int {
    // SAFETY: see above.
    let Some(name) = (unsafe { bytes_of(name) }) else { return code::CANTOPEN };
    if name.len() >= room as usize {
        return code::CANTOPEN;
    }
    // SAFETY: the name and its zero byte fit, as just checked.
    unsafe {
        ptr::copy_nonoverlapping(name.as_ptr(), into.cast(), name.len());
        *into.add(name.len()) = 0;
    }
    code::OK
}

/// There is no entropy here; SQLite wants numbers that differ from file to file (names, journal headers), not secrets.
unsafe extern "C" fn randomness(_: *mut Vfs, bytes: c_int, into: *mut u8) -> c_int {
    // SAFETY: see above.
    let into = unsafe { slice::from_raw_parts_mut(into, bytes as usize) };
    let mut state = cofferdam::now() | 1;
    for byte in into {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *byte = state as u8;
    }
    bytes
}

/// Julian day; there is no clock of the day, so the boot stands for 2000-01-01.
unsafe extern "C" fn time(_: *mut Vfs, result: *mut f64) -> c_int {
    const EPOCH: f64 = 2_451_544.5;
    // SAFETY: see above.
    unsafe { *result = EPOCH };
    code::OK
}

unsafe extern "C" fn close(file: *mut Open) -> c_int {
    // SAFETY: see above.
    let file = unsafe { &*file };
    if file.temporary {
        files().delete(file.number);
    }
    code::OK
}

unsafe extern "C" fn read(file: *mut Open, into: *mut u8, bytes: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    let (file, into) = unsafe { (&*file, slice::from_raw_parts_mut(into, bytes as usize)) };
    let there = files().read(file.number, offset as usize, into);
    if there == into.len() { code::OK } else { code::IOERR_SHORT_READ }
}

unsafe extern "C" fn write(file: *mut Open, from: *const u8, bytes: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    let (file, from) = unsafe { (&*file, slice::from_raw_parts(from, bytes as usize)) };
    if files().write(file.number, offset as usize, from).is_ok() { code::OK } else { code::FULL }
}

unsafe extern "C" fn truncate(file: *mut Open, bytes: i64) -> c_int {
    // SAFETY: see above.
    files().truncate(unsafe { (*file).number }, bytes as usize);
    code::OK
}

unsafe extern "C" fn size(file: *mut Open, result: *mut i64) -> c_int {
    // SAFETY: see above.
    unsafe { *result = files().size((*file).number) as i64 };
    code::OK
}

unsafe extern "C" fn reserved(_: *mut Open, result: *mut c_int) -> c_int {
    // SAFETY: see above.
    unsafe { *result = 0 };
    code::OK
}
