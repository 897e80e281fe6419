//! Facts of a board for its kernel image. A board's build script calls [`generate`], which turns `board.toml`, the file that admission,
//! placement and the observer read, into constants and into the memories of the linker script: kernel and tools cannot differ.

mod foreign;
mod places;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_derive::Deserialize;

pub use foreign::{Foreign, Named, Reference, Viewer};
pub use places::generate_places;

/// The constants, in the build's output directory.
pub const CONSTANTS: &str = "board.rs";
/// The memories for the linker script's `MEMORY`, in the same place.
pub const MEMORIES: &str = "board-memories.ld";

/// The facts that a kernel needs. The host tools check the rest of the file.
#[derive(Debug, Deserialize)]
struct Board {
    name: String,
    ticks_per_second: u32,
    clock: Clock,
    #[serde(default)]
    protection: Protection,
    memory: BTreeMap<String, Memory>,
    device: BTreeMap<String, Device>,
    foreign: Option<Foreign>,
}

/// The register of the kernel's clock.
#[derive(Debug, Deserialize)]
struct Clock {
    device: String,
    offset: u32,
}

#[derive(Debug, Default, Deserialize)]
struct Protection {
    kernel_offset: Option<u32>,
    device_offset: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct Memory {
    base: u32,
    bytes: u32,
    /// Bytes at its start that are the kernel's.
    reserved: Option<u32>,
    kind: String,
}

#[derive(Debug, Deserialize)]
struct Device {
    base: u32,
    bytes: u32,
    /// No domain can have it.
    #[serde(default)]
    kernel: bool,
}

/// Writes [`CONSTANTS`] and [`MEMORIES`] of the package that is being built, and tells cargo to link its programs with its `kernel.ld`.
///
/// # Errors
/// A text: called outside of a build script, or a file is wrong or cannot be read or written.
pub fn generate() -> Result<(), String> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("{name} is not set"));
    let (package, out) = (variable("CARGO_MANIFEST_DIR")?, variable("OUT_DIR")?);
    let file = package.join("board.toml");
    let board = Board::read(&file)?;
    write(&out.join(CONSTANTS), &board.constants()?)?;
    write(&out.join(MEMORIES), &board.memories())?;
    let script = package.join("kernel.ld");
    println!("cargo::rustc-link-arg=-L{}", out.display());
    println!("cargo::rustc-link-arg=-T{}", script.display());
    println!("cargo::rerun-if-changed=kernel.ld");
    println!("cargo::rerun-if-changed=board.toml");
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

impl Board {
    fn read(file: &Path) -> Result<Board, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        basic_toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
    }

    fn constants(&self) -> Result<String, String> {
        let missing = || format!("clock.device: no device `{}`", self.clock.device);
        let clock = self.device.get(&self.clock.device).ok_or_else(missing)?.base + self.clock.offset;
        let mut text = String::new();
        self.put_constants(&mut text, clock).map_err(|error| error.to_string())?;
        Ok(text)
    }

    fn put_constants(&self, text: &mut String, clock: u32) -> std::fmt::Result {
        writeln!(text, "/// Ticks of the clock in a second.")?;
        writeln!(text, "pub const TICKS_PER_SECOND: u32 = {};", self.ticks_per_second)?;
        writeln!(text, "/// Physical address of the clock's register.")?;
        writeln!(text, "pub const CLOCK_REGISTER: u32 = {clock:#x};")?;
        if let Some(offset) = self.protection.kernel_offset {
            writeln!(
                text,
                "/// The kernel has memory at its physical address and this, unless that lies in its half."
            )?;
            writeln!(text, "pub const KERNEL_OFFSET: u32 = {offset:#x};")?;
        }
        let memories = self.memory.iter().map(|(name, memory)| (name, memory.base, memory.bytes));
        ranges(text, "memory", "Memories of the board.", memories)?;
        let devices = self.device.iter().map(|(name, device)| (name, device.base, device.bytes));
        ranges(text, "device", "Devices of the board.", devices)
    }

    /// Where the kernel has what is at a physical address.
    fn seen(&self, physical: u32) -> u32 {
        physical + self.protection.kernel_offset.filter(|offset| physical < *offset).unwrap_or(0)
    }

    /// A line for each memory, where the kernel has it; of one that domains share with the kernel, the part that is the kernel's. A second one
    /// for where it is, if that is elsewhere.
    fn memories(&self) -> String {
        let line = |name: &str, base: u32, bytes: u32| format!("{name} : ORIGIN = {base:#x}, LENGTH = {bytes:#x}\n");
        let lines = |(name, memory): (&String, &Memory)| {
            let (name, bytes) = (name.to_uppercase(), memory.reserved.unwrap_or(memory.bytes));
            match self.seen(memory.base) {
                seen if seen != memory.base => {
                    line(&name, seen, bytes) + &line(&format!("{name}_PHYSICAL"), memory.base, bytes)
                }
                seen => line(&name, seen, bytes),
            }
        };
        self.memory.iter().map(lines).collect()
    }
}

/// A module with a range for each name.
fn ranges<'a>(
    text: &mut String,
    module: &str,
    about: &str,
    all: impl Iterator<Item = (&'a String, u32, u32)>,
) -> std::fmt::Result {
    writeln!(text, "/// {about}\n#[allow(dead_code)] // no kernel uses all of them\npub mod {module} {{")?;
    for (name, base, bytes) in all {
        let end = u64::from(base) + u64::from(bytes);
        writeln!(text, "    /// `{name}`.")?;
        writeln!(text, "    pub const {}: core::ops::Range<u32> = {base:#x}..{end:#x};", name.to_uppercase())?;
    }
    writeln!(text, "}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "name = 'a board'\nticks_per_second = 1000\n[clock]\ndevice = 'uart'\noffset = 8\ncounts = 'up'\n[protection]\nscheme = 'vmsav7'\nkernel_offset = 0x8000_0000\n\
        [memory.near]\nbase = 0x100\nbytes = 0x80\nreserved = 0x20\nkind = 'ram'\n[memory.code]\nbase = 0\nbytes = 0x40\nkind = 'rom'\n\
        [device.uart]\nbase = 0x4000_0000\nbytes = 0x1000\n";

    #[test]
    fn what_the_kernel_gets_is_what_the_file_says() {
        let board: Board = basic_toml::from_str(FILE).unwrap();
        let constants = board.constants().unwrap();
        for line in [
            "pub const TICKS_PER_SECOND: u32 = 1000;",
            "pub const CLOCK_REGISTER: u32 = 0x40000008;",
            "pub const KERNEL_OFFSET: u32 = 0x80000000;",
            "    pub const NEAR: core::ops::Range<u32> = 0x100..0x180;",
            "    pub const UART: core::ops::Range<u32> = 0x40000000..0x40001000;",
        ] {
            assert!(constants.lines().any(|own| own == line), "{line} in\n{constants}");
        }
        let nowhere: Board = basic_toml::from_str(&FILE.replace("device = 'uart'", "device = 'timer'")).unwrap();
        assert_eq!(nowhere.constants().unwrap_err(), "clock.device: no device `timer`");
        assert_eq!(
            board.memories(),
            "CODE : ORIGIN = 0x80000000, LENGTH = 0x40\nCODE_PHYSICAL : ORIGIN = 0x0, LENGTH = 0x40\n\
             NEAR : ORIGIN = 0x80000100, LENGTH = 0x20\nNEAR_PHYSICAL : ORIGIN = 0x100, LENGTH = 0x20\n",
            "the linker gets the kernel's part"
        );
    }
}
