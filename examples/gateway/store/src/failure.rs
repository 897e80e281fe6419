//! The reasons for which `store` cannot do its work.

use core::fmt;

use cofferdam::memory;
use wire::Record;

use crate::sqlite;

/// Such a reason.
#[derive(Debug)]
#[allow(dead_code, reason = "the fields are printed")]
pub enum Failure {
    /// The manifest gives no such capability or memory.
    Missing(&'static str),
    /// A system call was refused.
    Kernel(cofferdam::Error),
    /// There is no memory.
    Memory(memory::Failure),
    /// SQLite refused.
    Sqlite(sqlite::Error),
    /// The stream makes no sense.
    Stream,
    /// The number of the file, and the row that has another form than the file's rows have.
    Row(u32, Row),
    /// The series does not fit its memory.
    Series,
}

/// A row that was refused, for the message.
pub struct Row(pub Record);

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", core::str::from_utf8(self.0.row()).unwrap_or("not text"))
    }
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

impl From<memory::Failure> for Failure {
    fn from(failure: memory::Failure) -> Self {
        Failure::Memory(failure)
    }
}
