//! Writes the block: the host's side.

use alloc::vec;
use alloc::vec::Vec;

use sched::switching::Switching;

use crate::{
    Area, Budget, Cap, Domain, Frames, Gate, HEADER_WORDS, Interrupt, LOCKED_WAYS, LockedWays, MAGIC, Notification,
    PREFETCH, Record, SWITCHING, System, TableError, Thread, VERSION, checksum,
};

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
    pub locked_ways: LockedWays,
    pub prefetch: bool,
    pub switching: Switching,
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
        words[0] = MAGIC;
        words[1] = VERSION;
        words[2] = words.len() as u32;
        words[3] = checksum(&words[HEADER_WORDS..]);
        let LockedWays { ways, base, bytes } = self.locked_ways;
        words[LOCKED_WAYS..PREFETCH].copy_from_slice(&[ways, base, bytes]);
        words[PREFETCH] = u32::from(self.prefetch);
        let Switching { entry, exit, early } = self.switching;
        words[SWITCHING..HEADER_WORDS].copy_from_slice(&[entry, exit, early]);
        words[4] = self.ticks_per_second;
        words[5] = self.cpu_hz;
        words
    }

    /// The areas. Where there are no page tables, an area's physical address need not be said.
    pub(crate) fn placed(&self) -> Vec<Area> {
        let said = |area: &Area| area.physical != 0 || self.domains.iter().any(|domain| domain.root != 0);
        let place = |area: &Area| if said(area) { *area } else { Area { physical: area.base, ..*area } };
        self.areas.iter().map(place).collect()
    }
}

fn put<R: Record>(words: &mut Vec<u32>, records: &[R]) {
    let slot = 6 + 2 * R::TABLE as usize;
    words[slot] = words.len() as u32;
    words[slot + 1] = records.len() as u32;
    for record in records {
        let start = words.len();
        words.resize(start + R::WORDS, 0);
        record.encode(&mut words[start..]);
    }
}
