//! The section of the block that belongs to the protection scheme: words about the system, each domain and each area that mean something to it
//! alone. Everything else is the same for every scheme.

use crate::block::{System, Words};
use crate::{Area, Domain};

/// How accesses are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Scheme {
    /// Region registers of powers of two: [`crate::regions`].
    #[default]
    Pmsav7 = 1,
    /// Page tables with short descriptors: [`crate::vmsav7`].
    Vmsav7 = 2,
    /// Region registers with base and limit: [`crate::regions`].
    Pmsav8 = 3,
    /// The tables of RTMMU: [`crate::rtmmu`].
    Rtmmu = 4,
}

impl Scheme {
    pub(crate) const fn from_number(number: u32) -> Option<Scheme> {
        match number {
            1 => Some(Self::Pmsav7),
            2 => Some(Self::Vmsav7),
            3 => Some(Self::Pmsav8),
            4 => Some(Self::Rtmmu),
            _ => None,
        }
    }
}

/// A scheme's records. The section has the number of the scheme, then one record of the system, one of each domain, and one of each area.
pub trait Section {
    /// The scheme.
    const SCHEME: Scheme;
    /// About the whole system.
    type System: Words;
    /// About a domain.
    type Domain: Words;
    /// About an area.
    type Area: Words;
}

/// The scheme of a block, as far as its reader knows: a kernel has one, and code for others is no part of it.
pub trait Known {
    /// The scheme that the block has, or has to have.
    fn scheme(system: &System<'_>) -> Scheme;
}

/// Any that a block can name.
#[derive(Clone, Copy, Debug)]
pub struct AnyScheme;

impl Known for AnyScheme {
    fn scheme(system: &System<'_>) -> Scheme {
        system.scheme()
    }
}

impl<S: Section> Known for S {
    #[inline(always)]
    fn scheme(_: &System<'_>) -> Scheme {
        S::SCHEME
    }
}

impl System<'_> {
    /// The protection scheme that the block is for.
    pub fn scheme(&self) -> Scheme {
        Scheme::from_number(self.section(0, 1)[0]).unwrap_or_default()
    }

    /// The scheme's record of the whole system.
    ///
    /// # Panics
    /// As the other two: when the block is for another scheme, or there is no such entry.
    pub fn own<S: Section>(&self) -> S::System {
        self.part::<S, _>(0)
    }

    /// The scheme's record of a domain.
    pub fn own_domain<S: Section>(&self, index: usize) -> S::Domain {
        assert!(index < self.count::<Domain>());
        self.part::<S, _>(S::System::WORDS + index * S::Domain::WORDS)
    }

    /// The scheme's record of an area.
    pub fn own_area<S: Section>(&self, index: usize) -> S::Area {
        assert!(index < self.count::<Area>());
        self.part::<S, _>(S::System::WORDS + self.count::<Domain>() * S::Domain::WORDS + index * S::Area::WORDS)
    }

    fn part<S: Section, W: Words>(&self, at: usize) -> W {
        assert!(self.scheme() == S::SCHEME);
        W::decode(self.section(1 + at, W::WORDS))
    }
}
