//! The sequence is part of what tests rely on: their counts of cases follow it.

use crate::Rng;

#[test]
fn a_seed_gives_the_same_numbers_for_ever() {
    let mut rng = Rng::new(1);
    assert_eq!([rng.next(), rng.next()], EXPECTED);
    assert!((0..1000).all(|_| rng.below(7) < 7));
    let hits = (0..7000).filter(|_| rng.chance(7)).count();
    assert!((900..1100).contains(&hits), "{hits}");
}

/// Computed with Python's integers from the definition of the generator.
const EXPECTED: [u64; 2] = [0x0d83_b3e2_9a21_487a, 0x54c4_4c79_f1fe_9d67];
