//! Areas in region registers: what they take, and what they reach.

use abi::{Call, Error};
use protect::regions::slots::Replacement;
use system::regions::Shape;

use super::sim::{PEER, Sim, boot, sample, try_boot};
use super::{OK, refused};
use crate::Kernel;
use units::{Bytes, PhysAddr, VirtAddr};

#[test]
fn small_pages_get_the_nodes_that_they_need() {
    for (bytes, page_log2) in [(0x1000, 8), (0x10_0000, 12), (0x10_0000, 0), (0x1_1100, 10)] {
        let mut builder = sample();
        builder.frames.push(system::Frames {
            base: 0x6000_0000,
            bytes: 0x100_0000,
            kind: system::frames::USER,
            marks: 0,
        });
        let heap = system::Area { base: 0x6003_0000, bytes, ..builder.areas[1] };
        let flags = heap.flags & !system::area::PINNED;
        builder.areas.insert(2, system::Area { flags, ..heap });
        builder.domains[0].areas = 3;
        builder.domains[1].first_area = 3;
        builder.shape(2).page_log2 = page_log2;
        let mut kernel = boot(&builder);
        for address in [0x6003_0000, 0x6003_0000 + bytes - 1] {
            assert_eq!(kernel.on_miss(VirtAddr(address)), crate::regions::Resolution::Retry, "{bytes:#x} {page_log2}");
        }
    }
}

#[test]
fn only_the_own_eighths_of_an_interleaved_heap_are_accessible() {
    let mut builder = sample();
    builder.frames.push(system::Frames { base: 0x6000_0000, bytes: 0x100_0000, kind: system::frames::USER, marks: 0 });
    let heap = system::Area { base: 0x6008_0000, bytes: 0x10_0000, ..builder.areas[1] };
    let flags = heap.flags & !system::area::PINNED | system::area::WOVEN;
    let heap = |domain| system::Area { domain, flags, ..heap };
    builder.areas.insert(2, heap(0));
    builder.areas.push(heap(1));
    *builder.shape(2) = Shape { page_log2: 19, disabled: 0xaa };
    *builder.shape(5) = Shape { page_log2: 19, disabled: 0x55 };
    builder.domains[0].areas = 3;
    builder.paging(0).paged_slots = 2;
    builder.paging(0).replacement = Replacement::RoundRobin as u32;
    builder.domains[1].first_area = 3;
    builder.domains[1].areas = 3;
    let mut kernel = boot(&builder);
    for (frame, own) in [(0u32, true), (1, false), (14, true), (15, false)] {
        let answer = kernel.on_miss(VirtAddr(0x6008_0000 + frame * 0x1_0000 + 0xfffc));
        assert_eq!(answer == crate::regions::Resolution::Retry, own, "frame {frame}");
    }
    assert_eq!(kernel.domain(0).protection.slots.paged_mask().count_ones(), 2);
    builder.paging(0).paged_slots = 1;
    let refused = try_boot(&builder, Sim::default()).err();
    assert_eq!(refused, Some(crate::boot::BootError::NoSlots));
}

#[test]
fn a_capability_reaches_no_further_than_its_frames() {
    const BASE: u32 = 0x6000_0000;
    let mut builder = sample();
    builder.frames.insert(0, system::Frames { base: BASE, bytes: 0x1000, kind: system::frames::USER, marks: 8 });
    builder.frames.push(system::Frames { base: BASE + 0x1000, bytes: 0x1000, kind: system::frames::USER, marks: 0 });
    builder.caps.push(system::Cap { domain: 0, slot: 4, kind: 7, object: 0, rights: 7, badge: 0 });
    let mut kernel = boot(&builder);
    for base in [BASE, BASE + 0x1000] {
        let range = units::PhysRange::at(PhysAddr(base), Bytes(0x1000));
        kernel.frames.retype(range, memory::frames::Purpose::Shared).unwrap();
    }
    let asks = |kernel: &mut Kernel<Sim>, offset: u32, bytes: u32| {
        let at = BASE.wrapping_add(offset);
        let mapping = abi::Mapping { target: PEER as u16, frames: 4, at, access: 11, offset, bytes };
        kernel.asks(Call::FramesMap as u32, mapping.words())
    };
    assert_eq!(asks(&mut kernel, 0x1000, 0x1000), refused(Error::BadAddress));
    assert_eq!(asks(&mut kernel, 0, 0x2000), refused(Error::BadAddress));
    assert_eq!(asks(&mut kernel, u32::MAX - 0xfff, 0x2000), refused(Error::BadAddress));
    assert_eq!(asks(&mut kernel, 0, 0x1000), OK);
}
