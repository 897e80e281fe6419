//! Accesses and states that must not be.

use serde::{Deserialize, Serialize};
use units::CoreId;

/// An access that hardware would not have let through, or a state that must not be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// The core.
    pub core: CoreId,
    /// Its kind.
    pub kind: ViolationKind,
    /// When, in cycles.
    pub cycle: u64,
    /// Address of the instruction.
    pub pc: u32,
    /// First byte accessed; for a changed memory the begin of the range.
    pub address: u32,
    /// Bytes accessed, or of the range.
    pub len: u32,
    /// The domain that ran.
    pub domain: u8,
    /// For `MemoryChanged`: the domain whose memory changed.
    pub victim: Option<u8>,
    /// The mappings of tables and TLBs, when it is about translation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translation: Option<Disagreement>,
}

/// Kinds of violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// A load that the shadowed MPU, or the attribution of addresses, denies in part or whole though the emulator let it through.
    Read,
    /// A store of that kind.
    Write,
    /// Instructions executed where one of these denies it.
    Execute,
    /// Kernel text was entered at an address that is no exception entry.
    KernelEntry,
    /// Memory of another domain changed while a hostile domain ran.
    MemoryChanged,
    /// A hostile domain stored outside the ranges it was given.
    HostileStore,
    /// The kernel accessed a register outside of the devices that are its own.
    KernelDevice,
    /// The kernel accessed memory below its stack.
    KernelStack,
    /// The kernel switched away from a domain without having looked whether a store of it has failed late.
    LateFault,
    /// The core waited for an interrupt or an event with deep sleep selected, which nobody here uses: a chip may stop its clocks then, those of the kernel's timers too.
    DeepSleep,
    /// Non-secure code pended an interrupt of Secure state by STIR, which the emulator alone lets through (docs/interrupts.md).
    SoftwareTrigger,
    /// A translation that the tables no longer say was used, or a core was allowed to use it.
    StaleTranslation,
    /// The same of a locked entry of the main TLB, used or left behind.
    StaleLocked,
    /// The same after an address-space identifier went to other tables.
    StaleSpace,
    /// The same, and an invalidation that no barrier completed.
    StaleBarrier,
    /// A walk read a descriptor past a cache that held it changed.
    UncleanTable,
    /// An access went elsewhere than the observer's copy of the tables says.
    Elsewhere,
}

/// Two opinions on where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disagreement {
    /// The address-space identifier.
    pub space: u8,
    /// Physical address by the translation that was used or may be; for `UncleanTable` that of the descriptor.
    pub held: u32,
    /// Physical address by the tables as they stand; `None`: they have no translation.
    pub tables: Option<u32>,
}

impl ViolationKind {
    /// The rule that was broken, where it is one about translation.
    pub const fn rule(self) -> Option<&'static str> {
        Some(match self {
            Self::StaleTranslation => {
                "a translation that the tables no longer say is gone from every TLB before it can be used"
            }
            Self::StaleLocked => "a locked entry goes before its mapping does: TLBIALL and TLBIMVAA leave it",
            Self::StaleSpace => "an address-space identifier leads to other tables only after TLBIASID",
            Self::StaleBarrier => "an invalidation counts only when a DSB has completed it",
            Self::UncleanTable => "a descriptor is where walks look before a walk needs it",
            Self::Elsewhere => "the observer's copy of the tables is the one that the emulator walks",
            _ => return None,
        })
    }

    /// The remedy, where the violation is one about translation.
    pub const fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::StaleTranslation => "TLBIMVA for the page after its descriptor changed, then DSB",
            Self::StaleLocked => {
                "TLBIMVA with the address and the identifier of the locked entry, or TLBIASID, then DSB"
            }
            Self::StaleSpace => "TLBIASID and DSB before the identifier is given to other tables",
            Self::StaleBarrier => "DSB after the invalidation, before anything that depends on it",
            Self::UncleanTable => {
                "DCCMVAU of the descriptor's line, then DSB, or walks that look into the data cache (TTBR.IRGN)"
            }
            Self::Elsewhere => "this is a defect of the observer or of the emulator, not of the program",
            _ => return None,
        })
    }
}
