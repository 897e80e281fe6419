use std::vec::Vec;

use super::*;

fn intervals() -> impl Iterator<Item = u32> {
    let mut intervals = Intervals { seed: 0x5eed, lent: 0 };
    core::iter::repeat_with(move || intervals.draw())
}

#[test]
fn intervals_have_their_mean_and_their_ends() {
    let (count, mut sum, mut least, mut most) = (1_000_000, 0_u64, u32::MAX, 0);
    for ticks in intervals().take(count) {
        sum += u64::from(ticks);
        (least, most) = (least.min(ticks), most.max(ticks));
    }
    let mean = sum / count as u64;
    assert!((u64::from(MEAN_TICKS) * 95 / 100..=u64::from(MEAN_TICKS)).contains(&mean), "{mean}");
    assert_eq!((least, most), (SHORTEST_TICKS, LONGEST_TICKS));
}

/// The rest of an interval that has lasted some time already is on average as long as a whole one,
/// until close to the longest.
#[test]
fn the_past_says_little_of_the_rest() {
    for waited in [SHORTEST_TICKS, 500, 1000, 1500] {
        let rest = intervals().take(1_000_000).filter(|ticks| *ticks >= waited).map(|ticks| u64::from(ticks - waited));
        let (count, sum) = rest.fold((0, 0), |(count, sum), rest| (count + 1, sum + rest));
        let mean = sum / count;
        assert!((750..=1150).contains(&mean), "{waited}: {mean}");
    }
}

/// A handler that runs in just the part of intervals that pays best is still charged for most of what it uses: it runs from `behind` ticks after each look for
/// `length` ticks.
#[test]
fn nobody_runs_uncharged_for_long() {
    for (behind, length, least) in
        [(0, 50, 0), (0, 200, 0), (0, 1000, 45), (200, 200, 60), (0, 4000, 90), (300, 100, 60)]
    {
        let (mut used, mut charged) = (0_u64, 0_u64);
        for ticks in intervals().take(200_000) {
            used += u64::from(ticks.saturating_sub(behind).min(length));
            charged += if (behind..behind + length).contains(&(ticks - 1)) { u64::from(MEAN_TICKS) } else { 0 };
        }
        let percent = charged * 100 / used.max(1);
        assert!(percent >= least, "{behind} {length}: {percent} %");
    }
}

/// Intervals in a row are never less than the pace, and hardly any is longer for that.
#[test]
fn intervals_keep_their_pace() {
    let all: Vec<u64> = intervals().take(100_000).map(u64::from).collect();
    for length in [1, 2, 5, 20, 100] {
        let least = all.windows(length).map(|row| row.iter().sum::<u64>()).min().unwrap();
        assert!(least + u64::from(LENT_TICKS) >= length as u64 * u64::from(PACE_TICKS), "{length}: {least}");
        // One look at each end.
        assert!(looks_in(least) > length as u64, "{length}: {least}");
    }
    let mut free = Intervals { seed: 0x5eed, lent: 0 };
    let lengthened = all.iter().filter(|ticks| {
        free.lent = 0;
        u64::from(free.draw()) != **ticks
    });
    assert_eq!(lengthened.count(), 488);
}

/// The same beside a counter; the mean is that of the ends.
#[test]
fn counted_intervals_keep_their_pace_and_their_mean() {
    let mut intervals = Intervals { seed: 0x5eed, lent: 0 };
    let all: Vec<u64> = (0..100_000).map(|_| u64::from(intervals.draw_counted())).collect();
    for length in [1, 2, 5, 20, 100] {
        let least = all.windows(length).map(|row| row.iter().sum::<u64>()).min().unwrap();
        assert!(
            least + u64::from(COUNTED_LENT_TICKS) >= length as u64 * u64::from(COUNTED_PACE_TICKS),
            "{length}: {least}"
        );
        assert!(counted_looks_in(least) > length as u64, "{length}: {least}");
    }
    let mean = all.iter().sum::<u64>() / all.len() as u64;
    assert!(mean.abs_diff(u64::from(COUNTED_MEAN_TICKS)) < 10, "{mean}");
    let ends = (all.iter().min(), all.iter().max());
    assert_eq!(ends, (Some(&u64::from(SHORTEST_TICKS)), Some(&u64::from(LONGEST_TICKS))));
    let mut free = Intervals { seed: 0x5eed, lent: 0 };
    let lengthened = all.iter().filter(|ticks| {
        free.lent = 0;
        u64::from(free.draw_counted()) != **ticks
    });
    assert_eq!(lengthened.count(), 5);
}

/// Handlers that use all their capacity whenever they can, in one piece at a time of no relation to looks: how often looks charge a period more than `by` mean
/// intervals less than it used. Parts of 10 000 periods of 10 ms with a capacity of 1 ms.
#[test]
fn overdraft_of_a_sampled_capacity() {
    let (period, capacity, mean) = (200_000_u64, 20_000_u64, u64::from(MEAN_TICKS));
    let mut looks = intervals().scan(0_u64, |at, ticks| {
        *at += u64::from(ticks);
        Some(*at)
    });
    let mut at = 0;
    let beyond: Vec<u64> = (0..10_000)
        .map(|number: u64| {
            let begin = number * period + number * 7919 % 100_000;
            // They are cut off at the look by which all of the capacity is charged.
            let mut charged = 0;
            while charged < capacity {
                at = looks.next().unwrap();
                charged += if at >= begin { mean } else { 0 };
            }
            (at - begin).saturating_sub(capacity)
        })
        .collect();
    let over = |by: u64| beyond.iter().filter(|used| **used > by * mean).count();
    assert_eq!([0, 2, 4, 8, 12].map(over), [4142, 2381, 1177, 173, 18]);
    // What admission counts: for a spending, and once.
    let counted = u64::from((LONGEST_TICKS + SAMPLED_HIDDEN_TICKS) / MEAN_TICKS);
    assert!(over(counted) <= 20, "{counted}");
}

/// The doubt that looks add up about a counter is unlikely to reach the limit for handlers that are counted: of a random walk with steps `1 - w u` (a look meets
/// a handler, which runs for a part `u` of the time) and `-w u`, with `E e^(t step) = 1`, the chance to rise by `DOUBTS` is at most `e^(-t DOUBTS)` (Kingman 1970).
#[test]
fn doubts_are_unlikely_without_cause() {
    let weighs = f64::from(COUNTED_WEIGHS);
    for part in [0.001_f64, 0.01, 0.05, 0.1, 0.2] {
        let grows = |t: f64| part * (t * (1.0 - weighs * part)).exp() + (1.0 - part) * (-t * weighs * part).exp() > 1.0;
        let (mut low, mut high) = (0.1, 20.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            (low, high) = if grows(middle) { (low, middle) } else { (middle, high) };
        }
        assert!((-low * f64::from(DOUBTS)).exp() < 1e-12, "{part}: {low}");
    }
}

/// Handlers that set their counter back, so that it counts a part of what they use. If it counts
/// less than half, they are found: in half of all trials before the first number of mean intervals,
/// in 999 of 1000 before the second. The others are not found.
#[test]
fn who_sets_the_counter_back_is_found_if_more_than_half_is_not_counted() {
    let mut intervals = Intervals { seed: 0x5eed, lent: 0 };
    let (mean, weighs) = (f64::from(COUNTED_MEAN_TICKS), f64::from(COUNTED_WEIGHS));
    // Half of all time is handlers', in pieces of no relation to looks.
    let mut used_until_found = |counted: f64| {
        let (mut doubt, mut used, mut at) = (0.0_f64, 0.0_f64, 0_u64);
        for _ in 0..20_000 {
            let ticks = u64::from(intervals.draw_counted());
            at += ticks;
            used += ticks as f64 / 2.0;
            let meets = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1;
            doubt = (doubt - weighs * counted * ticks as f64 / 2.0).max(0.0) + if meets { mean } else { 0.0 };
            if doubt > f64::from(DOUBTS) * mean {
                return Some((used / mean) as u32);
            }
        }
        None
    };
    for (counted, half, nearly_all) in [(0.0, 25, 40), (0.25, 46, 87)] {
        let mut found: Vec<u32> = (0..1000).map(|_| used_until_found(counted).unwrap()).collect();
        found.sort_unstable();
        assert!(found[500] <= half && found[998] <= nearly_all, "{counted}: {} {}", found[500], found[998]);
    }
    assert_eq!([0.6, 1.0].map(used_until_found), [None, None]);
}

/// The same handlers, who are charged for looks once these are in doubt: what they use beyond twice what they are charged until they are stopped, or for 3000 looks, in
/// mean intervals. In half of all lives it is less than the first number, and in 999 of 1000 less than what admission counts. With more than half counted it is
/// nothing.
#[test]
fn what_a_counter_hides_is_charged_by_looks() {
    let mut intervals = Intervals { seed: 0x5eed, lent: 0 };
    let (mean, weighs) = (f64::from(COUNTED_MEAN_TICKS), f64::from(COUNTED_WEIGHS));
    let mut at = 0_u64;
    let mut hidden = |counted: f64, part: f64| {
        let (mut doubt, mut used, mut charged, mut most) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        for _ in 0..3000 {
            let ticks = u64::from(intervals.draw_counted());
            at += ticks;
            let own = ticks as f64 * part;
            used += own;
            charged += counted * own;
            let meets = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) as f64 / 2.0_f64.powi(64) < part;
            doubt = (doubt - weighs * counted * own).max(0.0) + if meets { mean } else { 0.0 };
            if doubt > f64::from(DOUBTS) * mean {
                break;
            }
            charged += if meets && doubt > f64::from(CHARGED_DOUBTS) * mean { mean } else { 0.0 };
            most = most.max(used - weighs * charged);
        }
        (most / mean) as u32
    };
    let admitted = COUNTED_HIDDEN_TICKS / COUNTED_MEAN_TICKS;
    for part in [0.1, 0.5, 1.0] {
        for counted in [0.0, 0.1, 0.25, 0.4, 0.5] {
            let mut found: Vec<u32> = (0..1000).map(|_| hidden(counted, part)).collect();
            found.sort_unstable();
            assert!(found[500] <= 7 && found[998] < admitted, "{part} {counted}: {} {}", found[500], found[998]);
        }
    }
}

/// Handlers that are counted are hardly ever charged for a look: of the random walk of `doubts_are_unlikely_without_cause`, one rise in 1000.
#[test]
fn who_is_counted_is_hardly_charged_by_looks() {
    let weighs = f64::from(COUNTED_WEIGHS);
    for part in [0.001_f64, 0.01, 0.05, 0.1, 0.2] {
        let grows = |t: f64| part * (t * (1.0 - weighs * part)).exp() + (1.0 - part) * (-t * weighs * part).exp() > 1.0;
        let found = (1..200).map(|step| f64::from(step) / 10.0).find(|t| grows(*t)).unwrap() - 0.1;
        assert!((-found * f64::from(CHARGED_DOUBTS)).exp() < 1.1e-3, "{part}: {found}");
    }
}
