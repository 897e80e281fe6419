//! Numbers as text.

use core::fmt::{self, Write};

/// Most digits behind the point that can be other than zero: those of the smallest number, 2^-1074.
pub const MOST_PLACES: usize = 1074;
/// Most digits of a number that can be other than zero.
pub const MOST_DIGITS: usize = 767;

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `12.50`: so many digits behind the point.
    Fixed(usize),
    /// `1.250e1`: so many digits behind the point, and the exponent as short as it is.
    Exponent(usize),
}

/// Writes the magnitude of a finite number, rounded half to even from its exact value. Returns its length, or `None` if there is no room.
/// More than [`MOST_PLACES`] digits are not written: what follows are zeros.
///
/// # Time complexity
/// O(digits written), with a constant of some microseconds.
pub fn write(value: f64, form: Form, to: &mut [u8]) -> Option<usize> {
    let mut room = Room { bytes: to, used: 0 };
    let value = value.abs();
    match form {
        Form::Fixed(places) => write!(room, "{value:.*}", places.min(MOST_PLACES)),
        Form::Exponent(places) => write!(room, "{value:.*e}", places.min(MOST_PLACES)),
    }
    .ok()?;
    Some(room.used)
}

struct Room<'a> {
    bytes: &'a mut [u8],
    used: usize,
}

impl Write for Room<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let place = self.bytes.get_mut(self.used..self.used + text.len()).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.used += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: f64, form: Form) -> std::string::String {
        let mut bytes = [0; 1500];
        let length = write(value, form, &mut bytes).unwrap();
        core::str::from_utf8(&bytes[..length]).unwrap().into()
    }

    /// Each expected text is what the C library of the host prints.
    #[test]
    fn digits_are_rounded_half_to_even_from_the_exact_value() {
        for (value, form, expected) in [
            (0.45, Form::Fixed(0), "0"),
            (0.5, Form::Fixed(0), "0"),
            (1.5, Form::Fixed(0), "2"),
            (2.5, Form::Fixed(0), "2"),
            (0.125, Form::Fixed(2), "0.12"),
            (0.25, Form::Fixed(1), "0.2"),
            (-1.25, Form::Fixed(3), "1.250"),
            (0.1, Form::Fixed(20), "0.10000000000000000555"),
            (1e-5, Form::Fixed(20), "0.00001000000000000000"),
            (1e22, Form::Fixed(1), "10000000000000000000000.0"),
            (5e-324, Form::Exponent(3), "4.941e-324"),
            (9.5, Form::Exponent(0), "1e1"),
            (8.5, Form::Exponent(0), "8e0"),
            (0.0, Form::Exponent(2), "0.00e0"),
        ] {
            assert_eq!(text(value, form), expected, "{value:e} {form:?}");
        }
    }

    #[test]
    fn the_longest_numbers_fit_and_one_byte_less_does_not() {
        assert_eq!(text(f64::MAX, Form::Fixed(0)).len(), 309);
        let smallest = text(f64::from_bits(1), Form::Fixed(5000));
        assert_eq!(smallest.len(), 2 + MOST_PLACES);
        assert!(smallest.ends_with("5625"));
        assert_eq!(
            text(f64::from_bits((1 << 52) - 1), Form::Fixed(5000)).trim_start_matches(['0', '.']).len(),
            MOST_DIGITS
        );
        assert_eq!(write(1.5, Form::Fixed(1), &mut [0; 2]), None);
        assert_eq!(write(1.5, Form::Fixed(1), &mut [0; 3]), Some(3));
    }
}
