use super::{GRANULES, Memory, PAGES};
use std::cell::Cell;
use timing::vmsa::Tables;

fn empty() -> Memory {
    Memory {
        pages: (0..PAGES).map(|_| None).collect(),
        walked: (0..GRANULES / 64).map(|_| Cell::new(0)).collect(),
        generation: 1,
    }
}

#[test]
fn a_walk_finds_what_was_stored_and_nothing_else() {
    let mut memory = empty();
    memory.store(0x1000, 8, 0x2222_2222_1111_1111);
    memory.store(0x1005, 1, 0xee);
    assert_eq!(memory.descriptor(0x1000), Some(0x1111_1111));
    assert_eq!(memory.descriptor(0x1004), Some(0x2222_ee22));
    assert_eq!(memory.descriptor(0x2000), None);
}

#[test]
fn the_generation_counts_changes_of_what_walks_have_read() {
    let mut memory = empty();
    memory.store(0x1000, 4, 1);
    let generation = memory.generation();
    memory.store(0x1000, 4, 2);
    assert_eq!(memory.generation(), generation, "no walk has been there");
    memory.descriptor(0x1000);
    memory.store(0x1000, 4, 2);
    memory.store(0x1400, 4, 2);
    assert_eq!(memory.generation(), generation, "the same, and another table");
    memory.store(0x13fc, 4, 3);
    assert_eq!(memory.generation(), generation + 1);
}

#[test]
fn an_image_lies_where_its_segments_say() {
    let mut file = vec![0; 0x60];
    file[..6].copy_from_slice(b"\x7fELF\x01\x01");
    let header = [1, 0x5c, 0xdead_0000, 0x4000, 4, 0x1008u32];
    file[28] = 0x34;
    (file[42], file[44]) = (32, 1);
    for (index, word) in header.into_iter().enumerate() {
        file[0x34 + index * 4..][..4].copy_from_slice(&u32::to_le_bytes(word));
    }
    file[0x5c..].copy_from_slice(&[1, 2, 3, 4]);
    let mut memory = empty();
    memory.place(&file).expect("a good file");
    assert_eq!((memory.descriptor(0x4000), memory.descriptor(0x4004)), (Some(0x0403_0201), Some(0)));
    assert_eq!((memory.descriptor(0x5004), memory.descriptor(0x6000)), (Some(0), None), "zeros up to its end");
    assert_eq!(memory.place(&file[..0x50]), None);
}
