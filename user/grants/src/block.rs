//! The areas and envelopes of this domain, from its start-up information block.

use abi::Kind;
use abi::info::{AREA_BYTES, CAP_BYTES, ENVELOPE_BYTES, HEADER_WORDS, NAME_BYTES, area, block_bytes, envelope, word};

unsafe extern "C" {
    /// Address of the information block; null before the run-time has begun. Provided by the run-time.
    safe fn cof_grants_info() -> *const u32;
}

/// The block.
#[derive(Clone, Copy)]
pub(crate) struct Block(&'static [u32]);

/// An area of this domain.
#[derive(Clone, Copy)]
pub(crate) struct Area(&'static [u32]);

/// An envelope of this domain.
#[derive(Clone, Copy)]
pub(crate) struct Envelope {
    /// Packed specification of the arena.
    pub spec: u32,
    /// The arena.
    pub area: Area,
    /// Most live blocks.
    pub count: u32,
    /// Plain `malloc` uses it, too.
    pub is_default: bool,
}

impl Block {
    pub fn get() -> Option<Block> {
        let start = cof_grants_info();
        if start.is_null() {
            return None;
        }
        // SAFETY: the run-time has checked the block; it is as long as its header says, read-only and never moved.
        let header = unsafe { core::slice::from_raw_parts(start, HEADER_WORDS) };
        let count = |index: usize| header.get(index).map_or(0, |count| *count as usize);
        let bytes = block_bytes(count(word::CAPS), count(word::AREAS), count(word::ENVELOPES));
        // SAFETY: as above.
        Some(Block(unsafe { core::slice::from_raw_parts(start, bytes / 4) }))
    }

    fn count(self, index: usize) -> usize {
        self.0.get(index).map_or(0, |count| *count as usize)
    }

    /// Words from an offset on, as entries of so many bytes.
    fn entries(self, offset_bytes: usize, count: usize, bytes: usize) -> impl Iterator<Item = &'static [u32]> {
        self.0.get(offset_bytes / 4..).unwrap_or_default().chunks_exact(bytes / 4).take(count)
    }

    /// Every area.
    pub fn areas(self) -> impl Iterator<Item = Area> {
        let offset = block_bytes(self.count(word::CAPS), 0, 0);
        self.entries(offset, self.count(word::AREAS), AREA_BYTES)
            .filter_map(|entry| entry.get(NAME_BYTES / 4..))
            .map(Area)
    }

    /// The area `heap`, which plain `malloc` uses when no envelope is the default.
    pub fn heap(self) -> Option<Area> {
        const NAME: &[u8; NAME_BYTES] = b"heap\0\0\0\0\0\0\0\0\0\0\0\0";
        let offset = block_bytes(self.count(word::CAPS), 0, 0);
        let mut entries = self.entries(offset, self.count(word::AREAS), AREA_BYTES);
        let named = |entry: &&[u32]| entry.iter().take(NAME_BYTES / 4).flat_map(|word| word.to_le_bytes()).eq(*NAME);
        entries.find(named)?.get(NAME_BYTES / 4..).map(Area)
    }

    /// Every envelope.
    pub fn envelopes(self) -> impl Iterator<Item = Envelope> {
        let offset = block_bytes(self.count(word::CAPS), self.count(word::AREAS), 0);
        self.entries(offset, self.count(word::ENVELOPES), ENVELOPE_BYTES).filter_map(move |entry| {
            let area = self.areas().nth(*entry.get(envelope::AREA)? as usize)?;
            Some(Envelope {
                spec: *entry.get(envelope::SPEC)?,
                area,
                count: *entry.get(envelope::COUNT)?,
                is_default: entry.get(envelope::DEFAULT) == Some(&1),
            })
        })
    }

    /// The slot of the gate of that name.
    pub fn gate(self, name: &str) -> Option<u32> {
        let entries = self.entries(HEADER_WORDS * 4, self.count(word::CAPS), CAP_BYTES);
        let mut found = entries.filter(|entry| {
            let text = entry.iter().take(NAME_BYTES / 4).flat_map(|word| word.to_le_bytes());
            entry.get(NAME_BYTES / 4 + 1) == Some(&(Kind::Gate as u32))
                && text.eq(name.bytes().chain(core::iter::repeat(0)).take(NAME_BYTES))
        });
        found.next().and_then(|entry| entry.get(NAME_BYTES / 4)).copied()
    }
}

impl Area {
    pub fn word(self, index: usize) -> u32 {
        self.0.get(index).copied().unwrap_or(0)
    }

    /// Base and bytes of the piece that an address lies in.
    pub fn piece_at(self, address: u32) -> Option<(u32, u32)> {
        let offset = address.checked_sub(self.word(area::BASE))?;
        let (bytes, stride) = (self.word(area::BYTES), self.word(area::STRIDE));
        let piece = offset.checked_div(stride).unwrap_or(0);
        let within = offset - piece * stride;
        (piece < self.word(area::PIECES).max(1) && within < bytes).then_some((address - within, bytes))
    }
}
