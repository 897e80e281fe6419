//! SQLite over a file system in memory: takes the rows that `sensor` streams, answers queries on the console, and hands
//! the joined series to `script`.
//!
//! Names: shared memory `stream` and `series`; notifications `rows` (bit 0: rows have arrived), `space` (bit 0: the ring
//! is half empty), `ready` (bit 0: the series is there). Every result is a line `RESULT sql.NAME VALUE`.
#![no_std]
#![no_main]

extern crate alloc;

mod files;
mod ingest;
mod queries;
mod shared;
mod sqlite;
mod vfs;

use alloc::boxed::Box;
use cofferdam::{Start, println};

/// Words of SQLite's own memory (caches, compiled statements, sorting); the files have the rest of the heap.
const SQLITE_WORDS: usize = 256 * 1024;

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

/// Why `store` cannot do its work.
#[derive(Debug)]
#[allow(dead_code, reason = "the fields are printed")]
enum Failure {
    /// The manifest gives no such capability or memory.
    Missing(&'static str),
    /// A system call was refused.
    Kernel(cofferdam::Error),
    /// SQLite refused.
    Sqlite(sqlite::Error),
    /// The stream makes no sense.
    Stream,
    /// The number of the file, and the row that has another form than the file's rows have.
    Row(u32, ingest::Row),
    /// The series does not fit its memory.
    Series,
}

impl From<sqlite::Error> for Failure {
    fn from(error: sqlite::Error) -> Self {
        Failure::Sqlite(error)
    }
}

impl From<cofferdam::Error> for Failure {
    fn from(error: cofferdam::Error) -> Self {
        Failure::Kernel(error)
    }
}

fn work(start: Start) -> Result<(), Failure> {
    sqlite::start(Box::leak(alloc::vec![0; SQLITE_WORDS].into_boxed_slice()))?;
    let database = sqlite::Database::open(c"weather.db")?;
    database.run(c"PRAGMA page_size = 4096; PRAGMA cache_size = -256;")?;
    let rows = ingest::run(start.info, &database)?;
    println!("took {rows} rows in");
    queries::run(&database)?;
    let pairs = queries::series(start.info, &database)?;
    println!("handed {pairs} pairs to script; SQLite used {} bytes at most", sqlite::peak_bytes());
    Ok(())
}
