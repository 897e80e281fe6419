//! Within its envelope a program is never refused; with noticeably less memory it can be.

use std::vec;
use std::vec::Vec;

use super::super::{Error, Heap, MAX_REQUEST, PIECE_OVERHEAD, record_bytes, worst_case_bytes};
use super::{Pieces, heap_for};
use crate::testing::Rng;

#[derive(Clone, Copy, Debug)]
struct Envelope {
    live: u32,
    largest: u32,
    count: u32,
}

/// A program that stays within its envelope, and whether it has been refused.
struct Program {
    envelope: Envelope,
    heap: Heap<Pieces>,
    live: Vec<(u32, u32)>,
    bytes: u32,
    refused: Option<u32>,
}

impl Program {
    fn new(envelope: Envelope, sizes: &[u32]) -> Self {
        Program { envelope, heap: heap_for(sizes, envelope.count), live: Vec::new(), bytes: 0, refused: None }
    }

    /// Returns true if the envelope lets the program ask for `bytes` bytes now.
    fn may(&self, bytes: u32) -> bool {
        let Envelope { live, largest, count } = self.envelope;
        bytes <= largest && self.live.len() < count as usize && self.bytes + bytes <= live
    }

    /// The block's address, if it may be asked for and is not refused.
    fn alloc(&mut self, bytes: u32) -> Option<u32> {
        if !self.may(bytes) {
            return None;
        }
        match self.heap.alloc(bytes) {
            Ok(address) => {
                self.live.push((address, bytes));
                self.bytes += bytes;
                Some(address)
            }
            Err(error) => {
                assert_eq!(error, Error::Full);
                self.refused.get_or_insert(bytes);
                None
            }
        }
    }

    fn free(&mut self, index: usize) {
        let (address, bytes) = self.live.swap_remove(index);
        self.bytes -= bytes;
        self.heap.free(address).unwrap();
    }

    fn free_where(&mut self, gone: impl Fn(u32, u32) -> bool) {
        for index in (0..self.live.len()).rev() {
            let (address, bytes) = self.live[index];
            if gone(address, bytes) {
                self.free(index);
            }
        }
    }
}

/// Large blocks between smallest ones; the large ones are freed.
fn pins(program: &mut Program, large: u32) {
    while program.refused.is_none() && program.alloc(large).is_some() {
        let (index, pin) = (program.live.len() - 1, program.alloc(1));
        program.free(index);
        if pin.is_none() {
            break;
        }
    }
    program.alloc(program.envelope.largest);
}

/// Each large block shrinks to the smallest one in place as soon as the next large one stands behind it: a gap remains between
/// two small blocks that is too small for the next large one. Each step costs the program a smallest block and the heap a large one.
fn shrink(program: &mut Program) {
    while program.alloc(program.envelope.largest).is_some() {
        if let Some(before) = program.live.len().checked_sub(2) {
            let (address, bytes) = program.live[before];
            assert_eq!(program.heap.realloc(address, 1), Ok(address));
            program.live[before].1 = 1;
            program.bytes = program.bytes - bytes + 1;
        }
    }
}

/// After Robson: blocks of doubling size; of each generation one block stays in every stretch of the next size.
fn robson(program: &mut Program, least: u32) {
    let mut size = least;
    while size + 8 <= program.envelope.largest + 8 {
        while program.alloc(size - 8).is_some() {}
        let stretch = (size + 8) * 2;
        let mut kept = std::collections::BTreeSet::new();
        let mut stay: Vec<u32> = program.live.iter().map(|(address, _)| *address).collect();
        stay.sort_unstable();
        stay.retain(|address| kept.insert(address / stretch));
        program.free_where(|address, _| stay.binary_search(&address).is_err());
        size *= 2;
    }
    program.alloc(program.envelope.largest);
}

fn random(program: &mut Program, rng: &mut Rng, steps: u32) {
    for step in 0..steps {
        let grow = (step / 400) % 2 == 0;
        if (rng.below(5) < 3) == grow {
            let bytes = match rng.below(4) {
                0 => program.envelope.largest,
                1 => rng.below(16) as u32,
                2 => rng.below(u64::from(program.envelope.largest) + 1) as u32,
                _ => 1 << rng.below(u64::from(program.envelope.largest.ilog2()) + 1),
            };
            program.alloc(bytes);
        } else if !program.live.is_empty() {
            let index = rng.below(program.live.len() as u64) as usize;
            program.free(index);
        }
    }
}

fn envelopes() -> Vec<Envelope> {
    let mut all = vec![
        Envelope { live: 1, largest: 1, count: 1 },
        Envelope { live: 4096, largest: 4096, count: 1 },
        Envelope { live: 65536, largest: 2055, count: 60 },
    ];
    let mut rng = Rng::new(11);
    for _ in 0..60 {
        let top = 3 + rng.below(10);
        let largest = 1 + rng.below(1 << top) as u32;
        let count = 1 + rng.below(120) as u32;
        let live = largest + rng.below(u64::from(largest) * u64::from(count)) as u32;
        all.push(Envelope { live, largest, count });
    }
    all
}

/// `total` bytes in `pieces` pieces, none too small to be one.
fn split(total: u32, pieces: u32, rng: &mut Rng) -> Vec<u32> {
    let total = total.next_multiple_of(8);
    let spare = (total / 8).saturating_sub(4 * pieces);
    let mut cuts: Vec<u32> = (1..pieces).map(|_| rng.below(u64::from(spare) + 1) as u32).collect();
    cuts.extend([0, spare]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| (pair[1] - pair[0] + 4) * 8).collect()
}

#[test]
fn within_the_envelope_nothing_is_refused() {
    let mut rng = Rng::new(12);
    for envelope in envelopes() {
        for pieces in [1, 2, 7] {
            let Envelope { live, largest, count } = envelope;
            let total = worst_case_bytes(live, largest, count, pieces).unwrap() as u32;
            let sizes = split(total, pieces, &mut rng);
            let check = |name: &str, play: &mut dyn FnMut(&mut Program)| {
                let mut program = Program::new(envelope, &sizes);
                play(&mut program);
                assert_eq!(program.refused, None, "{name}, {envelope:?} in {sizes:?}");
                let whole: u32 = sizes.iter().map(|bytes| bytes - PIECE_OVERHEAD).sum();
                assert_eq!(program.heap.usage().capacity, whole, "{name}: the pieces gave up nothing for records");
            };
            check("random", &mut |program| random(program, &mut rng, 3000));
            for cut in [0, 1, 8, 16, 24] {
                check("pins", &mut |program| pins(program, largest.saturating_sub(cut)));
            }
            check("shrink", &mut shrink);
            check("robson", &mut |program| robson(program, 16));
            check("both", &mut |program| {
                robson(program, 16);
                pins(program, largest);
                random(program, &mut rng, 1000);
            });
        }
    }
}

/// The bound is not far from what is needed: with nine tenths of it, a program within its envelope is refused.
#[test]
fn nine_tenths_of_the_bound_are_not_enough() {
    for envelope in [
        Envelope { live: 8192, largest: 2168, count: 100 },
        Envelope { live: 140_000, largest: 65_528, count: 40 },
        Envelope { live: 3000, largest: 1016, count: 64 },
    ] {
        let Envelope { live, largest, count } = envelope;
        let bound = worst_case_bytes(live, largest, count, 1).unwrap() as u32;
        let enough = |bytes: u32| {
            let mut program = Program::new(envelope, &[bytes.next_multiple_of(8)]);
            shrink(&mut program);
            program.refused.is_none()
        };
        assert!(enough(bound), "{envelope:?}");
        assert!(!enough(bound / 10 * 9), "{envelope:?}");
    }
}

#[test]
fn the_bound_is_none_where_no_heap_could_do() {
    assert_eq!(worst_case_bytes(1, MAX_REQUEST + 1, 1, 1), None);
    assert_eq!(worst_case_bytes(1, 1, 0, 1), None);
    assert_eq!(worst_case_bytes(1, 1, 1, 0), None);
    assert!(worst_case_bytes(u32::MAX, MAX_REQUEST, u32::MAX, u32::MAX).is_some_and(|bytes| bytes > 1 << 57));
}

/// The figures of docs/memory.md.
#[test]
fn the_worked_example() {
    assert_eq!(worst_case_bytes(64 * 1024, 4096, 40, 1), Some(236_168));
    assert_eq!(record_bytes(40, 1), 1992);
    let bytes = |live, largest, count| worst_case_bytes(live, largest, count, 1).unwrap();
    assert_eq!(bytes(256_000, 256, 1000) + bytes(10 * 65_536, 65_536, 10), 1_821_984);
    assert_eq!(bytes(256_000 + 10 * 65_536, 65_536, 1010), 71_190_312);
}
