//! The interface to a processor with region registers.

use protect::regions::Unit;
use protect::regions::slots::RegionImage;
use system::regions::RegionScheme;
use units::PhysAddr;

use crate::arch::Arch;

/// A processor with region registers (PMSA).
///
/// # Safety
/// An implementation promises that unprivileged code can access exactly what the registers that were loaded last permit.
pub unsafe trait RegionArch: Arch<Width = u32> {
    /// The scheme of its registers.
    type Unit: RegionScheme;

    /// Loads all region registers: what the domain may access from now on. Outstanding lazy state and imprecise faults
    /// of the previous domain are settled before (barrier).
    fn load_image(&mut self, image: &RegionImage<Regs<Self>>);

    /// Loads one region register; the region remembers its slot.
    fn load_slot(&mut self, region: Regs<Self>);

    /// Address at which the processor sees kernel memory that domains' tables are made of.
    ///
    /// # Safety
    /// Eight bytes from the address are part of memory that is typed as kernel memory and serves no other purpose.
    unsafe fn kernel_memory(at: PhysAddr<u32>) -> *mut u8;
}

/// The registers of a region, on a processor.
pub type Regs<A> = <<A as RegionArch>::Unit as Unit>::Regs;
