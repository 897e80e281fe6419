//! RTMMU: what is mapped at run time, what hostile words achieve, and what is left of what was there before.

#[path = "model.rs"]
mod model;

use abi::{Call, Error};
use protect::AccessKind;
use rtmmu::flat::PAGES_AT_ONCE;
use system::build::Builder;
use system::rtmmu::PAGE;
use system::{Area, Cap, Frames, area, frames};

use super::maps::{FRAMES, Told, call, check, map, restart, run, unmap};
use super::sim::{DEVICES, Entry, GATE, Guard, Machine, PEER, WORD, boot_with, mapped, own, sample};
use super::{Kind, refused};
use crate::objects::Life;
use crate::{Kernel, NOBODY};

type Chip = Kernel<Machine<Kind>>;

const OK: Told = Some((0, [0, 0]));
const BEYOND: u32 = 5;
/// Frames that domain 0 holds; the second ones have numbers that look-ups do not tell from those of the kernel's.
const POOL: u32 = 0x6000_0000;
const POOL_BYTES: u32 = 0x40_0000;
const FAR: u32 = 0xa000_0000;
const VIRT: u32 = 0x8100_0000;
const DEVICE: u32 = DEVICES.start;

const READ: u32 = PEER | 1 << 16;
const WRITE: u32 = PEER | 3 << 16;
const OWN: u32 = WORD | 3 << 16;

/// The sample, where domain 0 holds frames and may map for both, and domain 1 has a device.
fn system() -> Builder {
    let mut builder = sample();
    let kind = frames::USER;
    builder.frames.push(Frames { base: POOL, bytes: POOL_BYTES, kind, marks: 420 });
    builder.frames.push(Frames { base: FAR, bytes: 0x2000, kind, marks: 20 });
    builder.frames.push(Frames { base: DEVICE, bytes: PAGE, kind: frames::DEVICE, marks: 0 });
    let flags = area::READ | area::WRITE;
    let device = Area { domain: 1, base: DEVICE, bytes: PAGE, flags, memory: area::DEVICE, ..Area::default() };
    builder.areas.push(device);
    builder.domains[1].areas = 3;
    builder.caps.retain(|cap| (cap.domain, cap.slot) != (0, WORD));
    builder.caps.push(Cap { domain: 0, slot: WORD, kind: 1, object: 0, rights: 7, badge: 0 });
    for (slot, object) in [(FRAMES, 3), (BEYOND, 4)] {
        builder.caps.push(Cap { domain: 0, slot, kind: 7, object, rights: 7, badge: 0 });
    }
    builder
}

fn ready() -> Chip {
    let mut kernel = boot_with(&system(), Machine::<Kind> { now: 1000, ..Machine::default() });
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 0, POOL_BYTES, 0]), OK);
    kernel
}

fn translated(kernel: &Chip, domain: usize) -> Vec<Entry> {
    mapped(own(&kernel.tables, domain)).to_vec()
}

/// Physical address that domain 1 finds for an access.
fn finds(kernel: &mut Chip, virt: u32, kind: AccessKind) -> Option<u32> {
    kernel.loads(1);
    check(kernel);
    let found = kernel.arch.kind.translate(virt, kind);
    kernel.loads(0);
    check(kernel);
    found
}

#[test]
fn pages_lie_wherever_the_words_say() {
    let mut kernel = ready();
    assert_eq!(map(&mut kernel, WRITE, VIRT, 1, 0x3000), OK);
    assert_eq!(map(&mut kernel, READ, VIRT + 0x1000, 20, 0x1_0000), OK);
    let [read, write, exec] = [AccessKind::Read, AccessKind::Write, AccessKind::Exec];
    for (virt, kind, found) in [
        (VIRT - 1, read, None),
        (VIRT + 0xffc, write, Some(POOL + 0x3ffc)),
        (VIRT + 0xffc, exec, None),
        (VIRT + 0x1004, read, Some(POOL + 0x1_0004)),
        (VIRT + 0x1004, write, None),
        (VIRT + 0x1_4ffc, read, Some(POOL + 0x2_3ffc)),
        (VIRT + 0x1_5000, read, None),
    ] {
        assert_eq!(finds(&mut kernel, virt, kind), found, "{virt:#x} {kind:?}");
    }
    assert_eq!(unmap(&mut kernel, READ, VIRT + 0x1000, 20, 0x1_0000), OK);
    assert_eq!(finds(&mut kernel, VIRT + 0x1004, read), None);
    assert_eq!(finds(&mut kernel, VIRT, read), Some(POOL + 0x3000));
    assert_eq!(kernel.arch.kind.translate(VIRT, read), None, "the same page of another domain");
}

#[test]
fn hostile_words_map_nothing() {
    let mut kernel = ready();
    assert_eq!(call(&mut kernel, Call::FramesRetype, [BEYOND, 0, 0x2000, 0]), OK);
    let of = |access: u32| run(PEER | access << 16, FRAMES, VIRT, 1, 0);
    let at = |virt: u32, pages: u32| run(WRITE, FRAMES, virt, pages, 0);
    let code = Kind::address(0x20_1000);
    let data = Kind::address(0x2002_1000);
    let bad = [
        (of(0), Error::BadArgument),
        (of(2), Error::BadArgument),
        (of(4), Error::BadArgument),
        (of(5), Error::BadArgument),
        (of(7), Error::BadArgument),
        (of(11), Error::BadArgument),
        (of(31), Error::BadArgument),
        (run(WRITE, FRAMES, VIRT, 1, 0x800), Error::BadArgument),
        (run(WRITE, FRAMES, VIRT, 0, 0), Error::BadArgument),
        (run(WRITE, FRAMES, VIRT, 1, POOL_BYTES), Error::BadAddress),
        (run(WRITE, FRAMES, VIRT, 2, POOL_BYTES - 0x1000), Error::BadAddress),
        (run(WRITE, FRAMES, VIRT, 1, 0_u32.wrapping_sub(POOL)), Error::BadAddress),
        (run(WRITE, FRAMES, VIRT, 0xf_ffff, 0x1000), Error::BadAddress),
        // Their frames have more bits than the hardware has: it would show other memory.
        (run(WRITE, BEYOND, VIRT, 1, 0), Error::BadAddress),
        (run(READ, BEYOND, VIRT, 2, 0), Error::BadAddress),
        (at(VIRT + 0x800, 1), Error::BadArgument),
        (at(0x1000_0000, 1), Error::BadAddress),
        (at(0x7fff_f000, 2), Error::BadAddress),
        (at(0, 1), Error::BadAddress),
        // The domain has 2^14 pages.
        (at(0x8400_0000, 1), Error::Full),
        (at(0x83ff_f000, 2), Error::Full),
        (at(0xffff_f000, 1), Error::Full),
        (at(0xffff_f000, 2), Error::Full),
        // Its own code, data and device.
        (at(code, 1), Error::BadState),
        (at(code - 0x1000, 2), Error::BadState),
        (at(data - 0x3000, 400), Error::BadState),
        (at(Kind::address(DEVICE), 1), Error::BadState),
    ];
    let before = [0, 1].map(|domain| translated(&kernel, domain));
    for (index, (args, error)) in bad.into_iter().enumerate() {
        assert_eq!(call(&mut kernel, Call::FramesMap, args), refused(error), "case {index}");
        let told = call(&mut kernel, Call::FramesUnmap, args);
        assert!(told.is_some_and(|(status, _)| status != 0), "case {index}: {told:?}");
        assert_eq!([0, 1].map(|domain| translated(&kernel, domain)), before, "case {index}");
    }
    let given = call(&mut kernel, Call::NodesGive, [PEER, FRAMES, 0, 0x1000]);
    assert_eq!(given, refused(Error::BadArgument), "tables do not grow");
    assert_eq!(map(&mut kernel, WRITE, 0x83ff_f000, 1, 0), OK, "the last page that there is");
    assert_eq!(map(&mut kernel, OWN, 0x8200_0000, 1, 0), refused(Error::Full), "domain 0 has half as many");
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
        (OWN, VIRT, 16, 0),
        (WRITE, VIRT, 17, 0),
        (WRITE, VIRT + 0x1_0000, 1, 0x1_0000),
        (READ, VIRT + 0x1_0000, 2, 0x1_0000),
        (READ, VIRT + 0x1_1000, 1, 0x1_1000),
    ] {
        assert_eq!(unmap(&mut kernel, target, virt, pages, offset), refused(Error::BadState), "{virt:x} {pages}");
    }
    assert_eq!(unmap(&mut kernel, WRITE, VIRT, 16, 0), OK);
    assert_eq!(unmap(&mut kernel, READ, VIRT + 0x1_0000, 1, 0x1_0000), OK);
    assert_eq!(call(&mut kernel, Call::FramesClean, [FRAMES, 0, 0x1000, 0]), Some((0, [0xf00, 0])));
}

#[test]
fn a_region_goes_at_once_and_nothing_of_it_comes_back_with_the_next() {
    let mut kernel = ready();
    assert_eq!(map(&mut kernel, WRITE, VIRT, 64, 0), OK);
    let before = translated(&kernel, 1).len();
    kernel.arch.stepwise = true;
    assert_eq!(unmap(&mut kernel, WRITE, VIRT, 64, 0), None);
    let gone = if Kind::AT_ONCE { 64 } else { PAGES_AT_ONCE as usize };
    assert_eq!(translated(&kernel, 1).len(), before - gone, "in its first step");
    kernel.arch.stepwise = false;
    assert_eq!(unmap(&mut kernel, WRITE, VIRT, 64, 0), OK);
    // Regions that begin elsewhere, on pages whose words still say where they were.
    let first = (VIRT - 0x8000_0000) / PAGE;
    kernel.arch.stepwise = true;
    for (at, pages) in [(3, 40), (0, 64), (1, 9), (60, 4)] {
        let args = run(READ, FRAMES, VIRT + at * PAGE, pages, 0x10_0000);
        let mut steps = 0;
        loop {
            let told = call(&mut kernel, Call::FramesMap, args);
            if told.is_some() {
                assert_eq!(told, OK, "{at} {pages}");
                break;
            }
            steps += 1;
            let there: Vec<Entry> = translated(&kernel, 1).into_iter().filter(|entry| entry.page >= first).collect();
            let there = there.into_iter().filter(|entry| entry.page < first + 64);
            there.for_each(|entry| assert_eq!(entry.frame, (POOL + 0x10_0000) / PAGE + entry.page - first - at));
        }
        assert!(steps >= pages / 8, "{steps}");
        let told = (0..20).find_map(|_| unmap(&mut kernel, READ, VIRT + at * PAGE, pages, 0x10_0000));
        assert_eq!(told, OK, "{at} {pages}");
    }
}

#[test]
fn registers_of_a_device_are_the_domains_and_no_copys() {
    let mut kernel = ready();
    let virt = Kind::address(DEVICE);
    assert_eq!(finds(&mut kernel, virt + 4, AccessKind::Write), Some(DEVICE + 4));
    assert_eq!(finds(&mut kernel, virt + 4, AccessKind::Exec), None);
    assert_eq!(map(&mut kernel, WRITE, virt + PAGE, 1, 0), OK);
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    for to in [DEVICE, DEVICE + PAGE - 4, DEVICE + PAGE] {
        let told = call(&mut kernel, Call::GateCopyIn, [to, 0x2002_0c00, 8, 0]);
        assert_eq!(told, if to == DEVICE + PAGE { OK } else { refused(Error::BadAddress) }, "{to:#x}");
    }
    assert!(kernel.arch.memory.keys().all(|at| !DEVICES.contains(at)));
    assert!(kernel.arch.zeroed.iter().all(|range| !DEVICES.contains(&range.start)));
}

#[test]
fn copies_follow_the_translation_of_both_sides() {
    let mut kernel = ready();
    let (here, there) = (Kind::address(VIRT), Kind::address(VIRT + 0x5_0000));
    // The pages of the source lie in the other order, and those of the destination are cut elsewhere.
    for (target, virt, offset) in [
        (OWN, VIRT + 0x5_0000, 0x9000),
        (OWN, VIRT + 0x5_1000, 0x4000),
        (WRITE, VIRT, 0x7000),
        (WRITE, VIRT + 0x1000, 0x2000),
        (READ, VIRT + 0x2000, 0xb000),
    ] {
        assert_eq!(map(&mut kernel, target, virt, 1, offset), OK);
    }
    for (at, value) in (0x9fe0..0xa000).chain(0x4000..0x4020).zip(1..) {
        kernel.arch.memory.insert(POOL + at, value);
    }
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    assert_eq!(call(&mut kernel, Call::GateCopyIn, [here + 0xfd0, there + 0xfe0, 64, 0]), OK);
    let copied = (0x7fd0..0x8000).chain(0x2000..0x2010).map(|at| kernel.arch.memory.get(&(POOL + at)).copied());
    assert!(copied.eq((1..=64).map(Some)));
    let before = kernel.arch.memory.clone();
    for (dst, src) in [(here + 0x1fe0, there), (here, there + 0x1fe0), (here, Kind::address(u32::MAX - 2))] {
        let told = call(&mut kernel, Call::GateCopyIn, [dst, src, 64, 0]);
        assert_eq!(told, refused(Error::BadAddress), "{dst:#x} {src:#x}");
    }
    assert_eq!(kernel.arch.memory, before, "nothing of them was copied");
}

#[test]
fn nothing_is_translated_while_nobody_runs() {
    let mut kernel = ready();
    let at = Kind::address(0x2002_0000);
    assert!(kernel.arch.kind.translate(at, AccessKind::Write).is_some());
    while kernel.current() != NOBODY {
        kernel.passes(100);
        check(&mut kernel);
    }
    for virt in [at, Kind::address(0x2002_1000), 0x8000_0000] {
        assert_eq!(kernel.arch.kind.translate(virt, AccessKind::Read), None);
    }
}

#[test]
fn a_restart_leaves_nothing_of_the_former_life() {
    let mut kernel = ready();
    let before = [0, 1].map(|domain| translated(&kernel, domain));
    let marks = kernel.frames.marks();
    for index in 0..20 {
        assert_eq!(map(&mut kernel, WRITE, VIRT + index * 0x3000, 2, index * 0x2000), OK);
    }
    assert_eq!(map(&mut kernel, READ, VIRT + 0x20_0000, 256, 0x20_0000), OK);
    // Next to its own areas, on both sides.
    for area in [0x20_1000, 0x2002_1000, DEVICE].map(Kind::address) {
        assert_eq!(map(&mut kernel, WRITE, area - PAGE, 1, 0), OK);
        assert_eq!(map(&mut kernel, WRITE, area + PAGE, 1, 0x1000), OK);
    }
    assert_eq!(restart(&mut kernel), OK);
    assert_eq!(kernel.domain(1).life, Life::Running);
    assert_eq!([0, 1].map(|domain| translated(&kernel, domain)), before);
    assert_eq!(kernel.frames.marks(), marks);
    assert_eq!(map(&mut kernel, WRITE, VIRT, 1, 0), OK);
}

#[test]
fn a_restart_takes_away_what_begins_as_an_own_area_and_is_longer() {
    const OWN_AREA: u32 = 0x3010_0000;
    let mut builder = system();
    let flags = area::READ | area::WRITE;
    builder.areas.push(Area { domain: 1, base: OWN_AREA, bytes: 2 * PAGE, flags, ..Area::default() });
    builder.domains[1].areas += 1;
    builder.frames.push(Frames { base: OWN_AREA, bytes: 4 * PAGE, kind: frames::USER, marks: 8 });
    // Instead of the frames that cannot be mapped.
    builder.caps.last_mut().expect("the sample has capabilities").object = 6;
    let at = Kind::address(OWN_AREA);
    let area = |kernel: &mut Chip| [0, 1, 2].map(|page| finds(kernel, at + page * PAGE, AccessKind::Write));
    for longer in [false, true] {
        let mut kernel = boot_with(&builder, Machine::<Kind> { now: 1000, ..Machine::default() });
        assert_eq!(call(&mut kernel, Call::FramesRetype, [BEYOND, 2 * PAGE, 2 * PAGE, 0]), OK);
        let whole = [0, 1].map(|page| Some(OWN_AREA + page * PAGE));
        assert_eq!(area(&mut kernel), [whole[0], whole[1], None]);
        let own = run(WRITE, BEYOND, at, 2, 0);
        assert_eq!(call(&mut kernel, Call::FramesUnmap, own), OK);
        let pages = 2 + u32::from(longer);
        assert_eq!(call(&mut kernel, Call::FramesMap, run(WRITE, BEYOND, at, pages, 0)), OK);
        assert_eq!(restart(&mut kernel), OK);
        assert_eq!(area(&mut kernel), if longer { [None; 3] } else { [whole[0], whole[1], None] });
    }
}
