//! The manager's notes for an observer of the run: each grant, and its end. A domain can leave
//! markers, an id of 16 bits with a word each. A note consists of one to three markers. Nothing
//! that the manager does depends on a note.
//!
//! ```text
//! bit of an id   15  14..13  12..0
//! work            1  0       -                                           the word: descriptors; only with page tables
//! size            1  1       7..0 specification, 9..8 place, 10 pinned   the word: bytes
//! grant           1  2       4..0 client, 5 writes, 7..6 holder          the word: first address; completes a grant
//! end             1  3       4..0 client                                 the word: first address
//! ```

use spec::TablePlace;

const NOTE: u16 = 1 << 15;
const KIND_SHIFT: u32 = 13;
const WORK: u16 = NOTE;
const SIZE: u16 = NOTE | 1 << KIND_SHIFT;
const GRANT: u16 = NOTE | 2 << KIND_SHIFT;
const END: u16 = NOTE | 3 << KIND_SHIFT;
const KIND: u16 = END;
const CLIENT: u16 = 0x1f;
const WRITES: u16 = 1 << 5;
const HOLDER_SHIFT: u32 = 6;
const HOLDER: u16 = 0b11;
const SPEC: u16 = 0xff;
const PLACE_SHIFT: u32 = 8;
const PLACE: u16 = 0b11;
const PINNED: u16 = 1 << 10;

/// How a client has memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Holder {
    /// Alone.
    Private = 0,
    /// It is the client's own, and others may have it, too.
    Owner = 1,
    /// It is another client's.
    Member = 2,
}

impl Holder {
    const fn from_number(number: u16) -> Option<Holder> {
        match number {
            0 => Some(Holder::Private),
            1 => Some(Holder::Owner),
            2 => Some(Holder::Member),
            _ => None,
        }
    }
}

/// Memory that the manager let a client have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantNote {
    /// The client's number.
    pub client: u8,
    /// First address, as the client sees it.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// Temporal specification, as `TemporalSpec::bits` packs it.
    pub spec: u32,
    /// True if the client may write.
    pub write: bool,
    /// How it has it.
    pub holder: Holder,
    /// True if a region register, or an entry of the TLB, is pinned for it.
    pub pinned: bool,
    /// Location of its tables.
    pub place: TablePlace,
    /// Descriptors that mapping it takes at most; 0 with region registers.
    pub descriptors: u32,
}

/// A note of the manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A client has memory from now on. It need not be mapped yet.
    Granted(GrantNote),
    /// A client no longer has what began at an address.
    Ended {
        /// The client's number.
        client: u8,
        /// The address.
        base: u32,
    },
}

impl Note {
    /// The markers that say it: id and word, in this order.
    pub fn marks(&self) -> impl Iterator<Item = (u16, u32)> {
        let marks = match *self {
            Note::Ended { client, base } => [None, None, Some((END | u16::from(client) & CLIENT, base))],
            Note::Granted(told) => {
                let bit = |set: bool, bit: u16| if set { bit } else { 0 };
                let who =
                    u16::from(told.client) & CLIENT | bit(told.write, WRITES) | (told.holder as u16) << HOLDER_SHIFT;
                let how = told.spec as u16 & SPEC | (told.place as u16) << PLACE_SHIFT | bit(told.pinned, PINNED);
                let work = (told.descriptors > 0).then_some((WORK, told.descriptors));
                [work, Some((SIZE | how, told.bytes)), Some((GRANT | who, told.base))]
            }
        };
        marks.into_iter().flatten()
    }
}

/// Returns true if a marker with this id is part of a note.
pub const fn is_note(id: u16) -> bool {
    id & NOTE != 0
}

/// A marker that no manager writes at this point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strange;

/// Puts notes together from markers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader {
    work: Option<u32>,
    size: Option<(u16, u32)>,
}

impl Reader {
    /// Takes the manager's next marker. Returns a note if it is complete with it, and `None` if it
    /// is not, or if the marker belongs to no note.
    ///
    /// # Errors
    /// [`Strange`] when the marker does not follow those before it, or has bits without a meaning; it begins anew then.
    pub fn take(&mut self, id: u16, word: u32) -> Result<Option<Note>, Strange> {
        let Reader { work, size } = core::mem::take(self);
        match id & KIND {
            _ if !is_note(id) => {
                *self = Reader { work, size };
                Ok(None)
            }
            WORK if id == WORK && work.is_none() && size.is_none() && word > 0 => {
                self.work = Some(word);
                Ok(None)
            }
            SIZE if size.is_none() && id & !(KIND | SPEC | PLACE << PLACE_SHIFT | PINNED) == 0 => {
                *self = Reader { work, size: Some((id, word)) };
                Ok(None)
            }
            GRANT if id & !(KIND | CLIENT | WRITES | HOLDER << HOLDER_SHIFT) == 0 => {
                let (how, bytes) = size.ok_or(Strange)?;
                let holder = Holder::from_number(id >> HOLDER_SHIFT & HOLDER).ok_or(Strange)?;
                let place = TablePlace::from_number(u32::from(how >> PLACE_SHIFT & PLACE)).ok_or(Strange)?;
                Ok(Some(Note::Granted(GrantNote {
                    client: (id & CLIENT) as u8,
                    base: word,
                    bytes,
                    spec: u32::from(how & SPEC),
                    write: id & WRITES != 0,
                    holder,
                    pinned: how & PINNED != 0,
                    place,
                    descriptors: work.unwrap_or(0),
                })))
            }
            END if id & !(KIND | CLIENT) == 0 && work.is_none() && size.is_none() => {
                Ok(Some(Note::Ended { client: (id & CLIENT) as u8, base: word }))
            }
            _ => Err(Strange),
        }
    }
}

const _: () = assert!(crate::holding::MAX_CLIENTS <= CLIENT as usize + 1 && spec::PLACES <= PLACE as usize + 1);
