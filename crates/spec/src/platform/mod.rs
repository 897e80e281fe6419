//! The meaning of each level on a platform. All of it is data, so that one table can be printed and tested.

mod bound;
mod pages;
mod place;
mod regions;
mod scheme;
mod words;

pub use bound::{Bound, Independence, Meaning, Method, Reason, SCOPE};
pub use pages::{Costs, Effort, Linear, PAGE_BYTES, Pages, Sizes, UNITS, Work};
pub use place::{PLACES, TablePlace};
pub use regions::{NODE_BYTES, Regions};
pub use scheme::{Phrase, Scheme, Wording};
pub(crate) use words::PLATFORM_WORDS;

use crate::temporal::{MemoryClass, TemporalSpec};

/// The hardware that checks accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hardware {
    /// Region registers, and tables that software walks.
    Regions(Regions),
    /// A TLB, and page tables that hardware walks.
    Pages(Pages),
}

/// Owner and number of the slots in which checks are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// Each domain has so many.
    OfDomain(u8),
    /// All domains together have so many.
    OfChip(u8),
}

impl Slots {
    /// Most that a domain can have.
    pub const fn count(self) -> u32 {
        match self {
            Self::OfDomain(count) | Self::OfChip(count) => count as u32,
        }
    }

    /// Those that domains share.
    pub const fn of_chip(self) -> u32 {
        match self {
            Self::OfDomain(_) => 0,
            Self::OfChip(count) => count as u32,
        }
    }
}

/// A platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    /// The hardware that checks accesses.
    pub hardware: Hardware,
    /// Classes of memory in which data can be placed, a bit for each (bit 1 TCM, 2 on the chip, 3 off the chip).
    pub data_classes: u8,
}

impl Platform {
    /// A platform on which nothing is admitted.
    pub const NONE: Platform = Platform::new(Hardware::Regions(Regions::new(0, None, 0)), &[]);

    /// A platform, and the classes of the memories in which it can place data.
    pub const fn new(hardware: Hardware, classes: &[MemoryClass]) -> Platform {
        let (mut data_classes, mut index) = (0, 0);
        while index < classes.len() {
            data_classes |= 1 << classes[index] as u8;
            index += 1;
        }
        Platform { hardware, data_classes }
    }

    /// The description of its page tables, if it has any.
    pub const fn pages(&self) -> Option<&Pages> {
        match &self.hardware {
            Hardware::Pages(pages) => Some(pages),
            Hardware::Regions(_) => None,
        }
    }

    /// The slots in which checks are kept: region registers, or entries of the TLB that can be locked.
    pub const fn slots(&self) -> Slots {
        match &self.hardware {
            Hardware::Regions(regions) => Slots::OfDomain(regions.registers),
            Hardware::Pages(pages) => Slots::OfChip(pages.lock_slots),
        }
    }

    /// The facts of its protection scheme.
    pub const fn scheme(&self) -> &'static Scheme {
        match &self.hardware {
            Hardware::Regions(_) => &Regions::SCHEME,
            Hardware::Pages(pages) if pages.uniform => &Pages::UNIFORM,
            Hardware::Pages(_) => &Pages::SCHEME,
        }
    }

    /// The words for the scheme.
    pub const fn wording(&self) -> &'static Wording {
        match &self.hardware {
            Hardware::Regions(_) => &Regions::WORDING,
            Hardware::Pages(pages) if pages.uniform => &Pages::UNIFORM_WORDING,
            Hardware::Pages(_) => &Pages::WORDING,
        }
    }

    /// Bytes of a domain's first-level table, which come on top of its other tables; 0 where there is none.
    pub const fn root_bytes(&self) -> u32 {
        match &self.hardware {
            Hardware::Regions(_) => 0,
            Hardware::Pages(pages) => pages.root_bytes,
        }
    }

    /// Bytes of a node or of a table. Memory for tables is a multiple of this.
    pub const fn table_unit(&self) -> u32 {
        match &self.hardware {
            Hardware::Regions(regions) => regions.node_bytes as u32,
            Hardware::Pages(pages) => pages.table_bytes,
        }
    }

    /// Bytes that tables are given at once when they lack so many; `None` when that is too much.
    pub const fn growth(&self, lacking: u32) -> Option<u32> {
        match &self.hardware {
            Hardware::Regions(regions) => regions.growth(lacking),
            Hardware::Pages(_) => Pages::growth(lacking),
        }
    }

    /// Bytes of cache ways that can be locked.
    pub const fn lockable_bytes(&self) -> u32 {
        match &self.hardware {
            Hardware::Regions(_) => 0,
            Hardware::Pages(pages) => pages.lockable_bytes(),
        }
    }

    /// Work of a mapping of so many descriptors, where the platform says.
    pub const fn effort(&self, descriptors: u32) -> Option<Effort> {
        match &self.hardware {
            Hardware::Regions(_) => None,
            Hardware::Pages(pages) => Some(pages.effort(descriptors)),
        }
    }

    /// Meaning of a specification on the platform: everything that it asks for is kept, or the reason why not. A constant time depends
    /// on how much is mapped, too: [`Rule::ConstantTime`](crate::Rule::ConstantTime).
    ///
    /// # Errors
    /// The [`Reason`].
    pub const fn meaning(&self, spec: TemporalSpec) -> Result<Meaning, Reason> {
        match &self.hardware {
            Hardware::Regions(_) if spec.constant_time => return Err(Reason::ReleaseScrubs),
            Hardware::Pages(pages) if spec.independent && !spec.allow_partial && !pages.uniform => {
                return Err(Reason::PartlyIndependent);
            }
            _ => {}
        }
        if let Some(class) = spec.data
            && self.data_classes & 1 << class as u8 == 0
        {
            return Err(Reason::NoSuchMemory);
        }
        match &self.hardware {
            Hardware::Regions(regions) => regions.keeps(spec.access),
            Hardware::Pages(pages) => pages.keeps(spec.access),
        }
    }

    /// The bound that slots of its own promise.
    pub const fn pinned(&self) -> Bound {
        match &self.hardware {
            Hardware::Regions(regions) => regions.pinned(),
            Hardware::Pages(pages) => pages.pinned(),
        }
    }

    /// The bound that tables in a place promise; `None` when they promise nothing.
    pub const fn bound_of(&self, place: TablePlace) -> Option<Bound> {
        match &self.hardware {
            Hardware::Regions(regions) => regions.bound_of(place),
            Hardware::Pages(pages) => pages.bound_of(place),
        }
    }

    /// The part that is independent of other domains, for memory that is pinned or found through tables in a place, and the part that is not.
    pub const fn independence(&self, pinned: bool, place: TablePlace) -> Independence {
        match &self.hardware {
            Hardware::Regions(_) => Regions::INDEPENDENCE,
            Hardware::Pages(pages) if pages.uniform => Pages::UNIFORM_INDEPENDENCE,
            Hardware::Pages(_) => Pages::independence(pinned, place),
        }
    }

    /// Work of changing tables, where hardware reads them.
    pub const fn work(&self) -> Option<Work> {
        match &self.hardware {
            Hardware::Regions(_) => None,
            Hardware::Pages(pages) => Some(pages.work),
        }
    }

    /// Registers that must be left to paged memory; none where pages are found by hardware.
    pub const fn paged_slots(&self, code_paged: bool, data_paged: bool) -> u8 {
        match &self.hardware {
            Hardware::Regions(regions) => regions.paged_slots(code_paged, data_paged),
            Hardware::Pages(_) => 0,
        }
    }
}
