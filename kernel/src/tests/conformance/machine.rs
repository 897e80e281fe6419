//! Accesses of a domain on the simulated processor: what its hardware permits right now, and what becomes of the rest.

use abi::trace::Fault;
use protect::AccessKind;

use protect::vmsav7::Privilege;
use system::regions::RegionScheme;

use super::super::sim::{Guard, Machine, Pager, Registers, Rtmmu, forget_spaces, forget_tables};
use super::image::Image;
use crate::Kernel;
use crate::regions::Resolution;
use units::VirtAddr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It can be performed, at this physical address.
    Allowed(u32),
    /// It is to be tried again when its thread goes on.
    Later,
    /// The domain was stopped for it.
    Faulted,
}

/// Hardware that permits accesses.
pub trait Hardware: Guard {
    /// Nothing is left of the processor before this one.
    fn begin() {}

    /// Physical address of an access of whoever runs, if what is loaded permits it.
    fn permits(processor: &mut Machine<Self>, address: u32, kind: AccessKind) -> Option<u32>;

    /// Serves an access that was not permitted. Says if it is to be tried again at once, or later,
    /// or was a fault (`None`).
    fn misses(kernel: &mut Kernel<Machine<Self>>, address: u32) -> Option<bool>;
}

impl<U: RegionScheme> Hardware for Registers<U> {
    fn permits(processor: &mut Machine<Self>, address: u32, kind: AccessKind) -> Option<u32> {
        let bytes = if kind == AccessKind::Exec { 2 } else { 4 };
        processor.kind.permits(address, bytes, kind).then_some(address)
    }

    fn misses(kernel: &mut Kernel<Machine<Self>>, address: u32) -> Option<bool> {
        let before = kernel.arch.kind.loaded;
        match kernel.on_miss(VirtAddr(address)) {
            Resolution::Retry if kernel.arch.kind.loaded != before => Some(true),
            Resolution::Counted => {
                kernel.on_counted();
                Some(false)
            }
            _ => None,
        }
    }
}

impl Hardware for Pager {
    fn begin() {
        forget_tables();
    }

    fn permits(processor: &mut Machine<Self>, address: u32, kind: AccessKind) -> Option<u32> {
        let entry = processor.kind.translate(address)?;
        let permitted = entry.attributes.rights().permits(Privilege::User, kind);
        permitted.then(|| entry.physical + (address - entry.virt))
    }

    fn misses(_: &mut Kernel<Machine<Self>>, _: u32) -> Option<bool> {
        None
    }
}

impl Hardware for Rtmmu {
    fn begin() {
        forget_spaces(system::rtmmu::Mmu::Rtmmu);
    }

    fn permits(processor: &mut Machine<Self>, address: u32, kind: AccessKind) -> Option<u32> {
        processor.kind.translate(address, kind)
    }

    fn misses(_: &mut Kernel<Machine<Self>>, _: u32) -> Option<bool> {
        None
    }
}

pub fn access<K: Hardware>(kernel: &mut Kernel<Machine<K>>, address: u32, kind: AccessKind) -> Access {
    loop {
        if let Some(physical) = K::permits(&mut kernel.arch, address, kind) {
            return Access::Allowed(physical);
        }
        match K::misses(kernel, address) {
            Some(true) => {}
            Some(false) => return Access::Later,
            None => {
                let fault = if kind == AccessKind::Exec { Fault::Execute } else { Fault::Data };
                kernel.on_fault(fault, VirtAddr(address), VirtAddr(address));
                return Access::Faulted;
            }
        }
    }
}

pub fn load<K: Hardware>(kernel: &Kernel<Machine<K>>, image: &Image, physical: u32) -> u32 {
    let bytes = [0, 1, 2, 3].map(|index| kernel.arch.memory.get(&(physical + index)).copied());
    match bytes {
        [Some(a), Some(b), Some(c), Some(d)] => u32::from_le_bytes([a, b, c, d]),
        _ => image.word(physical).unwrap_or(0),
    }
}

pub fn store<K: Hardware>(kernel: &mut Kernel<Machine<K>>, physical: u32, word: u32) {
    for (index, byte) in word.to_le_bytes().into_iter().enumerate() {
        kernel.arch.memory.insert(physical + index as u32, byte);
    }
}
