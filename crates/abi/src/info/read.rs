//! The reader of the start-up information block: a domain's name, its capabilities, areas and envelopes, by name. The only one: the
//! run-time of Rust, the heap, `rt_malloc` and C's `cof_cap` and `cof_area` use it.

use super::{
    AREA_BYTES, CAP_BYTES, ENVELOPE_BYTES, HEADER_WORDS, MAGIC, NAME_BYTES, VERSION, area, block_bytes, envelope, word,
};
use crate::Kind;

/// A domain's start-up information block.
#[derive(Clone, Copy)]
pub struct Info {
    bytes: &'static [u8],
}

/// A capability as the block names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// Its slot: the handle that system calls take; the badge for kind `Empty`, which names a client.
    pub slot: u32,
    /// Kind of object.
    pub kind: Kind,
}

/// A memory area as the block names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// First address.
    pub base: u32,
    /// Size of one piece in bytes.
    pub bytes: u32,
    /// Bit 0 read, 1 write, 2 execute, 3 pinned, and `abi::info::area::DERIVED`.
    pub access: u32,
    /// Temporal specification, packed.
    pub spec: u32,
    /// Cycles that deciding one access takes at most; `abi::info::UNBOUNDED` when nothing is promised.
    pub bound: u32,
    /// Number of pieces.
    pub pieces: u32,
    /// Bytes from one piece to the next; 0 for a single piece.
    pub stride: u32,
    /// `abi::info::name_hash` of a device's kind; 0 for memory, and for a device without a kind.
    pub kind: u32,
}

/// The most that the domain may have allocated at once from one arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Temporal specification, packed.
    pub spec: u32,
    /// The arena.
    pub arena: Area,
    /// Live bytes.
    pub live: u32,
    /// Largest block in bytes.
    pub largest: u32,
    /// Live blocks.
    pub count: u32,
    /// Plain `malloc` uses it.
    pub default: bool,
}

impl Info {
    /// The block that begins with the first of these bytes; `None` when it is not of this version, or when they end before it does.
    pub fn read(bytes: &'static [u8]) -> Option<Info> {
        Some(Info { bytes: bytes.get(..Info::bytes_of(bytes.first_chunk()?)?)? })
    }

    /// Bytes of the block with this header; `None` when it is not of this version.
    pub fn bytes_of(header: &[u8; HEADER_WORDS * 4]) -> Option<usize> {
        if at(header, word::MAGIC) != MAGIC || at(header, word::VERSION) != VERSION {
            return None;
        }
        let count = |index| at(header, index) as usize;
        Some(block_bytes(count(word::CAPS), count(word::AREAS), count(word::ENVELOPES)))
    }

    /// The bytes of the block.
    pub fn bytes(self) -> &'static [u8] {
        self.bytes
    }

    /// Address of the block, for code in another language.
    pub fn address(self) -> *const u32 {
        self.bytes.as_ptr().cast()
    }

    fn header(self, index: usize) -> u32 {
        at(self.bytes, index)
    }

    fn count(self, index: usize) -> usize {
        self.header(index) as usize
    }

    /// `abi::info::name_hash` of the board's name.
    pub fn board(self) -> u32 {
        self.header(word::BOARD)
    }

    /// Cycles of the processor in a second.
    pub fn cpu_hz(self) -> u32 {
        self.header(word::CPU_HZ)
    }

    /// Ticks of the kernel's clock in a second.
    pub fn ticks_per_second(self) -> u32 {
        self.header(word::TICKS_PER_SECOND)
    }

    /// The domain's heap: first address and size in bytes (0 when it has none).
    pub fn heap(self) -> (u32, u32) {
        (self.header(word::HEAP_BASE), self.header(word::HEAP_BYTES))
    }

    /// Address of the function by which handlers of the domain ask for their signals; 0 if it has no handlers.
    pub fn wake(self) -> u32 {
        self.header(word::WAKE)
    }

    /// The domain's number.
    pub fn domain(self) -> u32 {
        self.header(word::DOMAIN)
    }

    /// The domain's name.
    pub fn name(self) -> &'static str {
        self.named().text()
    }

    /// The bytes of the domain's name, behind which a zero byte follows.
    pub fn name_bytes(self) -> &'static [u8] {
        self.named().bytes()
    }

    fn named(self) -> Name {
        Name(self.bytes.get(4 * word::NAME..).unwrap_or_default())
    }

    /// Entries of `bytes` bytes each, from an offset into the block on.
    fn entries(self, offset: usize, count: usize, bytes: usize) -> impl Iterator<Item = &'static [u8]> {
        self.bytes.get(offset..).unwrap_or_default().chunks_exact(bytes).take(count)
    }

    fn named_caps(self) -> impl Iterator<Item = (Name, Cap)> {
        let entries = self.entries(block_bytes(0, 0, 0), self.count(word::CAPS), CAP_BYTES);
        entries.filter_map(|entry| {
            let (name, words) = entry.split_at_checked(NAME_BYTES)?;
            Some((Name(name), Cap { slot: at(words, 0), kind: Kind::from_number(at(words, 1) as u8)? }))
        })
    }

    fn named_areas(self) -> impl Iterator<Item = (Name, Area)> {
        let entries = self.entries(block_bytes(self.count(word::CAPS), 0, 0), self.count(word::AREAS), AREA_BYTES);
        entries.filter_map(|entry| {
            let (name, words) = entry.split_at_checked(NAME_BYTES)?;
            Some((Name(name), Area::read(words)))
        })
    }

    /// Every capability with its name.
    pub fn caps(self) -> impl Iterator<Item = (&'static str, Cap)> {
        self.named_caps().map(|(name, cap)| (name.text(), cap))
    }

    /// The capability of that name and kind.
    pub fn cap(self, name: &str, kind: Kind) -> Option<Cap> {
        self.cap_named(name.as_bytes(), kind)
    }

    /// [`Info::cap`], by the bytes of a name.
    pub fn cap_named(self, name: &[u8], kind: Kind) -> Option<Cap> {
        self.named_caps().find(|(known, cap)| cap.kind == kind && known.is(name)).map(|(_, cap)| cap)
    }

    /// Name of the client that calls this domain's gates with `badge`.
    pub fn client(self, badge: u32) -> Option<&'static str> {
        self.named_caps().find(|(_, cap)| cap.kind == Kind::Empty && cap.slot == badge).map(|(name, _)| name.text())
    }

    /// Every area with its name.
    pub fn areas(self) -> impl Iterator<Item = (&'static str, Area)> {
        self.named_areas().map(|(name, area)| (name.text(), area))
    }

    /// The area of that name.
    pub fn area(self, name: &str) -> Option<Area> {
        self.area_named(name.as_bytes())
    }

    /// [`Info::area`], by the bytes of a name.
    pub fn area_named(self, name: &[u8]) -> Option<Area> {
        self.named_areas().find(|(known, _)| known.is(name)).map(|(_, area)| area)
    }

    /// The area, and the base and bytes of its piece, in which an address lies.
    pub fn piece_at(self, address: u32) -> Option<(Area, (u32, u32))> {
        self.named_areas().find_map(|(_, area)| Some((area, area.piece_at(address)?)))
    }

    /// Every envelope with its arena.
    pub fn envelopes(self) -> impl Iterator<Item = Envelope> {
        let offset = block_bytes(self.count(word::CAPS), self.count(word::AREAS), 0);
        self.entries(offset, self.count(word::ENVELOPES), ENVELOPE_BYTES).filter_map(move |entry| {
            let (_, arena) = self.named_areas().nth(at(entry, envelope::AREA) as usize)?;
            Some(Envelope {
                spec: at(entry, envelope::SPEC),
                arena,
                live: at(entry, envelope::LIVE),
                largest: at(entry, envelope::LARGEST),
                count: at(entry, envelope::COUNT),
                default: at(entry, envelope::DEFAULT) != 0,
            })
        })
    }
}

impl Area {
    fn read(words: &[u8]) -> Area {
        Area {
            base: at(words, area::BASE),
            bytes: at(words, area::BYTES),
            access: at(words, area::ACCESS),
            spec: at(words, area::SPEC),
            bound: at(words, area::BOUND),
            pieces: at(words, area::PIECES),
            stride: at(words, area::STRIDE),
            kind: at(words, area::KIND),
        }
    }

    /// First address and size of every piece.
    pub fn each_piece(self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.pieces).map(move |index| (self.base + index * self.stride, self.bytes))
    }

    /// Base and bytes of the piece that an address lies in.
    pub fn piece_at(self, address: u32) -> Option<(u32, u32)> {
        let offset = address.checked_sub(self.base)?;
        let piece = offset.checked_div(self.stride).unwrap_or(0);
        let within = offset - piece * self.stride;
        (piece < self.pieces.max(1) && within < self.bytes).then_some((address - within, self.bytes))
    }
}

/// A name in its words, padded with zero bytes. Compared as bytes: a program that only looks names up needs no check for UTF-8.
#[derive(Clone, Copy)]
struct Name(&'static [u8]);

impl Name {
    fn bytes(self) -> &'static [u8] {
        let most = self.0.len().min(NAME_BYTES);
        self.0.get(..most).and_then(|bytes| bytes.split(|byte| *byte == 0).next()).unwrap_or_default()
    }

    fn is(self, name: &[u8]) -> bool {
        self.bytes() == name
    }

    fn text(self) -> &'static str {
        core::str::from_utf8(self.bytes()).unwrap_or("?")
    }
}

/// A word of these bytes; 0 beyond their end, so that nothing here can panic.
fn at(bytes: &[u8], index: usize) -> u32 {
    bytes.get(4 * index..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_le_bytes(*word))
}
