use super::super::spans::Spans;
use crate::testing::Rng;

/// The same by definition: some piece contains all of it.
fn contains(base: u32, piece: u32, pieces: u32, stride: u32, at: u32, bytes: u32) -> bool {
    let (at, bytes) = (u64::from(at), u64::from(bytes));
    (0..pieces).any(|index| {
        let begin = u64::from(base) + u64::from(index) * u64::from(stride);
        at >= begin && at + bytes <= begin + u64::from(piece) && at.is_multiple_of(8)
    })
}

/// Every place near a border of a piece, and random ones.
fn check(base: u32, piece: u32, pieces: u32, stride: u32, rng: &mut Rng) {
    let spans = Spans::new(base, piece, pieces, stride).expect("good bounds");
    for _ in 0..3000 {
        let border = base.wrapping_add((rng.below(u64::from(pieces) + 2) as u32).wrapping_mul(stride.max(piece)));
        let edge = if rng.chance(2) { border } else { border.wrapping_add(piece) };
        let near = edge.wrapping_add(rng.below(64) as u32).wrapping_sub(32);
        let at = if rng.chance(4) { rng.next() as u32 } else { near };
        let what = std::format!("{at:#x} in {pieces} x {piece:#x} from {base:#x} every {stride:#x}");
        assert_eq!(spans.has_place(at), contains(base, piece, pieces, stride, at, 16), "{what}");
        let bytes = 16 + 4 * rng.below(u64::from(piece) / 3) as u32;
        assert_eq!(spans.has(at, bytes), contains(base, piece, pieces, stride, at, bytes), "{bytes} at {what}");
        let last = u64::from(base) + u64::from(pieces - 1) * u64::from(stride) + u64::from(piece);
        assert_eq!(spans.surround(at), at >= base && u64::from(at) < last, "{what}");
    }
}

#[test]
fn an_address_is_in_the_memory_exactly_when_a_piece_contains_it() {
    let mut rng = Rng::new(21);
    check(0x6000_0000, 8 << 20, 1, 0, &mut rng);
    check(8, 16, 1, 12345, &mut rng);
    check(0x6000_0000, 64 << 10, 64, 128 << 10, &mut rng);
    check(0x6000_0000, 64 << 10, 40, 192 << 10, &mut rng);
    check(0x6000_0000, 96 << 10, 30, 160 << 10, &mut rng);
    check(0x2000_0000, 4096, 100, 4096, &mut rng);
    check(0xFFFF_0000, 8192, 2, 16384, &mut rng);
    for _ in 0..300 {
        let unit = 8 << rng.below(14);
        let (piece, gap) = (unit * (2 + rng.below(6) as u32), unit * rng.below(6) as u32);
        check(0x6000_0000, piece, 1 + rng.below(30) as u32, piece + gap, &mut rng);
    }
}

#[test]
fn bounds_that_cannot_be_checked_are_refused() {
    for (base, piece, pieces, stride) in [
        (0, 64, 1, 0),
        (4, 64, 1, 0),
        (8, 60, 1, 0),
        (8, 8, 1, 0),
        (8, 64, 0, 64),
        (8, 64, 2, 56),
        (8, 64, 2, 68),
        (0xFFFF_FF00, 512, 1, 0),
        (0x6000_0000, 64, 1 << 30, 64),
        (0x1000_0000, 1 << 20, 100, (1 << 20) + 8),
    ] {
        assert!(Spans::new(base, piece, pieces, stride).is_none(), "{base:#x} {piece} {pieces} {stride}");
    }
    assert!((0..1000).all(|at| !Spans::NONE.has_place(at * 8) && !Spans::NONE.surround(at)));
}
