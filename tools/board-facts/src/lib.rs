//! Facts of a board for its kernel. The build script of a kernel's image calls [`generate`], which turns the files that admission,
//! placement and the observer read, the board's with those of its chip and core, into constants and into the memories of the linker
//! script: kernel and tools cannot differ.

mod files;
mod foreign;
pub mod input;
mod like;
mod paces;
mod places;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use files::{Board, Files};
pub use foreign::{Foreign, Named, Reference, Viewer};
pub use like::BoardText;
pub use paces::generate_paces;
pub use places::generate_places;

/// Names the file of the board for which an image is built; without it, the first board of the checkout that the image is for.
pub const BOARD: &str = "COFFERDAM_BOARD";
/// The constants, in the build's output directory.
pub const CONSTANTS: &str = "board.rs";
/// The memories for the linker script's `MEMORY`, in the same place.
pub const MEMORIES: &str = "board-memories.ld";
/// The linker script, in the board's directory or, for boards without one, in the image's.
pub const SCRIPT: &str = "kernel.ld";
/// Number of the exception that the first interrupt line makes, in the files of cores.
pub const FIRST_LINE: u32 = 16;

/// Writes [`CONSTANTS`] and [`MEMORIES`] for the image that is being built, and tells cargo to link its programs with [`SCRIPT`].
///
/// # Errors
/// A text: called outside of a build script, there is no board for the image, or a file is wrong or cannot be read or written.
pub fn generate() -> Result<(), String> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("{name} is not set"));
    let (package, out) = (variable("CARGO_MANIFEST_DIR")?, variable("OUT_DIR")?);
    println!("cargo::rerun-if-env-changed={BOARD}");
    let files = match std::env::var_os(BOARD) {
        Some(path) => Files::read(&package, Path::new(&path))?,
        None => Files::first(&package)?,
    };
    write(&out.join(CONSTANTS), &files.constants()?)?;
    write(&out.join(MEMORIES), &files.board.memories())?;
    let own = files.directory.join(SCRIPT);
    let script = if own.is_file() { own } else { package.join(SCRIPT) };
    println!("cargo::rustc-link-arg=-L{}", out.display());
    println!("cargo::rustc-link-arg=-T{}", script.display());
    println!("cargo::rerun-if-changed={}", script.display());
    files.read.iter().for_each(|path| println!("cargo::rerun-if-changed={}", path.display()));
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

impl Files {
    fn constants(&self) -> Result<String, String> {
        let name = &self.board.clock.device;
        let clock = self.board.device.get(name).ok_or_else(|| format!("clock.device: no device `{name}`"))?;
        let mut text = String::new();
        self.put_constants(&mut text, clock).map_err(|error| error.to_string())?;
        if let Some(tables) = &self.board.protection.tables {
            let line = self.timer.checked_sub(FIRST_LINE);
            let line = line.ok_or_else(|| format!("exceptions.timer = {}: no interrupt line", self.timer))?;
            let about = "Interrupt line of the kernel's timer.";
            constant(&mut text, about, "TIMER_LINE", line).map_err(|error| error.to_string())?;
            self.put_pages(&mut text, tables).map_err(|error| error.to_string())?;
        }
        Ok(text)
    }

    fn put_constants(&self, text: &mut String, clock: &files::Device) -> std::fmt::Result {
        let board = &self.board;
        constant(text, "Ticks of the clock in a second.", "TICKS_PER_SECOND", board.ticks_per_second)?;
        writeln!(
            text,
            "/// The clock's device.\n#[allow(dead_code)] // no image uses all of them\npub const CLOCK_DEVICE: {};",
            range(clock.base, clock.bytes)
        )?;
        constant(text, "Address of the clock's register.", "CLOCK_REGISTER", clock.base + self.clock.offset)?;
        constant(text, "Cycles of the clock's input in a tick.", "CLOCK_DIVIDER", board.clock.divider)?;
        constant(
            text,
            "Ticks for which the timer can be armed, at least.",
            "SHORTEST_TICKS",
            board.clock.shortest_ticks,
        )?;
        constant(text, "Ticks from arming the timer to its start, at most.", "START_TICKS", board.clock.start_ticks)?;
        let lines = board.device.values().flat_map(|device| device.lines.values());
        let lines = lines.map(|line| line + 1).max().unwrap_or(0);
        constant(text, "Interrupt lines of its devices: all have lower numbers.", "LINES", lines)?;
        let open: Vec<[u32; 2]> = board.device.values().filter_map(|device| device.unprivileged).collect();
        writeln!(
            text,
            "/// Registers and bits that let unprivileged code access devices of domains.\n#[allow(dead_code)] // only where there are any"
        )?;
        writeln!(text, "pub const UNPRIVILEGED: [[u32; 2]; {}] = {open:?};", open.len())?;
        let gates = board.memory.values().flat_map(|memory| &memory.gates);
        let gates: Vec<[u32; 3]> = gates.map(|gate| [gate.base, gate.bytes, gate.controller]).collect();
        writeln!(
            text,
            "/// Ranges of memory, each with the controller that says which of its blocks are Non-secure: base, bytes, its address."
        )?;
        writeln!(text, "#[allow(dead_code)] // only where there are any")?;
        writeln!(text, "pub const GATES: [[u32; 3]; {}] = {gates:?};", gates.len())?;
        let open: Vec<[u32; 4]> = board.device.values().filter_map(|device| board.opened(device)).collect();
        writeln!(
            text,
            "/// Devices that can be Non-secure: base, the registers that make it so and that then let unprivileged code access it, and the bit. One with a\n/// Non-secure base is so for good and has none."
        )?;
        writeln!(text, "#[allow(dead_code)] // only where there are any")?;
        writeln!(text, "pub const OPEN: [[u32; 4]; {}] = {open:?};", open.len())?;
        let callable = board.protection.callable.as_ref().map(|callable| callable.register);
        writeln!(
            text,
            "/// Register and bit by which Secure code may be callable.\n#[allow(dead_code)] // only where it is"
        )?;
        writeln!(text, "pub const CALLABLE: Option<[u32; 2]> = {callable:?};")?;
        let sampler = board.sampler.as_ref().and_then(|sampler| {
            let device = board.device.get(&sampler.device)?;
            Some((device.base, *device.lines.get(&sampler.line)?))
        });
        constant(
            text,
            "Line of the timer that samples handlers; LINES: there is none.",
            "SAMPLER_LINE",
            sampler.map_or(lines, |(_, line)| line),
        )?;
        constant(text, "Its registers.", "SAMPLER", sampler.map_or(0, |(base, _)| base))?;
        let counter = board.counter.as_ref().and_then(|counter| {
            let device = board.device.get(&counter.device)?;
            Some([counter.registers, device.base, *device.lines.get(&counter.line)?])
        });
        let about = "Line of the counter of handlers' cycles; LINES: there is none.";
        constant(text, about, "COUNTER_LINE", counter.map_or(lines, |[.., line]| line))?;
        writeln!(
            text,
            "/// Its registers, at this address for 0xE000_0000; the device by which its interrupt comes, and the line."
        )?;
        writeln!(text, "#[allow(dead_code)] // only where there is one")?;
        writeln!(text, "pub const COUNTER: Option<[u32; 3]> = {counter:?};")?;
        let about = "Cycles that a look at handlers takes, at most, which meets one.";
        constant(text, about, "MET_CYCLES", board.kernel.counted_met_cycles)?;
        let about = "Cycles of a call of the way into the kernel, which the counter does not count.";
        let way_in = board.counter.as_ref().map_or(0, |counter| counter.way_in_cycles);
        constant(text, about, "WAY_IN_CYCLES", way_in)?;
        ranges(text, "memory", "Memories of the board.", board.memory.iter().map(|(n, m)| (n, m.base, m.bytes)))?;
        ranges(text, "device", "Devices of the board.", board.device.iter().map(|(n, d)| (n, d.base, d.bytes)))
    }

    /// Constants of boards with page tables.
    fn put_pages(&self, text: &mut String, tables: &str) -> std::fmt::Result {
        let offset = self.board.protection.kernel_offset.unwrap_or_default();
        let about =
            "The kernel has memory and devices at their physical addresses and this, unless these lie in its half.";
        constant(text, about, "KERNEL_OFFSET", offset)?;
        writeln!(
            text,
            "/// The memory on the chip in which tables of domains lie.\n#[allow(dead_code)] // no image uses all of them"
        )?;
        writeln!(text, "pub const TABLES: core::ops::Range<u32> = memory::{};", tables.to_uppercase())?;
        let given = self.board.memory.iter().filter(|(_, memory)| memory.kind != "kernel");
        let given: Vec<String> = given.map(|(name, _)| format!("memory::{}", name.to_uppercase())).collect();
        if let Some(entries) = self.board.protection.entries_log2 {
            constant(
                text,
                "Base-two logarithm of the entries of each table of the hardware.",
                "ENTRIES_LOG2",
                entries,
            )?;
            let mmu = self.board.protection.mmu.as_deref().unwrap_or_default();
            writeln!(text, "/// The MMU, of those that the image has.\npub use super::mmus::{mmu} as Mmu;")?;
        }
        writeln!(text, "/// The memories of domains.\n#[allow(dead_code)] // no image uses all of them")?;
        let count = given.len();
        writeln!(text, "pub const DOMAINS: [core::ops::Range<u32>; {count}] = [{}];", given.join(", "))?;
        let (cache, setup) = (self.chip.cache(), &self.chip.setup);
        constant(text, "Ways of the second-level cache.", "L2_WAYS", cache.ways.value)?;
        constant(text, "Bytes in one of them.", "L2_WAY_BYTES", cache.size.value / cache.ways.value.max(1))?;
        constant(
            text,
            "Auxiliary control of its controller, but for the two above.",
            "L2_AUXILIARY",
            setup.l2_auxiliary,
        )?;
        constant(
            text,
            "Latencies of its tag RAM, as the controller has them.",
            "L2_TAG_LATENCY",
            setup.l2_tag_latency,
        )?;
        constant(text, "Latencies of its data RAM.", "L2_DATA_LATENCY", setup.l2_data_latency)?;
        let about = "Ways of it, from way 0 on, in which the memory `kernel` stays.";
        constant(text, about, "KERNEL_WAYS", self.board.protection.kernel_ways)?;
        writeln!(
            text,
            "/// Physical addresses and values that start-up writes first.\n#[allow(dead_code)] // no image uses all of them"
        )?;
        let count = setup.writes.len();
        writeln!(text, "pub const WRITES: [[u32; 2]; {count}] = {:?};", setup.writes)
    }
}

fn constant(text: &mut String, about: &str, name: &str, value: u32) -> std::fmt::Result {
    writeln!(text, "/// {about}\n#[allow(dead_code)] // no image uses all of them\npub const {name}: u32 = {value:#x};")
}

impl Board {
    /// The kernel's address of a physical address.
    fn seen(&self, physical: u32) -> u32 {
        physical + self.protection.kernel_offset.filter(|offset| physical < *offset).unwrap_or(0)
    }

    /// How a device becomes Non-secure, if a domain can have it so.
    fn opened(&self, device: &files::Device) -> Option<[u32; 4]> {
        let for_good = !device.kernel && self.protection.secure.is_some_and(|bit| device.base & bit == 0);
        let [[open, bit], [unprivileged, _]] = if for_good { [[0; 2]; 2] } else { device.open? };
        Some([device.base, open, unprivileged, bit])
    }

    /// A line for each memory, where the kernel has it; of one that domains share with the kernel, the part that is the kernel's. A second one
    /// for where it is.
    fn memories(&self) -> String {
        let line = |name: &str, base: u32, bytes: u32| format!("{name} : ORIGIN = {base:#x}, LENGTH = {bytes:#x}\n");
        let lines = |(name, memory): (&String, &files::Memory)| {
            let (name, bytes) =
                (name.to_uppercase(), memory.reserved.unwrap_or(if memory.kind == "ram" { 0 } else { memory.bytes }));
            line(&name, self.seen(memory.base), bytes) + &line(&format!("{name}_PHYSICAL"), memory.base, bytes)
        };
        self.memory.iter().map(lines).collect()
    }
}

/// Type and value of a constant range.
fn range(base: u32, bytes: u32) -> String {
    format!("core::ops::Range<u32> = {base:#x}..{:#x}", u64::from(base) + u64::from(bytes))
}

/// A module with a range for each name.
fn ranges<'a>(
    text: &mut String,
    module: &str,
    about: &str,
    all: impl Iterator<Item = (&'a String, u32, u32)>,
) -> std::fmt::Result {
    writeln!(text, "/// {about}\n#[allow(dead_code)] // no image uses all of them\npub mod {module} {{")?;
    for (name, base, bytes) in all {
        writeln!(text, "    /// `{name}`.")?;
        writeln!(text, "    pub const {}: {};", name.to_uppercase(), range(base, bytes))?;
    }
    writeln!(text, "}}")
}

#[cfg(test)]
mod tests;
