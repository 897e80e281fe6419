//! The start-up information block, read.

use core::sync::atomic::{AtomicUsize, Ordering};

use abi::Kind;
use abi::info::{
    AREA_BYTES, CAP_BYTES, ENVELOPE_BYTES, HEADER_WORDS, MAGIC, NAME_BYTES, VERSION, area, envelope, word,
};

static BLOCK: AtomicUsize = AtomicUsize::new(0);
/// How often the domain has been restarted.
#[cfg(feature = "memory")]
pub(crate) static RESTARTS: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);

/// A domain's start-up information block: what it is called, what it may use.
#[derive(Clone, Copy)]
pub struct Info {
    words: &'static [u32],
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
    /// Bit 0 read, 1 write, 2 execute, 3 pinned.
    pub access: u32,
    /// Temporal specification, packed.
    pub spec: u32,
    /// Cycles that deciding one access takes at most; `abi::info::UNBOUNDED` when nothing is promised.
    pub bound: u32,
    /// Number of pieces.
    pub pieces: u32,
    /// Bytes from one piece to the next.
    pub stride: u32,
    /// Of a device: `abi::info::name_hash` of its kind; 0 for memory, and for a device without a kind.
    pub kind: u32,
}

impl Area {
    /// First address and size of every piece.
    pub fn each_piece(self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.pieces).map(move |index| (self.base + index * self.stride, self.bytes))
    }
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

/// The block of this domain. `None` only in a gate that is called before the domain's first thread has started.
pub fn info() -> Option<Info> {
    let address = BLOCK.load(Ordering::Relaxed);
    // SAFETY: the word is zero or was stored by `Info::remember` after the block had been checked.
    if address == 0 { None } else { unsafe { Info::at(address as *const u32) } }
}

impl Info {
    /// Reads the block at `address`; `None` when there is none of this version.
    ///
    /// # Safety
    /// `address` is what the kernel passed in r0 at the start of a thread.
    pub unsafe fn at(address: *const u32) -> Option<Info> {
        // SAFETY: the kernel passes the address of a block whose header has HEADER_WORDS words.
        let header = unsafe { core::slice::from_raw_parts(address, HEADER_WORDS) };
        if header[word::MAGIC] != MAGIC || header[word::VERSION] != VERSION {
            return None;
        }
        let (caps, areas) = (header[word::CAPS] as usize, header[word::AREAS] as usize);
        let words = abi::info::block_bytes(caps, areas, header[word::ENVELOPES] as usize) / 4;
        // SAFETY: a block of this version is as long as its header says, read-only and never moved.
        Some(Info { words: unsafe { core::slice::from_raw_parts(address, words) } })
    }

    /// Makes this block the one that [`info`] returns.
    pub(crate) fn remember(self) {
        BLOCK.store(self.words.as_ptr() as usize, Ordering::Relaxed);
    }

    /// Address of the block, for code in another language.
    pub fn address(self) -> *const u32 {
        self.words.as_ptr()
    }

    fn header(self, index: usize) -> u32 {
        self.words[index]
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

    /// The domain's number.
    pub fn domain(self) -> u32 {
        self.header(word::DOMAIN)
    }

    /// The domain's name.
    pub fn name(self) -> &'static str {
        let words: &'static [u32] = self.words;
        text(&words[word::NAME..word::NAME + NAME_BYTES / 4])
    }

    /// Every capability with its name.
    pub fn caps(self) -> impl Iterator<Item = (&'static str, Cap)> {
        let count = self.header(word::CAPS) as usize;
        let words: &'static [u32] = self.words;
        words[HEADER_WORDS..].chunks_exact(CAP_BYTES / 4).take(count).filter_map(|entry| {
            let (name, rest) = entry.split_at(NAME_BYTES / 4);
            Some((text(name), Cap { slot: rest[0], kind: Kind::from_number(rest[1] as u8)? }))
        })
    }

    /// The capability of that name and kind.
    pub fn cap(self, name: &str, kind: Kind) -> Option<Cap> {
        self.caps().find(|(known, cap)| *known == name && cap.kind == kind).map(|(_, cap)| cap)
    }

    /// Name of the client that calls this domain's gates with `badge`.
    pub fn client(self, badge: u32) -> Option<&'static str> {
        self.caps().find(|(_, cap)| cap.kind == Kind::Empty && cap.slot == badge).map(|(name, _)| name)
    }

    /// Every area with its name.
    pub fn areas(self) -> impl Iterator<Item = (&'static str, Area)> {
        let first = HEADER_WORDS + self.header(word::CAPS) as usize * CAP_BYTES / 4;
        let count = self.header(word::AREAS) as usize;
        let words: &'static [u32] = self.words;
        words[first..].chunks_exact(AREA_BYTES / 4).take(count).map(|entry| {
            let (name, rest) = entry.split_at(NAME_BYTES / 4);
            (text(name), read_area(rest))
        })
    }

    /// Every envelope with its arena.
    pub fn envelopes(self) -> impl Iterator<Item = Envelope> {
        let (caps, areas) = (self.header(word::CAPS) as usize, self.header(word::AREAS) as usize);
        let first = abi::info::block_bytes(caps, areas, 0) / 4;
        let words: &'static [u32] = self.words;
        words[first..].chunks_exact(ENVELOPE_BYTES / 4).filter_map(move |entry| {
            let (_, arena) = self.areas().nth(entry[envelope::AREA] as usize)?;
            Some(Envelope {
                spec: entry[envelope::SPEC],
                arena,
                live: entry[envelope::LIVE],
                largest: entry[envelope::LARGEST],
                count: entry[envelope::COUNT],
                default: entry[envelope::DEFAULT] != 0,
            })
        })
    }

    /// The area of that name.
    pub fn area(self, name: &str) -> Option<Area> {
        self.areas().find(|(known, _)| *known == name).map(|(_, area)| area)
    }
}

fn read_area(words: &[u32]) -> Area {
    Area {
        base: words[area::BASE],
        bytes: words[area::BYTES],
        access: words[area::ACCESS],
        spec: words[area::SPEC],
        bound: words[area::BOUND],
        pieces: words[area::PIECES],
        stride: words[area::STRIDE],
        kind: words[area::KIND],
    }
}

/// The text in the words of a name, which zero bytes end.
fn text(words: &'static [u32]) -> &'static str {
    // SAFETY: words are made of bytes, and the lifetime is that of the block.
    let bytes = unsafe { core::slice::from_raw_parts(words.as_ptr().cast::<u8>(), words.len() * 4) };
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    core::str::from_utf8(&bytes[..end]).unwrap_or("?")
}
