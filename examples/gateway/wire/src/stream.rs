//! A ring of records with one writer and one reader. Words 0 and 1 count the words ever written and ever read, modulo
//! 2^32; each is stored by one side only. The rest, up to a power of two, is the ring. A record is a word with the
//! number of the file (high half) and of bytes (low half), and the bytes, padded to words.

use crate::{ROW_MAX_BYTES, Words};

const WRITTEN: usize = 0;
const READ: usize = 1;
const HEADER: usize = 2;

fn capacity(words: usize) -> u32 {
    let room = words.saturating_sub(HEADER) as u32;
    if room == 0 { 0 } else { 1 << room.ilog2() }
}

fn slot(capacity: u32, count: u32) -> usize {
    HEADER + (count & (capacity - 1)) as usize
}

/// The result of pushing a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// It is in the ring, and the reader has read everything before it: wake the reader.
    First,
    /// It is in the ring behind others.
    Behind,
    /// There is no room now.
    Full,
    /// It is longer than [`ROW_MAX_BYTES`].
    TooLong,
}

/// The writer's side.
pub struct Writer<W> {
    ring: W,
    capacity: u32,
    written: u32,
}

impl<W: Words> Writer<W> {
    /// Begins an empty ring. The reader begins at the same counts or it sees a corrupt ring.
    pub fn new(ring: W) -> Self {
        let (capacity, written) = (capacity(ring.words()), ring.read(WRITTEN));
        Writer { ring, capacity, written }
    }

    /// Appends a row, if it fits.
    pub fn push(&mut self, file: u32, row: &[u8]) -> Push {
        if row.len() > ROW_MAX_BYTES {
            return Push::TooLong;
        }
        let words = 1 + row.len().div_ceil(4) as u32;
        let used = self.written.wrapping_sub(self.ring.read(READ));
        if used > self.capacity || words > self.capacity - used {
            return Push::Full;
        }
        self.ring.write(slot(self.capacity, self.written), file << 16 | row.len() as u32);
        for (index, bytes) in row.chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            let at = self.written.wrapping_add(1 + index as u32);
            self.ring.write(slot(self.capacity, at), u32::from_le_bytes(word));
        }
        let before = self.written;
        self.written = before.wrapping_add(words);
        self.ring.write(WRITTEN, self.written);
        // Read after the row was made visible: either the reader sees the row, or this sees that it has read all before.
        if self.ring.read(READ) == before { Push::First } else { Push::Behind }
    }
}

/// A row.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    /// Number of its file.
    pub file: u32,
    bytes: [u8; ROW_MAX_BYTES],
    length: usize,
}

impl Record {
    /// Its bytes, without the end of the line.
    pub fn row(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The reader's side.
pub struct Reader<W> {
    ring: W,
    capacity: u32,
    read: u32,
}

/// The writer's counters or lengths make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl<W: Words> Reader<W> {
    /// Begins to read where the last reader ended.
    pub fn new(ring: W) -> Self {
        let (capacity, read) = (capacity(ring.words()), ring.read(READ));
        Reader { ring, capacity, read }
    }

    /// Takes the oldest row and says whether the ring is now half empty and was not before (wake the writer); `None` when
    /// there is no row.
    ///
    /// # Errors
    /// [`Corrupt`] when the writer's words cannot be right; nothing is taken.
    pub fn pop(&mut self) -> Result<Option<(Record, bool)>, Corrupt> {
        let used = self.ring.read(WRITTEN).wrapping_sub(self.read);
        if used == 0 {
            return Ok(None);
        }
        let header = if used <= self.capacity { self.ring.read(slot(self.capacity, self.read)) } else { u32::MAX };
        let (file, length) = (header >> 16, (header & 0xffff) as usize);
        let words = 1 + length.div_ceil(4) as u32;
        if length > ROW_MAX_BYTES || words > used {
            return Err(Corrupt);
        }
        let mut record = Record { file, bytes: [0; ROW_MAX_BYTES], length };
        for (index, bytes) in record.bytes[..length].chunks_mut(4).enumerate() {
            let word = self.ring.read(slot(self.capacity, self.read.wrapping_add(1 + index as u32)));
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
        self.read = self.read.wrapping_add(words);
        self.ring.write(READ, self.read);
        let half = self.capacity / 2;
        Ok(Some((record, used > half && used - words <= half)))
    }
}
