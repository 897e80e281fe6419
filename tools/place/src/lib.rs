//! Decides where everything lies, relocates the domains' ELF files, and writes one image.
//!
//! Input is plain data ([`Request`]): what the manifest said, already checked for names and values. Output is the image, the
//! relocated ELF of each domain for a debugger, and the [`Layout`] that reports are drawn from. Nothing is ever placed so that
//! region registers would have to permit more than was asked: an area is exactly as large as the registers that cover it,
//! and what is beyond the domain's need is its own padding.

mod allocate;
mod elf;
mod error;
mod image;
mod isa;
mod keeping;
mod layout;
mod ledger;
mod marks;
mod objects;
mod plan;
mod pmsav7;
mod relocate;
mod request;
mod scheme;
mod tables;
mod veneers;
mod vmsav7;

pub use elf::Program;
pub use error::PlaceError;
pub use isa::Isa;
pub use keeping::{Degree, Effort, Independence, Keeping, PINNED, Promise};
pub use layout::{
    ImageSizes, Layout, PlacedAccount, PlacedArea, PlacedDomain, PlacedEnvelope, PlacedMemory, PlacedWays, Symbol,
};
pub use ledger::{Book, MAX_POOLS};
pub use objects::{Objects, Taken};
pub use relocate::moves;
pub use request::{
    AreaRequest, CapRequest, DeviceRequest, DomainRequest, EnvelopeRequest, FileRequest, FileUse, FramesRequest,
    GateRequest, HeapRequest, Interleave, InterruptRequest, Memory, Pages, Request, ShareRequest, SharedRequest,
    SharedUse, ThreadRequest,
};

/// What placing a system yields.
#[derive(Clone, Debug)]
pub struct Placed {
    /// One ELF file with everything, for a loader.
    pub image: Vec<u8>,
    /// Each domain's ELF at its final addresses, symbols and debug information included.
    pub domains: Vec<Vec<u8>>,
    /// The tables as the kernel will read them.
    pub tables: system::build::Builder,
    /// Where everything lies.
    pub layout: Layout,
    /// What has been promised.
    pub ledger: Book,
}

/// Places a system.
///
/// # Errors
/// [`PlaceError`] names what does not fit, or what an ELF file lacks.
///
/// # Time complexity
/// O(areas squared) for placement and linear in the size of the ELF files.
pub fn place(request: &Request<'_>) -> Result<Placed, PlaceError> {
    let programs =
        request.domains.iter().map(|domain| Program::parse(&domain.name, domain.elf)).collect::<Result<Vec<_>, _>>()?;
    let kernel = elf::Kernel::parse(request.kernel)?;
    let mut plan = plan::Plan::new(request, &kernel, &programs)?;
    let relocated = programs
        .iter()
        .zip(&plan.domains)
        .map(|(program, spot)| relocate::relocate(program, spot.code_delta, spot.data_delta))
        .collect::<Result<Vec<_>, _>>()?;
    let mut tables = tables::build(request, &plan, &programs)?;
    marks::divide(request, &mut tables, &mut plan.pools)?;
    let words = tables.encode().map_err(PlaceError::Tables)?;
    let objects = objects::fit(&words, &kernel, plan.objects)?;
    let layout = layout::Layout::new(request, &plan, &programs, &kernel, objects);
    let image = image::write(request, &plan, &kernel, &programs, &relocated, &words)?;
    Ok(Placed { image, domains: relocated, tables, layout, ledger: plan.ledger })
}

#[cfg(test)]
mod tests;
