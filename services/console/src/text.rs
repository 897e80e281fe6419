//! The bytes that a terminal gets: printable ones, and UTF-8 as RFC 3629 has it. Control characters, of which UTF-8 has some beyond ASCII (U+0080 to
//! U+009F), could make a terminal show one client's text as another's.

/// Bytes of one client, one after another.
#[derive(Clone, Copy)]
pub struct Filter {
    /// Bytes that the character still lacks.
    lacking: u8,
    /// The next of them is at least this: below are control characters, and longer forms of shorter characters.
    least: u8,
}

impl Filter {
    pub const fn new() -> Filter {
        Filter { lacking: 0, least: FIRST }
    }

    /// The byte to print in the place of the client's next one.
    pub fn pass(&mut self, byte: u8) -> u8 {
        let (lacking, least) = match byte {
            b'\n' | b'\t' | b' '..=b'~' => (0, FIRST),
            FIRST..=LAST if self.lacking > 0 && byte >= self.least => (self.lacking - 1, FIRST),
            // The second byte of these is higher: RFC 3629, section 4; behind 0xc2 stand the controls.
            0xc2 => (1, 0xa0),
            0xe0 => (2, 0xa0),
            0xf0 => (3, 0x90),
            0xc3..=0xdf => (1, FIRST),
            0xe1..=0xef => (2, FIRST),
            0xf1..=0xf4 => (3, FIRST),
            _ => {
                *self = Filter::new();
                return b'?';
            }
        };
        *self = Filter { lacking, least };
        byte
    }
}

/// Bytes of a character behind its first.
const FIRST: u8 = 0x80;
const LAST: u8 = 0xbf;
