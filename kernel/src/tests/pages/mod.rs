//! Page tables: what is mapped at run time, what the TLB remembers of it, and what hostile words achieve.

mod given_back;

use abi::{Call, Error};
use protect::vmsav7::Unit;
use system::build::Builder;
use system::{Area, Cap, Frames, area, frames};

use super::maps::{FRAMES, Told, call, check, map, restart, run, unmap};
use super::refused;
use super::sim::{GATE, LINE, Machine, PEER, Pager, WAYS, WORD, boot_with, sample};
use crate::Kernel;

type Chip = Kernel<Machine<Pager>>;

const OK: Told = Some((0, [0, 0]));
const NEAR: u32 = 5;
/// Frames that domain 0 holds, off the chip and on it.
const POOL: u32 = 0x6000_0000;
const POOL_BYTES: u32 = 0x40_0000;
const CHIP: u32 = 0xffff_8000;
const VIRT: u32 = 0x1000_0000;
const LOCKED: u32 = 0x3000_0000;

const READ: u32 = PEER | 1 << 16;
const WRITE: u32 = PEER | 3 << 16;
const PINNED: u32 = PEER | 11 << 16;
const CLOSE: u32 = PEER | 19 << 16;

/// The sample, where domain 0 holds frames, and domain 1 begins with one locked entry.
fn system() -> Builder {
    let mut builder = sample();
    let kind = frames::USER;
    builder.frames.push(Frames { base: POOL, bytes: POOL_BYTES, kind, marks: 420 });
    builder.frames.push(Frames { base: CHIP, bytes: 0x2000, kind, marks: 20 });
    builder.frames.push(Frames { base: LOCKED, bytes: 0x1000, kind, marks: 4 });
    builder.frames.push(Frames { base: WAYS, bytes: 0x1000, kind, marks: 4 });
    let flags = area::READ | area::WRITE | area::PINNED | area::NEAR;
    builder.areas.push(Area { domain: 1, base: LOCKED, bytes: 0x1000, flags, ..Area::default() });
    builder.domains[1].areas = 3;
    for (slot, object) in [(FRAMES, 3), (NEAR, 4)] {
        builder.caps.push(Cap { domain: 0, slot, kind: 7, object, rights: 7, badge: 0 });
    }
    builder
}

fn ready() -> Chip {
    let mut kernel = boot_with(&system(), Machine::<Pager> { now: 1000, ..Machine::default() });
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 0, POOL_BYTES, 0]), OK);
    kernel
}

/// A call by domain 1, to its end.
fn call_by_other(kernel: &mut Chip, number: Call, args: [u32; 4]) -> Told {
    for _ in 0..100 {
        kernel.loads(1);
        let told = call(kernel, number, args);
        if told.is_some() {
            return told;
        }
    }
    panic!("the call does not end");
}

/// Physical address that domain 1 finds at an address.
fn finds(kernel: &mut Chip, virt: u32) -> Option<u32> {
    kernel.loads(1);
    check(kernel);
    let found = kernel.arch.kind.translate(virt).map(|entry| entry.physical + (virt - entry.virt));
    kernel.loads(0);
    check(kernel);
    found
}

#[test]
fn pages_lie_wherever_the_words_say() {
    let mut kernel = ready();
    assert_eq!(map(&mut kernel, WRITE, VIRT, 1, 0x3000), OK);
    assert_eq!(map(&mut kernel, READ, VIRT + 0x1000, 1, 0), OK);
    assert_eq!(finds(&mut kernel, VIRT + 0xffc), Some(POOL + 0x3ffc));
    assert_eq!(finds(&mut kernel, VIRT + 0x1004), Some(POOL + 4));
    assert_eq!(finds(&mut kernel, VIRT + 0x2000), None);
    assert_eq!(map(&mut kernel, READ, VIRT + 0x1000, 1, 0x8000), refused(Error::BadState));
    assert_eq!(unmap(&mut kernel, READ, VIRT + 0x1000, 1, 0), OK);
    assert_eq!(finds(&mut kernel, VIRT + 0x1004), None);
    assert_eq!(finds(&mut kernel, VIRT), Some(POOL + 0x3000));
}

#[test]
fn larger_units_are_used_where_they_fit_exactly() {
    let mut kernel = ready();
    for (virt, pages, offset, unit) in [
        (VIRT, 256, 0x10_0000, Unit::Section),
        (VIRT + 0x10_0000, 16, 0x1_0000, Unit::Large),
        (VIRT + 0x20_0000, 16, 0x2_1000, Unit::Small),
    ] {
        assert_eq!(map(&mut kernel, WRITE, virt, pages, offset), OK);
        kernel.loads(1);
        assert_eq!(kernel.arch.kind.translate(virt).unwrap().unit, unit);
        kernel.loads(0);
        assert_eq!(unmap(&mut kernel, WRITE, virt, pages, offset), OK);
        assert_eq!(finds(&mut kernel, virt), None);
    }
}

#[test]
fn copies_follow_the_translation_page_by_page() {
    let mut kernel = ready();
    assert_eq!(map(&mut kernel, WRITE, VIRT, 1, 0x7000), OK);
    assert_eq!(map(&mut kernel, WRITE, VIRT + 0x1000, 1, 0x2000), OK);
    assert_eq!(map(&mut kernel, READ, VIRT + 0x2000, 1, 0x5000), OK);
    // The caller's data lies in the other domain's place, see `Pager::adapt`.
    for offset in 0..64 {
        kernel.arch.memory.insert(0x2002_1c00 + offset, offset as u8 + 1);
    }
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    assert_eq!(call(&mut kernel, Call::GateCopyIn, [VIRT + 0xfe0, 0x2002_0c00, 64, 0]), OK);
    let at = |kernel: &Chip, address: u32| kernel.arch.memory.get(&address).copied();
    assert_eq!([POOL + 0x7fdf, POOL + 0x7fe0, POOL + 0x7fff].map(|byte| at(&kernel, byte)), [None, Some(1), Some(32)]);
    assert_eq!([POOL + 0x2000, POOL + 0x201f, POOL + 0x2020].map(|byte| at(&kernel, byte)), [Some(33), Some(64), None]);
    let read_only = [VIRT + 0x1fe0, 0x2002_0c00, 64, 0];
    assert_eq!(call(&mut kernel, Call::GateCopyIn, read_only), refused(Error::BadAddress));
    assert_eq!(at(&kernel, POOL + 0x2fe0), None, "nothing of it was copied");
    let beyond = [VIRT + 0x2fe0, 0x2002_0c00, 64, 0];
    assert_eq!(call(&mut kernel, Call::GateCopyIn, beyond), refused(Error::BadAddress));
}

/// As [`ready`], where domain 0 may map for itself, too.
fn ready_for_both() -> Chip {
    let mut builder = system();
    builder.caps.push(Cap { domain: 0, slot: WORD, kind: 1, object: 0, rights: 7, badge: 0 });
    builder.caps.retain(|cap| (cap.domain, cap.slot, cap.kind) != (0, WORD, 5));
    let mut kernel = boot_with(&builder, Machine::<Pager> { now: 1000, ..Machine::default() });
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 0, POOL_BYTES, 0]), OK);
    kernel
}

#[test]
fn copies_follow_the_translation_of_both_sides() {
    let mut kernel = ready_for_both();
    let own = VIRT + 0x5_0000;
    // The pages of the source lie in the other order, and those of the destination are cut elsewhere.
    assert_eq!(map(&mut kernel, WORD | 1 << 16, own, 1, 0x9000), OK);
    assert_eq!(map(&mut kernel, WORD | 1 << 16, own + 0x1000, 1, 0x4000), OK);
    assert_eq!(map(&mut kernel, WRITE, VIRT, 1, 0x7000), OK);
    assert_eq!(map(&mut kernel, WRITE, VIRT + 0x1000, 1, 0x2000), OK);
    for (at, value) in (0x9fe0..0xa000).chain(0x4000..0x4020).zip(1..) {
        kernel.arch.memory.insert(POOL + at, value);
    }
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    assert_eq!(call(&mut kernel, Call::GateCopyIn, [VIRT + 0xfd0, own + 0xfe0, 64, 0]), OK);
    let copied = (0x7fd0..0x8000).chain(0x2000..0x2010).map(|at| kernel.arch.memory.get(&(POOL + at)).copied());
    assert!(copied.eq((1..=64).map(Some)));
}

#[test]
fn copies_between_two_names_of_the_same_memory_are_refused() {
    let mut kernel = ready_for_both();
    let own = VIRT + 0x5_0000;
    assert_eq!(map(&mut kernel, WRITE, VIRT, 1, 0x1000), OK);
    assert_eq!(map(&mut kernel, WRITE, own, 1, 0x2000), OK);
    assert_eq!(map(&mut kernel, WORD | 3 << 16, own, 2, 0x1000), OK);
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    for (dst, told) in [
        (VIRT, refused(Error::BadArgument)),
        (VIRT + 63, refused(Error::BadArgument)),
        (VIRT + 64, OK),
        (own, OK),
        (own + 4, OK),
    ] {
        assert_eq!(call(&mut kernel, Call::GateCopyIn, [dst, own, 64, 0]), told, "{dst:x}");
    }
    // The second page of the caller's is the first of what the callee calls so.
    assert_eq!(call(&mut kernel, Call::GateCopyIn, [own + 0x20, own + 0x1000, 64, 0]), refused(Error::BadArgument));
}

#[test]
fn hostile_words_map_nothing() {
    let mut kernel = ready();
    let of = |access: u32| run(PEER | access << 16, FRAMES, VIRT, 1, 0);
    let bad = [
        (of(0), Error::BadArgument),
        (of(2), Error::BadArgument),
        (of(4), Error::BadArgument),
        (of(5), Error::BadArgument),
        (of(7), Error::BadArgument),
        (of(31), Error::BadArgument),
        (run(WRITE, FRAMES, VIRT, 1, 0x800), Error::BadArgument),
        (run(WRITE, FRAMES, VIRT + 0x800, 1, 0), Error::BadArgument),
        (run(WRITE, FRAMES, VIRT, 0, 0), Error::BadArgument),
        (run(WRITE, FRAMES, VIRT, 1, POOL_BYTES), Error::BadAddress),
        (run(WRITE, FRAMES, VIRT, 2, POOL_BYTES - 0x1000), Error::BadAddress),
        (run(WRITE, FRAMES, VIRT, 1, 0xffff_f000), Error::BadAddress),
        (run(WRITE, FRAMES, VIRT, 1, 0u32.wrapping_sub(POOL)), Error::BadAddress),
        (run(WRITE, FRAMES, VIRT, 0x1000, 0), Error::BadAddress),
        (run(WRITE, FRAMES, VIRT, 0xf_ffff, 0x1000), Error::BadAddress),
        (run(WRITE, FRAMES, 0x8000_0000, 1, 0), Error::BadArgument),
        (run(WRITE, FRAMES, 0x7fff_f000, 2, 0), Error::BadArgument),
        (run(WRITE, FRAMES, 0xffff_f000, 2, 0), Error::BadArgument),
        (run(PINNED, FRAMES, VIRT, 2, 0), Error::BadArgument),
        (run(PINNED, FRAMES, VIRT, 16, 0x1000), Error::BadArgument),
        (run(PINNED, FRAMES, VIRT + 0x1000, 16, 0), Error::BadArgument),
        // The domain's own code, data and locked page.
        (run(CLOSE, FRAMES, 0x20_1000, 1, 0), Error::BadState),
        (run(CLOSE, FRAMES, 0x2002_0000, 2, 0), Error::BadState),
        (run(PINNED, FRAMES, LOCKED, 1, 0), Error::BadState),
    ];
    let before = super::sim::units(&kernel.domain(1).protection);
    for (index, (args, error)) in bad.into_iter().enumerate() {
        assert_eq!(call(&mut kernel, Call::FramesMap, args), refused(error), "case {index}");
        let told = call(&mut kernel, Call::FramesUnmap, args);
        assert!(told.is_some_and(|(status, _)| status != 0), "case {index}: {told:?}");
    }
    assert_eq!(super::sim::units(&kernel.domain(1).protection), before);
}

#[test]
fn only_exactly_what_was_mapped_is_unmapped() {
    let mut kernel = ready();
    assert_eq!(map(&mut kernel, WRITE, VIRT, 16, 0), OK);
    assert_eq!(map(&mut kernel, READ, VIRT + 0x1_0000, 1, 0x1_0000), OK);
    // Memory that another page is mapped to would be taken for free while it can still be reached.
    for (target, virt, pages, offset) in [
        (WRITE, VIRT, 16, 0x1_0000),
        (WRITE, VIRT, 1, 0),
        (WRITE, VIRT, 15, 0),
        (WRITE, VIRT + 0x1000, 15, 0x1000),
        (READ, VIRT, 16, 0),
        (PINNED, VIRT, 16, 0),
        (WRITE, VIRT, 17, 0),
        (WRITE, VIRT + 0x1_0000, 1, 0x1_0000),
        (READ, VIRT + 0x1_0000, 2, 0x1_0000),
        (WRITE, 0x2002_1000, 1, 0),
        (PINNED, LOCKED, 1, 0),
    ] {
        assert_eq!(unmap(&mut kernel, target, virt, pages, offset), refused(Error::BadState), "{virt:x} {pages}");
    }
    assert_eq!(unmap(&mut kernel, WRITE, VIRT, 16, 0), OK);
    assert_eq!(unmap(&mut kernel, READ, VIRT + 0x1_0000, 1, 0x1_0000), OK);
    assert_eq!(call(&mut kernel, Call::FramesClean, [FRAMES, 0, 0x1000, 0]), Some((0, [0xf00, 0])));
}

#[test]
fn the_slots_of_the_tlb_are_given_back_or_refused() {
    let mut kernel = ready();
    // One of the four is the domain's from the start.
    for index in 0..3 {
        assert_eq!(map(&mut kernel, PINNED, VIRT + index * 0x1000, 1, index * 0x1000), OK);
    }
    assert_eq!(map(&mut kernel, PINNED, VIRT + 0x3000, 1, 0x3000), refused(Error::Full));
    assert_eq!(finds(&mut kernel, VIRT + 0x3000), None, "never without the entry that was asked for");
    assert_eq!(unmap(&mut kernel, WRITE, VIRT, 1, 0), refused(Error::BadState));
    assert_eq!(unmap(&mut kernel, WRITE, VIRT, 3, 0), refused(Error::BadState));
    assert_eq!(unmap(&mut kernel, PINNED, VIRT, 1, 0), OK);
    assert_eq!(map(&mut kernel, PINNED, VIRT + 0x1_0000, 16, 0x1_0000), OK);
    assert_eq!(restart(&mut kernel), OK);
    let held: Vec<u32> = kernel.shared.held().into_iter().flatten().map(|(_, address)| address.0).collect();
    assert_eq!(held, [LOCKED], "what was locked while it ran is not any more");
    assert!(kernel.arch.kind.locked[0].is_some(), "the identifier was used again, and the entry came back");
    for index in 0..3 {
        assert_eq!(map(&mut kernel, PINNED, VIRT + index * 0x1000, 1, index * 0x1000), OK);
    }
}

#[test]
fn an_entry_that_is_kept_goes_only_by_itself() {
    let mut kernel = ready();
    // Sixteen pages with the same rights, as large as a large page, and two of them kept: one call would forget one of these only.
    assert_eq!(map(&mut kernel, PINNED, VIRT, 1, 0), OK);
    assert_eq!(map(&mut kernel, PINNED, VIRT + 0x1000, 1, 0x1000), OK);
    assert_eq!(map(&mut kernel, WRITE, VIRT + 0x2000, 14, 0x2000), OK);
    assert_eq!(unmap(&mut kernel, PINNED, VIRT, 16, 0), refused(Error::BadState));
    assert_eq!(unmap(&mut kernel, WRITE, VIRT, 16, 0), refused(Error::BadState));
    assert_eq!(restart(&mut kernel), OK);
    for index in 0..3 {
        assert_eq!(map(&mut kernel, PINNED, VIRT + index * 0x1000, 1, index * 0x1000), OK);
    }
}

#[test]
fn what_the_tables_locked_stays_locked() {
    let mut builder = system();
    builder.caps.push(Cap { domain: 1, slot: FRAMES, kind: 7, object: 5, rights: 7, badge: 0 });
    builder.caps.push(Cap { domain: 1, slot: NEAR, kind: 1, object: 1, rights: 7, badge: 0 });
    let mut kernel = boot_with(&builder, Machine::<Pager> { now: 1000, ..Machine::default() });
    for access in [11, 3] {
        let told = call_by_other(&mut kernel, Call::FramesUnmap, run(NEAR | access << 16, FRAMES, LOCKED, 1, 0));
        assert_eq!(told, refused(Error::BadState));
    }
    assert_eq!(finds(&mut kernel, LOCKED), Some(LOCKED));
}

#[test]
fn near_tables_are_near_or_the_mapping_is_refused() {
    let mut kernel = ready();
    // The domain has four tables on the chip; its code, its data and its locked page take two of them and one off it.
    let mib = 0x10_0000;
    let maps =
        |kernel: &mut Chip| (0..8).take_while(|at| map(kernel, CLOSE, VIRT + at * mib, 1, at * 0x1000) == OK).count();
    let before = maps(&mut kernel) as u32;
    assert_eq!(before, 2);
    assert_eq!(map(&mut kernel, CLOSE, VIRT + before * mib, 1, before * 0x1000), refused(Error::Full));
    assert_eq!(map(&mut kernel, WRITE, VIRT + before * mib, 1, before * 0x1000), OK, "off the chip there are more");
    assert_eq!(map(&mut kernel, WRITE, VIRT + 0x1000, 1, 0x9000), refused(Error::Full), "this MiB has a near table");
    let given = call(&mut kernel, Call::NodesGive, [PEER, NEAR, 0, 0x400]);
    assert_eq!(given, Some((0, [0x400, 256])));
    assert_eq!(map(&mut kernel, CLOSE, VIRT + 5 * mib, 1, 0xa000), OK);
}

#[test]
fn where_the_chip_has_no_tables_left_locked_ways_do() {
    let mut builder = system();
    builder.caps.push(Cap { domain: 0, slot: LINE, kind: 7, object: 6, rights: 7, badge: 0 });
    builder.caps.retain(|cap| (cap.domain, cap.slot, cap.kind) != (0, LINE, 6));
    let mut kernel = boot_with(&builder, Machine::<Pager> { now: 1000, ..Machine::default() });
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 0, POOL_BYTES, 0]), OK);
    let mib = 0x10_0000;
    let near = |kernel: &mut Chip, at: u32| map(kernel, CLOSE, VIRT + at * mib, 1, at * 0x1000);
    let full = (0..8).find(|at| near(&mut kernel, *at) == refused(Error::Full)).unwrap();
    assert_eq!(call(&mut kernel, Call::NodesGive, [PEER, LINE, 0, 0x400]), Some((0, [0x400, 256])));
    assert_eq!(near(&mut kernel, full), OK);
    assert_eq!(near(&mut kernel, full + 1), refused(Error::Full), "and never off the chip");
    assert_eq!(map(&mut kernel, CLOSE, VIRT + full * mib + 0x1000, 1, 0x2_0000), OK, "beside it there");
    assert_eq!(map(&mut kernel, CLOSE, VIRT + 0x1000, 1, 0x2_1000), OK, "and on the chip");
}

#[test]
fn memory_of_tables_is_nobodys() {
    let mut kernel = ready();
    for [offset, bytes] in [[0x200, 0x400], [0, 0x3e0], [0x20, 0x420], [0xffff_fc00, 0x400]] {
        let told = call(&mut kernel, Call::NodesGive, [PEER, NEAR, offset, bytes]);
        assert_eq!(told, refused(Error::BadArgument), "{offset:x} {bytes:x}");
    }
    let told = call(&mut kernel, Call::NodesGive, [PEER, FRAMES, 0, 0x400]);
    assert_eq!(told, refused(Error::BadState), "only untyped memory");
    for offset in [0, 0x400, 0x800, 0xc00] {
        assert_eq!(call(&mut kernel, Call::NodesGive, [PEER, NEAR, offset, 0x400]), Some((0, [0x400, 256])));
    }
    for told in [
        call(&mut kernel, Call::FramesMap, run(WRITE, NEAR, VIRT, 1, 0)),
        call(&mut kernel, Call::FramesMap, run(READ, NEAR, VIRT, 1, 0)),
        call(&mut kernel, Call::FramesRetype, [NEAR, 0, 0x1000, 0]),
        call(&mut kernel, Call::FramesClean, [NEAR, 0, 0x1000, 0]),
        call(&mut kernel, Call::NodesGive, [PEER, NEAR, 0, 0x400]),
    ] {
        assert_eq!(told, refused(Error::BadState));
    }
    // Also when the domain for whose tables it was given is restarted.
    assert_eq!(restart(&mut kernel), OK);
    assert_eq!(call(&mut kernel, Call::FramesRetype, [NEAR, 0, 0x1000, 0]), refused(Error::BadState));
}
