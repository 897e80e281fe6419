//! Facts of a chip that are no model of time: names, clock, and where its memories are. Every chip states them.

use serde::Deserialize;
use timing::profile::{ApplicationParams, MemoryId, MemoryParams, Param};
use units::PhysAddr;

/// The facts of a chip, whether or not it has a timing model.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Short name, as the manifest writes it.
    pub name: String,
    /// The chip in one line.
    pub title: String,
    /// The simulator's name of the board.
    pub board: String,
    /// Facts that the reader of a figure has to know.
    pub caveats: Vec<String>,
    /// Core clock in Hz.
    pub core_hz: u64,
    /// MMU, level-2 cache and prefetcher of an application core's model.
    pub application: Option<ApplicationParams>,
    /// Memories and device windows.
    pub memory: Vec<MemoryParams>,
}

impl From<timing::profile::Profile> for Parameters {
    fn from(profile: timing::profile::Profile) -> Self {
        Self {
            name: profile.name,
            title: profile.title,
            board: profile.board,
            caveats: profile.caveats,
            core_hz: profile.core_clock.value,
            application: profile.application,
            memory: profile.memory,
        }
    }
}

/// The file of a chip whose simulator is made of its hardware's description: without a model of time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Described {
    name: String,
    title: String,
    /// The description.
    #[serde(rename = "part")]
    _part: String,
    board: String,
    caveats: Vec<String>,
    core_clock: Param<u64>,
    memory: Vec<MemoryParams>,
}

impl Described {
    /// The facts, if there is a clock.
    ///
    /// # Errors
    /// A text that says what is wrong.
    pub fn parameters(self) -> Result<Parameters, String> {
        let Described { name, title, board, caveats, core_clock, memory, .. } = self;
        if !(1..=u64::from(u32::MAX)).contains(&core_clock.value) {
            return Err("core_clock: 1 to 4294967295 Hz".into());
        }
        Ok(Parameters { name, title, board, caveats, core_hz: core_clock.value, application: None, memory })
    }
}

impl Parameters {
    /// The memory that a board address belongs to on the chip.
    pub fn locate(&self, address: PhysAddr) -> Option<MemoryId> {
        let holds = |memory: &MemoryParams| {
            memory.chip_window().contains(address)
                || memory.alias_window().is_some_and(|window| window.contains(address))
        };
        self.memory.iter().position(holds).map(MemoryId)
    }

    /// The memory with this name.
    pub fn by_name(&self, name: &str) -> Option<MemoryId> {
        self.memory.iter().position(|memory| memory.name == name).map(MemoryId)
    }

    /// The parameters of a memory; `None` for an identifier of another chip.
    pub fn memory(&self, id: MemoryId) -> Option<&MemoryParams> {
        self.memory.get(id.0)
    }
}
