//! `cores/NAME.toml`: a processor core, whatever chip it is in, as data. Its table `timing` is a part of the profile of every chip with
//! it, and belongs to `timing::profile`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::board_file::MemoryKind;
use crate::diagnostic::Diagnostic;
use crate::exceptions::Exceptions;
use crate::scheme::SchemeName;

/// How programs for a core are built.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// Target triple of the kernel (no floating point: the kernel touches no FP register).
    pub kernel: String,
    /// Target triple of domains.
    pub domain: String,
    /// Flags of the processor for its gcc.
    pub c_flags: Vec<String>,
    /// The library of C for domains.
    pub c_library: CLibrary,
    /// Name of the processor for rustc.
    pub cpu: String,
    /// Flags for C that cargo packages compile themselves (cc-rs), whose own choice for the target would be wrong.
    #[serde(default)]
    pub cc_flags: Vec<String>,
    /// Flags of the C compiler when it links the kernel.
    #[serde(default)]
    pub link_flags: Vec<String>,
    /// Addresses of code and data in every domain, where each has an address space of its own; otherwise domains are moved to where they are placed.
    pub linked_at: Option<[u32; 2]>,
    /// Code of the kernel that is generic over the architecture is compiled to be small; otherwise all of it is compiled to be fast.
    #[serde(default)]
    pub small_kernel: bool,
}

/// A library of C.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CLibrary {
    /// Name of its directory below `user/c`: flags, and the parts of the run-time that are for it alone.
    pub name: String,
    /// A file of it that gcc finds (`-print-file-name`) where it is installed.
    pub file: String,
}

/// The kernel's image for every board with a core, and what it expects of one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Directory of its package, relative to the installation.
    pub package: String,
    /// Kinds of memories, by their names.
    pub memories: BTreeMap<String, MemoryKind>,
    /// The kernel's clock.
    pub clock: ImageClock,
    /// Kinds of other devices, by their names.
    #[serde(default)]
    pub devices: BTreeMap<String, String>,
}

/// The clock that the image of a core drives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageClock {
    /// Kind of the device.
    pub kind: String,
    /// Bytes from its base to the register that is read, of 32 bits.
    pub offset: u32,
    /// Whether that counts up or down.
    pub counts: Counts,
    /// The kernel sets how many cycles of its input a tick has.
    #[serde(default)]
    pub divided: bool,
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// Up.
    Up,
    /// Down.
    Down,
}

/// A core as its file describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Name, equal to the file's.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// How it checks accesses.
    pub protection: SchemeName,
    /// Its region registers, where it has such.
    pub regions: Option<u32>,
    /// The kernel's image for every board with it.
    pub image: Image,
    /// Directory of how domains enter the kernel: C header, and what C domains are linked with; relative to the installation.
    pub entry: String,
    /// How programs are built.
    pub targets: Targets,
    /// Its exceptions.
    pub exceptions: Exceptions,
    /// Its part of the timing model; nothing where the simulator is made of the hardware's own description.
    #[serde(default)]
    pub(crate) timing: toml::Table,
}

/// Facts of a chip's profile that admission and the kernel's start need. Cycles are of its processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chip {
    /// The profile's name.
    pub name: String,
    /// Clock of the processor.
    pub cpu_hz: u64,
    /// It has caches, whose lines one thread puts out and another loads again.
    pub has_caches: bool,
    /// Entries of the main TLB that can be locked; 0 without page tables.
    pub lock_entries: u32,
    /// Ways of the second-level cache, at most 16; 0 without.
    pub ways: u32,
    /// Bytes in a way.
    pub way_bytes: u32,
    /// Bytes of a line of both levels of caches; 0 if they differ.
    pub line_bytes: u32,
    /// A micro-TLB miss that the main TLB answers, at most.
    pub main_tlb_cycles: u32,
    /// A walk that reads two descriptors in on-chip memory, at most.
    pub walk_on_chip_cycles: u32,
    /// A walk that reads two descriptors in locked ways of the second-level cache, at most.
    pub walk_locked_ways_cycles: u32,
}

/// The table `setup` of a chip's file: what start-up writes before the second-level cache is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// The controller's auxiliary control register, but for associativity and way size.
    pub l2_auxiliary: u32,
    /// Its latencies of the tag RAM.
    pub l2_tag_latency: u32,
    /// Its latencies of the data RAM.
    pub l2_data_latency: u32,
    /// Physical addresses and values, in this order.
    pub writes: Vec<[u32; 2]>,
}

impl Setup {
    /// Takes the table of a chip's file; start-up writes nothing if there is none.
    ///
    /// # Errors
    /// CF0605 with the parser's message.
    pub fn of(chip: &toml::Table) -> Result<Setup, Diagnostic> {
        let Some(table) = chip.get("setup") else { return Ok(Setup::default()) };
        table.clone().try_into().map_err(|error: toml::de::Error| {
            Diagnostic::new("CF0605", format!("the chip's file is wrong: setup: {}", error.message()))
                .rule("its table `setup` follows the schema of tools/manifest/src/core/mod.rs")
                .remedy("correct the chip's file")
        })
    }
}

#[cfg(test)]
mod tests;
