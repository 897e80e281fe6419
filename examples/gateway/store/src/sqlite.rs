//! The few functions of SQLite that `store` calls (https://sqlite.org/c3ref/funclist.html), and safe forms of them.

use alloc::string::String;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt;
use core::marker::PhantomData;
use core::ptr;

/// Result codes and the like.
pub mod code {
    #![allow(missing_docs)]
    pub const OK: i32 = 0;
    pub const IOERR_SHORT_READ: i32 = 522;
    pub const FULL: i32 = 13;
    pub const CANTOPEN: i32 = 14;
    pub const NOTFOUND: i32 = 12;
    pub const ROW: i32 = 100;
    pub const DONE: i32 = 101;
    pub const OPEN_READWRITE: i32 = 2;
    pub const OPEN_CREATE: i32 = 4;
    pub const CONFIG_HEAP: i32 = 8;
}

#[allow(missing_docs)]
mod ffi {
    use super::*;

    unsafe extern "C" {
        pub fn sqlite3_config(option: c_int, ...) -> c_int;
        pub fn sqlite3_initialize() -> c_int;
        pub fn sqlite3_memory_highwater(reset: c_int) -> i64;
        pub fn sqlite3_open_v2(name: *const c_char, db: *mut *mut c_void, flags: c_int, vfs: *const c_char) -> c_int;
        pub fn sqlite3_close(db: *mut c_void) -> c_int;
        pub fn sqlite3_errmsg(db: *mut c_void) -> *const c_char;
        pub fn sqlite3_exec(
            db: *mut c_void,
            sql: *const c_char,
            each: *const c_void,
            with: *mut c_void,
            error: *mut *mut c_char,
        ) -> c_int;
        pub fn sqlite3_prepare_v2(
            db: *mut c_void,
            sql: *const c_char,
            bytes: c_int,
            statement: *mut *mut c_void,
            tail: *mut *const c_char,
        ) -> c_int;
        pub fn sqlite3_bind_double(statement: *mut c_void, index: c_int, value: f64) -> c_int;
        pub fn sqlite3_bind_text(
            statement: *mut c_void,
            index: c_int,
            text: *const c_char,
            bytes: c_int,
            release: isize,
        ) -> c_int;
        pub fn sqlite3_step(statement: *mut c_void) -> c_int;
        pub fn sqlite3_reset(statement: *mut c_void) -> c_int;
        pub fn sqlite3_finalize(statement: *mut c_void) -> c_int;
        pub fn sqlite3_column_double(statement: *mut c_void, column: c_int) -> f64;
        pub fn sqlite3_column_text(statement: *mut c_void, column: c_int) -> *const c_char;
    }
}

/// A refusal of SQLite: its result code and message.
pub struct Error {
    code: c_int,
    message: String,
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SQLite error {}: {}", self.code, self.message)
    }
}

/// Gives SQLite its memory, for ever, and starts it. Call once, before anything else.
pub fn start(memory: &'static mut [u64]) -> Result<(), Error> {
    const SMALLEST_BLOCK: c_int = 32;
    let bytes = core::mem::size_of_val(memory) as c_int;
    // SAFETY: CONFIG_HEAP takes an address, a size and the least block; the memory is handed over for ever.
    let configured = unsafe { ffi::sqlite3_config(code::CONFIG_HEAP, memory.as_mut_ptr(), bytes, SMALLEST_BLOCK) };
    checked(ptr::null_mut(), configured)?;
    // SAFETY: no precondition.
    checked(ptr::null_mut(), unsafe { ffi::sqlite3_initialize() })
}

/// Most bytes that SQLite has had allocated at one time.
pub fn peak_bytes() -> u64 {
    // SAFETY: no precondition.
    unsafe { ffi::sqlite3_memory_highwater(0) as u64 }
}

fn checked(db: *mut c_void, result: c_int) -> Result<(), Error> {
    if result == code::OK {
        return Ok(());
    }
    // SAFETY: the message belongs to the connection and is copied before the next call; null is allowed.
    let text = unsafe { ffi::sqlite3_errmsg(db) };
    // SAFETY: SQLite returns a string that a zero byte ends.
    let message = if db.is_null() { c"" } else { unsafe { CStr::from_ptr(text) } };
    Err(Error { code: result, message: String::from_utf8_lossy(message.to_bytes()).into_owned() })
}

/// A connection to a database.
pub struct Database {
    db: *mut c_void,
}

impl Database {
    /// Opens or creates a database file through the default file system.
    pub fn open(name: &CStr) -> Result<Self, Error> {
        let mut db = ptr::null_mut();
        let flags = code::OPEN_READWRITE | code::OPEN_CREATE;
        // SAFETY: strings end with zero bytes; `db` is set in any case.
        let opened = unsafe { ffi::sqlite3_open_v2(name.as_ptr(), &mut db, flags, ptr::null()) };
        checked(db, opened)?;
        Ok(Database { db })
    }

    /// Executes statements that return nothing.
    pub fn run(&self, sql: &CStr) -> Result<(), Error> {
        // SAFETY: the connection is open; no function is called back.
        let done = unsafe { ffi::sqlite3_exec(self.db, sql.as_ptr(), ptr::null(), ptr::null_mut(), ptr::null_mut()) };
        checked(self.db, done)
    }

    /// Compiles one statement.
    pub fn prepare(&self, sql: &CStr) -> Result<Statement<'_>, Error> {
        let mut statement = ptr::null_mut();
        // SAFETY: the connection is open and `statement` is set in any case.
        let done = unsafe { ffi::sqlite3_prepare_v2(self.db, sql.as_ptr(), -1, &mut statement, ptr::null_mut()) };
        checked(self.db, done)?;
        Ok(Statement { db: self.db, statement, database: PhantomData })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: opened by `open`; every statement borrows the database, so none is left.
        unsafe { ffi::sqlite3_close(self.db) };
    }
}

/// A compiled statement.
pub struct Statement<'d> {
    db: *mut c_void,
    statement: *mut c_void,
    database: PhantomData<&'d Database>,
}

impl Statement<'_> {
    /// Sets the parameter with that number, from 1.
    pub fn bind_text(&mut self, index: i32, text: &str) -> Result<(), Error> {
        const COPY: isize = -1; // SQLITE_TRANSIENT
        // SAFETY: SQLite copies the text before it returns.
        let done =
            unsafe { ffi::sqlite3_bind_text(self.statement, index, text.as_ptr().cast(), text.len() as c_int, COPY) };
        checked(self.db, done)
    }

    /// Sets the parameter with that number, from 1.
    pub fn bind_number(&mut self, index: i32, value: f64) -> Result<(), Error> {
        // SAFETY: the statement is compiled; SQLite checks the index.
        checked(self.db, unsafe { ffi::sqlite3_bind_double(self.statement, index, value) })
    }

    /// Goes to the next row; false when there is none. After false it can be executed again.
    pub fn step(&mut self) -> Result<bool, Error> {
        // SAFETY: the statement is compiled.
        match unsafe { ffi::sqlite3_step(self.statement) } {
            code::ROW => Ok(true),
            code::DONE => {
                // SAFETY: as above.
                checked(self.db, unsafe { ffi::sqlite3_reset(self.statement) })?;
                Ok(false)
            }
            other => checked(self.db, other).map(|()| false),
        }
    }

    /// A number of the present row.
    pub fn number(&self, column: i32) -> f64 {
        // SAFETY: the statement is compiled; SQLite checks the index.
        unsafe { ffi::sqlite3_column_double(self.statement, column) }
    }

    /// A text of the present row.
    pub fn text(&mut self, column: i32) -> &str {
        // SAFETY: as for `number`; the text lives until the statement is stepped, which needs `&mut self`.
        let text = unsafe { ffi::sqlite3_column_text(self.statement, column) };
        if text.is_null() {
            return "";
        }
        // SAFETY: a zero byte ends it.
        unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        // SAFETY: compiled by `prepare` and not used after this.
        unsafe { ffi::sqlite3_finalize(self.statement) };
    }
}
