//! The tree against an ordered set.

use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

use testing::Rng;

use super::*;
use crate::words::counting::{Counting, Counts};

#[test]
fn a_tree_of_2_to_the_20_pages_is_smaller_than_the_papers() {
    // Section IV.A.5: 2^20 / 8 + 2^10 * 4 * 3 + 2^5 * 4 * 3 + 4 * 3 bytes.
    let paper = (1 << 20) / 8 + (1 << 10) * 4 * 3 + (1 << 5) * 4 * 3 + 4 * 3;
    assert_eq!(paper, 143_756);
    assert_eq!(4 * words_for(20), 135_300);
    assert_eq!(
        (0..=20).map(levels).collect::<Vec<_>>(),
        [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4]
    );
    assert_eq!([words_for(0), words_for(5), words_for(6), words_for(10), words_for(11)], [1, 1, 3, 33, 64 + 2 + 1]);
}

/// Any history, in any size: the answers of the ordered set, and never more accesses than the documentation says.
#[test]
fn any_history_gives_the_answers_of_an_ordered_set() {
    for pages_log2 in [0, 1, 4, 5, 6, 9, 10, 11, 15, 16, 19, 20] {
        let counts = Counts::default();
        let mut rng = Rng::new(u64::from(pages_log2) + 1);
        let memory = vec![0xa5a5_a5a5; words_for(pages_log2)];
        let mut tree = Tree::new(Counting::new(memory, &counts), pages_log2);
        let mut set = BTreeSet::new();
        let limit = u64::from(levels(pages_log2));
        for _ in 0..20_000 {
            // Near each other half of the time, so that neighbours and words that become empty are frequent.
            let range = if rng.chance(2) { 1 << pages_log2 } else { 1 << (pages_log2 / 2) };
            let page = rng.below(range) as u32;
            counts.reset();
            match rng.below(3) {
                0 => {
                    tree.insert(page);
                    set.insert(page);
                    assert!(counts.reads() <= limit && counts.writes() <= limit);
                }
                1 => {
                    tree.remove(page);
                    set.remove(&page);
                    assert!(counts.reads() <= limit && counts.writes() <= limit);
                }
                _ => {
                    assert_eq!(tree.at_or_before(page), set.range(..=page).next_back().copied());
                    assert!(counts.reads() < 2 * limit);
                    counts.reset();
                    assert_eq!(tree.after(page), set.range(page + 1..).next().copied());
                    assert!(counts.reads() < 2 * limit && counts.writes() == 0);
                    assert_eq!(tree.contains(page), set.contains(&page));
                }
            }
        }
    }
}
