//! The start-up information block: a read-only table in the domain's own code region, written by the host tool. Every
//! thread of a domain starts with its address in r0, its argument in r1, and the number of restarts of the domain in r2.
//!
//! Layout (little-endian words): [`HEADER_WORDS`] words of header, then `caps` entries of [`CAP_BYTES`] bytes, then
//! `areas` entries of [`AREA_BYTES`] bytes.

/// First word of the block: `COFI`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"COFI");
/// Version of the layout.
pub const VERSION: u32 = 1;
/// Bytes of a name, padded with zero bytes; the longest name has one byte less.
pub const NAME_BYTES: usize = 16;
/// Words of the header: magic, version, cpu_hz, ticks_per_second, caps, areas, heap_base, heap_bytes, domain index,
/// thread count, name (4 words), 2 reserved.
pub const HEADER_WORDS: usize = 16;
/// Bytes of one capability entry: name, slot (u32), kind (u32). An entry of kind 0 is no capability: it gives the name of
/// the domain that calls this domain's gates with the badge that stands in place of the slot.
pub const CAP_BYTES: usize = NAME_BYTES + 8;
/// Bytes of one area entry: name, base (u32), bytes (u32), access (u32: bit 0 read, 1 write, 2 execute, 3 pinned).
pub const AREA_BYTES: usize = NAME_BYTES + 12;

/// Index of each header word.
pub mod word {
    #![allow(missing_docs)]
    pub const MAGIC: usize = 0;
    pub const VERSION: usize = 1;
    pub const CPU_HZ: usize = 2;
    pub const TICKS_PER_SECOND: usize = 3;
    pub const CAPS: usize = 4;
    pub const AREAS: usize = 5;
    pub const HEAP_BASE: usize = 6;
    pub const HEAP_BYTES: usize = 7;
    pub const DOMAIN: usize = 8;
    pub const THREADS: usize = 9;
    pub const NAME: usize = 10;
}

/// Bytes of a whole block.
pub const fn block_bytes(caps: usize, areas: usize) -> usize {
    HEADER_WORDS * 4 + caps * CAP_BYTES + areas * AREA_BYTES
}
