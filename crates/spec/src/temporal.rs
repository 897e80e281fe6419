//! The temporal specification: what is asked of deciding whether an access is permitted.

use core::fmt;

/// How far the access check may reach, from nothing promised to nothing but the registers. The order is that of strength.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum AccessLevel {
    /// Nothing is promised.
    #[default]
    BestEffort = 0,
    /// The check touches nothing beyond the third level of the storage hierarchy.
    L3 = 1,
    /// Nothing beyond the second level.
    L2 = 2,
    /// Nothing beyond the first level.
    L1 = 3,
    /// The check is made by hardware within the access; it never misses.
    Deterministic = 4,
}

impl AccessLevel {
    /// All levels, weakest first.
    pub const ALL: [AccessLevel; 5] = [Self::BestEffort, Self::L3, Self::L2, Self::L1, Self::Deterministic];

    /// The level with this number.
    pub const fn from_number(number: u32) -> Option<AccessLevel> {
        if number < 5 { Some(Self::ALL[number as usize]) } else { None }
    }

    /// The name as manifests spell it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::BestEffort => "best-effort",
            Self::L3 => "l3",
            Self::L2 => "l2",
            Self::L1 => "l1",
            Self::Deterministic => "deterministic",
        }
    }
}

/// A class of memory, by its distance from the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MemoryClass {
    /// Tightly coupled to the processor.
    Tcm = 1,
    /// On the chip, behind a bus.
    OnChip = 2,
    /// Off the chip.
    OffChip = 3,
}

impl MemoryClass {
    /// The class with this number.
    pub const fn from_number(number: u32) -> Option<MemoryClass> {
        match number {
            1 => Some(Self::Tcm),
            2 => Some(Self::OnChip),
            3 => Some(Self::OffChip),
            _ => None,
        }
    }

    /// The word that requests data to be placed there.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Tcm => "data-tcm",
            Self::OnChip => "data-on-chip",
            Self::OffChip => "data-off-chip",
        }
    }
}

/// A temporal specification of memory. There is one level by construction, so that two levels cannot be asked for at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TemporalSpec {
    /// How far the access check may reach.
    pub access: AccessLevel,
    /// No other domain adds to the time of the check.
    pub independent: bool,
    /// Mapping and releasing take the same time whatever their size.
    pub constant_time: bool,
    /// Independence is accepted where the platform gives it only in part; the grant then says what is independent and what is not.
    pub allow_partial: bool,
    /// Class of memory for the data itself; any class without a request.
    pub data: Option<MemoryClass>,
}

/// Why words or bits are no specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// A bit or a value that has no meaning.
    UnknownBits(u32),
    /// A word that has no meaning: its position, counted from 0.
    UnknownWord(usize),
    /// Two levels: the one check cannot end at both.
    TwoLevels(AccessLevel, AccessLevel),
    /// Two places for the same data.
    TwoPlaces(MemoryClass, MemoryClass),
    /// A word is there twice: its position.
    Repeated(usize),
}

const LEVEL: u32 = 0b111;
const INDEPENDENT: u32 = 1 << 3;
const CONSTANT_TIME: u32 = 1 << 4;
const DATA_SHIFT: u32 = 5;
const ALLOW_PARTIAL: u32 = 1 << 7;

impl TemporalSpec {
    /// A level and nothing else.
    pub const fn level(access: AccessLevel) -> TemporalSpec {
        TemporalSpec { access, independent: false, constant_time: false, allow_partial: false, data: None }
    }

    /// One word: bits 2..0 the level's number, bit 3 independent, bit 4 constant time, bits 6..5 the class of memory for data
    /// (0: any), bit 7 allow partial.
    pub const fn bits(self) -> u32 {
        let data = match self.data {
            Some(class) => class as u32,
            None => 0,
        };
        self.access as u32
            | if self.independent { INDEPENDENT } else { 0 }
            | if self.constant_time { CONSTANT_TIME } else { 0 }
            | data << DATA_SHIFT
            | if self.allow_partial { ALLOW_PARTIAL } else { 0 }
    }

    /// Returns the number of the level in the word that [`TemporalSpec::bits`] writes.
    pub const fn level_in(bits: u32) -> u32 {
        bits & LEVEL
    }

    /// Reads what [`TemporalSpec::bits`] writes.
    ///
    /// # Errors
    /// [`SpecError::UnknownBits`] with the bits that have no meaning.
    pub const fn from_bits(bits: u32) -> Result<TemporalSpec, SpecError> {
        let unknown = bits & !(LEVEL | INDEPENDENT | CONSTANT_TIME | 0b11 << DATA_SHIFT | ALLOW_PARTIAL);
        if unknown != 0 {
            return Err(SpecError::UnknownBits(unknown));
        }
        let Some(access) = AccessLevel::from_number(bits & LEVEL) else {
            return Err(SpecError::UnknownBits(bits & LEVEL));
        };
        Ok(TemporalSpec {
            access,
            independent: bits & INDEPENDENT != 0,
            constant_time: bits & CONSTANT_TIME != 0,
            allow_partial: bits & ALLOW_PARTIAL != 0,
            data: MemoryClass::from_number(bits >> DATA_SHIFT & 0b11),
        })
    }

    /// Reads words, separated by blanks: one of the levels (best-effort without), `independent`, `constant-time`, `allow-partial`, and one
    /// of `data-tcm`, `data-on-chip`, `data-off-chip`.
    ///
    /// # Errors
    /// [`SpecError`]: unknown, repeated or contradicting words.
    pub fn parse(text: &str) -> Result<TemporalSpec, SpecError> {
        let mut spec = TemporalSpec::default();
        let mut level: Option<AccessLevel> = None;
        for (position, word) in text.split_ascii_whitespace().enumerate() {
            if let Some(found) = AccessLevel::ALL.into_iter().find(|known| known.text() == word) {
                match level.replace(found) {
                    Some(other) if other == found => return Err(SpecError::Repeated(position)),
                    Some(other) => return Err(SpecError::TwoLevels(other, found)),
                    None => spec.access = found,
                }
                continue;
            }
            let classes = [MemoryClass::Tcm, MemoryClass::OnChip, MemoryClass::OffChip];
            if let Some(found) = classes.into_iter().find(|known| known.text() == word) {
                match spec.data.replace(found) {
                    Some(other) if other == found => return Err(SpecError::Repeated(position)),
                    Some(other) => return Err(SpecError::TwoPlaces(other, found)),
                    None => continue,
                }
            }
            let flag = match word {
                "independent" => &mut spec.independent,
                "constant-time" => &mut spec.constant_time,
                "allow-partial" => &mut spec.allow_partial,
                _ => return Err(SpecError::UnknownWord(position)),
            };
            if *flag {
                return Err(SpecError::Repeated(position));
            }
            *flag = true;
        }
        Ok(spec)
    }
}

impl fmt::Display for TemporalSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.access.text())?;
        if self.independent {
            f.write_str(" independent")?;
        }
        if self.constant_time {
            f.write_str(" constant-time")?;
        }
        if self.allow_partial {
            f.write_str(" allow-partial")?;
        }
        match self.data {
            Some(class) => write!(f, " {}", class.text()),
            None => Ok(()),
        }
    }
}
