//! The script engine: Duktape (https://duktape.org/api.html) behind `engine.c`.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use cofferdam::println;
use wire::{Series, Words};

unsafe extern "C" {
    fn engine_open() -> *mut c_void;
    fn engine_run(engine: *mut c_void, name: *const c_char, source: *const u8, length: u32) -> *const c_char;
}

/// First address and number of words of the series; no words before [`set_series`].
static BASE: AtomicUsize = AtomicUsize::new(0);
static WORDS: AtomicUsize = AtomicUsize::new(0);

/// An engine; its heap is the domain's.
pub struct Engine(*mut c_void);

impl Engine {
    /// An engine.
    pub fn open() -> Option<Engine> {
        // SAFETY: no precondition.
        let engine = unsafe { engine_open() };
        (!engine.is_null()).then_some(Engine(engine))
    }

    /// Runs a program.
    ///
    /// # Errors
    /// The message of the error that ended it.
    pub fn run(&mut self, name: &CStr, source: &[u8]) -> Result<(), &str> {
        // SAFETY: the engine is open, the name ends with a zero byte and the source is as long as said.
        let message = unsafe { engine_run(self.0, name.as_ptr(), source.as_ptr(), source.len() as u32) };
        if message.is_null() {
            return Ok(());
        }
        // SAFETY: the message ends with a zero byte and lives until the next call, which needs `&mut self`.
        Err(unsafe { CStr::from_ptr(message) }.to_str().unwrap_or("error without readable message"))
    }
}

/// Scripts see this series from now on.
pub fn set_series(series: cofferdam::Shared) {
    BASE.store(series.base() as usize, Ordering::Relaxed);
    WORDS.store(series.words(), Ordering::Relaxed);
}

struct Memory;

impl Words for Memory {
    fn words(&self) -> usize {
        WORDS.load(Ordering::Relaxed)
    }
    fn read(&self, index: usize) -> u32 {
        if index >= self.words() {
            return 0;
        }
        // SAFETY: base and words are those of shared memory that this domain may read.
        unsafe { (BASE.load(Ordering::Relaxed) as *const u32).add(index).read_volatile() }
    }
    fn write(&self, _index: usize, _value: u32) {}
}

/// How many pairs the series holds.
pub fn pairs() -> usize {
    Series::new(Memory).count()
}

/// For `engine.c`: a number of the series; not a number beyond its end.
#[unsafe(no_mangle)]
extern "C" fn engine_series(index: u32, part: u32) -> f64 {
    let series = Series::new(Memory);
    if (index as usize) < series.capacity() && part < 2 { series.get(index as usize)[part as usize] } else { f64::NAN }
}

/// For `engine.c`: one result.
///
/// # Safety
/// Both are strings that zero bytes end.
#[unsafe(no_mangle)]
unsafe extern "C" fn engine_result(name: *const c_char, value: *const c_char) {
    // SAFETY: as the caller promises.
    let [name, value] = [name, value].map(|text| unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?"));
    println!("RESULT script.{name} {value}");
}

/// For `engine.c`: ends the domain.
///
/// # Safety
/// `message` is a string that a zero byte ends.
#[unsafe(no_mangle)]
unsafe extern "C" fn engine_fatal(message: *const c_char) {
    // SAFETY: as the caller promises.
    println!("fatal error of the script engine: {}", unsafe { CStr::from_ptr(message) }.to_str().unwrap_or("?"));
    cofferdam::sys::exit(2);
}
