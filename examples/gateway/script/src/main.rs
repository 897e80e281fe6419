//! A script engine beside the control loop: Duktape loads jStat, unmodified, and computes statistics of the series that
//! `store` hands over in shared memory. Every result is a line `RESULT script.NAME VALUE`.
//!
//! Duktape calls plain `malloc`: it has the specification of the domain's heap without knowing it.
//!
//! Names: the gate `memory`; area `jstat` (the library's source); notifications `ready` (bit 0: the series is there; bit 1: it has
//! been taken away) and `taken` (bit 0: it was read).
#![no_std]
#![no_main]

mod engine;

use core::fmt::Write;

use cofferdam::memory::{self, AccessLevel, Granted, Manager, SharedWanted, TemporalSpec, access};
use cofferdam::{Line, Notification, Shared, Start, println};
use engine::Engine;
use wire::{SERIES, SERIES_BYTES};

/// Under a module system the library would export itself there; here it becomes a global.
const BEFORE: &[u8] = b"var window = this;";
const AFTER: &[u8] = include_bytes!("series.js");

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    cofferdam_c::begin(start);
    match work(start) {
        Ok(()) => 0,
        Err(why) => {
            println!("failed: {why}");
            1
        }
    }
}

fn work(start: Start) -> Result<(), &'static str> {
    let ready = Notification::named(start.info, "ready").ok_or("there is no notification `ready`")?;
    let taken = Notification::named(start.info, "taken").ok_or("there is no notification `taken`")?;
    let area = start.info.area("jstat").ok_or("there is no file `jstat`")?;
    // SAFETY: the area is a constant file that this domain may read.
    let file = unsafe { core::slice::from_raw_parts(area.base as *const u8, area.bytes as usize) };
    let library = file.split(|byte| matches!(byte, 0 | 0xff)).next().unwrap_or(&[]);

    let mut engine = Engine::open().ok_or("no memory for the script engine")?;
    run(&mut engine, c"before", BEFORE)?;
    run(&mut engine, c"jstat.js", library)?;
    println!("jStat is loaded");
    ready.wait(1).map_err(|_| "cannot wait for the series")?;
    let series = series()?;
    // SAFETY: `store` takes it away only after it was told that it has been read; no script reads it after that.
    engine::set_series(unsafe { Shared::granted(series.base, series.bytes, false) });
    let mut count = Count(Line::new());
    let _ = write!(count, "var pairs = {};", engine::pairs());
    run(&mut engine, c"count", count.0.bytes())?;
    run(&mut engine, c"series.js", AFTER)?;
    taken.signal(1).and_then(|()| ready.wait(2)).map_err(|_| "cannot give the series back")?;
    match memory::query(series.base) {
        Ok(_) => Err("the series is still there"),
        Err(_) => Ok(println!("the series is no longer this domain's")),
    }
}

/// The series of `store`, to read.
fn series() -> Result<Granted, &'static str> {
    let manager = Manager::find().ok_or("there is no gate `memory`")?;
    let spec = TemporalSpec::level(AccessLevel::L2).bits();
    let wanted = SharedWanted { name: SERIES, bytes: SERIES_BYTES, alignment: 0, spec, access: access::READ };
    let series = manager.join("store", &wanted).map_err(|failure| {
        println!("{failure}");
        "the series was refused"
    })?;
    let level = AccessLevel::from_number(series.level).unwrap_or_default().text();
    println!("reads the series, checked at {level} within {} cycles", series.cycles);
    Ok(series)
}

fn run(engine: &mut Engine, name: &core::ffi::CStr, source: &[u8]) -> Result<(), &'static str> {
    engine.run(name, source).map_err(|message| {
        println!("{}: {message}", name.to_str().unwrap_or("?"));
        "a script ended with an error"
    })
}

struct Count(Line<32>);

impl Write for Count {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        text.bytes().try_for_each(|byte| self.0.push(byte)).map_err(|_| core::fmt::Error)
    }
}
