//! Pieces against a map of pages.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::extents::words_for;

const PAGES: usize = 300;
/// Across an address with many zeros.
const BASE: u32 = 0x2000_0000 - 0x10_0000;
type Pool = Pieces<{ words_for(10) }, PAGES>;

fn pool() -> Pool {
    Pool::new(BASE, PAGES as u32 * PAGE).unwrap()
}

/// Draws a promise as it would be mapped from a multiple of 1 MiB on.
fn draw_all(pool: &mut Pool, bytes: u32) -> Mark {
    let (mut first, mut last, mut done) = (Mark::END, Mark::END, 0);
    while done < bytes {
        last = pool.draw(done, bytes - done, last).expect("what was promised is there");
        first = if done == 0 { last } else { first };
        done += pool.at(last).unwrap().bytes;
    }
    assert_eq!(done, bytes);
    first
}

fn chain(pool: &Pool, first: Mark) -> Vec<Piece> {
    let mut pieces = vec![];
    let mut mark = first;
    while let Some(piece) = pool.at(mark) {
        pieces.push(piece);
        mark = piece.next;
    }
    pieces
}

#[test]
fn a_promise_is_drawn_in_the_largest_pieces_that_fit() {
    let mut pool = pool();
    pool.promise(0x12_3000).unwrap();
    assert_eq!(pool.left(), (300 - 0x123) * PAGE);
    let first = draw_all(&mut pool, 0x12_3000);
    let sizes: Vec<u32> = chain(&pool, first).iter().map(|piece| piece.bytes).collect();
    assert_eq!(sizes, [0x10_0000, 0x1_0000, 0x1_0000, 0x2000, 0x1000]);
    assert_eq!(pool.draw(0, PAGE, Mark::END), None, "nothing is promised any more");
    pool.give_all(first);
    assert_eq!((pool.left(), pool.free.largest()), (300 * PAGE, 0x10_0000));
}

#[test]
fn a_piece_fits_the_address_that_it_gets() {
    let mut pool = pool();
    pool.promise(0x1_0000).unwrap();
    let (mut offset, mut last, mut sizes) = (0x3000, Mark::END, vec![]);
    while let Some(mark) = pool.draw(offset, 0x1_0000, last) {
        let piece = pool.at(mark).unwrap();
        assert!(offset.is_multiple_of(piece.bytes) && piece.base.is_multiple_of(piece.bytes));
        (offset, last) = (offset + piece.bytes, mark);
        sizes.push(piece.bytes);
    }
    assert_eq!(sizes, [0x1000, 0x4000, 0x8000, 0x2000, 0x1000]);
}

#[test]
fn scattered_pages_serve_and_what_is_promised_is_nobody_elses() {
    let mut pool = pool();
    let singles: Vec<Mark> = (0..300).map(|_| pool.reserve(PAGE, PAGE).unwrap()).collect();
    singles.iter().step_by(2).for_each(|mark| pool.give(*mark));
    assert_eq!((pool.free.largest(), pool.left()), (PAGE, 150 * PAGE));
    assert_eq!(pool.promise(151 * PAGE), Err(150 * PAGE));
    assert_eq!(pool.reserve(2 * PAGE, 2 * PAGE), Err(0));
    pool.promise(149 * PAGE).unwrap();
    assert_eq!(pool.reserve(2 * PAGE, PAGE), Err(PAGE), "one page is left");
    let first = draw_all(&mut pool, 149 * PAGE);
    assert_eq!(chain(&pool, first).len(), 149);
    assert_eq!(pool.left(), PAGE);
}

#[test]
fn units_are_aligned_or_refused() {
    let mut pool = pool();
    assert_eq!(pool.reserve(2 << 20, 1 << 20), Err(1 << 20));
    let first = pool.reserve(0x2_0000, 0x1_0000).unwrap();
    assert!(chain(&pool, first).iter().all(|piece| piece.bytes == 0x1_0000 && piece.base.is_multiple_of(0x1_0000)));
    assert_eq!(pool.chain(pool.at(first).unwrap().base), first);
    assert!(pool.chain(BASE - 1).is_end() && pool.chain(BASE + 300 * PAGE).is_end());
}

#[test]
fn pools_that_do_not_fit_are_refused() {
    for (base, bytes) in [(BASE, 301 * PAGE), (BASE + 256, PAGE), (BASE, PAGE + 256), (BASE, 0)] {
        assert_eq!(Pool::new(base, bytes).unwrap_err(), ExtentError::Pool, "{base:#x} {bytes:#x}");
    }
}

#[test]
fn random_histories_hand_out_each_page_once() {
    for seed in 1..=40u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |n: u32| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) as u32 % n
        };
        let (mut pool, mut live) = (pool(), Vec::<Mark>::new());
        for _ in 0..300 {
            let most = if below(8) == 0 { 280 } else { 12 };
            let bytes = (1 + below(most)) * PAGE;
            match below(5) {
                0 | 1 if !live.is_empty() => {
                    let first = live.swap_remove(below(live.len() as u32) as usize);
                    pool.give_all(first);
                }
                2 => live.extend(pool.reserve(0x1_0000, 0x1_0000)),
                _ if pool.promise(bytes).is_ok() => live.push(draw_all(&mut pool, bytes)),
                _ => {}
            }
            let mut taken = [false; PAGES];
            for piece in live.iter().flat_map(|first| chain(&pool, *first)) {
                let first = ((piece.base - BASE) >> PAGE_LOG2) as usize;
                for page in &mut taken[first..first + (piece.bytes >> PAGE_LOG2) as usize] {
                    assert!(!*page);
                    *page = true;
                }
            }
            assert_eq!(taken.iter().filter(|taken| !**taken).count() as u32 * PAGE, pool.left());
        }
    }
}
