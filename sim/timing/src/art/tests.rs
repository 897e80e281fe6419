use std::collections::VecDeque;
use std::vec::Vec;

use proptest::prelude::*;

use super::{Answer, Art};

const WAIT: u32 = 7;

/// Without read-ahead a miss costs the wait states, a line in use or kept nothing.
#[test]
fn a_missed_line_is_kept() {
    let mut art = Art::new(100, 2, WAIT, false);
    assert_eq!(art.access(5, 0, true), (7, Answer::Miss));
    assert_eq!(art.access(5, 7, true), (0, Answer::Hit));
    assert_eq!(art.access(9, 20, true), (7, Answer::Miss));
    assert_eq!(art.access(5, 40, true), (0, Answer::Hit));
    // 5 was used after 9, so 9 goes.
    assert_eq!(art.access(1, 60, true), (7, Answer::Miss));
    assert_eq!(art.access(5, 80, true), (0, Answer::Hit));
    assert_eq!(art.access(9, 90, true), (7, Answer::Miss));
}

/// A line is read in 8 cycles (7 wait states + 1). Line 0 arrives at 7 in terms of stall, its read occupies the flash up
/// to 8; the read-ahead of line 1 takes 8 to 16.
/// - asked at 10: the last cycle of the read is 15, so 5 to wait; read-ahead of line 2 starts at 16 and ends at 24
/// - line 2 asked at 30: nothing left; read-ahead of line 3 starts at 30, ends at 38
/// - line 50 asked at 31: waits for the read under way until 38 (7), then reads with 7 wait states: 14
#[test]
fn the_next_line_is_read_ahead() {
    let mut art = Art::new(100, 64, WAIT, true);
    assert_eq!(art.access(0, 0, true), (7, Answer::Miss));
    assert_eq!(art.access(1, 10, true), (5, Answer::Prefetched));
    assert_eq!(art.access(2, 30, true), (0, Answer::Prefetched));
    assert_eq!(art.access(50, 31, true), (14, Answer::Miss));
}

/// A loop over six lines, `cycles` in each: what the turns wait, one by one.
fn turns(cycles: u64) -> Vec<u32> {
    let mut art = Art::new(100, 64, WAIT, true);
    let mut now = 0;
    let mut turn = || {
        (0..6)
            .map(|line| {
                let (stall, _) = art.access(10 + line, now, true);
                now += u64::from(stall) + cycles;
                stall
            })
            .sum()
    };
    (0..4).map(|_| turn()).collect()
}

/// A line takes 8 cycles to read. At 4 cycles a line every line is waited for in the first turn: 7 for the first, then 4, one
/// of the read before and 3 of its own, five times. All are kept then. At 16 cycles a line only the first is waited for.
#[test]
fn a_loop_waits_in_its_first_turn_only() {
    assert_eq!(turns(4), [7 + 5 * 4, 0, 0, 0]);
    assert_eq!(turns(16), [7, 0, 0, 0]);
}

/// Data accesses are served but start no read-ahead: line 1 is a miss, and the flash is free at 20.
#[test]
fn data_starts_no_read_ahead() {
    let mut art = Art::new(100, 64, WAIT, true);
    assert_eq!(art.access(0, 0, false), (7, Answer::Miss));
    assert_eq!(art.access(1, 20, false), (7, Answer::Miss));
}

#[test]
fn clearing_forgets_and_the_end_of_flash_is_harmless() {
    let mut art = Art::new(4, 2, WAIT, true);
    assert_eq!(art.access(3, 0, true), (7, Answer::Miss));
    art.clear();
    assert_eq!(art.access(3, 100, true).1, Answer::Miss);
    assert_eq!(art.access(4, 200, true), (0, Answer::Hit));
}

proptest! {
    /// Without read-ahead the accelerator is an LRU list of `kept` lines.
    #[test]
    fn agrees_with_a_list(kept in 1u8..9, lines in prop::collection::vec(0u32..16, 1..200)) {
        let mut art = Art::new(16, kept, WAIT, false);
        let mut model: VecDeque<u32> = VecDeque::new();
        let mut answers: Vec<(Answer, Answer)> = Vec::new();
        for (step, line) in lines.into_iter().enumerate() {
            let expected = match model.iter().position(|held| *held == line) {
                Some(at) => {
                    model.remove(at);
                    Answer::Hit
                }
                None => Answer::Miss,
            };
            model.push_front(line);
            model.truncate(usize::from(kept));
            answers.push((art.access(line, step as u64 * 100, true).1, expected));
        }
        for (got, expected) in answers {
            prop_assert_eq!(got, expected);
        }
    }
}

/// Lines 0, 2, 4 ... are kept. Each hit on another of them, a cycle after the one before, wants the line behind it read
/// ahead; only the one under way is, so that the line asked for at last waits for one read (at most 8) and its own (7).
#[test]
fn read_aheads_do_not_queue_up() {
    let mut art = Art::new(100, 32, WAIT, true);
    (0..20).for_each(|line| _ = art.access(2 * line, u64::from(line) * 100, true));
    (0..20).for_each(|line| assert_eq!(art.access(2 * line, 5000 + u64::from(line), true), (0, Answer::Hit)));
    let (stall, answer) = art.access(90, 5020, true);
    assert_eq!(answer, Answer::Miss);
    assert!((8..=15).contains(&stall), "{stall}");
}

/// Nothing that was kept is of use, and a read-ahead for somebody else has begun: 8 cycles, then 7 wait states.
#[test]
fn spoiled_it_keeps_nothing_and_is_busy() {
    let mut art = Art::new(100, 2, WAIT, true);
    art.access(5, 0, false);
    art.access(9, 20, false);
    art.spoil(100);
    assert_eq!(art.access(9, 100, false), (15, Answer::Miss));
    assert_eq!(art.access(5, 200, false), (7, Answer::Miss));
    assert_eq!(art.access(9, 300, false), (0, Answer::Hit));
}
