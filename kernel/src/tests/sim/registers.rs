//! A processor with region registers.

use std::boxed::Box;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::vec::Vec;

use protect::regions::slots::RegionImage;
use protect::pmsav7::{RegionRegs, Span};
use protect::{Access, MemType};
use system::build::Builder;

use super::{Guard, Part, Sim};
use crate::Kernel;
use crate::regions::RegionArch;
use crate::regions::Regions;
use units::{PhysAddr, VirtAddr};

/// The registers.
#[derive(Default)]
pub struct Registers {
    /// Registers as they were loaded last.
    pub loaded: [u32; 16],
}

// SAFETY: it only records.
unsafe impl RegionArch for Sim {
    fn load_image(&mut self, image: &RegionImage) {
        self.kind.loaded = core::array::from_fn(|index| image.words().nth(index).unwrap());
    }
    fn load_slot(&mut self, region: RegionRegs) {
        let slot = region.rbar as usize & 7;
        self.kind.loaded[2 * slot] = region.rbar;
        self.kind.loaded[2 * slot + 1] = region.rasr;
    }
    unsafe fn kernel_memory(PhysAddr(at): PhysAddr<u32>) -> *mut u8 {
        const PAGE: u32 = 4096;
        thread_local! {
            /// Memory of tables: pages of 64-bit words, so that it is aligned, which stay where they are.
            static PAGES: RefCell<BTreeMap<u32, Box<[u64; PAGE as usize / 8]>>> = RefCell::default();
        }
        PAGES.with_borrow_mut(|pages| {
            let page = pages.entry(at / PAGE).or_insert_with(|| Box::new([u64::MAX; PAGE as usize / 8]));
            page.as_mut_ptr().cast::<u8>().wrapping_add((at % PAGE) as usize)
        })
    }
}

impl Guard for Registers {
    type Protection = Regions<Sim>;
    const PARTLY: bool = false;
    const SMALLEST_LOG2: u32 = 5;

    fn idle() -> [(Span, Access, MemType); 2] {
        [
            (Span::new(0, 32), Access::RX, MemType::WriteThrough),
            (Span::new(0x2000_0800, 256), Access::RW, MemType::WriteBack),
        ]
    }

    fn adapt(builder: &Builder) -> Builder {
        builder.clone()
    }

    fn is_loaded(&self, protection: &Regions<Sim>) -> bool {
        protection.slots.image().words().eq(self.loaded)
    }

    fn uses(protection: &Regions<Sim>, physical: u32) -> usize {
        let pinned = protection.slots.pinned().any(|regs| regs.contains(physical));
        usize::from(pinned || protection.trie.find(physical).is_some())
    }

    fn touches(kernel: &mut Kernel<Sim>, address: u32) {
        kernel.on_miss(VirtAddr(address));
    }

    fn check(kernel: &mut Kernel<Sim>) {
        regions(kernel);
    }

    fn check_memory(kernel: &Kernel<Sim>) {
        for domain in kernel.domains.iter() {
            for regs in domain.protection.slots.image().regs.iter().filter(|regs| regs.is_enabled()) {
                let first = regs.runs().next().unwrap().base;
                let paged = domain
                    .protection
                    .trie
                    .lookup(first)
                    .is_some_and(|leaf| (leaf.rbar, leaf.rasr) == (regs.base(), regs.rasr));
                let pinned = domain.protection.slots.pinned().any(|other| other == *regs);
                assert!(paged != pinned, "{regs:x?} is loaded, and neither pinned nor paged");
            }
        }
    }

    /// A region, or a run of its eighths; once in a while something that no region holds.
    fn mapping(physical: u32, log2: u32, odd: u32) -> Part {
        let bytes = 1_u32 << log2.min(31);
        let base = physical & !(bytes - 1);
        let (first, last) = (odd % 8, odd >> 3 & 7);
        if odd == 0 || first > last || bytes < 256 {
            return Part { at: base, physical: base, bytes };
        }
        let at = base.wrapping_add(first * (bytes / 8));
        let bytes = (last - first + 1) * (bytes / 8) + if odd > 250 { 32 } else { 0 };
        Part { at: if odd == 249 { at ^ 0x1000 } else { at }, physical: at, bytes }
    }
}

/// No region of a domain touches the kernel's memory or what is another domain's own, whatever was
/// mapped at run time.
fn regions(kernel: &Kernel<Sim>) {
    for (index, domain) in kernel.domains.iter().enumerate() {
        let words: Vec<u32> = domain.protection.slots.image().words().collect();
        let enabled = words.chunks_exact(2).filter(|pair| pair[1] & 1 != 0);
        for (base, end) in enabled.flat_map(|pair| permitted(pair[0] & !31, pair[1])) {
            assert!(
                !overlaps((base, end), (0x2000_0000, 0x2000_1000)),
                "domain {index} reaches the kernel at {base:#x}"
            );
            for area in kernel.tables.all::<system::Area>().filter(|area| area.domain != index as u32) {
                let own = (u64::from(area.base), u64::from(area.base) + u64::from(area.bytes));
                let shared = area.flags & system::area::SHARED != 0;
                assert!(shared || !overlaps((base, end), own), "domain {index} reaches {area:?} at {base:#x}");
            }
        }
    }
}

/// Memory that a pair of region registers permits, run by run (DDI 0403 B3.5.8, B3.5.9).
fn permitted(base: u32, rasr: u32) -> Vec<(u64, u64)> {
    let bytes = 2_u64 << (rasr >> 1 & 31);
    let eighth = bytes / 8;
    let disabled = rasr >> 8 & 0xff;
    if disabled == 0 {
        return vec![(base.into(), u64::from(base) + bytes)];
    }
    let on = (0..8).filter(|part| disabled >> part & 1 == 0);
    on.map(|part| (u64::from(base) + part * eighth, u64::from(base) + (part + 1) * eighth)).collect()
}

fn overlaps(one: (u64, u64), other: (u64, u64)) -> bool {
    one.0 < other.1 && other.0 < one.1
}
