//! Records of what was placed, for people and reports.

use report::describe::{Envelope, Promise};
use serde::{Deserialize, Serialize};

/// Sizes of an image in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageSizes {
    /// Code and constants.
    pub text: u64,
    /// Initialised data.
    pub data: u64,
    /// Data that starts as zero.
    pub bss: u64,
}

/// An area of a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedArea {
    /// Name: `code`, `data`, `stack`, `heap`, or that of the device, file or shared memory.
    pub name: String,
    /// First address.
    pub base: u32,
    /// Bytes, over all pieces.
    pub bytes: u32,
    /// Pages get frames at their first touch, where the domain has made a region: there are fewer frames than that, or as many.
    #[serde(default)]
    pub on_demand: bool,
    /// Pieces of equal size; 1 unless the area alternates with others.
    pub pieces: u32,
    /// Bytes from one piece to the next; 0 for a single one.
    pub stride: u32,
    /// Letters of `rwx`.
    pub access: String,
    /// Name of the memory, or `device`.
    pub memory: String,
    /// Pinned or paged.
    pub pinned: bool,
    /// Shared with another domain.
    pub shared: bool,
    /// Handlers that interrupts reach without the kernel use it, too: it is Non-secure.
    #[serde(default)]
    pub open: bool,
    /// Region registers (pinned) or paged regions. With page tables: entries of a TLB that hold what is mapped for it.
    pub regions: u32,
    /// How the check of its accesses is kept: [`Keeping::kept`].
    pub kept: String,
    /// The specification.
    pub spec: String,
    /// Level at which the check of an access ends at the latest.
    pub level: String,
    /// Cycles that the check adds to one access at most.
    pub bound_cycles: Option<u32>,
    /// How that was found.
    pub bound_method: String,
}

/// A domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedDomain {
    /// Name.
    pub name: String,
    /// Areas.
    pub areas: Vec<PlacedArea>,
    /// Sizes of its program.
    pub sizes: ImageSizes,
    /// Promises of the ledger to it.
    pub account: PlacedAccount,
    /// Base and size of the stack of each thread, then of each gate.
    #[serde(default)]
    pub stacks: Vec<(u32, u32)>,
}

/// Code and constants of handlers that interrupts reach without the kernel. Their names are among the symbols, at these addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedHandlers {
    /// Index of the domain.
    pub domain: u8,
    /// First address, as Non-secure code finds it; Secure code finds it with the bit `alias`.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// The bit of an address that says Secure.
    pub alias: u32,
    /// Address and bytes of the handlers' stack.
    pub stack: (u32, u32),
    /// Addresses that exceptions lead to.
    pub entries: Vec<u32>,
    /// Address of each copy, address of what it is a copy of, and bytes.
    #[serde(default)]
    pub copies: Vec<(u32, u32, u32)>,
}

/// Promises of the ledger to a domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedAccount {
    /// Region registers that are pinned.
    pub pinned: u32,
    /// Region registers that serve paged memory, or would.
    pub paged: u32,
    /// Class of memory of its table.
    pub table: String,
    /// Bytes of its table. With page tables: of its second-level tables on the chip.
    pub table_bytes: u32,
    /// With page tables, bytes of its second-level tables off the chip.
    pub far_bytes: u32,
    /// Bytes of it that are promised.
    pub table_used: u32,
    /// Promise to it of each way of keeping a check.
    pub promises: Vec<Promise>,
    /// Its envelopes.
    pub envelopes: Vec<Envelope>,
}

/// A memory of the chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedMemory {
    /// Name.
    pub name: String,
    /// First address.
    pub base: u32,
    /// Bytes.
    pub bytes: u32,
    /// Bytes in use.
    pub used: u64,
    /// Domains have it at its addresses less this.
    pub offset: u32,
}

/// Contents locked in the second-level cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedWays {
    /// Ways that are closed to everything else.
    pub ways: u32,
    /// First address of the tables in them.
    pub base: u32,
    /// Their bytes.
    pub bytes: u32,
}

/// A function or object at its final address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Address, Thumb bit clear.
    pub address: u32,
    /// Bytes; 0 when unknown.
    pub bytes: u32,
    /// Name, demangled.
    pub name: String,
    /// Index of the domain; `None`: the kernel.
    pub domain: Option<u8>,
}

/// Memory of the kernel for its objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    /// Bytes that the system's objects take, gaps included.
    pub used: u64,
    /// Bytes that the kernel has for them.
    pub bytes: u64,
    /// Each kind of object, those that take most first.
    pub taken: Vec<Taken>,
}

/// Objects of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Name for several of them.
    pub what: String,
    /// How many there are.
    pub count: u32,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Objects {
    /// The three kinds that take most, as a phrase.
    pub fn largest(&self) -> String {
        let most = self.taken.iter().take(3);
        most.map(|Taken { what, count, bytes }| format!("{count} {what} {bytes}")).collect::<Vec<_>>().join(", ")
    }
}
