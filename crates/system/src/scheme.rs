//! The schemes, by what the block asks of each.

use crate::regions::own_nodes;
use crate::section::{Scheme, Section};
use crate::validate::{regions, rtmmu as spaces, vmsav7 as pages};
use crate::{Area, NotExact, System, Words, direct, rtmmu, vmsav7};
use protect::pmsav7::Pmsav7;
use protect::pmsav8::Pmsav8;

impl Scheme {
    /// Words of the section with records for so many domains and areas.
    #[inline(always)]
    pub(crate) fn words(self, domains: usize, areas: usize) -> usize {
        match self {
            Self::Pmsav7 => words::<Pmsav7>(domains, areas),
            Self::Pmsav8 => words::<Pmsav8>(domains, areas),
            Self::Vmsav7 => words::<vmsav7::Vmsav7>(domains, areas),
            Self::Rtmmu => words::<rtmmu::Rtmmu>(domains, areas),
        }
    }

    /// Returns true if the section's record of the system is sound.
    #[inline(always)]
    pub(crate) fn system(self, system: &System) -> bool {
        match self {
            Self::Pmsav7 | Self::Pmsav8 => true,
            Self::Vmsav7 => pages::caches(system),
            Self::Rtmmu => spaces::hardware(system),
        }
    }

    /// Returns true if the section's record of the system fits what the block says of everything
    /// else.
    #[inline(always)]
    pub(crate) fn complete(self, system: &System) -> bool {
        self != Self::Pmsav8 || direct::is_sound(system)
    }

    /// Returns the number of servers of handlers' time. Their numbers as budgets follow those of
    /// threads' budgets.
    #[inline(always)]
    pub(crate) fn servers(self, system: &System) -> usize {
        if self == Self::Pmsav8 { direct::owners(system).count() } else { 0 }
    }

    /// The first wrong field of a domain.
    #[inline(always)]
    pub(crate) fn domain(self, system: &System, index: usize) -> Result<(), &'static str> {
        match self {
            Self::Pmsav7 => regions::domain::<Pmsav7>(system, index),
            Self::Pmsav8 => regions::domain::<Pmsav8>(system, index),
            Self::Vmsav7 => pages::domain(system, index),
            Self::Rtmmu => spaces::domain(system, index),
        }
    }

    /// The first wrong field of an area.
    #[inline(always)]
    pub(crate) fn area(self, system: &System, index: usize, entry: &Area) -> Result<(), &'static str> {
        match self {
            Self::Pmsav7 => regions::area::<Pmsav7>(system, index, entry).and_then(|()| regions::is_in_place(entry)),
            Self::Pmsav8 => regions::area::<Pmsav8>(system, index, entry).and_then(|()| direct::place(system, entry)),
            Self::Vmsav7 => pages::area(system, index, entry),
            Self::Rtmmu => spaces::area(system, index, entry),
        }
    }

    /// Returns true if two woven areas have no byte in common.
    #[inline(always)]
    pub(crate) fn are_apart(self, system: &System, one: usize, other: usize) -> bool {
        self == Self::Pmsav7 && regions::are_apart::<Pmsav7>(system, one, other)
    }

    /// Returns true if stacks are pinned: an exception frame that misses cannot be restarted.
    #[inline(always)]
    pub(crate) const fn pins_stacks(self) -> bool {
        matches!(self, Self::Pmsav7 | Self::Pmsav8)
    }

    /// The address of the first instruction of code with this entry, if there can be one: of Arm's with the Thumb bit, or, where there is a second
    /// instruction set, of a word; of RISC-V's of a half-word.
    #[inline(always)]
    pub fn begins(self, entry: u32) -> Option<u32> {
        let begins = match self {
            Self::Pmsav7 | Self::Pmsav8 => entry & 1 == 1,
            Self::Vmsav7 => entry & 1 == 1 || entry.is_multiple_of(4),
            Self::Rtmmu => entry & 1 == 0,
        };
        begins.then_some(entry & !1)
    }

    /// What [`Scheme::begins`] asks, in words.
    pub const fn entry_rule(self) -> &'static str {
        match self {
            Self::Pmsav7 | Self::Pmsav8 => {
                "this processor executes Thumb code only, and bit 0 of the address of a Thumb function is set"
            }
            Self::Vmsav7 => "code begins at a multiple of 4, or, with bit 0 of its address set, as Thumb code",
            Self::Rtmmu => "instructions begin at even addresses",
        }
    }

    /// Nodes of a domain's table that lie among the kernel's objects.
    ///
    /// # Errors
    /// [`NotExact`].
    #[inline(always)]
    pub(crate) fn own_nodes(self, tables: &System<'_>, index: usize) -> Result<usize, NotExact> {
        match self {
            Self::Pmsav7 => own_nodes::<Pmsav7>(tables, index),
            Self::Pmsav8 => own_nodes::<Pmsav8>(tables, index),
            Self::Vmsav7 | Self::Rtmmu => Ok(0),
        }
    }
}

/// Words of a section.
fn words<S: Section>(domains: usize, areas: usize) -> usize {
    1 + S::System::WORDS + domains * S::Domain::WORDS + areas * S::Area::WORDS
}
