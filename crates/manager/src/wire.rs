//! The messages through the manager's gate: one message of 64 bytes in the caller's memory.
//!
//! The caller writes a [`Request`], calls the gate with the message's address as its first argument, and finds an
//! [`Answer`] in the same place. The gate's own result says only whether there is an answer: it is an error (`BAD_ADDRESS`,
//! `BAD_ARGUMENT`) when the message could not be read, decoded or written, and nothing has happened then.
//!
//! ```text
//! word       0          1     2      3        4          5       6       7     8      9            10   11
//! request    operation  spec  bytes  address  alignment  access  life    of    name of a domain (four words)
//! granted    0          base  bytes  spec     level      cycles  method  left  place  descriptors  map  release
//! refused    1          rule  asked  left     change     value
//! done       2          left
//! ```
//! In a request, the name of shared memory follows in words 12 to 15. Word 7 counts for `EXPLAIN` only: the number of the operation
//! that was refused, and from bit 16 on the step.

/// Words of a message: as many as `gate_copy_in` moves, so that one call is enough.
pub const MESSAGE_WORDS: usize = 16;
/// Bytes of a message.
pub const MESSAGE_BYTES: usize = MESSAGE_WORDS * 4;
/// Bytes of the name of a domain, or of shared memory, padded with zeros.
pub const NAME_BYTES: usize = 16;
/// The word of a request that says how often its domain has been restarted: the kernel tells no
/// manager of a restart.
pub const LIFE_WORD: usize = 6;
const OF_WORD: usize = 7;
const NAME_WORD: usize = 8;
const SHARE_WORD: usize = 12;

/// A name as the words of a message.
fn to_words(name: &[u8; NAME_BYTES]) -> [u32; 4] {
    // Nothing is cut, because the length of the name is that of the words.
    [0, 4, 8, 12].map(|at| u32::from_le_bytes([name[at], name[at + 1], name[at + 2], name[at + 3]]))
}

/// A name in its field; the first 16 bytes count.
pub fn padded(name: &str) -> [u8; NAME_BYTES] {
    let mut field = [0; NAME_BYTES];
    let bytes = name.len().min(NAME_BYTES);
    field[..bytes].copy_from_slice(&name.as_bytes()[..bytes]);
    field
}

/// A message as it lies in memory.
pub type Message = [u32; MESSAGE_WORDS];

macro_rules! operations {
    ($($(#[doc = $doc:literal])* $name:ident = $number:literal;)*) => {
        /// The operation that a request asks for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Operation { $($(#[doc = $doc])* $name = $number,)* }

        impl Operation {
            /// Every operation, in the order of the numbers.
            pub const ALL: &'static [Operation] = &[$(Operation::$name),*];

            /// Decodes a number.
            pub const fn from_number(number: u32) -> Option<Operation> {
                match number { $($number => Some(Operation::$name),)* _ => None }
            }
        }
    };
}

operations! {
    /// Memory of `bytes` with `spec`; at `address` unless that is 0. Answer: granted or refused.
    Grant = 1;
    /// The caller's own shared memory `share`, made when there is none. Answer: granted or refused.
    Share = 2;
    /// Lets the domain `name` (empty: every one that the manifest names) map the caller's shared memory `share` with `access`;
    /// no access takes the permission away. Answer: done, or refused.
    Permit = 3;
    /// Ends the access of other domains to the caller's shared memory `share`, some of them in each call. Answer: done, with the
    /// number of domains left.
    Revoke = 4;
    /// Gives back what was granted at `address`. Answer: done, with the bytes left to scrub.
    Release = 5;
    /// One step of taking what was released at `address` out of the caller's table, and then of scrubbing it. Answer: done, with the bytes
    /// left.
    Scrub = 6;
    /// The bound of what was granted around `address`. Answer: granted, or refused when nothing was.
    Query = 7;
    /// One step of taking back everything that a domain holds: the caller itself, or (for the holder of the
    /// supervisor's badge) the domain `name`, or without a name the one numbered in `address`. Answer: done, with the number of things left.
    Reclaim = 8;
    /// One step of mapping what was granted at `address`, as long as some of it is left. Answer: done, with the bytes left.
    Map = 9;
    /// The shared memory `share` of the domain `name`, which is another. Answer: granted or refused.
    Join = 10;
    /// One step of looking for the smallest change of a refused `GRANT`, `SHARE` or `JOIN`, whose words stand in the request; nothing
    /// changes. Answer: refused, with the change, or with `change::UNKNOWN` and the next step as long as there is one; done when the
    /// request would no longer be refused.
    Explain = 11;
}

/// Bits of [`Request::access`].
pub mod access {
    /// The caller reads (every mapping does).
    pub const READ: u32 = abi::access::READ;
    /// The caller writes.
    pub const WRITE: u32 = abi::access::WRITE;
    /// Every domain that the manifest names may map the shared memory to read it.
    pub const ALL_READ: u32 = 4;
    /// Every domain that the manifest lets write may map the shared memory to read and write it.
    pub const ALL_WRITE: u32 = 8;
    /// Every bit.
    pub const ALL: u32 = 15;
}

/// The request that an `EXPLAIN` is about, and the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The operation that was refused: one that asks for memory.
    pub operation: Operation,
    /// The step of the search, from 0 on.
    pub step: u16,
}

impl Explained {
    const STEP_SHIFT: u32 = 16;

    const fn encode(self) -> u32 {
        self.operation as u32 | (self.step as u32) << Self::STEP_SHIFT
    }

    /// `None` if the operation asks for no memory: there is nothing to explain then.
    const fn decode(word: u32) -> Option<Explained> {
        let step = (word >> Self::STEP_SHIFT) as u16;
        match Operation::from_number(word & ((1 << Self::STEP_SHIFT) - 1)) {
            Some(operation @ (Operation::Grant | Operation::Share | Operation::Join)) => {
                Some(Explained { operation, step })
            }
            _ => None,
        }
    }
}

/// A request, decoded but not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub operation: Operation,
    /// The temporal specification as `TemporalSpec::bits` packs it.
    pub spec: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// An address, or the number of a domain, as the operation says.
    pub address: u32,
    /// Alignment of shared memory in bytes, a power of two; 0 for any.
    pub alignment: u32,
    /// Bits of [`access`].
    pub access: u32,
    /// How often the caller has been restarted.
    pub life: u32,
    /// The request that an [`Operation::Explain`] is about; `None` for every other operation.
    pub of: Option<Explained>,
    /// Name of a domain, padded with zero bytes; empty when none is named.
    pub name: [u8; NAME_BYTES],
    /// Name of shared memory among its owner's, padded with zero bytes; empty when none is named.
    pub share: [u8; NAME_BYTES],
}

impl Request {
    /// A request with nothing but its operation.
    pub const fn new(operation: Operation) -> Request {
        let none = [0; NAME_BYTES];
        let (name, share) = (none, none);
        Request { operation, spec: 0, bytes: 0, address: 0, alignment: 0, access: 0, life: 0, of: None, name, share }
    }

    /// The same request about an address or a number.
    #[must_use]
    pub const fn about(self, address: u32) -> Request {
        Request { address, ..self }
    }

    /// The same request with the name of a domain. The first 16 bytes of the name count.
    #[must_use]
    pub fn with(self, name: &str) -> Request {
        Request { name: padded(name), ..self }
    }

    /// The same request about shared memory of that name. The first 16 bytes of the name count.
    #[must_use]
    pub fn of(self, share: &str) -> Request {
        Request { share: padded(share), ..self }
    }

    /// The request for a step of explaining this one, or the one that this one explains.
    #[must_use]
    pub fn explained(self, step: u16) -> Request {
        let operation = self.of.map_or(self.operation, |explained| explained.operation);
        Request { operation: Operation::Explain, of: Some(Explained { operation, step }), ..self }
    }

    /// Writes the request as words.
    pub fn encode(&self) -> Message {
        let mut words = [0; MESSAGE_WORDS];
        words[..7].copy_from_slice(&[
            self.operation as u32,
            self.spec,
            self.bytes,
            self.address,
            self.alignment,
            self.access,
            self.life,
        ]);
        words[OF_WORD] = self.of.map_or(0, Explained::encode);
        words[NAME_WORD..SHARE_WORD].copy_from_slice(&to_words(&self.name));
        words[SHARE_WORD..].copy_from_slice(&to_words(&self.share));
        words
    }

    /// Reads a request from words of any value. Returns `None` if no operation has that number, or
    /// if an `EXPLAIN` is about one that does not ask for memory.
    pub fn decode(words: &Message) -> Option<Request> {
        let name_at = |first: usize| {
            let mut name = [0; NAME_BYTES];
            for (bytes, word) in name.chunks_exact_mut(4).zip(&words[first..]) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            name
        };
        let operation = Operation::from_number(words[0])?;
        let of = match operation {
            Operation::Explain => Some(Explained::decode(words[OF_WORD])?),
            _ => None,
        };
        Some(Request {
            operation,
            of,
            spec: words[1],
            bytes: words[2],
            address: words[3],
            alignment: words[4],
            access: words[5],
            life: words[LIFE_WORD],
            name: name_at(NAME_WORD),
            share: name_at(SHARE_WORD),
        })
    }
}

/// Memory that was granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// First address.
    pub base: u32,
    /// Usable bytes, at least as many as were asked for.
    pub bytes: u32,
    /// The specification that holds, as `TemporalSpec::bits` packs it.
    pub spec: u32,
    /// The level at which accesses are checked: number of an access level.
    pub level: u32,
    /// Most cycles that checking one access adds.
    pub cycles: u32,
    /// How the bound was found: number of a method; 0 when nothing is promised.
    pub method: u32,
    /// Bytes at the end that are not mapped yet: [`Operation::Map`] goes on.
    pub left: u32,
    /// Location of the tables that the check may read: number of a `spec::TablePlace`, and [`place::PINNED`] and [`place::PARTLY`].
    pub place: u32,
    /// Descriptors of page tables at most; 0 with region registers.
    pub descriptors: u32,
    /// Cycles to map all of it, at most, in all steps, found as [`place::OBSERVED`] says; 0 where nothing is said.
    pub map_cycles: u32,
    /// Cycles to take it out of the table again, clearing apart.
    pub release_cycles: u32,
}

/// Bits of [`Granted::place`] beside the place.
pub mod place {
    /// The place of the tables.
    pub const TABLE: u32 = 0xff;
    /// Region registers or locked entries: tables are not read.
    pub const PINNED: u32 = 0x100;
    /// Independence was asked for, and is kept in part only.
    pub const PARTLY: u32 = 0x200;
    /// The cycles of mapping and releasing are observed maxima; otherwise they are derived.
    pub const OBSERVED: u32 = 0x400;
}

impl Granted {
    /// Location of its tables; `None` when they are not read.
    pub const fn tables(&self) -> Option<spec::TablePlace> {
        if self.place & place::PINNED != 0 { None } else { spec::TablePlace::from_number(self.place & place::TABLE) }
    }

    /// Says which part is independent of other domains and which is not, if independence was asked
    /// for and is kept in part.
    pub const fn partly(&self) -> Option<spec::Independence> {
        if self.place & place::PARTLY == 0 {
            return None;
        }
        let pinned = self.place & place::PINNED != 0;
        match spec::TablePlace::from_number(self.place & place::TABLE) {
            Some(place) => Some(spec::Pages::independence(pinned, place)),
            None => None,
        }
    }
}

/// Why a request was not granted, and what would have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Number of the rule, as `spec::Refusal` has it.
    pub rule: u32,
    /// The amount asked for, in the rule's unit.
    pub asked: u32,
    /// The amount left, in the rule's unit.
    pub left: u32,
    /// Change that would help: number of a kind of change.
    pub change: u32,
    /// The value to which it would have to change.
    pub value: u32,
}

/// The manager's answer in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Memory, with its bound.
    Granted(Granted),
    /// Nothing has changed.
    Refused(Refused),
    /// It was done; so much is left to do.
    Done(u32),
}

const GRANTED: u32 = 0;
const REFUSED: u32 = 1;
const DONE: u32 = 2;

impl Answer {
    /// Writes the answer as words.
    pub fn encode(&self) -> Message {
        let mut words = [0; MESSAGE_WORDS];
        match *self {
            Answer::Granted(granted) => {
                let Granted { base, bytes, spec, level, cycles, method, left, place, .. } = granted;
                let Granted { descriptors, map_cycles, release_cycles, .. } = granted;
                words[..8].copy_from_slice(&[GRANTED, base, bytes, spec, level, cycles, method, left]);
                words[8..12].copy_from_slice(&[place, descriptors, map_cycles, release_cycles]);
            }
            Answer::Refused(Refused { rule, asked, left, change, value }) => {
                words[..6].copy_from_slice(&[REFUSED, rule, asked, left, change, value]);
            }
            Answer::Done(left) => words[..2].copy_from_slice(&[DONE, left]),
        }
        words
    }

    /// Reads an answer; `None` when the words hold none.
    pub fn decode(words: &Message) -> Option<Answer> {
        let [kind, a, b, c, d, e, f, left, place, descriptors, map_cycles, release_cycles, ..] = *words;
        Some(match kind {
            GRANTED => Answer::Granted(Granted {
                base: a,
                bytes: b,
                spec: c,
                level: d,
                cycles: e,
                method: f,
                left,
                place,
                descriptors,
                map_cycles,
                release_cycles,
            }),
            REFUSED => Answer::Refused(Refused { rule: a, asked: b, left: c, change: d, value: e }),
            DONE => Answer::Done(a),
            _ => return None,
        })
    }
}
