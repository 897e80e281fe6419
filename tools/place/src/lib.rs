//! Decides where everything lies, relocates the domains' ELF files, and writes one image.
//!
//! Input is the resolved system and its programs. Output is the image, the
//! relocated ELF of each domain for a debugger, and the [`Layout`] that reports are drawn from. Nothing is ever placed so that
//! region registers would have to permit more than was asked: an area is exactly as large as the registers that cover it,
//! and what is beyond the domain's need is its own padding.

mod allocate;
mod elf;
mod entries;
mod error;
mod handlers;
mod image;
mod isa;
mod keeping;
mod layout;
mod ledger;
mod local;
mod marks;
mod objects;
mod placed;
mod plan;
mod regions;
mod relocate;
mod rtmmu;
mod scheme;
mod schemes;
mod spot;
mod start;
mod suspects;
mod tables;
mod veneers;
mod vmsav7;

use manifest::resolved::{Domain, System};

pub use elf::{Program, suits};
pub use error::PlaceError;
pub use isa::Isa;
pub use keeping::PINNED;
pub use layout::Layout;
pub use ledger::{Book, MAX_POOLS};
pub use placed::{
    ImageSizes, Objects, PlacedAccount, PlacedArea, PlacedDomain, PlacedHandlers, PlacedMemory, PlacedWays, Symbol,
    Taken,
};
pub use relocate::moves;
pub use suspects::{Suspect, suspects};

/// The programs of a system.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The kernel's ELF.
    pub kernel: Vec<u8>,
    /// Each domain's ELF, in the order of their numbers.
    pub domains: Vec<Vec<u8>>,
}

/// Result of placing a system.
#[derive(Clone, Debug)]
pub struct Placed {
    /// One ELF file with everything, for a loader.
    pub image: Vec<u8>,
    /// Each domain's ELF at its final addresses, symbols and debug information included.
    pub domains: Vec<Vec<u8>>,
    /// The tables as the kernel will read them.
    pub tables: system::build::Builder,
    /// Location of everything.
    pub layout: Layout,
    /// Promises that have been made.
    pub ledger: Book,
    /// The same as the memory manager is given them, if there is one.
    pub hand_over: Option<Vec<u8>>,
}

/// Places a system; `files` are the contents of its constant files, in the order of their numbers.
///
/// # Errors
/// [`PlaceError`] names what does not fit, or what an ELF file lacks.
///
/// # Time complexity
/// O(areas squared) for placement and linear in the size of the ELF files.
pub fn place(system: &System, programs: &Programs, files: &[Vec<u8>]) -> Result<Placed, PlaceError> {
    let Programs { kernel, domains } = programs;
    let kernel = elf::Kernel::parse(kernel)?;
    let parse = |(domain, elf): (&Domain, &Vec<u8>)| {
        suits(&domain.name, elf, kernel.isa)?;
        Program::parse(&domain.name, elf)
    };
    let programs = system.domains.iter().zip(domains).map(parse);
    let programs = programs.collect::<Result<Vec<_>, _>>()?;
    programs.iter().try_for_each(|program| kernel.runs(program))?;
    entries::check(system, &programs)?;
    let system = &local::with_room(system, &programs);
    let handlers = handlers::Handlers::all(system, &programs)?;
    let mut plan = schemes::plan(system, &kernel, &programs, files, &handlers)?;
    let relocated = programs
        .iter()
        .zip(&plan.domains)
        .map(|(program, spot)| relocate::relocate(program, spot.code_delta, spot.data_delta))
        .collect::<Result<Vec<_>, _>>()?;
    let mut tables = tables::build(system, &plan, &programs)?;
    marks::divide(system, &mut tables, &mut plan.pools)?;
    tables::few(&tables)?;
    let words = tables.encode().map_err(PlaceError::Tables)?;
    let objects = objects::fit(&words, &kernel, plan.objects)?;
    let mut layout = layout::Layout::new(system, &plan, &programs, &kernel, objects);
    let mut texts = Vec::new();
    for (handlers, spot) in handlers.iter().zip(&plan.handlers) {
        layout.add_handlers(handlers, spot, &plan.domains[handlers.owner]);
        texts.push(handlers.load(spot, &relocated)?);
    }
    let image = image::write(system, &plan, &kernel, (&programs, files), &relocated, (&words, texts))?;
    let hand_over = image::hand_over(system, &plan).map(|(_, block)| block);
    Ok(Placed { image, domains: relocated, tables, layout, ledger: plan.ledger, hand_over })
}

#[cfg(test)]
mod tests;
