//! Memory that the memory manager says that it granted.

use std::collections::BTreeMap;

use manager::note::{self, GrantNote, Note, Reader};
use record::RunEvent;
use spec::TemporalSpec;

use crate::describe::{Effort, SystemDescription};
use crate::schema::{GrantReport, Holder};
use crate::{MAX_GRANTS, MAX_HELD};

/// Code of what has region registers or locked entries of its own.
const PINNED: &str = "pinned";

/// Grants, from the manager's notes.
#[derive(Debug, Default)]
pub struct Grants {
    reader: Reader,
    /// Grants that are held, by domain and first address: the place of each in the list, if it has
    /// one.
    live: BTreeMap<(u8, u32), Option<usize>>,
    pub list: Vec<GrantReport>,
    pub total: u64,
}

impl Grants {
    /// Whether a marker of the manager's is a note.
    pub const fn concern(id: u16) -> bool {
        note::is_note(id)
    }

    /// Takes a marker; false when it does not go with those before it.
    pub fn note(&mut self, event: &RunEvent, system: &SystemDescription) -> bool {
        match self.reader.take(event.detail, event.payload) {
            Ok(Some(Note::Granted(told))) => self.granted(&told, event.cycle, system),
            Ok(Some(Note::Ended { client, base })) => self.ended((client, base), event.cycle),
            Ok(None) => true,
            Err(note::Strange) => false,
        }
    }

    fn granted(&mut self, told: &GrantNote, at: u64, system: &SystemDescription) -> bool {
        let Some(grant) = grant(told, at, system) else { return false };
        let key = (told.client, told.base);
        if self.live.len() >= MAX_HELD && !self.live.contains_key(&key) {
            return false;
        }
        self.total += 1;
        let place = (self.list.len() < MAX_GRANTS).then_some(self.list.len());
        if place.is_some() {
            self.list.push(grant);
        }
        self.live.insert(key, place).is_none()
    }

    fn ended(&mut self, key: (u8, u32), at: u64) -> bool {
        let Some(place) = self.live.remove(&key) else { return false };
        if let Some(grant) = place.and_then(|place| self.list.get_mut(place)) {
            grant.until = Some(at);
        }
        true
    }
}

/// The grant that was told, with what is promised of it; `None` when the system has no such domain,
/// or the specification means nothing.
fn grant(told: &GrantNote, at: u64, system: &SystemDescription) -> Option<GrantReport> {
    let domain = system.domains.iter().find(|domain| domain.index == told.client)?;
    let kept = if told.pinned { PINNED } else { told.place.name() };
    let promise = domain.account.promises.iter().find(|promise| promise.kept == kept);
    let effort = system.effort.as_ref().filter(|_| told.descriptors > 0);
    let cycles = |of: fn(&Effort) -> (u32, u32)| {
        let (base, each) = effort.map(of)?;
        Some(u64::from(base) + u64::from(each) * u64::from(told.descriptors))
    };
    Some(GrantReport {
        domain: told.client,
        at,
        until: None,
        base: u64::from(told.base),
        bytes: u64::from(told.bytes),
        access: if told.write { "rw".into() } else { "r".into() },
        holder: match told.holder {
            note::Holder::Private => Holder::Private,
            note::Holder::Owner => Holder::Owner,
            note::Holder::Member => Holder::Member,
        },
        spec: TemporalSpec::from_bits(told.spec).ok()?.to_string(),
        kept: kept.into(),
        level: promise.map(|promise| promise.level.clone()).unwrap_or_default(),
        bound_cycles: promise.map(|promise| promise.cycles),
        bound_method: promise.map(|promise| promise.method.clone()).unwrap_or_default(),
        descriptors: told.descriptors,
        map_cycles: cycles(|effort| effort.map),
        release_cycles: cycles(|effort| effort.release),
    })
}
