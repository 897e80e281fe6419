//! The scheme of each board.

use manifest::resolved::System;

use crate::allocate::Space;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::plan::Plan;
use crate::pmsav7::Regions;
use crate::scheme::Site;
use crate::vmsav7::Paged;

/// Places a system by the scheme of its board; `files` are the contents of the constant files.
pub(crate) fn plan(
    system: &System,
    kernel: &Kernel,
    programs: &[Program],
    files: &[Vec<u8>],
) -> Result<Plan, PlaceError> {
    let spaces = system.memories.iter().map(Space::new).collect();
    let rom = system.memories.iter().position(|memory| memory.rom).unwrap_or(0);
    let site = Site { system, programs, files, spaces, rom };
    match &system.pages {
        Some(pages) => Plan::with(Paged::new(pages), site, kernel),
        None => Plan::with(Regions::default(), site, kernel),
    }
}
