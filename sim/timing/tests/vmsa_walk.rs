//! Translation tables as the timing model of the processor walks them: two readings of the manual that share no code.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use protect::MemType;
use protect::vmsav7::{
    Asid, Attributes, Maintenance, Placement, Privilege, Progress, Rights, Split, TableMemory, Tables, Unit,
};
use timing::MemAttr;
use timing::vmsa::{Fault, Registers, walk};
use units::{Bytes, PhysAddr, VirtAddr};

const ROOT: u32 = 0xfffc_0000;

#[derive(Clone, Default)]
struct Memory(Rc<RefCell<BTreeMap<u32, u32>>>);

impl TableMemory for Memory {
    fn word(&self, PhysAddr(at): PhysAddr<u32>) -> u32 {
        self.0.borrow()[&at]
    }

    fn set_word(&mut self, PhysAddr(at): PhysAddr<u32>, value: u32) {
        self.0.borrow_mut().insert(at, value);
    }

    fn placement(&self, _: PhysAddr<u32>) -> Placement {
        Placement::OnChip
    }
}

impl timing::vmsa::Tables for Memory {
    fn descriptor(&self, addr: u32) -> Option<u32> {
        self.0.borrow().get(&addr).copied()
    }

    fn generation(&self) -> u64 {
        0
    }
}

/// There is no TLB.
struct Nothing;

impl Maintenance for Nothing {
    fn publish(&mut self) {}
    fn invalidate_page(&mut self, _: Asid, _: VirtAddr<u32>) {}
    fn invalidate_space(&mut self, _: Asid) {}
    fn complete(&mut self) {}
}

fn finish(tables: &mut Tables<Memory>) {
    for _ in 0..1000 {
        match tables.advance(256).settle(None, &mut Nothing) {
            Progress::More => {}
            progress => return assert_eq!(progress, Progress::Done),
        }
    }
    panic!("the edit does not end");
}

/// Table B3-8 backwards: what `AP[2:0]` and XN give to the kernel and to a domain.
fn rights(access: u8, never: bool) -> [[bool; 3]; 2] {
    let (kernel, user) = match access {
        0b001 => ([true, true], [false, false]),
        0b010 => ([true, true], [true, false]),
        0b011 => ([true, true], [true, true]),
        0b101 => ([true, false], [false, false]),
        0b111 => ([true, false], [true, false]),
        other => panic!("AP {other:#b}"),
    };
    [user, kernel].map(|of| [of[0], of[1], of[0] && !never])
}

fn memory(memory: MemType, code: bool) -> MemAttr {
    let attr = match memory {
        MemType::WriteBack => MemAttr::WRITE_BACK_ALLOCATE,
        MemType::WriteThrough => MemAttr::WRITE_THROUGH,
        MemType::NonCacheable => MemAttr::NON_CACHEABLE,
        MemType::Device => MemAttr::DEVICE.shared(),
        MemType::StronglyOrdered => return MemAttr::STRONGLY_ORDERED,
    };
    if code || matches!(memory, MemType::Device) { attr } else { attr.execute_never() }
}

#[test]
fn the_model_of_the_processor_walks_to_what_was_mapped() {
    [Split::Quarter, Split::Half, Split::All].into_iter().for_each(walks);
}

fn walks(split: Split) {
    use protect::AccessKind::{Exec, Read, Write};
    let store = Memory::default();
    let mut tables = Tables::new(store.clone(), PhysAddr(ROOT), split).unwrap();
    finish(&mut tables);
    (0..8).for_each(|index| tables.give(PhysAddr(ROOT + 0x4000 + 1024 * index)).unwrap());
    // The last section that the tables translate.
    let last = (split.entries() - 1) << 20;
    let user = |rights, memory| Attributes::new(rights, memory, false, false).unwrap();
    for (virt, phys, bytes, with) in [
        (0x0000_0000, 0x1000_3000, 0x5000, user(Rights::UserCode, MemType::WriteBack)),
        (0x0001_0000, 0x1001_0000, 0x3_0000, user(Rights::UserData, MemType::WriteThrough)),
        (0x0ff8_f000, 0x2008_f000, 0x19_2000, user(Rights::UserConst, MemType::NonCacheable)),
        (last, 0xe000_0000, 0x10_0000, user(Rights::UserData, MemType::Device)),
    ] {
        tables.map(VirtAddr(virt), PhysAddr(phys), Bytes(bytes), with, Placement::OnChip).unwrap();
        finish(&mut tables);
    }
    tables.unmap(VirtAddr(0x1000_4000), Bytes(0x1_0000), Placement::OnChip).unwrap();
    finish(&mut tables);
    // Walks look into the caches: inner and outer write-back, write-allocate (DDI 0406C B4.1.154).
    let ttbr0 = ROOT | 1 << 6 | 1 << 3;
    let registers = Registers { enabled: true, ttbr0, ttbcr: split as u32, ..Registers::RESET };
    assert!(
        tables.permits(VirtAddr(0x0001_0000), Bytes(0x3_0000), Write)
            && !tables.permits(VirtAddr(0x0001_0000), Bytes(0x3_0000), Exec)
    );
    assert!(!tables.permits(VirtAddr(0x0001_0000), Bytes(0x3_0001), Read));
    // The domain's device, up to the end of what is translated: the kernel does not touch it for the domain.
    assert!(tables.lookup(VirtAddr(last)).is_some() && !tables.permits(VirtAddr(last), Bytes(4), Read));
    let mut seen = [0; 3];
    for page in 0..split.entries() << 8 {
        let virt = page << 12 | 0xabc;
        let walked = walk(&registers, &store, virt);
        assert!(walked.memory.level1, "walks do not see the data cache");
        let Some(found) = tables.lookup(VirtAddr(virt)) else {
            assert!(matches!(walked.outcome, Err(Fault::FirstLevel | Fault::SecondLevel)), "{virt:#x}");
            continue;
        };
        let mapping = walked.outcome.unwrap();
        assert_eq!((mapping.translate(virt), 1 << mapping.size_log2), (found.physical.0, found.unit.bytes()));
        assert_eq!((mapping.global, mapping.domain), (false, 0));
        let given = [Privilege::User, Privilege::Kernel]
            .map(|by| [Read, Write, Exec].map(|kind| found.attributes.rights().permits(by, kind)));
        assert_eq!(rights(mapping.access, mapping.never), given, "{virt:#x}");
        assert_eq!(mapping.attr, memory(found.attributes.memory(), !mapping.never), "{virt:#x}");
        seen[match found.unit {
            Unit::Small => 0,
            Unit::Large => 1,
            Unit::Section => 2,
        }] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0) && seen[2] == 256, "{seen:?}");
}
