//! Refusals as text.

use core::fmt;

use spec::{Reason, Rule, TemporalSpec};

use crate::rule::{self, change};
use crate::wire::Refused;

const LEDGER: [Rule; 19] = [
    Rule::Domain,
    Rule::Size,
    Rule::Spec(Reason::NoThirdLevel),
    Rule::Spec(Reason::ReleaseScrubs),
    Rule::Spec(Reason::NoSuchMemory),
    Rule::Spec(Reason::PartlyIndependent),
    Rule::Spec(Reason::NoFirstLevel),
    Rule::TableLevel,
    Rule::PinnedSlots,
    Rule::PagedSlots,
    Rule::Misses,
    Rule::TableMemory,
    Rule::Frames,
    Rule::FramesNotClean,
    Rule::LockSlots,
    Rule::ConstantTime,
    Rule::Pages,
    Rule::Addresses,
    Rule::Quota,
];

/// The sentence of a rule; empty for a number that is none.
pub fn sentence(number: u32) -> &'static str {
    match number {
        rule::RECORDS => "a client holds at most so many pieces of memory",
        rule::DECLARED => "a domain shares what the manifest declares as its own, under that name",
        rule::SPEC_AGREES => "memory is shared only where the specifications agree",
        rule::SIZE_AGREES => "shared memory is as large as its owner made it",
        rule::PERMITTED => "manifest and owner say who maps shared memory, and how",
        rule::EXISTS => "what is named exists and is the caller's",
        rule::ALONE => "an owner gives shared memory back after everybody else",
        rule::SPECIFIED => "a specification is one of those that there are",
        rule::ALIGNED => "an alignment is a power of two",
        rule::MARKS => "a pool is in at most so many pieces, some of which quotas keep for others",
        rule::MADE => "shared memory is there from when its owner has made it until it gives it back",
        _ => LEDGER.iter().find(|rule| rule.number() == number).map_or("", |rule| rule.text()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Spec,
    Level,
    Access,
    Named(&'static str),
}

fn unit(number: u32) -> Unit {
    Unit::Named(match number {
        rule::SPEC_AGREES | rule::SPECIFIED | 16..=31 => return Unit::Spec,
        rule::PERMITTED => return Unit::Access,
        4 => return Unit::Level,
        5 | 6 => "region registers",
        11 => "entries",
        12 => "descriptors",
        7 => "misses",
        1 | rule::ALONE => "domains",
        14 => "places",
        rule::EXISTS => "",
        rule::RECORDS | rule::DECLARED | rule::MADE | rule::MARKS => "pieces",
        _ => "bytes",
    })
}

struct Figure(Unit, u32);

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unit::Spec => match TemporalSpec::from_bits(self.1) {
                Ok(spec) => write!(f, "`{spec}`"),
                Err(_) => write!(f, "{:#x}", self.1),
            },
            Unit::Level => match spec::AccessLevel::from_number(self.1) {
                Some(level) => write!(f, "`{}`", level.text()),
                None => write!(f, "{}", self.1),
            },
            Unit::Access => match self.1 & 3 {
                0 => f.write_str("nothing"),
                1 => f.write_str("reading"),
                _ => f.write_str("writing"),
            },
            Unit::Named("") => write!(f, "{:#x}", self.1),
            Unit::Named(name) => write!(f, "{} {name}", self.1),
        }
    }
}

struct Remedy(u32, u32);

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.1;
        match self.0 {
            1 | change::SPEC => write!(f, "ask for {}", Figure(Unit::Spec, value)),
            2 | change::BYTES => write!(f, "ask for {value} bytes"),
            3 => write!(f, "declare {value} misses"),
            4 => write!(f, "release {value} pinned regions first"),
            6 => write!(f, "release {value} locked entries first"),
            5 => write!(f, "release regions that take {value} bytes of the table first"),
            7 => write!(f, "release and clear {value} bytes of your own first"),
            change::RELEASE => write!(f, "release {value} of your own first"),
            change::ACCESS => write!(f, "ask for {}", Figure(Unit::Access, value)),
            change::REVOKE => write!(f, "revoke the access of {value} domains first"),
            change::DECLARE => f.write_str("declare it under the owner's `shares` in the manifest"),
            change::ALIGNMENT => write!(f, "ask for an alignment of {value}"),
            change::AGAIN => f.write_str("the same request, now"),
            change::UNKNOWN => f.write_str("not looked for yet"),
            _ => f.write_str("no change of this request"),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = unit(self.rule);
        write!(f, "refused by rule {}: {}; ", self.rule, sentence(self.rule))?;
        write!(f, "asked {}, ", Figure(unit, self.asked))?;
        // A platform that cannot keep the specification at all has no weaker one to name.
        if unit == Unit::Spec && self.left == 0 {
            f.write_str("left nothing; ")?;
        } else {
            write!(f, "left {}; ", Figure(unit, self.left))?;
        }
        write!(f, "would be admitted: {}", Remedy(self.change, self.value))
    }
}
