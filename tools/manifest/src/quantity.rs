//! Sizes, times and addresses as they are written in a manifest: strings with a unit.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use units::{NS_PER_SECOND, Rate};

/// Bytes, written as `"4 KiB"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Size(pub u64);

/// Nanoseconds, written as `"20 us"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Time(pub u64);

/// A physical address, written as `"0x2003_0000"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Address(pub u32);

const SIZES: &[(&str, u64)] = &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)];
const TIMES: &[(&str, u64)] = &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", NS_PER_SECOND)];

/// Splits `"4 KiB"` into number and unit and multiplies.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let number: u64 = text[..digits].replace('_', "").parse().ok()?;
    let unit = text[digits..].trim_start();
    units.iter().find(|(name, _)| *name == unit).and_then(|(_, factor)| number.checked_mul(*factor))
}

impl Size {
    /// Reads `"512 B"`, `"4 KiB"` or `"2 MiB"`.
    pub fn parse(text: &str) -> Option<Size> {
        scaled(text, SIZES).map(Size)
    }
}

impl Time {
    /// Reads `"800 ns"`, `"20 us"`, `"1 ms"` or `"60 s"`.
    pub fn parse(text: &str) -> Option<Time> {
        scaled(text, TIMES).map(Time)
    }

    /// The ticks of a clock with this rate, `None` when the time is no multiple of a tick or does not fit.
    pub fn ticks(self, per_second: u32) -> Option<u64> {
        Rate::hz(per_second.into()).counts_in(self.0).exact()
    }
}

impl Address {
    /// Reads `"0x2003_0000"`.
    pub fn parse(text: &str) -> Option<Address> {
        let digits = text.strip_prefix("0x")?.replace('_', "");
        u32::from_str_radix(&digits, 16).ok().map(Address)
    }
}

/// Writes a number in the largest unit that divides it.
fn largest(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let fits = |(_, factor): &&(&str, u64)| value != 0 && value.is_multiple_of(*factor);
    let (unit, factor) = units.iter().rev().find(fits).unwrap_or(&units[0]);
    write!(f, "{} {unit}", value / factor)
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        largest(f, self.0, SIZES)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        largest(f, self.0, TIMES)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

macro_rules! from_string {
    ($name:ident, $expecting:literal) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
    };
}
from_string!(Size, "a number that fits and B, KiB or MiB, such as \"512 B\", \"4 KiB\" or \"2 MiB\"");
from_string!(Time, "a number that fits and ns, us, ms or s, such as \"800 ns\", \"20 us\", \"1 ms\" or \"60 s\"");
from_string!(Address, "an address such as \"0x2003_0000\"");

/// The schema of a quantity: a string of this form.
macro_rules! written {
    ($type:ident, $pattern:literal, $about:literal) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern, "description": $about })
            }
        }
    };
}
written!(Size, "^[0-9][0-9_]* *(B|KiB|MiB)$", "Bytes with a unit: \"512 B\", \"4 KiB\", \"2 MiB\".");
written!(Time, "^[0-9][0-9_]* *(ns|us|ms|s)$", "A time with a unit: \"20 us\", \"1 ms\", \"60 s\".");
written!(Address, "^0x[0-9a-fA-F_]+$", "A physical address: \"0x2003_0000\".");
