//! Versions of QEMU.

use std::fmt;

/// The release of QEMU whose clock the plug-in can drive: any 10.0.x.
pub const QEMU_VERSION: (u32, u32) = (10, 0);

/// A version of QEMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Version {
    /// Reads the output of `qemu-system-arm --version`.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers = text.split_once("version ")?.1;
        let numbers = numbers.split(|c: char| c != '.' && !c.is_ascii_digit()).next()?;
        let mut numbers = numbers.split('.').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Self { major: next()?, minor: next()?, patch: next().unwrap_or(0) })
    }

    /// Whether the plug-in can drive its clock.
    pub fn is_supported(self) -> bool {
        (self.major, self.minor) == QEMU_VERSION
    }
}
