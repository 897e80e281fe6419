//! Addresses worth attacking: this domain's own borders, and what the attacker knows of the board.

use cofferdam::hostile::{CoreRegisters, core_registers};
use cofferdam::{Area, Gate, Info};
use foreign::Places as Foreign;

/// The attacker's knowledge of the board that it runs on: addresses that are not a domain's own.
#[derive(Clone, Copy)]
pub struct Chip {
    /// Those that its file names.
    pub foreign: &'static Foreign,
    /// Registers of the core.
    pub core: CoreRegisters,
}

impl Chip {
    /// Looks the board up; `None` when its file names no such addresses.
    pub fn find(info: Info) -> Option<Chip> {
        let foreign = foreign::places(info.board())?;
        Some(Chip { foreign, core: core_registers(foreign.core, foreign.outer_cache) })
    }
}

/// This domain's own places.
pub struct Places {
    /// Code: text, constants.
    pub code: Area,
    /// The area that holds the stack.
    pub stack: Area,
    /// Slot of the console's gate.
    pub console: Gate,
    /// The own gate.
    pub trap: Gate,
    /// Addresses that are not its own.
    pub chip: Chip,
    /// The highest slot that holds a capability at the start.
    pub last_slot: u32,
    /// Loops are so many times shorter: 1 unless a simulator is slow.
    pub part: u32,
}

impl Places {
    /// Finds them: the area in which this function lies, and the one in which its variable lies.
    pub fn find(info: Info) -> Option<Places> {
        let local = 0_u32;
        let holding =
            |address: u32| info.areas().map(|(_, area)| area).find(|area| address.wrapping_sub(area.base) < area.bytes);
        Some(Places {
            code: holding(Places::find as *const () as u32)?,
            stack: holding(&raw const local as u32)?,
            console: Gate::named(info, "console")?,
            trap: Gate::named(info, "trap")?,
            chip: Chip::find(info)?,
            last_slot: info.caps().filter(|(_, cap)| cap.kind as u32 != 0).map(|(_, cap)| cap.slot).max()?,
            part: 1,
        })
    }
}
