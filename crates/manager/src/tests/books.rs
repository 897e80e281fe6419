//! An account that is right and simple: first fit over a map of units, and one register for each client.

use abi::Error;
use std::ops::Range;
use std::vec;
use std::vec::Vec;

use super::machine::POOL;
use super::{CLIENTS, PINNED};
use crate::rule::refuse;
use crate::wire::Refused;
use crate::{Account, Admitted, Asked, Bound, Effort, Entry, Fresh, Holding, Mark, Piece, Region, Terms};

const UNIT: u32 = 256;

pub struct Simple {
    free: Vec<bool>,
    pub pinned: [u32; CLIENTS],
    pub entries: [u32; CLIENTS],
    pub charged: [u32; CLIENTS],
    pub decisions: u32,
}

impl Simple {
    pub fn new(bytes: u32) -> Simple {
        Simple {
            free: vec![true; (bytes / UNIT) as usize],
            pinned: [0; CLIENTS],
            entries: [0; CLIENTS],
            charged: [0; CLIENTS],
            decisions: 0,
        }
    }

    pub fn free_bytes(&self) -> u32 {
        self.free.iter().filter(|free| **free).count() as u32 * UNIT
    }

    fn units(region: Region) -> Range<usize> {
        let first = ((region.base - POOL) / UNIT) as usize;
        first..first + (region.bytes / UNIT) as usize
    }

    fn place(&self, wanted: &Fresh) -> Option<Region> {
        let bytes = wanted.bytes.checked_next_power_of_two()?.max(UNIT);
        let step = bytes.max(wanted.alignment);
        let fits = |base: &u32| {
            let units = ((base - POOL) / UNIT) as usize..((base - POOL + bytes) / UNIT) as usize;
            wanted.at.is_none_or(|at| at == *base) && self.free.get(units).is_some_and(|units| units.iter().all(|f| *f))
        };
        let base = (POOL..POOL + self.free.len() as u32 * UNIT).step_by(step as usize).find(fits)?;
        Some(Region { base, bytes, ..Region::default() })
    }

    fn enter(&mut self, client: u8, region: Region, spec: u32) -> Result<Admitted, Refused> {
        let client = usize::from(client);
        let pinned = spec == PINNED;
        if pinned && self.pinned[client] == 1 {
            return Err(refuse(1, 1, 0, 0, 0));
        }
        self.pinned[client] += u32::from(pinned);
        self.entries[client] += 1;
        let terms = Terms { slots: u8::from(pinned), place: 1, ..Terms::default() };
        Ok(Admitted { region, terms, nodes: None })
    }
}

impl Account for Simple {
    fn admit(&mut self, client: u8, asked: &Asked, _: &[Holding]) -> Result<Admitted, Refused> {
        self.decisions += 1;
        let wanted = match asked {
            Asked::Fresh(wanted) => wanted,
            Asked::Theirs(theirs) => return self.enter(client, theirs.region, theirs.spec),
        };
        if wanted.bytes == 0 {
            return Err(refuse(3, 0, 0, 0, 0));
        }
        let region = self.place(wanted).ok_or(refuse(2, wanted.bytes, self.free_bytes(), 0, 0))?;
        let admitted = self.enter(client, region, wanted.spec)?;
        self.free[Self::units(region)].fill(false);
        self.charged[usize::from(client)] += region.bytes;
        Ok(admitted)
    }

    fn explain(&mut self, client: u8, asked: &Asked, _: u16, held: &[Holding]) -> Result<(), Refused> {
        self.decisions += 1;
        // It looks for no changes; a copy may be charged.
        let mut copy = Simple { free: self.free.clone(), ..*self };
        copy.admit(client, asked, held).map(|_| ())
    }

    fn leave(&mut self, client: u8, entry: &Entry, _frames: bool, _: &[Holding]) {
        self.pinned[usize::from(client)] -= u32::from(entry.spec == PINNED);
        self.entries[usize::from(client)] -= 1;
    }

    fn maps_later(&self) -> bool {
        false
    }

    fn draw(&mut self, _: u8, region: &mut Region, done: u32, _: Mark) -> Result<Mark, Error> {
        if done == 0 { Ok(region.first) } else { Err(Error::BadState) }
    }

    fn piece(&self, region: &Region, mark: Mark) -> Option<Piece> {
        (!mark.is_end()).then_some(Piece { base: region.base, bytes: region.bytes, next: Mark::END })
    }

    fn clean(&mut self, client: u8, region: &Region, _: Option<Mark>, bytes: u32) {
        self.free[Self::units(*region)].fill(true);
        self.charged[usize::from(client)] -= bytes;
    }

    fn bound(&self, _: u8, _: Terms) -> Bound {
        Bound { level: 1, method: 2, cycles: 3 }
    }

    fn effort(&self, _: &Region, _: Terms) -> Effort {
        Effort::default()
    }
}
