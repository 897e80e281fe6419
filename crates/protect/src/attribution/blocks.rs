//! A memory protection controller: each block of a memory is for Secure accesses alone or for
//! Non-secure ones alone (Arm 101104, 3.4.4). What that document leaves open is as in
//! `hw/misc/tz-mpc.c` of QEMU 10.0.

use super::security::Security;

/// `CTRL`: what is stopped gets an error, not zero; a word of the table that is read or written selects the next; the table is locked until reset.
const ERROR: u32 = 1 << 4;
const INCREMENT: u32 = 1 << 8;
const LOCK: u32 = 1 << 31;

/// Log2 of the smallest block, in bytes.
const LEAST_BLOCK_LOG2: u32 = 5;
const BLOCKS_PER_WORD: u32 = 32;

/// A controller, whose table is stored in `L`: one bit for each block, 1 for Non-secure.
#[derive(Clone, Debug)]
pub struct BlockGate<L> {
    table: L,
    block_log2: u32,
    control: u32,
    index: usize,
}

impl<L: AsRef<[u32]> + AsMut<[u32]>> BlockGate<L> {
    /// A controller after reset: all blocks are Secure. `table` has at least one word, and one for
    /// each 32 blocks. A block has `1 << block_log2` bytes, at least 32.
    pub fn new(mut table: L, block_log2: u32) -> Self {
        table.as_mut().fill(0);
        Self { table, block_log2, control: INCREMENT, index: 0 }
    }

    /// A load of a word by Secure code; `None` for a register that has no part in what is let through.
    pub fn read(&mut self, offset: u32) -> Option<u32> {
        Some(match offset {
            0x00 => self.control,
            0x10 => self.words() as u32 - 1,
            0x14 => self.block_log2 - LEAST_BLOCK_LOG2,
            0x18 => self.index as u32,
            0x1c => {
                let word = self.table.as_ref()[self.index];
                self.advance();
                word
            }
            _ => return None,
        })
    }

    /// A store of a word by Secure code; `false` for a register that has no part in what is let through, cannot be written, or is locked.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            0x00 | 0x1c if self.control & LOCK != 0 => return false,
            0x00 => self.control = value & (ERROR | INCREMENT | LOCK),
            0x18 => self.index = value as usize % self.words(),
            0x1c => {
                let index = self.index;
                self.table.as_mut()[index] = value;
                self.advance();
            }
            _ => return false,
        }
        true
    }

    /// Returns the state whose accesses reach the byte at `offset` of the memory, or `None` beyond
    /// the table, where no access reaches anything.
    pub fn of(&self, offset: u32) -> Option<Security> {
        let block = offset >> self.block_log2;
        let word = self.table.as_ref().get((block / BLOCKS_PER_WORD) as usize)?;
        let is_non_secure = word >> (block % BLOCKS_PER_WORD) & 1 != 0;
        Some(if is_non_secure { Security::NonSecure } else { Security::Secure })
    }

    /// Checks that an access from a state reaches all `len` bytes at `offset` of the memory.
    ///
    /// # Errors
    /// The offset of the first byte that it does not reach.
    ///
    /// # Time complexity
    /// Proportional to the blocks.
    pub fn passes(&self, offset: u32, len: u32, from: Security) -> Result<(), u32> {
        let end = (u64::from(offset) + u64::from(len.max(1))).min(1 << 32);
        let mut at = u64::from(offset);
        while at < end {
            if self.of(at as u32) != Some(from) {
                return Err(at as u32);
            }
            at = (at + 1).next_multiple_of(1 << self.block_log2);
        }
        Ok(())
    }

    /// Returns true if an access that is stopped ends in a bus error; otherwise a load reads zero,
    /// and a store is ignored. (A load by the core of QEMU 10.0.2 ends in an error either way.)
    pub const fn answers_with_error(&self) -> bool {
        self.control & ERROR != 0
    }

    fn words(&self) -> usize {
        self.table.as_ref().len()
    }

    fn advance(&mut self) {
        if self.control & INCREMENT != 0 {
            self.index = (self.index + 1) % self.words();
        }
    }
}
