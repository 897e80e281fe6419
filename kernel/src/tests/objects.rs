//! Memory for the kernel's objects is what [`system::objects::needs`] says, to the byte: it is the same function by which the host
//! refuses systems.

use system::build::Builder;
use system::objects::{Kind, Needs, needs};
use system::{AnyScheme, System};

use super::rich::rich;
use super::sim::{Guard, Machine, Pager, Registers, Rtmmu, boot_tables, release, sample};
use crate::boot::{BootError, sizes};

/// Start of the objects: no multiple of any alignment, so that gaps count, too.
const BASE: u32 = 0x1000_0004;

/// Boots with so many bytes for objects; what the kernel says, and what the host would compute.
fn with_bytes<K: Guard>(builder: &Builder, missing: u32) -> Result<(), BootError> {
    let words: &'static [u32] = Vec::leak(K::adapt(builder).encode().unwrap());
    let tables = System::parse(words).unwrap();
    let bytes = (needs::<AnyScheme>(&tables, &sizes::<Machine<K>>(), BASE).unwrap().end - u64::from(BASE)) as u32;
    boot_tables(tables, (BASE, bytes - missing), Machine::<K>::default()).map(release)
}

/// As many bytes as computed are enough, and one less is not.
fn has_an_edge<K: Guard>(builder: &Builder) {
    assert_eq!(with_bytes::<K>(builder, 0), Ok(()));
    assert_eq!(with_bytes::<K>(builder, 1), Err(BootError::NoMemory));
}

fn systems() -> Vec<Builder> {
    let mut more_handles = sample();
    more_handles.domains[1].cap_slots = 255;
    let mut no_handles = sample();
    no_handles.caps = Vec::new();
    no_handles.domains[1].cap_slots = 0;
    let mut more_words = sample();
    more_words.notifications.resize(200, system::Notification { initial: 0 });
    vec![sample(), rich(), more_handles, no_handles, more_words]
}

#[test]
fn boot_takes_what_was_computed_to_the_byte() {
    for builder in &systems() {
        has_an_edge::<Registers>(builder);
        has_an_edge::<Pager>(builder);
        has_an_edge::<Rtmmu>(builder);
    }
}

fn needs_of(builder: &Builder) -> Needs {
    let words = Registers::<protect::pmsav7::Pmsav7>::adapt(builder).encode().unwrap();
    let tables = System::parse(&words).unwrap();
    needs::<AnyScheme>(&tables, &sizes::<Machine<Registers>>(), BASE).unwrap()
}

#[test]
fn each_object_counts() {
    let before = needs_of(&sample());
    let mut one_more = sample();
    one_more.domains[0].cap_slots += 1;
    let after = needs_of(&one_more);
    let handle = Kind::Handle as usize;
    assert_eq!(after.counts[handle], before.counts[handle] + 1);
    assert_eq!(after.bytes[handle] - before.bytes[handle], size_of::<crate::objects::Cap>() as u64);
    let mut one_more = sample();
    one_more.budgets.push(one_more.budgets[0]);
    assert_eq!(needs_of(&one_more).counts[Kind::Time as usize], before.counts[Kind::Time as usize] + 1);
}

/// The table of memory is as large as holders of frames need it, and they may use marks; without them nobody asks it.
#[test]
fn the_table_of_memory_is_there_for_holders_of_frames() {
    let chunks = |builder: &Builder| {
        let needs = needs_of(builder);
        assert_eq!(needs.counts[Kind::Chunk as usize], needs.counts[Kind::Place as usize]);
        needs.counts[Kind::Chunk as usize]
    };
    let mut frames = rich();
    let held = chunks(&frames);
    frames.frames.iter_mut().for_each(|range| range.marks += 100);
    assert!(chunks(&frames) > held);
    frames.caps.retain(|cap| cap.kind != abi::Kind::Frames as u32);
    assert_eq!(chunks(&frames), 1);
}
