//! Names that programs bring with them: functions, and files of their sources. A program can be a stranger's, one name as long as its file, and one of a
//! hundred letters stand for a million, so that the names of a few faults would fill the memory of the host.

use std::fmt::{self, Write};

/// Bytes of a name that are kept; behind more stands an ellipsis.
pub const MOST_NAME_BYTES: usize = 512;

/// The begin of a text.
struct Begin(String);

impl Write for Begin {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // A name is a stranger's text, in the middle of a line that is ours.
        let text = &record::visible_name(text);
        let room = MOST_NAME_BYTES - self.0.len();
        if text.len() <= room {
            self.0.push_str(text);
            return Ok(());
        }
        let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        self.0.push_str(&text[..end]);
        self.0.push('…');
        // Who writes stops here: the rest is not even made.
        Err(fmt::Error)
    }
}

fn begin(text: fmt::Arguments) -> String {
    let mut begin = Begin(String::new());
    // An error says that it is full.
    let _ = begin.write_fmt(text);
    begin.0
}

/// The name of a symbol as its language writes it, without a hash, and cut to [`MOST_NAME_BYTES`].
pub fn readable(symbol: &str) -> String {
    begin(format_args!("{:#}", rustc_demangle::demangle(symbol)))
}

/// The path of a source, cut to [`MOST_NAME_BYTES`].
pub fn path(path: &str) -> String {
    begin(format_args!("{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A symbol in Rust's notation whose last parameter has 2^`levels` times two parts.
    fn doubling(levels: u32) -> String {
        const DIGITS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let back = |to: usize| match to {
            0 => "B_".to_owned(),
            1..=62 => format!("B{}_", DIGITS[to - 1] as char),
            _ => format!("B{}{}_", DIGITS[(to - 1) / 62] as char, DIGITS[(to - 1) % 62] as char),
        };
        let mut symbol = "IC1aTyyE".to_owned();
        let mut pair = 4;
        for _ in 0..levels {
            let here = symbol.len();
            symbol += &format!("T{0}{0}E", back(pair));
            pair = here;
        }
        format!("_R{symbol}E")
    }

    #[test]
    fn a_name_is_as_its_language_writes_it() {
        assert_eq!(readable("_ZN4core3ptr4read17h0123456789abcdefE"), "core::ptr::read");
        assert_eq!(readable("main"), "main");
        assert_eq!(readable(&doubling(1)), "a::<(u64, u64), ((u64, u64), (u64, u64))>");
        assert_eq!(readable(&"x".repeat(MOST_NAME_BYTES)).len(), MOST_NAME_BYTES);
    }

    #[test]
    fn a_name_has_no_line_of_its_own() {
        assert_eq!(readable("main()\nPASS: all\x1b[8m"), "main()\\x0aPASS: all\\x1b[8m");
        assert_eq!(path("a\n.c"), "a\\x0a.c");
    }

    #[test]
    fn a_name_without_end_has_one() {
        for long in [readable(&"é".repeat(1 << 20)), readable(&doubling(20)), path(&"/a".repeat(1 << 20))] {
            assert!(long.len() <= MOST_NAME_BYTES + '…'.len_utf8() && long.ends_with('…'), "{}", long.len());
        }
    }
}
