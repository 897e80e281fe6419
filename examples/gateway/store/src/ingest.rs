//! Takes rows out of the stream and puts them into tables.

use alloc::string::String;

use cofferdam::{Info, Notification};
use wire::{Reader, Record, file};

use crate::failure::{Failure, Row};
use crate::shared::Memory;
use crate::sqlite::{Database, Statement};

const TABLES: &core::ffi::CStr = c"
    CREATE TABLE weather(date TEXT PRIMARY KEY, precipitation REAL, temp_max REAL, temp_min REAL, wind REAL, kind TEXT);
    CREATE TABLE seattle(hour TEXT PRIMARY KEY, temp REAL) WITHOUT ROWID;
    CREATE TABLE san_francisco(hour TEXT PRIMARY KEY, temp REAL) WITHOUT ROWID;";
/// Rows between two commits: the journal stays small and the file system sees transactions.
const BATCH: u32 = 2000;

struct Inserts<'d> {
    weather: Statement<'d>,
    seattle: Statement<'d>,
    san_francisco: Statement<'d>,
}

/// Takes everything in; returns the number of rows.
pub fn run(info: Info, database: &Database) -> Result<u32, Failure> {
    let rows = Notification::named(info, "rows").ok_or(Failure::Missing("rows"))?;
    let space = Notification::named(info, "space").ok_or(Failure::Missing("space"))?;
    let mut stream = Reader::new(Memory::named(info, "stream")?);
    database.run(TABLES)?;
    let mut inserts = Inserts {
        weather: database.prepare(c"INSERT INTO weather VALUES(?, ?, ?, ?, ?, ?)")?,
        seattle: database.prepare(c"INSERT INTO seattle VALUES(?, ?)")?,
        san_francisco: database.prepare(c"INSERT INTO san_francisco VALUES(?, ?)")?,
    };
    let mut count = 0;
    database.run(c"BEGIN")?;
    loop {
        let Some((record, half_empty)) = stream.pop().map_err(|_| Failure::Stream)? else {
            rows.wait(1)?;
            continue;
        };
        if half_empty {
            space.signal(1)?;
        }
        if record.file == file::END {
            break;
        }
        insert(&mut inserts, record)?;
        count += 1;
        if count % BATCH == 0 {
            database.run(c"COMMIT; BEGIN")?;
        }
    }
    database.run(c"COMMIT")?;
    Ok(count)
}

fn insert(inserts: &mut Inserts, record: Record) -> Result<(), Failure> {
    let number = record.file;
    let Ok(text) = core::str::from_utf8(record.row()) else { return Err(Failure::Row(number, Row(record))) };
    let mut fields = [""; 6];
    let mut found = 0;
    for field in text.split(',') {
        if let Some(slot) = fields.get_mut(found) {
            *slot = field;
        }
        found += 1;
    }
    let done = match (number, found) {
        (file::WEATHER, 6) => weather(&mut inserts.weather, fields),
        (file::SEATTLE, 2) => hour(&mut inserts.seattle, fields[0], fields[1]),
        (file::SAN_FRANCISCO, 2) => hour(&mut inserts.san_francisco, fields[1], fields[0]),
        _ => Ok(None),
    };
    done?.ok_or_else(|| Failure::Row(number, Row(record)))
}

/// `None`: a field is no number.
type Inserted = Result<Option<()>, Failure>;

fn weather(insert: &mut Statement, fields: [&str; 6]) -> Inserted {
    let [date, numbers @ .., kind] = fields;
    insert.bind_text(1, &iso(date))?;
    for (index, number) in numbers.into_iter().enumerate() {
        let Ok(value) = number.parse() else { return Ok(None) };
        insert.bind_number(2 + index as i32, value)?;
    }
    insert.bind_text(6, kind)?;
    insert.step()?;
    Ok(Some(()))
}

fn hour(insert: &mut Statement, hour: &str, temp: &str) -> Inserted {
    const MINUTES: usize = "2010/01/01 00:00".len();
    let (Some(hour), Ok(temp)) = (hour.get(..MINUTES), temp.parse()) else { return Ok(None) };
    insert.bind_text(1, &iso(hour))?;
    insert.bind_number(2, temp)?;
    insert.step()?;
    Ok(Some(()))
}

/// The files write 2012/01/01; SQL's functions of dates want 2012-01-01.
fn iso(date: &str) -> String {
    date.replace('/', "-")
}
