//! The ways in which the check of an area's accesses is kept, and the sizes and alignments that follow.

use protect::vmsav7::Unit;
use spec::{AccessLevel, TemporalSpec};
use system::vmsav7::PAGE;

use crate::allocate::Space;

/// Bytes from which on an area has sections.
pub(crate) const SECTION: u64 = Unit::Section.bytes() as u64;

/// How the check of an area's accesses is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Keep {
    /// In a locked entry of the TLB.
    Locked,
    /// By a walk of tables in on-chip memory.
    Near,
    /// By a walk of tables anywhere.
    Far,
}

/// How a specification is kept; what no chip of this kind keeps has been refused before.
pub(crate) fn keep(spec: TemporalSpec) -> Keep {
    match spec.access {
        AccessLevel::Deterministic | AccessLevel::L1 => Keep::Locked,
        AccessLevel::L2 | AccessLevel::L3 => Keep::Near,
        AccessLevel::BestEffort => Keep::Far,
    }
}

/// Bits of an area with this specification.
pub(crate) fn flags(spec: TemporalSpec) -> u32 {
    use system::area::{NEAR, PINNED};
    match keep(spec) {
        Keep::Locked => PINNED,
        Keep::Near => NEAR,
        Keep::Far => 0,
    }
}

/// Bytes of an area: whole pages.
pub(crate) fn room(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(u64::from(PAGE))
}

/// The alignment with which an area of so many bytes takes the fewest entries. A memory that one table translates is small, and none of it is spent on
/// alignment.
pub(crate) fn alignment(space: &Space, bytes: u64) -> u64 {
    if space.is_within_mib() {
        return PAGE.into();
    }
    Unit::ALL
        .into_iter()
        .rev()
        .map(|unit| u64::from(unit.bytes()))
        .find(|unit| bytes >= *unit)
        .unwrap_or(u64::from(PAGE))
}
