//! A range of addresses in which a unit's registers say the same.

use super::super::REGIONS;
use super::super::attributes::{Attributes, Policy};
use super::answer::{Attr, Denial};
use crate::AccessKind;

/// Shift from a privileged permission to the unprivileged one.
const UNPRIVILEGED: u32 = 3;
/// The permissions to execute.
const EXECUTE: u8 = 0b100_100;
/// No region decides.
const BACKGROUND: u8 = 0xff;
/// Two regions contain it: their numbers are in bits 5..3 and 2..0.
const OVERLAP: u8 = 0x40;
const _: () = assert!(REGIONS == 8);

/// The private peripheral bus, which is outside of the unit.
const BUS_FIRST: u32 = 0xe000_0000;
const BUS_LAST: u32 = 0xe00f_ffff;

/// Data rights of both privileges, and whether code that may read may fetch instructions, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permissions(u8);

impl Permissions {
    /// No access at either privilege.
    pub const NONE: Self = Self(0);

    /// Rights to data as (read, write), for privileged and for unprivileged code. With `execute`
    /// code that may read may fetch.
    pub const fn new(privileged: (bool, bool), unprivileged: (bool, bool), execute: bool) -> Self {
        Self(Self::of(privileged, execute) | Self::of(unprivileged, execute) << UNPRIVILEGED)
    }

    const fn of((read, write): (bool, bool), execute: bool) -> u8 {
        read as u8 | (write as u8) << 1 | ((execute && read) as u8) << 2
    }
}

/// A range around some address in which the rules are the same. It is valid only until the next
/// write to a register, which begins a generation.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) generation: u32,
    /// Bits 2..0 privileged read, write, execute; bits 5..3 the same unprivileged.
    pub(super) permits: u8,
    pub(super) memory: Attributes,
    /// The region that decides, [`BACKGROUND`], or [`OVERLAP`] with two.
    region: u8,
}

impl Segment {
    /// One that contains nothing.
    pub(super) const NOTHING: Self = Self {
        first: 1,
        last: 0,
        generation: 0,
        permits: 0,
        memory: Attributes::new(Policy::StronglyOrdered, true),
        region: BACKGROUND,
    };

    /// Narrows the segment, which contains `addr`, to addresses that are all within `first..=last`
    /// or all outside of it, as `addr` is. Returns true if `addr` is within.
    pub fn clip(&mut self, addr: u32, first: u32, last: u32) -> bool {
        if addr < first {
            self.last = self.last.min(first - 1);
            return false;
        }
        if addr > last {
            self.first = self.first.max(last + 1);
            return false;
        }
        self.first = self.first.max(first);
        self.last = self.last.min(last);
        true
    }

    /// Lets a region below 8 decide, in place of what decided before.
    pub const fn decide(&mut self, region: u8, permissions: Permissions, memory: Attributes) {
        self.permits = permissions.0;
        self.memory = memory;
        self.region = region;
    }

    /// Notes that two regions below 8 contain it, in a scheme in which then no access succeeds.
    pub const fn overlap(&mut self, lower: u8, higher: u8) {
        self.permits = Permissions::NONE.0;
        self.region = OVERLAP | (lower & 7) << 3 | higher & 7;
    }

    #[inline]
    pub(super) fn attr(&self) -> Attr {
        Attr { memory: self.memory, region: if self.region == BACKGROUND { None } else { Some(self.region) } }
    }

    pub(super) const fn is_private_bus(&self) -> bool {
        self.first == BUS_FIRST
    }

    /// Takes the default map from unprivileged code, and without a background from privileged code,
    /// too.
    pub(super) const fn restrict(&mut self, has_background: bool) {
        self.permits &= if has_background { (1 << UNPRIVILEGED) - 1 } else { 0 };
    }

    /// Never executed: the system's space, and all memory that is not normal.
    pub(super) const fn forbid_execution(&mut self, addr: u32) {
        if addr >= BUS_FIRST || self.memory.is_device() {
            self.permits &= !EXECUTE;
        }
    }

    pub(super) const fn denial(&self, privileged: bool) -> Denial {
        let mask = if privileged { 0b111 } else { 0b111 << UNPRIVILEGED };
        match self.region {
            BACKGROUND if self.is_private_bus() || self.permits & mask != 0 => Denial::DefaultMap,
            BACKGROUND => Denial::NoRegion,
            pair if pair & OVERLAP != 0 => Denial::Overlap { lower: pair >> 3 & 7, higher: pair & 7 },
            region => Denial::Permission { region },
        }
    }
}

/// The permission that an access needs.
#[inline]
pub(super) const fn need(privileged: bool, kind: AccessKind) -> u8 {
    let bit = match kind {
        AccessKind::Read => 1,
        AccessKind::Write => 2,
        AccessKind::Exec => 4,
    };
    if privileged { bit } else { bit << UNPRIVILEGED }
}

/// The default memory map (DDI 0403 B3.1, table B3-1; DDI 0553 B8 has the same), for both privileges; the private peripheral bus is privileged only
/// (hardware answers an unprivileged access with a bus fault, except to STIR when CCR.USERSETMPEND is set, which is not modelled).
pub(super) const fn default_map(addr: u32) -> Segment {
    const DATA: u8 = 0b011_011;
    const ALL: u8 = DATA | EXECUTE;
    let (permits, policy, shareable) = match addr >> 29 {
        0 | 4 => (ALL, Policy::WriteThrough, false),
        1 | 3 => (ALL, Policy::WriteBackAllocate, false),
        2 | 5 | 6 => (DATA, Policy::Device, true),
        _ if addr <= BUS_LAST => (0b011, Policy::StronglyOrdered, true),
        _ => (DATA, Policy::Device, true),
    };
    let eighth = 0x1fff_ffff;
    let (first, last) = match addr {
        BUS_FIRST..=BUS_LAST => (BUS_FIRST, BUS_LAST),
        _ if addr > BUS_LAST => (BUS_LAST + 1, u32::MAX),
        _ => (addr & !eighth, addr | eighth),
    };
    let memory = Attributes::new(policy, shareable);
    Segment { first, last, generation: 0, permits, memory, region: BACKGROUND }
}
