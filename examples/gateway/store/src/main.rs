//! SQLite over a file system in memory: takes the rows that `sensor` streams, answers queries on the console, and hands
//! the joined series to `script`.
//!
//! Memory: SQLite's own is one block within the envelope `l2`, so that it cannot be refused; the files are on the heap; the series
//! is shared memory of the memory manager, which `script` may read until it has, and which is then taken away and given back.
//!
//! Names: the gate `memory`; shared memory `stream`; notifications `rows` (bit 0: rows have arrived), `space` (bit 0: the ring
//! is half empty), `ready` (bit 0: the series is there; bit 1: it has been taken away), `taken` (bit 0: it was read). Every result is a
//! line `RESULT sql.NAME VALUE`.
#![no_std]
#![no_main]

extern crate alloc;

mod failure;
mod files;
mod hand_over;
mod ingest;
mod queries;
mod shared;
mod sqlite;
mod vfs;

use cofferdam::memory::{self, AccessLevel, TemporalSpec};
use cofferdam::{Start, println};
use failure::Failure;

/// Bytes of SQLite's own memory (caches, compiled statements, sorting): the envelope.
const SQLITE_BYTES: u32 = 1980 * 1024;

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    match work(start) {
        Ok(()) => 0,
        Err(failure) => {
            println!("failed: {failure:?}");
            1
        }
    }
}

/// Memory of a specification, for ever.
fn lasting(bytes: u32, level: AccessLevel) -> Result<&'static mut [u64], Failure> {
    let block = memory::malloc(bytes, TemporalSpec::level(level))?;
    let memory::Granted { level, cycles, .. } = memory::query(block.as_ptr() as u32)?;
    let level = AccessLevel::from_number(level).unwrap_or_default().text();
    println!("SQLite has {bytes} bytes, checked at {level} within {cycles} cycles");
    // SAFETY: the block has so many bytes, is aligned to 8, nobody else has it, and it is never freed; arenas begin as zeros.
    Ok(unsafe { core::slice::from_raw_parts_mut(block.as_ptr().cast(), bytes as usize / 8) })
}

fn work(start: Start) -> Result<(), Failure> {
    sqlite::start(lasting(SQLITE_BYTES, AccessLevel::L2)?)?;
    let series = hand_over::Owned::new(start.info)?;
    let database = sqlite::Database::open(c"weather.db")?;
    database.run(c"PRAGMA page_size = 4096; PRAGMA cache_size = -256;")?;
    let rows = ingest::run(start.info, &database)?;
    println!("took {rows} rows in");
    queries::run(&database)?;
    let pairs = queries::series(&database, series.memory())?;
    println!("hands {pairs} pairs to script; SQLite used {} bytes at most", sqlite::peak_bytes());
    series.hand_over()
}
