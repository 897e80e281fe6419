//! The words of `FRAMES_MAP` and `FRAMES_UNMAP`: which frames a domain may access, at which address, how, and with what guarantee. They say
//! nothing of how a processor checks accesses; what its protection scheme cannot express exactly is refused.

/// Rights, and the guarantee about the check of an access.
pub mod access {
    /// It can be read; always set.
    pub const READ: u32 = 1;
    /// It can be written.
    pub const WRITE: u32 = 2;
    /// It can be executed.
    pub const EXECUTE: u32 = 4;
    /// The check of an access never waits for a table: a region register of its own, or a locked entry of the TLB.
    pub const PINNED: u32 = 8;
    /// The check of an access never waits for memory off the chip.
    pub const NEAR: u32 = 16;
    /// Every bit that means something.
    pub const ALL: u32 = READ | WRITE | EXECUTE | PINNED | NEAR;
}

/// Bits of `REGION_MAP`, and what `REGION_UNMAP` takes.
pub mod region {
    /// The first page is a region of its own.
    pub const FIRST_ALONE: u32 = 1;
    /// The last page is a region of its own.
    pub const LAST_ALONE: u32 = 2;
    /// Most regions that one call frees: as many as one makes.
    pub const MOST: u32 = 3;
}

/// Address, offset and size are multiples of so many bytes.
pub const GRANULE_BYTES: u32 = 32;

/// A part of frames as a domain accesses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Handle of the domain.
    pub target: u16,
    /// Handle of the frames.
    pub frames: u16,
    /// First address at which the domain finds it, a multiple of [`GRANULE_BYTES`]; the physical one where addresses are not translated.
    pub at: u32,
    /// Bits of [`access`].
    pub access: u32,
    /// Bytes from the beginning of the frames, a multiple of [`GRANULE_BYTES`].
    pub offset: u32,
    /// Bytes, a multiple of [`GRANULE_BYTES`], not 0.
    pub bytes: u32,
}

const ACCESS: u32 = GRANULE_BYTES - 1;
const _: () = assert!(access::ALL == ACCESS);

impl Mapping {
    /// The arguments of the call.
    pub const fn words(self) -> [u32; 4] {
        let Mapping { target, frames, at, access, offset, bytes } = self;
        [target as u32 | (frames as u32) << 16, at & !ACCESS | access & ACCESS, offset, bytes]
    }

    /// A call's arguments, whose offset and bytes may be anything.
    pub const fn of(words: [u32; 4]) -> Mapping {
        let [handles, place, offset, bytes] = words;
        Mapping {
            target: handles as u16,
            frames: (handles >> 16) as u16,
            at: place & !ACCESS,
            access: place & ACCESS,
            offset,
            bytes,
        }
    }
}
