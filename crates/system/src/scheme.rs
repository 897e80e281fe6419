//! The section of the block that belongs to the protection scheme: words about the system, each domain and each area that mean something to it
//! alone. Everything else is the same for every scheme.

use crate::validate::{pmsav7 as regions, vmsav7 as pages};
use crate::{Area, Domain, NotExact, System, Words, pmsav7, vmsav7};

/// How accesses are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Scheme {
    /// Region registers: [`crate::pmsav7`].
    #[default]
    Pmsav7 = 1,
    /// Page tables with short descriptors: [`crate::vmsav7`].
    Vmsav7 = 2,
}

impl Scheme {
    pub(crate) const fn from_number(number: u32) -> Option<Scheme> {
        match number {
            1 => Some(Self::Pmsav7),
            2 => Some(Self::Vmsav7),
            _ => None,
        }
    }

    /// Words of the section with records for so many domains and areas.
    pub(crate) fn words(self, domains: usize, areas: usize) -> usize {
        match self {
            Self::Pmsav7 => words::<pmsav7::Pmsav7>(domains, areas),
            Self::Vmsav7 => words::<vmsav7::Vmsav7>(domains, areas),
        }
    }

    /// Whether the section's record of the system is sound.
    pub(crate) fn system(self, system: &System) -> bool {
        match self {
            Self::Pmsav7 => true,
            Self::Vmsav7 => pages::caches(system),
        }
    }

    /// The first wrong field of a domain.
    pub(crate) fn domain(self, system: &System, index: usize) -> Result<(), &'static str> {
        match self {
            Self::Pmsav7 => regions::domain(system, index),
            Self::Vmsav7 => pages::domain(system, index),
        }
    }

    /// The first wrong field of an area.
    pub(crate) fn area(self, system: &System, index: usize, entry: &Area) -> Result<(), &'static str> {
        match self {
            Self::Pmsav7 => regions::area(system, index, entry),
            Self::Vmsav7 => pages::area(system, index, entry),
        }
    }

    /// Whether two woven areas have no byte in common.
    pub(crate) fn are_apart(self, system: &System, one: usize, other: usize) -> bool {
        self == Self::Pmsav7 && regions::are_apart(system, one, other)
    }

    /// Whether stacks are pinned: an exception frame that misses cannot be restarted.
    pub(crate) const fn pins_stacks(self) -> bool {
        matches!(self, Self::Pmsav7)
    }

    /// Whether code may begin in a second instruction set, whose instructions are words.
    pub(crate) const fn has_words(self) -> bool {
        matches!(self, Self::Vmsav7)
    }

    /// Nodes of a domain's table that lie among the kernel's objects.
    ///
    /// # Errors
    /// [`NotExact`].
    pub(crate) fn own_nodes(self, tables: &System<'_>, index: usize) -> Result<usize, NotExact> {
        match self {
            Self::Pmsav7 => pmsav7::own_nodes(tables, index),
            Self::Vmsav7 => Ok(0),
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

/// Words of a section.
fn words<S: Section>(domains: usize, areas: usize) -> usize {
    1 + S::System::WORDS + domains * S::Domain::WORDS + areas * S::Area::WORDS
}

impl System<'_> {
    /// The protection scheme that the block is for.
    pub fn scheme(&self) -> Scheme {
        Scheme::from_number(self.section(0, 1)[0]).unwrap_or_default()
    }

    /// What the scheme has about the whole system.
    ///
    /// # Panics
    /// As the other two: when the block is for another scheme, or there is no such entry.
    pub fn own<S: Section>(&self) -> S::System {
        self.part::<S, _>(0)
    }

    /// What the scheme has about a domain.
    pub fn own_domain<S: Section>(&self, index: usize) -> S::Domain {
        assert!(index < self.count::<Domain>());
        self.part::<S, _>(S::System::WORDS + index * S::Domain::WORDS)
    }

    /// What the scheme has about an area.
    pub fn own_area<S: Section>(&self, index: usize) -> S::Area {
        assert!(index < self.count::<Area>());
        self.part::<S, _>(S::System::WORDS + self.count::<Domain>() * S::Domain::WORDS + index * S::Area::WORDS)
    }

    fn part<S: Section, W: Words>(&self, at: usize) -> W {
        assert!(self.scheme() == S::SCHEME);
        W::decode(self.section(1 + at, W::WORDS))
    }
}
