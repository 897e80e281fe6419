//! Text that others have written, guests above all, where a person reads it: what a terminal would obey, and what would make it show something else than
//! is there, is made visible.

use std::fmt::Write;

/// Whether a terminal or a page would show something else than this character: controls, separators of lines, and formats that change the order of what
/// stands around them or are not seen themselves.
const fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The same bytes for a terminal or a page: control characters and bytes that are no UTF-8 as `\x1b`, other characters that are not seen as `\u{202e}`.
/// Ends of lines and tabs stay.
pub fn visible_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut letters = chunk.valid().chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\n' | '\t' => out.push(letter),
                '\r' if letters.peek() == Some(&'\n') => {}
                '\0'..='\x1f' | '\x7f' => push(&mut out, format_args!("\\x{:02x}", u32::from(letter))),
                _ if is_hidden(letter) => push(&mut out, format_args!("\\u{{{:x}}}", u32::from(letter))),
                _ => out.push(letter),
            }
        }
        chunk.invalid().iter().for_each(|byte| push(&mut out, format_args!("\\x{byte:02x}")));
    }
    out
}

/// The same of a name, which is part of one line: its ends of lines and tabs are made visible, too.
pub fn visible_name(name: &str) -> String {
    visible(name).replace('\n', "\\x0a").replace('\t', "\\x09")
}

/// The same of a text.
pub fn visible(text: &str) -> String {
    visible_bytes(text.as_bytes())
}

/// A document in JSON, with what is hidden in its strings as JSON writes it: `\u202e`.
pub fn visible_json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for letter in document.chars() {
        if is_hidden(letter) && !letter.is_ascii_whitespace() {
            let mut units = [0; 2];
            letter.encode_utf16(&mut units).iter().for_each(|unit| push(&mut out, format_args!("\\u{unit:04x}")));
        } else {
            out.push(letter);
        }
    }
    out
}

fn push(out: &mut String, text: std::fmt::Arguments) {
    out.write_fmt(text).expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_nothing_to_obey_and_nothing_is_lost() {
        let shown = visible_bytes(
            b"\x1b[32mOK\x1b[0m caf\xe9 a\tb\x01\r\nx\ry\x7f\xc2\x9b2J \xe2\x80\xaetxt.exe\xef\xbb\xbf\xf0",
        );
        assert_eq!(
            shown,
            "\\x1b[32mOK\\x1b[0m caf\\xe9 a\tb\\x01\nx\\x0dy\\x7f\\u{9b}2J \\u{202e}txt.exe\\u{feff}\\xf0"
        );
        let plain = "déjà vu: 10 µs, 漢字 🙂\n";
        assert_eq!(visible(plain), plain);
    }

    #[test]
    fn a_name_stays_in_its_line() {
        assert_eq!(visible_name("main()\nPASS\t\r\n\x1b[8m"), "main()\\x0aPASS\\x09\\x0a\\x1b[8m");
    }

    #[test]
    fn every_character_of_every_kind_is_harmless_afterwards() {
        for letter in (0..=0x0010_ffff).filter_map(char::from_u32) {
            let shown = visible(&letter.to_string());
            assert!(shown.chars().all(|shown| !is_hidden(shown) || "\n\t".contains(shown)), "{letter:?}");
            assert!(!letter.is_control() || shown != letter.to_string() || "\n\t".contains(letter), "{letter:?}");
        }
    }

    #[test]
    fn a_document_says_the_same() {
        let value = serde_json::json!({"console": "\u{202e}a\u{7f}\u{9b}\n\u{e0041}", "plain": "é"});
        let text = visible_json(&format!("{value:#}"));
        assert!(text.chars().all(|letter| !is_hidden(letter) || letter == '\n'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
