//! Numbers as C's `strtod` reads them (ISO C 7.22.1.3): decimal, hexadecimal, `inf` and `nan`.

use crate::binary::{Binary, nearest};

/// A number at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found<F> {
    /// The number nearest to the text, half to even; zero if there is none.
    pub value: F,
    /// Bytes of the text that it has, blanks in front included; 0 if there is none.
    pub taken: usize,
    /// The text's number is beyond the format's range: the value is infinite, or tiny and not exact.
    pub out_of_range: bool,
}

/// What a text begins with, without blanks and sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nothing,
    Infinity,
    Nan,
    Decimal,
    Hexadecimal,
}

/// A text whose end need not be known: a byte is read only after all in front of it were found to
/// belong to a number.
pub trait Letters {
    /// The byte at an index; 0 at the end.
    fn at(&self, index: usize) -> u8;
    /// Bytes that [`Letters::at`] has returned.
    fn part(&self, from: usize, to: usize) -> &[u8];
}

impl Letters for [u8] {
    fn at(&self, index: usize) -> u8 {
        self.get(index).copied().unwrap_or(0)
    }
    fn part(&self, from: usize, to: usize) -> &[u8] {
        &self[from..to]
    }
}

/// The number at the beginning of a text.
///
/// # Time complexity
/// O(letters of the number).
pub fn read<F: Binary>(text: &(impl Letters + ?Sized)) -> Found<F> {
    let blanks = run(text, 0, |byte| matches!(byte, b' ' | b'\t'..=b'\r'));
    let is_negative = text.at(blanks) == b'-';
    let begin = blanks + usize::from(is_negative || text.at(blanks) == b'+');
    let (kind, end) = extent(text, begin);
    let (value, out_of_range) = match kind {
        Kind::Nothing => return Found { value: F::zero(), taken: 0, out_of_range: false },
        Kind::Infinity => (F::infinity(), false),
        Kind::Nan => (F::nan(), false),
        Kind::Decimal => decimal(text.part(begin, end)),
        Kind::Hexadecimal => hexadecimal(text.part(begin + 2, end)),
    };
    Found { value: if is_negative { value.negated() } else { value }, taken: end, out_of_range }
}

/// The end of the bytes of a kind that stand from an index on.
fn run(text: &(impl Letters + ?Sized), from: usize, is: impl Fn(u8) -> bool) -> usize {
    (from..).find(|&at| !is(text.at(at))).unwrap_or(from)
}

/// Returns true if a word stands there, in small or capital letters.
fn has(text: &(impl Letters + ?Sized), from: usize, word: &str) -> bool {
    word.bytes().enumerate().all(|(at, letter)| text.at(from + at).to_ascii_lowercase() == letter)
}

/// What begins at an index, and its end.
fn extent(text: &(impl Letters + ?Sized), begin: usize) -> (Kind, usize) {
    if has(text, begin, "inf") {
        return (Kind::Infinity, begin + if has(text, begin + 3, "inity") { 8 } else { 3 });
    }
    if has(text, begin, "nan") {
        let end = begin + 3;
        let within = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let close = if text.at(end) == b'(' { run(text, end + 1, within) } else { end };
        return (Kind::Nan, if close > end && text.at(close) == b')' { close + 1 } else { end });
    }
    if has(text, begin, "0x")
        && let Some(end) = digits(text, begin + 2, |byte| byte.is_ascii_hexdigit())
    {
        return (Kind::Hexadecimal, exponent(text, end, b'p'));
    }
    match digits(text, begin, |byte| byte.is_ascii_digit()) {
        Some(end) => (Kind::Decimal, exponent(text, end, b'e')),
        None => (Kind::Nothing, begin),
    }
}

/// The end of digits with a point among them, in front or behind; `None` without a digit.
fn digits(text: &(impl Letters + ?Sized), begin: usize, is: impl Fn(u8) -> bool) -> Option<usize> {
    let point = run(text, begin, &is);
    if text.at(point) != b'.' {
        return (point > begin).then_some(point);
    }
    let end = run(text, point + 1, &is);
    (end - begin > 1).then_some(end)
}

/// The end of the exponent that begins at an index with a letter; the index if there is none.
fn exponent(text: &(impl Letters + ?Sized), from: usize, letter: u8) -> usize {
    if text.at(from).to_ascii_lowercase() != letter {
        return from;
    }
    let first = from + 1 + usize::from(matches!(text.at(from + 1), b'+' | b'-'));
    let end = run(text, first, |byte| byte.is_ascii_digit());
    if end > first { end } else { from }
}

fn decimal<F: Binary>(text: &[u8]) -> (F, bool) {
    // Digits, a point and an exponent are what the core library reads, too.
    let value = core::str::from_utf8(text).ok().and_then(F::parse).unwrap_or(F::nan());
    let significand = text.iter().take_while(|byte| !byte.eq_ignore_ascii_case(&b'e'));
    let is_zero = !{ significand }.any(|byte| (b'1'..=b'9').contains(byte));
    (value, value.is_infinite() || value.is_tiny() && !is_zero)
}

/// Exponents beyond are as good as this one: no text is long enough to come back into range.
const FAR: i64 = 1 << 40;

/// Behind `0x`.
fn hexadecimal<F: Binary>(text: &[u8]) -> (F, bool) {
    const FULL: u64 = 1 << 60;
    let (mut value, mut scale, mut more, mut is_fraction) = (0u64, 0i64, false, false);
    let mut bytes = text.iter();
    for &byte in bytes.by_ref() {
        match (byte, char::from(byte).to_digit(16)) {
            (b'.', _) => is_fraction = true,
            (_, Some(digit)) if value < FULL => {
                value = value << 4 | u64::from(digit);
                scale -= if is_fraction { 4 } else { 0 };
            }
            (_, Some(digit)) => {
                more |= digit != 0;
                scale += if is_fraction { 0 } else { 4 };
            }
            _ => break,
        }
    }
    let (mut exponent, mut is_negative) = (0i64, false);
    for &byte in bytes {
        match byte {
            b'-' => is_negative = true,
            b'0'..=b'9' => exponent = (exponent * 10 + i64::from(byte - b'0')).min(FAR),
            _ => {}
        }
    }
    nearest(value, scale + if is_negative { -exponent } else { exponent }, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (f64, usize) {
        let Found { value, taken, .. } = read::<f64>(text.as_bytes());
        (value, taken)
    }

    /// Texts with their values and lengths (ISO C 7.22.1.3).
    #[test]
    fn the_longest_beginning_that_is_a_number_is_taken() {
        for (text, value, taken) in [
            ("0x", 0.0, 1),
            ("0xg", 0.0, 1),
            ("0x.", 0.0, 1),
            ("0xp1", 0.0, 1),
            ("0x1p", 1.0, 3),
            ("0x1p+", 1.0, 3),
            ("0x.8", 0.5, 4),
            ("0X1.8", 1.5, 5),
            ("0x.08P-1z", 0.015625, 8),
            ("infinit", f64::INFINITY, 3),
            ("-INFINITY", f64::NEG_INFINITY, 9),
            ("in", 0.0, 0),
            ("1e", 1.0, 1),
            ("1e+", 1.0, 1),
            (" \t\n+1.e2x", 100.0, 8),
            (".5", 0.5, 2),
            ("-.", 0.0, 0),
            (".e1", 0.0, 0),
            ("1e400", f64::INFINITY, 5),
            ("1e-99999999999999999999", 0.0, 23),
            ("0x1p99999999999999999999", f64::INFINITY, 24),
            ("0x0p99999999999999999999", 0.0, 24),
            ("9007199254740993", 9_007_199_254_740_992.0, 16),
            ("0x1.fffffffffffff8p0", 2.0, 20),
            ("0x1.fffffffffffff7ffffffffffffffffp0", 2.0 - f64::EPSILON, 36),
            ("0x20000000000001p0", 9_007_199_254_740_992.0, 18),
            ("0x20000000000001.000000000000000000001p0", 9_007_199_254_740_994.0, 40),
            ("2.4703282292062328e-324", f64::from_bits(1), 23),
            ("2.4703282292062327e-324", 0.0, 23),
            ("1,5", 1.0, 1),
        ] {
            assert_eq!(of(text), (value, taken), "{text}");
        }
        assert!(of("-0x").0.is_sign_negative() && of("-0").1 == 2);
        assert!(of("nan(a_1)").0.is_nan() && of("nan(a_1)").1 == 8 && of("NaN(").1 == 3 && of("nan(").1 == 3);
        assert_eq!(of(&std::format!("0x{}1p-4000", "0".repeat(100))), (0.0, 109));
        assert_eq!(of(&std::format!("0x1{}p-4000", "0".repeat(1000))), (1.0, 1009));
        assert_eq!(of(&std::format!("0x.{}1p4004", "0".repeat(1000))), (1.0, 1009));
    }

    #[test]
    fn what_is_out_of_range_is_told() {
        let far = |text: &str| (read::<f64>(text.as_bytes()).out_of_range, read::<f32>(text.as_bytes()).out_of_range);
        assert_eq!(far("1e400"), (true, true));
        assert_eq!(far("1e39"), (false, true));
        assert_eq!(far("1e-400"), (true, true));
        assert_eq!(far("1e-310"), (true, true));
        assert_eq!(far("0x1p-1074"), (false, true));
        assert_eq!(far("0x1p-149"), (false, false));
        assert_eq!(far("0x1.8p-149"), (false, true));
        assert_eq!(far("0e999"), (false, false));
        assert_eq!(far("inf"), (false, false));
    }

    #[test]
    fn single_numbers_are_rounded_once() {
        // Rounded to a double first, it would be half-way, and then even.
        assert_eq!(read::<f32>(b"1.00000005960464477540".as_slice()).value, 1.000_000_1);
        assert_eq!(read::<f32>(b"0x1.000001000000000000001".as_slice()).value, 1.000_000_1);
    }
}
