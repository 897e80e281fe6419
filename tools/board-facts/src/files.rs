//! The files of a board, its chip and its core, as far as a kernel needs them. The host tools check the rest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_derive::Deserialize;

use crate::{BoardText, Foreign};

/// The board's and its chip's.
#[derive(Debug)]
pub struct Files {
    pub board: Board,
    pub chip: Chip,
    pub clock: ImageClock,
    /// Number of the exception of the kernel's timer.
    pub timer: u32,
    /// The board's directory.
    pub directory: PathBuf,
    /// All files that were read.
    pub read: Vec<PathBuf>,
}

/// `board.toml`.
#[derive(Debug, Deserialize)]
pub struct Board {
    pub name: String,
    #[serde(default)]
    chip: String,
    pub ticks_per_second: u32,
    pub clock: Clock,
    #[serde(default)]
    pub protection: Protection,
    pub memory: BTreeMap<String, Memory>,
    pub device: BTreeMap<String, Device>,
    pub foreign: Option<Foreign>,
    pub sampler: Option<Sampler>,
    pub counter: Option<Counter>,
    #[serde(default)]
    pub kernel: Costs,
}

/// Bounds of the kernel's paths, as far as the kernel itself needs them.
#[derive(Debug, Default, Deserialize)]
pub struct Costs {
    /// A look that meets a handler.
    #[serde(default)]
    pub counted_met_cycles: u32,
}

/// The register of the kernel's clock, and its timer.
#[derive(Debug, Deserialize)]
pub struct Clock {
    pub device: String,
    #[serde(default = "one")]
    pub divider: u32,
    #[serde(default)]
    pub shortest_ticks: u32,
    #[serde(default)]
    pub start_ticks: u32,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Default, Deserialize)]
pub struct Protection {
    /// Bit of an address that says Secure.
    pub secure: Option<u32>,
    pub callable: Option<Callable>,
    pub kernel_offset: Option<u32>,
    pub device_offset: Option<u32>,
    pub tables: Option<String>,
    #[serde(default)]
    pub kernel_ways: u32,
    /// Base-two logarithm of the entries of tables that the hardware has for all domains together.
    pub entries_log2: Option<u32>,
    /// The MMU of the soft core.
    pub mmu: Option<String>,
}

/// The register and bit by which Secure code may be callable.
#[derive(Debug, Deserialize)]
pub struct Callable {
    pub register: [u32; 2],
}

/// The timer that samples handlers.
#[derive(Debug, Deserialize)]
pub struct Sampler {
    pub device: String,
    pub line: String,
}

/// The counter of handlers' cycles.
#[derive(Debug, Deserialize)]
pub struct Counter {
    pub device: String,
    pub line: String,
    pub registers: u32,
    pub way_in_cycles: u32,
}

#[derive(Debug, Deserialize)]
pub struct Memory {
    pub base: u32,
    pub bytes: u32,
    pub kind: String,
    /// Bytes at its start that are the kernel's.
    pub reserved: Option<u32>,
    /// Controllers that say which of its blocks are Non-secure.
    #[serde(default)]
    pub gates: Vec<Gate>,
}

/// A controller that says which blocks of a range are Non-secure.
#[derive(Debug, Deserialize)]
pub struct Gate {
    pub base: u32,
    pub bytes: u32,
    pub controller: u32,
}

#[derive(Debug, Deserialize)]
pub struct Device {
    pub base: u32,
    pub bytes: u32,
    /// No domain can have it.
    #[serde(default)]
    pub kernel: bool,
    /// Address and bit of the register that lets unprivileged code access it.
    pub unprivileged: Option<[u32; 2]>,
    /// The same of the one that makes it Non-secure, and of the one that lets unprivileged code access it then.
    pub open: Option<[[u32; 2]; 2]>,
    /// Interrupt lines by name.
    #[serde(default)]
    pub lines: BTreeMap<String, u32>,
}

/// `chips/NAME.toml`.
#[derive(Debug, Deserialize)]
pub struct Chip {
    pub core: String,
    #[serde(default)]
    pub setup: Setup,
    application: Option<Application>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Setup {
    pub l2_auxiliary: u32,
    pub l2_tag_latency: u32,
    pub l2_data_latency: u32,
    pub writes: Vec<[u32; 2]>,
}

#[derive(Debug, Deserialize)]
struct Application {
    l2: Level2,
}

#[derive(Debug, Deserialize)]
struct Level2 {
    cache: Cache,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Cache {
    pub size: Parameter,
    pub ways: Parameter,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Parameter {
    pub value: u32,
}

/// `cores/NAME.toml`.
#[derive(Debug, Deserialize)]
struct Core {
    image: Image,
    exceptions: Exceptions,
}

#[derive(Debug, Deserialize)]
struct Exceptions {
    timer: u32,
}

#[derive(Debug, Deserialize)]
pub struct Image {
    package: String,
    pub clock: ImageClock,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ImageClock {
    pub offset: u32,
}

impl Board {
    /// # Errors
    /// A text: the file is wrong or cannot be read.
    pub fn read(file: &Path) -> Result<Board, String> {
        Board::read_with(file).map(|(board, _)| board)
    }

    /// With the file of the board that it is like.
    fn read_with(file: &Path) -> Result<(Board, Option<PathBuf>), String> {
        let BoardText { text, like } = BoardText::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let board = basic_toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok((board, like))
    }

    /// The file of its chip: one of the checkout at `root`, or one beside the board's.
    pub(crate) fn chip_file(&self, root: &Path, directory: &Path) -> PathBuf {
        if self.chip.ends_with(".toml") {
            return directory.join(&self.chip);
        }
        root.join("chips").join(format!("{}.toml", self.chip))
    }
}

impl Chip {
    /// The file of its core in the checkout at `root`.
    pub(crate) fn core_file(&self, root: &Path) -> PathBuf {
        root.join("cores").join(format!("{}.toml", self.core))
    }

    /// The second-level cache; all zero without.
    pub fn cache(&self) -> Cache {
        self.application.as_ref().map(|application| application.l2.cache).unwrap_or_default()
    }
}

impl Files {
    /// Reads a board for the image in this package.
    ///
    /// # Errors
    /// A text: a file is wrong or cannot be read, or the board's core has another image.
    pub fn read(package: &Path, board: &Path) -> Result<Files, String> {
        let root = package.join("../..");
        let (file, like) = Board::read_with(board)?;
        let directory = board.parent().map(Path::to_path_buf).unwrap_or_default();
        let chip_path = file.chip_file(&root, &directory);
        let chip: Chip = parse(&chip_path)?;
        let core_path = chip.core_file(&root);
        let core: Core = parse(&core_path)?;
        if !package.ends_with(&core.image.package) {
            return Err(format!("{}: the image for its core is {}", board.display(), core.image.package));
        }
        Ok(Files {
            board: file,
            chip,
            clock: core.image.clock,
            timer: core.exceptions.timer,
            directory,
            read: [board.to_path_buf(), chip_path, core_path].into_iter().chain(like).collect(),
        })
    }

    /// Reads the first board of the checkout for the image in this package.
    ///
    /// # Errors
    /// A text: there is none.
    pub fn first(package: &Path) -> Result<Files, String> {
        let boards = package.join("../../boards");
        let entries = std::fs::read_dir(&boards).map_err(|error| format!("{}: {error}", boards.display()))?;
        let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join("board.toml")).collect();
        all.sort();
        let found = all.iter().find_map(|board| Files::read(package, board).ok());
        found.ok_or_else(|| format!("there is no board for the image {}", package.display()))
    }
}

pub fn parse<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = crate::input::read_text(path).map_err(|error| format!("{}: {error}", path.display()))?;
    basic_toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}
