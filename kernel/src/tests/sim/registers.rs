//! A processor with region registers.

use std::boxed::Box;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::vec::Vec;

use protect::pmsav7::Pmsav7;
use protect::regions::slots::RegionImage;
use protect::regions::{REGIONS, Registers as RegionRegs, Unit};
use protect::{Access, AccessKind, MemType, Span};
use system::build::{Builder, SchemeTables};
use system::regions::RegionScheme;

use super::{Guard, Machine, Part};
use crate::Kernel;
use crate::regions::{RegionArch, Regions, Resolution};
use units::{PhysAddr, VirtAddr};

pub struct Registers<U: Unit = Pmsav7> {
    pub loaded: [U::Regs; REGIONS],
}

impl<U: Unit> Default for Registers<U> {
    fn default() -> Self {
        Registers { loaded: [U::Regs::DISABLED; REGIONS] }
    }
}

impl<U: Unit> Registers<U> {
    pub fn holds(&self, base: u32) -> bool {
        let begins = |regs: &U::Regs| regs.is_enabled() && regs.contains(base) && !regs.contains(base.wrapping_sub(1));
        self.loaded.iter().any(begins)
    }

    /// Returns true if unprivileged code may access bytes so.
    pub fn permits(&self, address: u32, bytes: u32, kind: AccessKind) -> bool {
        (address..address + bytes).all(|at| {
            let mut on = self.loaded.iter().filter(|regs| regs.is_enabled() && regs.contains(at));
            on.next_back().is_some_and(|regs| regs.grants(kind))
        })
    }
}

// SAFETY: it only records.
unsafe impl<U: RegionScheme> RegionArch for Machine<Registers<U>> {
    type Unit = U;

    fn load_image(&mut self, image: &RegionImage<U::Regs>) {
        self.kind.loaded = image.regs;
    }
    fn load_slot(&mut self, region: U::Regs) {
        self.kind.loaded[region.slot() as usize] = region.stored();
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

impl<U: RegionScheme> Guard for Registers<U> {
    type Protection = Regions<Machine<Self>>;
    const PARTLY: bool = false;
    const SMALLEST_LOG2: u32 = 5;

    fn idle() -> [(Span, Access, MemType); 2] {
        [
            (Span::new(0, 32), Access::RX, MemType::WriteThrough),
            (Span::new(0x2000_0800, 256), Access::RW, MemType::WriteBack),
        ]
    }

    fn adapt(builder: &Builder) -> Builder {
        let (SchemeTables::Pmsav7 { domains, areas } | SchemeTables::Pmsav8 { domains, areas, .. }) =
            builder.scheme.clone()
        else {
            return builder.clone();
        };
        Builder { scheme: SchemeTables::of_regions::<U>(domains, areas), ..builder.clone() }
    }

    fn is_loaded(&self, protection: &Self::Protection) -> bool {
        protection.slots.image().regs == self.loaded
    }

    fn uses(protection: &Self::Protection, physical: u32) -> usize {
        let pinned = protection.slots.pinned().any(|regs| regs.contains(physical));
        usize::from(pinned || protection.trie.find(physical).is_some())
    }

    fn touches(kernel: &mut Kernel<Machine<Self>>, address: u32) {
        kernel.on_miss(VirtAddr(address));
    }

    /// A fault of a register is told with the first byte that no register permits.
    fn accesses(kernel: &mut Kernel<Machine<Self>>, address: u32, bytes: u32, kind: AccessKind) -> Option<[u32; 2]> {
        let end = address.checked_add(bytes)?;
        // An access can meet two regions, and one of them once more if it was displaced by the
        // other.
        for _ in 0..4 {
            let Some(at) = (address..end).find(|at| !kernel.arch.kind.permits(*at, 1, kind)) else {
                return Some([address, end - 1]);
            };
            match kernel.on_miss(VirtAddr(at)) {
                Resolution::Denied => return None,
                Resolution::Counted => kernel.on_counted(),
                Resolution::Retry => {}
            }
        }
        panic!("misses at {address:#x} without end");
    }

    fn check(kernel: &mut Kernel<Machine<Self>>) {
        regions(kernel);
    }

    fn check_memory(kernel: &Kernel<Machine<Self>>) {
        for domain in kernel.domains.iter() {
            for regs in domain.protection.slots.image().regs.iter().filter(|regs| regs.is_enabled()) {
                let first = regs.runs().next().unwrap().base;
                let paged = domain.protection.trie.lookup(first).is_some_and(|leaf| leaf == regs.plain());
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
fn regions<U: RegionScheme>(kernel: &Kernel<Machine<Registers<U>>>) {
    for (index, domain) in kernel.domains.iter().enumerate() {
        let image = domain.protection.slots.image();
        let enabled: Vec<U::Regs> = image.regs.iter().copied().filter(|regs| regs.is_enabled()).collect();
        let twice = |one: usize| enabled[..one].iter().any(|other| enabled[one].meets(*other));
        assert!(!(0..enabled.len()).any(twice), "domain {index} has a byte in two regions");
        for run in enabled.iter().flat_map(|regs| regs.runs()) {
            let (base, end) = (u64::from(run.base), run.end());
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

fn overlaps(one: (u64, u64), other: (u64, u64)) -> bool {
    one.0 < other.1 && other.0 < one.1
}
