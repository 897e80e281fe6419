extern crate std;
use core::cell::RefCell;
use std::rc::Rc;
use std::vec;
use std::vec::Vec;

use super::*;

#[derive(Clone)]
struct Memory(Rc<RefCell<Vec<u32>>>);

impl Memory {
    fn of(words: usize) -> Self {
        Memory(Rc::new(RefCell::new(vec![0; words])))
    }
}

impl Words for Memory {
    fn words(&self) -> usize {
        self.0.borrow().len()
    }
    fn read(&self, index: usize) -> u32 {
        self.0.borrow().get(index).copied().unwrap_or(0)
    }
    fn write(&self, index: usize, value: u32) {
        if let Some(word) = self.0.borrow_mut().get_mut(index) {
            *word = value;
        }
    }
}

#[test]
fn rows_arrive_in_order_through_wraps_and_refusals() {
    let memory = Memory::of(2 + 64);
    let (mut writer, mut reader) = (Writer::new(memory.clone()), Reader::new(memory.clone()));
    let rows: Vec<Vec<u8>> = (0..500_u32).map(|i| vec![i as u8; (i * 7 % 120) as usize]).collect();
    let (mut next, mut refused, mut seen) = (0, 0, 0);
    while seen < rows.len() {
        match rows.get(next).map(|row| writer.push(next as u32 % 3, row)) {
            Some(Push::Full) => refused += 1,
            Some(_) => {
                next += 1;
                continue;
            }
            None => {}
        }
        let (record, _) = reader.pop().unwrap().expect("a full ring holds a row");
        assert_eq!((record.file, record.row()), (seen as u32 % 3, rows[seen].as_slice()));
        seen += 1;
    }
    assert!(refused > 100, "the ring never filled");
    assert_eq!(reader.pop(), Ok(None));
}

#[test]
fn the_writer_wakes_the_reader_exactly_when_it_had_read_everything() {
    let memory = Memory::of(2 + 64);
    let (mut writer, mut reader) = (Writer::new(memory.clone()), Reader::new(memory));
    assert_eq!(writer.push(0, b"one"), Push::First);
    assert_eq!(writer.push(0, b"two"), Push::Behind);
    reader.pop().unwrap();
    assert_eq!(writer.push(0, b"three"), Push::Behind);
    reader.pop().unwrap();
    reader.pop().unwrap();
    assert_eq!(writer.push(0, b"four"), Push::First);
    assert_eq!(writer.push(0, &[0; ROW_MAX_BYTES + 1]), Push::TooLong);
}

#[test]
fn the_reader_wakes_the_writer_once_on_the_way_to_empty() {
    let memory = Memory::of(2 + 64);
    let (mut writer, mut reader) = (Writer::new(memory.clone()), Reader::new(memory));
    while writer.push(0, b"twelve bytes") != Push::Full {}
    let mut wakes = 0;
    while let Some((_, wake)) = reader.pop().unwrap() {
        wakes += u32::from(wake);
    }
    assert_eq!(wakes, 1);
}

#[test]
fn a_hostile_writer_is_noticed() {
    let memory = Memory::of(2 + 64);
    let mut reader = Reader::new(memory.clone());
    for (written, header) in [(65, 4), (0x8000_0000, 4), (1, 4), (40, 129), (40, 0xffff)] {
        memory.write(0, written);
        memory.write(2, header);
        assert_eq!(reader.pop(), Err(stream::Corrupt), "written {written} header {header}");
    }
}

#[test]
fn a_series_returns_what_was_stored_and_no_more() {
    let memory = Memory::of(2 + 4 * 10 + 3);
    let series = Series::new(memory.clone());
    assert_eq!(series.capacity(), 10);
    assert!(series.set(9, [core::f64::consts::PI, -0.0]));
    assert!(!series.set(10, [1.0, 2.0]));
    assert_eq!(series.get(9).map(f64::to_bits), [core::f64::consts::PI, -0.0].map(f64::to_bits));
    memory.write(0, u32::MAX);
    assert_eq!(series.count(), 10);
}
