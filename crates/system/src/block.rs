//! The block of words: its header, and where its tables are.

use sched::switching::Switching;

/// First word of the block: `COFS`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"COFS");
/// Version of the layout; a kernel refuses any other.
pub const VERSION: u32 = 13;
/// Number of tables in the block, in the order of [`Table`].
pub const TABLES: usize = 9;
/// Words of the header: magic, version, words in total, checksum, ticks per second, CPU clock, then offset and count of
/// each table, offset and words of the scheme's section, the words of [`Switching`], and the overrun.
pub const HEADER_WORDS: usize = OVERRUN + 1;
/// Indices of the last of the header.
pub(crate) const SCHEME: usize = 6 + 2 * TABLES;
pub(crate) const SWITCHING: usize = SCHEME + 2;
pub(crate) const OVERRUN: usize = SWITCHING + 3;
/// Most entries of any one table: the block is rejected beyond it, so that every boot loop is bounded.
pub const MAX_ENTRIES: usize = 256;

/// The tables in the order in which the header lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Ranges of physical memory and their kind.
    Frames,
    /// Protection domains.
    Domains,
    /// Areas that each domain may access.
    Areas,
    /// Budgets.
    Budgets,
    /// Threads.
    Threads,
    /// Gates.
    Gates,
    /// Notifications.
    Notifications,
    /// Interrupt lines.
    Interrupts,
    /// Capabilities of the domains at their start.
    Caps,
}

/// Why a block was rejected. The kernel does not boot from a rejected block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// The block does not start with [`MAGIC`], has another version, or is cut short.
    Header,
    /// The checksum over the words does not match.
    Checksum,
    /// The scheme's section is of no known scheme, or outside of the block, or its record of the system is wrong.
    Scheme,
    /// A path of [`Switching`] is longer than [`Switching::LONGEST`].
    Switching,
    /// A table lies outside the block or has more than [`MAX_ENTRIES`] entries.
    Bounds(Table),
    /// A field of the entry holds a value that is not allowed.
    Entry {
        /// The table.
        table: Table,
        /// Number of the entry in the table.
        index: usize,
        /// The field.
        field: &'static str,
    },
}

/// A fixed number of words.
pub trait Words: Copy {
    /// Words of the record.
    const WORDS: usize;
    /// Reads a record; `words` has exactly [`Self::WORDS`] words.
    fn decode(words: &[u32]) -> Self;
    /// Writes a record; `words` has exactly [`Self::WORDS`] words.
    fn encode(&self, words: &mut [u32]);
}

/// Nothing.
impl Words for () {
    const WORDS: usize = 0;
    fn decode(_: &[u32]) -> Self {}
    fn encode(&self, _: &mut [u32]) {}
}

/// So many, one after the other.
impl<W: Words + Default, const N: usize> Words for [W; N] {
    const WORDS: usize = N * W::WORDS;
    fn decode(words: &[u32]) -> Self {
        core::array::from_fn(|index| W::decode(&words[index * W::WORDS..(index + 1) * W::WORDS]))
    }
    fn encode(&self, words: &mut [u32]) {
        for (item, part) in self.iter().zip(words.chunks_exact_mut(W::WORDS)) {
            item.encode(part);
        }
    }
}

/// A record of a table.
pub trait Record: Words {
    /// The table it lives in.
    const TABLE: Table;
}

/// A parsed and validated block.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    pub(crate) words: &'a [u32],
}

impl<'a> System<'a> {
    /// Ticks of the board's clock in one second.
    pub fn ticks_per_second(&self) -> u32 {
        self.words[4]
    }

    /// CPU clock in Hz.
    pub fn cpu_hz(&self) -> u32 {
        self.words[5]
    }

    /// Words of the scheme's section; [`Self::parse`] has checked that there are as many as its records take.
    pub(crate) fn section(&self, from: usize, words: usize) -> &[u32] {
        let start = self.words[SCHEME] as usize + from;
        &self.words[start..start + words]
    }

    /// The time that the kernel charges for switches.
    pub fn switching(&self) -> Switching {
        let [entry, exit, early] = core::array::from_fn(|word| self.words[SWITCHING + word]);
        Switching { entry, exit, early }
    }

    /// Ticks by which a call can exceed its bound before the kernel ends it: G + M of docs/time.md.
    pub fn overrun(&self) -> u32 {
        self.words[OVERRUN]
    }

    /// Number of entries in a table.
    pub fn count<R: Record>(&self) -> usize {
        self.words[7 + 2 * R::TABLE as usize] as usize
    }

    /// One entry of a table.
    ///
    /// # Panics
    /// When `index` is not below [`Self::count`]; the kernel only passes indices that [`Self::parse`] has checked.
    pub fn get<R: Record>(&self, index: usize) -> R {
        assert!(index < self.count::<R>());
        let start = self.words[6 + 2 * R::TABLE as usize] as usize + index * R::WORDS;
        R::decode(&self.words[start..start + R::WORDS])
    }

    /// All entries of a table.
    pub fn all<R: Record>(&self) -> impl Iterator<Item = R> + use<'a, R> {
        let view = *self;
        (0..self.count::<R>()).map(move |index| view.get(index))
    }
}

/// FNV-1a over the words: detects a damaged block, not a forged one (the block is in flash that no domain can write).
pub fn checksum(words: &[u32]) -> u32 {
    words.iter().fold(0x811c_9dc5, |hash, word| (hash ^ word).wrapping_mul(0x0100_0193))
}
