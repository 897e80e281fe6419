//! Writes the block: the host's side.

use alloc::vec;
use alloc::vec::Vec;

use protect::pmsav7::Pmsav7;
use protect::pmsav8::Pmsav8;
use sched::switching::Switching;

use crate::block::{OVERRUN, SCHEME, SWITCHING};
use crate::direct::{Direct, MAX_OWNERS};
use crate::regions::{Paging, RegionScheme, Shape};
use crate::rtmmu::{Hardware, Mmu, Rtmmu, Space};
use crate::vmsav7::{Caches, Tables, Vmsav7};
use crate::{
    Area, Budget, Cap, Domain, Frames, Gate, HEADER_WORDS, Interrupt, MAGIC, Notification, Record, Scheme, Section,
    System, TableError, Thread, VERSION, Words, checksum,
};

/// The scheme's section. Domains and areas that it says nothing of have the default.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum SchemeTables {
    Pmsav7 { domains: Vec<Paging>, areas: Vec<Shape> },
    Pmsav8 { direct: [Direct; MAX_OWNERS], domains: Vec<Paging>, areas: Vec<Shape> },
    Vmsav7 { caches: Caches, domains: Vec<Tables> },
    Rtmmu { hardware: Hardware, domains: Vec<Space> },
}

impl SchemeTables {
    /// The section of a scheme with region registers.
    pub fn of_regions<U: RegionScheme>(domains: Vec<Paging>, areas: Vec<Shape>) -> SchemeTables {
        match <U as Section>::SCHEME {
            Scheme::Pmsav8 => SchemeTables::Pmsav8 { direct: Default::default(), domains, areas },
            _ => SchemeTables::Pmsav7 { domains, areas },
        }
    }

    /// Returns the number by which the processor tells a domain's address space, if domains have
    /// one: the identifier that the kernel gives it, or the first entry of its tables, or their
    /// page.
    pub fn space(&self, domain: usize) -> Option<u32> {
        match self {
            SchemeTables::Pmsav7 { .. } | SchemeTables::Pmsav8 { .. } => None,
            SchemeTables::Vmsav7 { .. } => Some(domain as u32 + 1),
            SchemeTables::Rtmmu { hardware, domains } => {
                Some(Mmu::from_number(hardware.mmu)?.base(hardware.entries, domains.get(domain)?))
            }
        }
    }

    fn regions(&mut self) -> (&mut Vec<Paging>, &mut Vec<Shape>) {
        match self {
            SchemeTables::Pmsav7 { domains, areas } | SchemeTables::Pmsav8 { domains, areas, .. } => (domains, areas),
            SchemeTables::Vmsav7 { .. } | SchemeTables::Rtmmu { .. } => panic!("another scheme"),
        }
    }
}

impl Default for SchemeTables {
    fn default() -> Self {
        SchemeTables::Pmsav7 { domains: Vec::new(), areas: Vec::new() }
    }
}

/// Everything that goes into a block.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Builder {
    pub ticks_per_second: u32,
    pub cpu_hz: u32,
    pub frames: Vec<Frames>,
    pub domains: Vec<Domain>,
    pub areas: Vec<Area>,
    pub budgets: Vec<Budget>,
    pub threads: Vec<Thread>,
    pub gates: Vec<Gate>,
    pub notifications: Vec<Notification>,
    pub interrupts: Vec<Interrupt>,
    pub caps: Vec<Cap>,
    pub scheme: SchemeTables,
    pub switching: Switching,
    /// Ticks of [`crate::System::overrun`].
    pub overrun: u32,
}

impl Builder {
    /// Encodes the tables and checks the result with the kernel's own parser.
    ///
    /// # Errors
    /// What [`System::parse`] would refuse at boot.
    pub fn encode(&self) -> Result<Vec<u32>, TableError> {
        let words = self.encode_unchecked();
        System::parse(&words)?;
        Ok(words)
    }

    /// Encodes without checking: for tests of the parser.
    pub fn encode_unchecked(&self) -> Vec<u32> {
        let mut words = vec![0; HEADER_WORDS];
        put(&mut words, &self.frames);
        put(&mut words, &self.domains);
        put(&mut words, &self.placed());
        put(&mut words, &self.budgets);
        put(&mut words, &self.threads);
        put(&mut words, &self.gates);
        put(&mut words, &self.notifications);
        put(&mut words, &self.interrupts);
        put(&mut words, &self.caps);
        let offset = words.len();
        match &self.scheme {
            SchemeTables::Pmsav7 { domains, areas } => self.section::<Pmsav7>(&mut words, (), domains, areas),
            SchemeTables::Pmsav8 { direct, domains, areas } => {
                self.section::<Pmsav8>(&mut words, *direct, domains, areas);
            }
            SchemeTables::Vmsav7 { caches, domains } => self.section::<Vmsav7>(&mut words, *caches, domains, &[]),
            SchemeTables::Rtmmu { hardware, domains } => self.section::<Rtmmu>(&mut words, *hardware, domains, &[]),
        }
        let section = words.len() - offset;
        words[SCHEME..SWITCHING].copy_from_slice(&[offset as u32, section as u32]);
        words[0] = MAGIC;
        words[1] = VERSION;
        words[2] = words.len() as u32;
        words[3] = checksum(&words[HEADER_WORDS..]);
        let Switching { entry, exit, early } = self.switching;
        words[SWITCHING..OVERRUN].copy_from_slice(&[entry, exit, early]);
        words[OVERRUN] = self.overrun;
        words[4] = self.ticks_per_second;
        words[5] = self.cpu_hz;
        words
    }

    /// The areas. An area's physical address need not be said when addresses are not translated.
    pub(crate) fn placed(&self) -> Vec<Area> {
        let said = |area: &Area| {
            area.physical != 0 || matches!(self.scheme, SchemeTables::Vmsav7 { .. } | SchemeTables::Rtmmu { .. })
        };
        let place = |area: &Area| if said(area) { *area } else { Area { physical: area.base, ..*area } };
        self.areas.iter().map(place).collect()
    }

    fn section<S: Section>(&self, words: &mut Vec<u32>, system: S::System, domains: &[S::Domain], areas: &[S::Area])
    where
        S::Domain: Default,
        S::Area: Default,
    {
        words.push(S::SCHEME as u32);
        append(words, &system);
        (0..self.domains.len()).for_each(|at| append(words, &domains.get(at).copied().unwrap_or_default()));
        (0..self.areas.len()).for_each(|at| append(words, &areas.get(at).copied().unwrap_or_default()));
    }

    /// How a domain pages, to be changed; of a block for region registers.
    ///
    /// # Panics
    /// When the block is for another scheme; as for the other two.
    pub fn paging(&mut self, domain: usize) -> &mut Paging {
        entry(self.scheme.regions().0, domain)
    }

    /// The regions of an area, to be changed.
    pub fn shape(&mut self, area: usize) -> &mut Shape {
        entry(self.scheme.regions().1, area)
    }

    /// A domain's tables, to be changed; of a block for page tables.
    pub fn tables(&mut self, domain: usize) -> &mut Tables {
        let SchemeTables::Vmsav7 { domains, .. } = &mut self.scheme else { panic!("another scheme") };
        entry(domains, domain)
    }
}

fn entry<T: Copy + Default>(all: &mut Vec<T>, index: usize) -> &mut T {
    if all.len() <= index {
        all.resize(index + 1, T::default());
    }
    &mut all[index]
}

fn append<W: Words>(words: &mut Vec<u32>, record: &W) {
    let start = words.len();
    words.resize(start + W::WORDS, 0);
    record.encode(&mut words[start..]);
}

fn put<R: Record>(words: &mut Vec<u32>, records: &[R]) {
    let slot = 6 + 2 * R::TABLE as usize;
    words[slot] = words.len() as u32;
    words[slot + 1] = records.len() as u32;
    records.iter().for_each(|record| append(words, record));
}
