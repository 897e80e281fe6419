//! The start-up information block: a read-only table in the domain's own code region, written by the host tool. Every
//! thread of a domain starts with its address in r0, its argument in r1, and the number of restarts of the domain in r2.
//!
//! Layout (little-endian words): [`HEADER_WORDS`] words of header, then `caps` entries of [`CAP_BYTES`] bytes, then
//! `areas` entries of [`AREA_BYTES`] bytes, then `envelopes` entries of [`ENVELOPE_BYTES`] bytes.

mod read;
#[cfg(test)]
mod tests;

pub use read::{Area, Cap, Envelope, Info};

/// First word of the block: `COFI`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"COFI");
/// Version of what a program is built for: this layout, the numbers of calls, kinds and errors, and how a call passes its words. Every
/// change of one of them gets the next number, because a finished program is refused only by it.
pub const VERSION: u32 = 6;
/// Section of the note in which a program says that version.
pub const NOTE_SECTION: &str = ".note.cofferdam";
/// Name of the note, padded to words.
pub const NOTE_NAME: &[u8; 12] = b"Cofferdam\0\0\0";
/// Type of the note: it has one word, the version.
pub const NOTE_TYPE: u32 = 1;
/// The note, as words.
pub const NOTE: [u32; 7] = {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *NOTE_NAME;
    let name = [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]), u32::from_le_bytes([i, j, k, l])];
    [NOTE_NAME.len() as u32, 4, NOTE_TYPE, name[0], name[1], name[2], VERSION]
};
/// Bytes of a name, padded with zero bytes; the longest name has one byte less.
pub const NAME_BYTES: usize = 16;
/// Words of the header: magic, version, cpu_hz, ticks_per_second, caps, areas, heap_base, heap_bytes, domain index,
/// thread count, name (4 words), envelopes, board, the way from handlers into the kernel. The heap of the header is the first piece of the area `heap`.
pub const HEADER_WORDS: usize = 17;
/// Bytes of one capability entry: name, slot (u32), kind (u32). An entry of kind 0 is no capability: it gives the name of
/// the domain that calls this domain's gates with the badge that stands in place of the slot.
pub const CAP_BYTES: usize = NAME_BYTES + 8;
/// Bytes of one area entry: name, then the words of [`area`].
pub const AREA_BYTES: usize = NAME_BYTES + 4 * area::WORDS;
/// Bytes of one envelope entry: the words of [`envelope`].
pub const ENVELOPE_BYTES: usize = 24;
/// Bound of an area about whose access check nothing is promised.
pub const UNBOUNDED: u32 = u32::MAX;

/// Words of an area entry, counted behind the name.
///
/// An area is made of `pieces` pieces of `bytes` bytes; piece `i` begins at `base + i * stride`. Most areas have one piece.
pub mod area {
    /// First address.
    pub const BASE: usize = 0;
    /// Bytes of one piece.
    pub const BYTES: usize = 1;
    /// Bit 0 read, 1 write, 2 execute, 3 pinned, and [`DERIVED`].
    pub const ACCESS: usize = 2;
    /// Bit of the access: the bound follows from the platform's description. Otherwise it is an observed maximum.
    pub const DERIVED: u32 = 1 << 4;
    /// Bit of the access: a page gets a frame at its first touch, if it is part of a region (`REGION_MAP`).
    pub const DEMAND: u32 = 1 << 5;
    /// Temporal specification, as `spec::TemporalSpec::bits` packs it.
    pub const SPEC: usize = 3;
    /// Cycles that deciding one access takes at most; [`super::UNBOUNDED`] when nothing is promised.
    pub const BOUND: usize = 4;
    /// Number of pieces, at least 1.
    pub const PIECES: usize = 5;
    /// Bytes from the beginning of one piece to that of the next; 0 for a single piece.
    pub const STRIDE: usize = 6;
    /// [`super::name_hash`] of the kind of device whose registers these are; 0 for memory, and for a device without a kind.
    pub const KIND: usize = 7;
    /// Words of an entry behind its name.
    pub const WORDS: usize = 8;
}

/// Envelopes of a domain, besides its default one, whose arenas the run-time opens: one for each temporal specification of a platform is enough.
pub const FURTHER_ENVELOPES: usize = 4;

/// Words of an envelope entry: what the domain may have allocated at once from the arena of one temporal specification.
pub mod envelope {
    /// Temporal specification, packed as in an area entry.
    pub const SPEC: usize = 0;
    /// Index of the area entry that is the arena.
    pub const AREA: usize = 1;
    /// Live bytes.
    pub const LIVE: usize = 2;
    /// Largest block in bytes.
    pub const LARGEST: usize = 3;
    /// Live blocks.
    pub const COUNT: usize = 4;
    /// 1 for the arena that plain `malloc` uses.
    pub const DEFAULT: usize = 5;
}

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
    pub const ENVELOPES: usize = 14;
    /// [`super::name_hash`] of the name of the board that the image was made for.
    pub const BOARD: usize = 15;
    /// Address of the function of the kernel by which a handler that an interrupt reached without the kernel asks for its signal; 0 for a
    /// domain without such handlers.
    pub const WAKE: usize = 16;
}

/// One word for a name (FNV-1a): a block holds it where programs only compare names of boards and of kinds of device.
pub const fn name_hash(name: &str) -> u32 {
    let bytes = name.as_bytes();
    let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

/// Bytes of a whole block.
pub const fn block_bytes(caps: usize, areas: usize, envelopes: usize) -> usize {
    HEADER_WORDS * 4 + caps * CAP_BYTES + areas * AREA_BYTES + envelopes * ENVELOPE_BYTES
}
