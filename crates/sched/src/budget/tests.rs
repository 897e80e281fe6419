//! Budgets: cases worked out by hand, and the conservation law over random histories.

use super::*;
use crate::testing::Rng;
use std::vec;

fn budget(period: u64, capacity: u64) -> Budget {
    Budget::new(Params::new(period, capacity).unwrap(), 0)
}

#[test]
fn parameters_are_checked() {
    assert_eq!(Params::new(0, 1), Err(ParamsError::ZeroPeriod));
    assert_eq!(Params::new(5, 0), Err(ParamsError::ZeroCapacity));
    assert_eq!(Params::new(5, 6), Err(ParamsError::CapacityAbovePeriod { capacity: 6, period: 5 }));
    assert!(Params::new(5, 5).is_ok());
}

#[test]
fn a_period_worked_out_by_hand() {
    let mut b = budget(10, 4);
    assert_eq!(b.charge(3), Charged { remaining: 1, excess: 0 });
    assert_eq!(b.replenish(9), Replenished { periods: 0, lost: 0 });
    assert_eq!((b.remaining(), b.next_replenishment()), (1, 10));
    // One tick is lost at the boundary; the overrun of 2 is paid at the next.
    assert_eq!(b.replenish(10), Replenished { periods: 1, lost: 1 });
    assert_eq!(b.charge(6), Charged { remaining: 0, excess: 2 });
    assert!(b.is_exhausted());
    assert_eq!(b.replenish(20), Replenished { periods: 1, lost: 0 });
    assert_eq!((b.remaining(), b.debt(), b.next_replenishment()), (2, 0, 30));
    // Late by two periods and a bit: both pass, the grid stays.
    assert_eq!(b.replenish(57), Replenished { periods: 3, lost: 2 + 8 });
    assert_eq!((b.remaining(), b.next_replenishment()), (4, 60));
}

#[test]
fn debt_beyond_a_period_is_paid_by_several() {
    let mut b = budget(10, 4);
    assert_eq!(b.charge(15).excess, 11);
    b.replenish(10);
    assert_eq!((b.remaining(), b.debt()), (0, 7));
    assert_eq!(b.covers_from(3, 12), Some(40));
    assert_eq!(b.covers_from(1, 12), Some(30));
    assert_eq!(b.covers_from(5, 12), None);
    assert_eq!(b.replenish(30), Replenished { periods: 2, lost: 0 });
    assert_eq!((b.remaining(), b.debt()), (1, 0));
    assert!(b.covers(1) && !b.covers(2));
    assert_eq!(b.deadline_from(31), 32);
}

#[test]
fn what_is_granted_is_consumed_lost_or_left() {
    let mut rng = Rng::new(1);
    for _ in 0..500 {
        let period = 1 + rng.below(40);
        let capacity = 1 + rng.below(period);
        let mut b = budget(period, capacity);
        let (mut granted, mut consumed, mut lost, mut now) = (capacity, 0, 0, 0);
        for _ in 0..200 {
            let step = if rng.chance(5) { 3 * period } else { 4 };
            now += rng.below(step);
            let done = b.replenish(now);
            granted += done.periods * capacity;
            lost += done.lost;
            assert!(b.remaining() <= capacity && b.next_replenishment() > now);
            assert_eq!(b.next_replenishment() % period, 0, "the grid never moves");
            let most = if rng.chance(8) { 3 * capacity } else { capacity + 1 };
            let used = rng.below(most);
            let charged = b.charge(used);
            consumed += used;
            assert_eq!(charged.remaining, b.remaining());
            assert!(b.remaining() == 0 || b.debt() == 0, "never rich and in debt");
            assert_eq!(granted + b.debt(), consumed + lost + b.remaining());
        }
    }
}

#[test]
fn when_a_gate_is_covered_is_known_beforehand() {
    let mut rng = Rng::new(2);
    for _ in 0..3_000 {
        let period = 1 + rng.below(30);
        let capacity = 1 + rng.below(period);
        let mut b = budget(period, capacity);
        b.charge(rng.below(5 * capacity));
        let bound = 1 + rng.below(capacity);
        let promised = b.covers_from(bound, 0).unwrap();
        let first = (0..).find(|&now| {
            b.replenish(now);
            b.covers(bound)
        });
        assert_eq!(first, Some(promised));
    }
}

#[test]
fn no_window_sees_more_than_the_double_hit() {
    let mut rng = Rng::new(3);
    let mut tight = 0;
    for _ in 0..300 {
        let period = 2 + rng.below(12);
        let capacity = 1 + rng.below(period);
        let mut b = budget(period, capacity);
        let eager = 1 + rng.below(4);
        // One flag a tick; the worst case saves the budget for the end of a period and spends the next at once.
        let mut ran = vec![0u64; 12 * period as usize];
        for (now, tick) in ran.iter_mut().enumerate() {
            b.replenish(now as u64);
            let late = now as u64 % period >= period - capacity;
            let wants = (now as u64 >= period && late) || now as u64 >= 2 * period || rng.chance(eager + 1);
            if wants && !b.is_exhausted() {
                b.charge(1);
                *tick = 1;
            }
        }
        for window in 1..=3 * period {
            let most = ran.windows(window as usize).map(|w| w.iter().sum::<u64>()).max().unwrap();
            let bound = b.params().most_in(window);
            assert!(most <= bound, "{window} of {period}/{capacity}: {most} > {bound}");
            tight += u64::from(most == bound);
        }
    }
    assert!(tight > 1_000, "the bound was met only {tight} times");
}
