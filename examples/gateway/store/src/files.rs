//! Files in memory: a few names, each a list of chunks on the heap.

use alloc::alloc::{Layout, alloc_zeroed};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Bytes of one chunk: the unit in which a file grows.
const CHUNK: usize = 16 * 1024;
/// Files that can exist at one time: a database, its journal, and two more.
const FILES: usize = 4;
/// Longest name in bytes.
const NAME: usize = 32;

type Chunk = Box<[u8; CHUNK]>;

struct File {
    name: [u8; NAME],
    name_bytes: usize,
    chunks: Vec<Chunk>,
    bytes: usize,
    exists: bool,
}

/// Why a file operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No file of that number or name, or no room for another.
    NoFile,
    /// The heap is exhausted.
    NoMemory,
}

/// The files.
pub struct Files {
    files: [File; FILES],
}

impl Files {
    /// No files.
    pub const fn new() -> Self {
        const NONE: File = File { name: [0; NAME], name_bytes: 0, chunks: Vec::new(), bytes: 0, exists: false };
        Files { files: [NONE; FILES] }
    }

    /// Number of the file of that name.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        self.files.iter().position(|file| file.exists && &file.name[..file.name_bytes] == name)
    }

    /// Number of the file of that name, which is created when there is none.
    pub fn open(&mut self, name: &[u8]) -> Result<usize, Refused> {
        if let Some(found) = self.find(name) {
            return Ok(found);
        }
        let free = self.files.iter().position(|file| !file.exists).ok_or(Refused::NoFile)?;
        let file = &mut self.files[free];
        file.name.get_mut(..name.len()).ok_or(Refused::NoFile)?.copy_from_slice(name);
        (file.name_bytes, file.bytes, file.exists) = (name.len(), 0, true);
        Ok(free)
    }

    /// Removes a file and gives its memory back.
    pub fn delete(&mut self, number: usize) {
        if let Some(file) = self.files.get_mut(number) {
            (file.exists, file.bytes, file.chunks) = (false, 0, Vec::new());
        }
    }

    /// Bytes of a file.
    pub fn size(&self, number: usize) -> usize {
        self.files.get(number).map_or(0, |file| file.bytes)
    }

    /// Fills `into` from `offset`; what lies behind the end reads as zero. Returns the bytes that the file had.
    pub fn read(&self, number: usize, offset: usize, into: &mut [u8]) -> usize {
        into.fill(0);
        let Some(file) = self.files.get(number) else { return 0 };
        let there = file.bytes.saturating_sub(offset).min(into.len());
        for_chunks(offset, there, |chunk, within, part| {
            into[part.clone()].copy_from_slice(&file.chunks[chunk][within..within + part.len()]);
        });
        there
    }

    /// Stores bytes at `offset`; the file grows as needed, by zeros where nothing was stored.
    pub fn write(&mut self, number: usize, offset: usize, from: &[u8]) -> Result<(), Refused> {
        let file = self.files.get_mut(number).ok_or(Refused::NoFile)?;
        let end = offset + from.len();
        while file.chunks.len() * CHUNK < end {
            file.chunks.try_reserve(1).map_err(|_| Refused::NoMemory)?;
            file.chunks.push(new_chunk().ok_or(Refused::NoMemory)?);
        }
        file.bytes = file.bytes.max(end);
        for_chunks(offset, from.len(), |chunk, within, part| {
            file.chunks[chunk][within..within + part.len()].copy_from_slice(&from[part]);
        });
        Ok(())
    }

    /// Makes a file shorter; what is cut off reads as zero if the file grows again.
    pub fn truncate(&mut self, number: usize, bytes: usize) {
        let Some(file) = self.files.get_mut(number) else { return };
        if bytes < file.bytes {
            file.bytes = bytes;
            file.chunks.truncate(bytes.div_ceil(CHUNK));
            if let Some(last) = file.chunks.last_mut()
                && !bytes.is_multiple_of(CHUNK)
            {
                last[bytes % CHUNK..].fill(0);
            }
        }
    }
}

/// Calls `each(chunk, offset within it, part of the transfer)` for the chunks that a transfer touches.
fn for_chunks(offset: usize, bytes: usize, mut each: impl FnMut(usize, usize, core::ops::Range<usize>)) {
    let mut done = 0;
    while done < bytes {
        let (chunk, within) = ((offset + done) / CHUNK, (offset + done) % CHUNK);
        let part = (CHUNK - within).min(bytes - done);
        each(chunk, within, done..done + part);
        done += part;
    }
}

/// A chunk of zeros straight from the heap; `None` when it is exhausted.
fn new_chunk() -> Option<Chunk> {
    // SAFETY: the layout has a size that is not zero.
    let block = unsafe { alloc_zeroed(Layout::new::<[u8; CHUNK]>()) };
    // SAFETY: zeros are a valid array, and the block came from the allocator with this layout.
    (!block.is_null()).then(|| unsafe { Box::from_raw(block.cast()) })
}
