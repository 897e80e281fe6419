//! The level-2 cache behind a PL310 controller: lockdown by way for each kind of access, and its registers.

use alloc::format;

use crate::bus::Port;
use crate::cache::{Cache, Fill};
use crate::profile::{Level2Params, ProfileError};

/// Kinds of access that have lockdown registers of their own (DDI 0246, "Cache Lockdown").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Master {
    /// Data accesses and table walks of the modelled core.
    Data,
    /// Its instruction fetches.
    Instruction,
}

/// An operation on the controller, from a store to one of its registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Turns the cache on or off.
    Enable(bool),
    /// Waits until everything before is done.
    Sync,
    /// On the line of this physical address.
    Line {
        /// Address in the line.
        addr: u32,
        /// Write it back if it is changed.
        clean: bool,
        /// Drop it.
        invalidate: bool,
    },
    /// On every line of the ways in the mask.
    Ways {
        /// Bit n: way n.
        mask: u32,
        /// Write changed lines back.
        clean: bool,
        /// Drop the lines.
        invalidate: bool,
    },
    /// Ways that accesses of this kind may not fill.
    Lockdown {
        /// The master of the accesses.
        master: Master,
        /// Bit n: way n.
        mask: u32,
    },
}

impl Operation {
    /// The effect of a word store of `value` at `offset` from the controller's base; `None` if this model has nothing to do.
    /// Lockdown registers of other masters than the first (core 0) are not of this core. Operations by index and way are
    /// not decoded (DDI 0246, register summary).
    pub fn decode(offset: u32, value: u32) -> Option<Self> {
        let line = |clean, invalidate| Self::Line { addr: value & !31, clean, invalidate };
        let ways = |clean, invalidate| Self::Ways { mask: value & 0xFFFF, clean, invalidate };
        Some(match offset {
            0x100 => Self::Enable(value & 1 != 0),
            0x730 => Self::Sync,
            0x770 => line(false, true),
            0x77C => ways(false, true),
            0x7B0 => line(true, false),
            0x7BC => ways(true, false),
            0x7F0 => line(true, true),
            0x7FC => ways(true, true),
            0x900 => Self::Lockdown { master: Master::Data, mask: value & 0xFFFF },
            0x904 => Self::Lockdown { master: Master::Instruction, mask: value & 0xFFFF },
            _ => return None,
        })
    }
}

/// The level-2 cache.
#[derive(Clone, Debug)]
pub struct Pl310 {
    cache: Cache,
    pub(crate) port: Port,
    pub(crate) on: bool,
    data_lock: u32,
    instruction_lock: u32,
}

impl Pl310 {
    /// An empty cache, nothing locked.
    ///
    /// # Errors
    /// When its shape is impossible.
    pub fn new(p: &Level2Params) -> Result<Self, ProfileError> {
        let wrong = |why| ProfileError { path: "application.l2.cache".into(), rule: format!("{why}") };
        Ok(Self {
            cache: Cache::new(p.cache.geometry(), p.cache.replacement.value).map_err(wrong)?,
            port: Port::new(&p.latency),
            on: p.cache.enabled.value,
            data_lock: 0,
            instruction_lock: 0,
        })
    }

    /// The ways that `master` may not fill.
    pub const fn locked(&self, master: Master) -> u32 {
        match master {
            Master::Data => self.data_lock,
            Master::Instruction => self.instruction_lock,
        }
    }

    /// Sets them.
    pub const fn lock(&mut self, master: Master, mask: u32) {
        match master {
            Master::Data => self.data_lock = mask,
            Master::Instruction => self.instruction_lock = mask,
        }
    }

    /// The cache itself.
    pub const fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Looks a line up for `master`: on a hit, whether it lies in a way that is locked for it.
    pub(crate) fn look_up(&mut self, line: u64, dirty: bool, master: Master) -> Option<bool> {
        if !self.cache.access(line, dirty) {
            return None;
        }
        Some(self.cache.probe(line).is_some_and(|way| self.locked(master) & 1 << way != 0))
    }

    /// Brings a line in outside the ways that are locked for `master`.
    pub(crate) fn fill(&mut self, line: u64, dirty: bool, master: Master) -> Fill {
        self.cache.fill_outside(line, dirty, self.locked(master))
    }

    /// Empties the ways that data may fill.
    pub(crate) fn disturb(&mut self) {
        self.cache.empty_ways(!self.data_lock);
    }

    /// Fills the ways that data may fill with changed lines of somebody else.
    pub(crate) fn spoil(&mut self) {
        if self.on {
            self.cache.spoil(!self.data_lock, true);
        }
    }

    /// Maintenance of one line: whether it has to be written back. Locked lines are maintained like others (DDI 0246).
    pub(crate) fn maintain_line(&mut self, line: u64, clean: bool, invalidate: bool) -> bool {
        let dirty = clean && self.cache.clean_line(line);
        if invalidate {
            self.cache.invalidate_line(line);
        }
        dirty
    }

    /// Maintenance of the lines of set `set` in way `way`: the line that has to be written back.
    pub(crate) fn maintain_place(&mut self, set: u32, way: u32, clean: bool, invalidate: bool) -> Option<u64> {
        let held = self.cache.by_set_way(set, way, clean, invalidate)?;
        (held.dirty && clean).then_some(held.line)
    }
}

#[cfg(test)]
mod tests;
