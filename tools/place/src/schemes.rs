//! The scheme of each board.

use manifest::SchemeName;
use manifest::resolved::System;
use protect::pmsav7::Pmsav7;
use protect::pmsav8::Pmsav8;
use system::Scheme;
use system::build::SchemeTables;

use crate::allocate::Space;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::handlers::Handlers;
use crate::plan::Plan;
use crate::regions::Regions;
use crate::rtmmu::Mapped;
use crate::scheme::Site;
use crate::vmsav7::Paged;

/// Places a system by the scheme of its board; `files` are the contents of the constant files.
pub(crate) fn plan(
    system: &System,
    kernel: &Kernel,
    programs: &[Program],
    files: &[Vec<u8>],
    handlers: &[Handlers],
) -> Result<Plan, PlaceError> {
    let spaces = system.memories.iter().map(Space::new).collect();
    let rom = system.memories.iter().position(|memory| memory.rom).unwrap_or(0);
    let site = Site { system, programs, files, handlers, spaces, rom };
    match (&system.pages, system.protection) {
        (Some(pages), SchemeName::Rtmmu) => Plan::with(Mapped::new(pages), site, kernel),
        (Some(pages), _) => Plan::with(Paged::new(pages), site, kernel),
        (None, SchemeName::Pmsav8) => {
            Plan::with(Regions::<Pmsav8>::default(), site, kernel).map(|plan| with_handlers(plan, handlers))
        }
        (None, _) => Plan::with(Regions::<Pmsav7>::default(), site, kernel),
    }
}

/// The plan, of which the scheme's section says where handlers are.
fn with_handlers(mut plan: Plan, handlers: &[Handlers]) -> Plan {
    // Domains are placed in another order.
    plan.handlers.sort_by_key(|spot| handlers.iter().position(|own| spot.is_of(own)));
    if let SchemeTables::Pmsav8 { direct, .. } = &mut plan.scheme {
        direct.iter_mut().zip(&plan.handlers).for_each(|(place, spot)| *place = spot.direct);
    }
    plan
}

/// The scheme of a board's file as the system's tables have it.
pub(crate) fn scheme(name: SchemeName) -> Scheme {
    match name {
        SchemeName::Pmsav7 => Scheme::Pmsav7,
        SchemeName::Pmsav8 => Scheme::Pmsav8,
        SchemeName::Vmsav7 => Scheme::Vmsav7,
        SchemeName::Rtmmu => Scheme::Rtmmu,
    }
}
