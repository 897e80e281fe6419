//! A list of pairs of any length: the newest in memory, the older ones in a file without a name.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;

use record::FileCursor;

/// Pairs of one list that are held in memory.
pub const HELD: usize = 1 << 15;
const PAIR_BYTES: usize = 16;

/// The list.
#[derive(Debug, Default)]
pub struct Spool {
    file: Option<Arc<File>>,
    held: Vec<[u64; 2]>,
    count: u64,
    failed: Option<io::ErrorKind>,
}

impl Spool {
    /// Adds a pair. An error of the file is told by [`Self::values`].
    pub fn push(&mut self, pair: [u64; 2]) {
        self.count += 1;
        if self.held.len() == HELD {
            self.failed = self.failed.or(self.spill().err().map(|error| error.kind()));
            self.held.clear();
        }
        self.held.push(pair);
    }

    /// Pairs so far.
    pub const fn count(&self) -> u64 {
        self.count
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(Arc::new(tempfile::tempfile()?)),
        };
        let bytes: Vec<u8> = self.held.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        (&**file).write_all(&bytes)
    }

    /// All pairs in order; again from the first at each call.
    ///
    /// # Errors
    /// What the file answered when a pair was written; an item, when one is read.
    pub fn values(&self) -> io::Result<impl Iterator<Item = io::Result<[u64; 2]>>> {
        if let Some(kind) = self.failed {
            return Err(kind.into());
        }
        let spilled = (self.count - self.held.len() as u64) as usize;
        let mut source = self.file.clone().map(|file| BufReader::with_capacity(1 << 16, FileCursor::new(file)));
        let stored = (0..spilled).map(move |_| {
            let mut bytes = [0; PAIR_BYTES];
            source.as_mut().ok_or(io::ErrorKind::UnexpectedEof)?.read_exact(&mut bytes)?;
            let word = |at: usize| std::array::from_fn(|index| bytes[at + index]);
            Ok([u64::from_le_bytes(word(0)), u64::from_le_bytes(word(8))])
        });
        Ok(stored.chain(self.held.iter().map(|pair| Ok(*pair))))
    }
}

#[cfg(test)]
mod tests {
    use super::{HELD, Spool};

    #[test]
    fn a_long_list_is_read_as_it_was_written_and_held_in_part() {
        let mut spool = Spool::default();
        let all: Vec<[u64; 2]> = (0..3 * HELD as u64 + 7).map(|n| [n, n * n]).collect();
        all.iter().for_each(|pair| spool.push(*pair));
        assert!(spool.held.len() <= HELD && spool.file.is_some());
        for _ in 0..2 {
            let read: Vec<_> = spool.values().expect("written").map(|pair| pair.expect("read")).collect();
            assert!(read == all, "{} of {} pairs", read.len(), all.len());
        }
    }

    #[test]
    fn a_file_that_took_nothing_is_told() {
        // A file that is open for reading only takes as little as a full disk does.
        let file = std::sync::Arc::new(std::fs::File::open("/dev/null").expect("a device"));
        let mut spool = Spool { file: Some(file), ..Spool::default() };
        (0..=HELD as u64).for_each(|n| spool.push([n, 0]));
        assert!(spool.values().is_err());
    }
}
