//! Shared memory of the run-time as the wire format wants it.

use cofferdam::Info;

use crate::Failure;

/// Shared memory as words.
#[derive(Clone, Copy)]
pub struct Memory(cofferdam::Shared);

impl Memory {
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
