//! The binary formats of floating-point numbers (IEEE 754), as far as text needs them.

/// A binary format.
pub trait Binary: Copy {
    /// Bits of the significand, the one that is not stored included.
    const DIGITS: u32;
    /// Exponent of the smallest number.
    const LEAST: i32;
    /// Every number is below 2 to this power.
    const MOST: i32;

    /// The number with these bits.
    fn from_bits(bits: u64) -> Self;
    /// A decimal number in the form that Rust's core library reads.
    fn parse(text: &str) -> Option<Self>;
    /// Returns true if it is zero or subnormal.
    fn is_tiny(self) -> bool;
    /// Returns true if it is infinite.
    fn is_infinite(self) -> bool;
    /// Its negative.
    fn negated(self) -> Self;

    /// Zero.
    fn zero() -> Self {
        Self::from_bits(0)
    }

    /// Infinity.
    fn infinity() -> Self {
        Self::from_bits(((Self::MOST - Self::DIGITS as i32 - Self::LEAST + 2) as u64) << (Self::DIGITS - 1))
    }

    /// A quiet value that is no number.
    fn nan() -> Self {
        Self::from_bits(
            ((Self::MOST - Self::DIGITS as i32 - Self::LEAST + 2) as u64) << (Self::DIGITS - 1)
                | 1 << (Self::DIGITS - 2),
        )
    }
}

macro_rules! binary {
    ($float:ty, $bits:ty, $least:expr) => {
        impl Binary for $float {
            const DIGITS: u32 = <$float>::MANTISSA_DIGITS;
            const LEAST: i32 = $least;
            const MOST: i32 = <$float>::MAX_EXP;

            fn from_bits(bits: u64) -> Self {
                <$float>::from_bits(bits as $bits)
            }
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }
            fn is_tiny(self) -> bool {
                self.abs() < <$float>::MIN_POSITIVE
            }
            fn is_infinite(self) -> bool {
                self.is_infinite()
            }
            fn negated(self) -> Self {
                -self
            }
        }
    };
}
binary!(f32, u32, -149);
binary!(f64, u64, -1074);

/// The number nearest to `digits` times 2 to the power of `exponent`, half to even; `more`: a little more than that, less than one of the last
/// digit, where `digits` has 60 bits at least. Also whether it is out of the format's range: it is infinite, or tiny and rounded.
pub fn nearest<F: Binary>(digits: u64, exponent: i64, more: bool) -> (F, bool) {
    if digits == 0 {
        return (F::zero(), false);
    }
    let width = i64::from(u64::BITS - digits.leading_zeros());
    let dropped = (width - i64::from(F::DIGITS)).max(i64::from(F::LEAST) - exponent);
    let at = exponent + dropped;
    if at + i64::from(F::DIGITS) > i64::from(F::MOST) {
        return (F::infinity(), true);
    }
    let (kept, is_rounded) = match dropped {
        ..=0 => (digits << -dropped, more),
        1..=63 => {
            let (unit, half) = (1 << dropped, 1 << (dropped - 1));
            let rest = digits & (unit - 1);
            let kept = digits >> dropped;
            let up = rest > half || rest == half && (more || kept & 1 == 1);
            (kept + u64::from(up), rest != 0 || more)
        }
        // With 64 digits a half or more may be dropped; beyond that less than a half.
        64 => (u64::from(digits > 1 << 63 || digits == 1 << 63 && more), true),
        _ => (0, true),
    };
    // A carry beyond the significand goes on into the exponent, as it should.
    let value = F::from_bits((((at - i64::from(F::LEAST)) as u64) << (F::DIGITS - 1)) + kept);
    (value, value.is_infinite() || value.is_tiny() && is_rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_ends_of_the_range_are_right() {
        let double = |digits, exponent, more| nearest::<f64>(digits, exponent, more);
        assert_eq!(double(1, -1074, false), (f64::from_bits(1), false));
        assert_eq!(double(1, -1075, false), (0.0, true));
        assert_eq!(double(3, -1075, false), (f64::from_bits(2), true));
        assert_eq!(double(1 << 63, -1138, false), (0.0, true));
        assert_eq!(double(1 << 63, -1138, true), (f64::from_bits(1), true));
        assert_eq!(double(u64::MAX, -1139, false), (0.0, true));
        assert_eq!(double((1 << 53) - 1, 971, false), (f64::MAX, false));
        assert_eq!(double((1 << 54) - 1, 970, false), (f64::INFINITY, true));
        assert_eq!(double(1, 1024, false), (f64::INFINITY, true));
        assert_eq!(double((1 << 53) - 1, -1074, false).0, 2.0 * f64::MIN_POSITIVE - f64::from_bits(1));
        assert_eq!(nearest::<f32>((1 << 24) | 1, 0, false), (16_777_216.0, false));
        assert_eq!(nearest::<f32>((1 << 24) | 3, 0, false), (16_777_220.0, false));
        assert!(
            f64::nan().is_nan()
                && f32::nan().is_nan()
                && f32::infinity() == f32::INFINITY
                && f64::infinity() == f64::INFINITY
        );
    }
}
