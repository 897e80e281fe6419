use super::*;

fn intervals() -> impl Iterator<Item = u32> {
    let mut seed = 0x5eed;
    core::iter::repeat_with(move || {
        let (next, ticks) = draw(seed);
        seed = next;
        ticks
    })
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

/// Of intervals that have lasted so long already, the rest is as long on average as a whole one, until close to the longest.
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
