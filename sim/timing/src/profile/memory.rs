//! The parameters of memories and device windows.

use alloc::string::String;

use super::params::Param;

/// Kind of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum MemoryKind {
    /// Tightly coupled.
    Tcm,
    /// Flash.
    Flash,
    /// On-chip SRAM behind a bus.
    Sram,
    /// External dynamic memory.
    Sdram,
    /// Registers of devices; no image is placed here.
    Device,
}

/// How the core reaches it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Interface {
    /// The tightly coupled ports: never cached.
    Tcm,
    /// The memory bus behind the caches.
    Axi,
    /// A bus of a core without caches.
    Ahb,
    /// Behind the level-1 caches and beside the level-2 cache.
    BesideL2,
    /// The peripheral bus: never cached.
    Peripheral,
    /// The core's own registers: never cached.
    Private,
}

/// Cycles of a transfer beyond those of a hit.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct LatencyParams {
    /// Bytes per beat.
    pub beat: Param<u32>,
    /// Until the first beat of a read.
    pub read_first: Param<u32>,
    /// Until the first beat of a write is taken.
    pub write_first: Param<u32>,
    /// Per further beat.
    pub next: Param<u32>,
    /// Of `read_first`, the cycles in which no other transfer can begin; absent: all of them.
    pub busy_first: Option<Param<u32>>,
}

/// The flash accelerator.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ArtParams {
    /// Lines that it keeps, 1 to 255.
    pub lines: Param<u32>,
    /// Whether it reads the next line ahead for instructions.
    pub prefetch: Param<bool>,
    /// Whether it keeps a line that was read ahead in time, as one that was waited for; absent: no.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub keep_ahead: Option<Param<bool>>,
}

/// Open rows of a dynamic memory.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct RowParams {
    /// Bytes of a row, a power of two.
    pub row: Param<u32>,
    /// Bytes of a bank, a power of two; the bank is the address divided by it.
    pub bank: Param<u32>,
    /// Extra cycles when another row of the bank is open.
    pub miss: Param<u32>,
}

/// One memory or device window.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct MemoryParams {
    /// Name, unique in the profile.
    pub name: String,
    /// Kind.
    pub kind: MemoryKind,
    /// How the core reaches it.
    pub interface: Interface,
    /// Address on the chip.
    pub chip_base: Param<u64>,
    /// Address on the board that QEMU models.
    pub board_base: Param<u64>,
    /// Another address on that board at which the same memory answers; not of memory that caches may hold.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub board_alias: Option<Param<u64>>,
    /// Bytes that the chip has.
    pub capacity: Param<u64>,
    /// Bytes that the board has at that address.
    pub board_capacity: Param<u64>,
    /// Whether the caches may hold it when the attributes say so.
    pub cacheable: Param<bool>,
    /// Latency; none for tightly coupled memory.
    pub latency: Option<LatencyParams>,
    /// Accelerator; flash only.
    pub art: Option<ArtParams>,
    /// Open rows; dynamic memory only.
    pub rows: Option<RowParams>,
}
