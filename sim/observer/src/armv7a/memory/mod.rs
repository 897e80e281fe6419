//! A copy of the guest's memory, made from the image and from every store seen: the model's walks find their tables in it.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use timing::vmsa::Tables;

const PAGE_LOG2: u32 = 12;
const PAGE_BYTES: usize = 1 << PAGE_LOG2;
const PAGES: usize = 1 << (32 - PAGE_LOG2);
/// A table of the second level is as large; a table of the first level is several.
const GRANULE_LOG2: u32 = 10;
const GRANULES: usize = 1 << (32 - GRANULE_LOG2);

type Page = Box<[u8; PAGE_BYTES]>;

/// The copy. It lacks bytes that were neither in the image nor stored.
pub struct Memory {
    pages: Box<[Option<Page>]>,
    /// One bit for each granule from which a walk has read.
    walked: Box<[Cell<u64>]>,
    generation: u64,
}

impl Memory {
    /// As a loader leaves it: the loadable segments of the ELF file at their physical addresses.
    ///
    /// # Errors
    /// A text with the path and the reason.
    pub fn load(image: &Path) -> Result<Self, String> {
        let told = |why: &dyn std::fmt::Display| format!("image {}: {why}", image.display());
        let bytes = fs::read(image).map_err(|error| told(&error))?;
        let mut memory = Self {
            pages: (0..PAGES).map(|_| None).collect(),
            walked: (0..GRANULES / 64).map(|_| Cell::new(0)).collect(),
            generation: 1,
        };
        memory.place(&bytes).ok_or_else(|| told(&"not an ELF file of 32 bits, little-endian"))?;
        Ok(memory)
    }

    fn place(&mut self, file: &[u8]) -> Option<()> {
        const LOAD: u32 = 1;
        let half = |at: usize| Some(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?));
        let word = |at: usize| Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?));
        if file.get(..6)? != b"\x7fELF\x01\x01" {
            return None;
        }
        let (headers, size, count) = (word(28)? as usize, usize::from(half(42)?), usize::from(half(44)?));
        for header in (0..count).map(|index| headers + index * size).filter(|header| word(*header) == Some(LOAD)) {
            let (offset, at) = (word(header + 4)? as usize, word(header + 12)?);
            let (in_file, in_memory) = (word(header + 16)? as usize, word(header + 20)?);
            let content = file.get(offset..offset.checked_add(in_file)?)?;
            for (byte, to) in content.iter().chain(std::iter::repeat(&0)).zip(0..in_memory) {
                self.put(at.wrapping_add(to), &[*byte]);
            }
        }
        Some(())
    }

    /// A store of the `len` (1 to 16) low bytes of `value` at a physical address, all in one page.
    #[inline]
    pub fn store(&mut self, at: u32, len: u32, value: u128) {
        let bytes = value.to_le_bytes();
        let bytes = &bytes[..len as usize];
        let granule = (at >> GRANULE_LOG2) as usize;
        if self.walked[granule / 64].get() & 1 << (granule % 64) != 0 {
            self.generation += u64::from(self.get(at, len) != Some(bytes));
        }
        self.put(at, bytes);
    }

    fn get(&self, at: u32, len: u32) -> Option<&[u8]> {
        let offset = at as usize % PAGE_BYTES;
        self.pages[(at >> PAGE_LOG2) as usize].as_ref()?.get(offset..offset + len as usize)
    }

    /// Puts bytes that lie in one page.
    fn put(&mut self, at: u32, bytes: &[u8]) {
        let page = self.pages[(at >> PAGE_LOG2) as usize].get_or_insert_with(|| Box::new([0; PAGE_BYTES]));
        let offset = at as usize % PAGE_BYTES;
        page[offset..offset + bytes.len()].copy_from_slice(bytes);
    }
}

impl Tables for Memory {
    fn descriptor(&self, addr: u32) -> Option<u32> {
        let granule = (addr >> GRANULE_LOG2) as usize;
        let word = &self.walked[granule / 64];
        word.set(word.get() | 1 << (granule % 64));
        self.get(addr, 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
    }

    fn generation(&self) -> u64 {
        self.generation
    }
}

#[cfg(test)]
mod tests;
