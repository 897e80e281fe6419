//! Memory for tables comes from the chip, then from locked ways, and then from nowhere.

use manifest::resolved::{Item, Memory, Pages};
use spec::TablePlace;
use system::vmsav7::Caches;

use super::{Near, Space};
use crate::error::PlaceError;

const DDR: u32 = 0x0010_0000;
const ROOT: u32 = 8192;
const ITEM: Item = Item::Own("a table");

fn ddr() -> Space {
    let name = "ddr".to_owned();
    Space::new(&Memory {
        name,
        base: DDR,
        bytes: 0x0800_0000,
        reserved: 0,
        code_page: 1,
        rom: false,
        class: None,
        offset: 0,
        block: None,
        gates: Vec::new(),
    })
}

/// Memory for `chip` bytes of tables on the chip, and for `locked` in two ways.
fn make(chip: u32, locked: u32, far: &mut Space) -> Near {
    let pages = Pages {
        tables: Some(0),
        one_place: false,
        locked_ways: 2,
        locked_bytes: locked,
        prefetch: false,
        device_offset: 0,
    };
    Near::new(Some(&super::space("tables", 0xfffe_0000, chip)), &pages, far).unwrap()
}

#[test]
fn tables_lie_on_the_chip_then_in_locked_ways_and_then_nowhere() {
    let mut far = ddr();
    let mut near = make(0x3000, 0x4000, &mut far);
    let mut take = |bytes, align| near.take(&ITEM, bytes, align);
    assert_eq!(take(ROOT, ROOT), Ok((0xfffe_0000, TablePlace::OnChip)));
    let (base, place) = take(ROOT, ROOT).unwrap();
    assert_eq!((base % ROOT, place), (0, TablePlace::LockedWays), "a root more than the chip has room for");
    assert_eq!(take(0x1000, 1024), Ok((0xfffe_2000, TablePlace::OnChip)), "what is left of the chip is used first");
    assert_eq!(take(0x400, 1024), Ok((base + ROOT, TablePlace::LockedWays)));
    let Err(PlaceError::Full { memory, asked, left, .. }) = take(ROOT, ROOT) else {
        panic!("it is never off the chip")
    };
    assert_eq!((memory.as_str(), asked, left), ("locked ways", 0x2000, 0), "nothing begins at a multiple of 8 KiB");
}

#[test]
fn only_what_holds_tables_is_locked() {
    let mut far = ddr();
    let before = far.gaps();
    let mut near = make(0x2000, 0x1_0000, &mut far);
    near.take(&ITEM, 0x2000, 1024).unwrap();
    let (base, _) = near.take(&ITEM, 0x1400, 1024).unwrap();
    let (chip, ways) = near.finish(2, &mut far);
    assert_eq!((chip.used(), ways), (0x2000, Caches { ways: 2, base, bytes: 0x1400, prefetch: 0 }));
    let left: u64 = far.gaps().iter().map(|gap| gap.1 - gap.0).sum();
    assert_eq!(left, 0x0800_0000 - 0x1400);
    let mut far = ddr();
    let near = make(0x2000, 0x1_0000, &mut far);
    let (chip, ways) = near.finish(2, &mut far);
    assert_eq!(
        (chip.used(), ways),
        (0, Caches { ways: 2, base: 0, bytes: 0, prefetch: 0 }),
        "ways can be closed for nothing"
    );
    assert_eq!(far.gaps(), before);
}

#[test]
fn where_one_place_is_all_that_is_used_the_other_stays_empty() {
    let mut far = ddr();
    let mut near = make(0, 0x4000, &mut far);
    assert_eq!(near.take(&ITEM, 0x400, 1024).unwrap().1, TablePlace::LockedWays);
    let mut near = make(0x400, 0, &mut far);
    assert_eq!(near.take(&ITEM, 0x400, 1024).unwrap().1, TablePlace::OnChip);
    let Err(PlaceError::Full { memory, .. }) = near.take(&ITEM, 0x400, 1024) else {
        panic!("it is never off the chip")
    };
    assert_eq!(memory, "tables");
}
