//! Shared memory of the run-time as the wire format wants it.

use cofferdam::Info;
use cofferdam::memory::Granted;

use crate::failure::Failure;

/// Shared memory as words.
#[derive(Clone, Copy)]
pub struct Memory(cofferdam::Shared);

impl Memory {
    /// Memory that this domain shares as its owner.
    ///
    /// # Safety
    /// It was granted, to read and write, and is used no longer than it is held.
    pub unsafe fn owned(granted: &Granted) -> Self {
        // SAFETY: as the caller promises; what is granted is aligned to 256 bytes.
        Memory(unsafe { cofferdam::Shared::granted(granted.base, granted.bytes, true) })
    }

    /// Looks shared memory up by its name.
    pub fn named(info: Info, name: &'static str) -> Result<Self, Failure> {
        cofferdam::shared(info, name).map(Memory).ok_or(Failure::Missing(name))
    }
}

impl wire::Words for Memory {
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
