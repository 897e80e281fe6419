//! Streams the recorded weather, row by row, to `store`: what a sensor on a bus would deliver, from constant files.
//!
//! Names: areas `weather`, `seattle` and `sf` (the files), shared memory `stream`, notifications `rows` and `space`.
#![no_std]
#![no_main]

use cofferdam::{Error, Info, Notification, Shared, Start, println};
use wire::{Push, Words, Writer, file};

cofferdam::entry!(main);

/// Names of the files, by the number that rows carry.
const FILES: [(&str, u32); 3] = [("weather", file::WEATHER), ("seattle", file::SEATTLE), ("sf", file::SAN_FRANCISCO)];

struct Memory(Shared);

impl Words for Memory {
    fn words(&self) -> usize {
        self.0.words()
    }
    fn read(&self, index: usize) -> u32 {
        self.0.read(index)
    }
    fn write(&self, index: usize, value: u32) {
        self.0.write(index, value);
    }
}

struct Stream {
    ring: Writer<Memory>,
    rows: Notification,
    space: Notification,
}

fn main(start: Start) -> u32 {
    let Some(mut stream) = open(start.info) else {
        println!("the stream or its notifications are missing");
        return 1;
    };
    match FILES.iter().try_for_each(|(name, number)| send_file(start.info, &mut stream, name, *number)) {
        Ok(()) => u32::from(stream.send(file::END, b"").is_err()),
        Err(error) => {
            println!("cannot stream: {error:?}");
            1
        }
    }
}

fn open(info: Info) -> Option<Stream> {
    Some(Stream {
        ring: Writer::new(Memory(cofferdam::shared(info, "stream")?)),
        rows: Notification::named(info, "rows")?,
        space: Notification::named(info, "space")?,
    })
}

/// Sends the rows behind the first, which names the columns.
fn send_file(info: Info, stream: &mut Stream, name: &str, number: u32) -> Result<(), Error> {
    let area = info.area(name).ok_or(Error::BadHandle)?;
    // SAFETY: the area is a constant file that this domain may read.
    let bytes = unsafe { core::slice::from_raw_parts(area.base as *const u8, area.bytes as usize) };
    // The area may be longer than the file; no text holds either byte with which memory is padded.
    let text = bytes.split(|byte| matches!(byte, 0 | 0xff)).next().unwrap_or(&[]);
    let mut sent = 0;
    for row in text.split(|byte| *byte == b'\n').skip(1).filter(|row| !row.is_empty()) {
        stream.send(number, row.strip_suffix(b"\r").unwrap_or(row))?;
        sent += 1;
    }
    println!("sent {sent} rows of {name}");
    Ok(())
}

impl Stream {
    fn send(&mut self, file: u32, row: &[u8]) -> Result<(), Error> {
        loop {
            match self.ring.push(file, row) {
                Push::First => return self.rows.signal(1),
                Push::Behind => return Ok(()),
                Push::TooLong => return Err(Error::BadArgument),
                Push::Full => {
                    self.space.wait(1)?;
                }
            }
        }
    }
}
