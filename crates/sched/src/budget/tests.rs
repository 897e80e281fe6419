//! Budgets: cases worked out by hand, and every history against one that is refilled on the tick.

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
fn use_is_split_at_a_boundary() {
    let mut b = budget(10, 4);
    // It ran from 8 to 12 with 4 left: two ticks of the first period, two of the second.
    assert!(b.ran(0, 12));
    assert_eq!((b.left(), b.next_replenishment()), (2, 20));
    // It had one left at 19 and ran until 22, one tick too long before the kernel noticed: that tick belongs to the new period.
    b.set_left(1);
    assert!(b.ran(1 - 3, 22));
    assert_eq!(b.left(), 4 - 2);
}

#[test]
fn a_debt_is_paid_by_the_periods_that_follow() {
    let mut b = budget(10, 4);
    b.pay(15);
    assert_eq!((b.remaining(), b.debt(), b.next_supply(), b.first_release()), (0, 11, 30, 40));
    assert!(b.replenish(10));
    assert_eq!(b.debt(), 7);
    assert!(b.replenish(57));
    assert_eq!((b.remaining(), b.next_replenishment(), b.first_release()), (4, 60, 60));
}

#[test]
fn what_is_set_aside_is_not_granted_twice() {
    let mut b = budget(10, 4);
    b.reserve(3);
    assert_eq!(b.left(), 1);
    assert!(b.replenish(10));
    assert_eq!(b.left(), 1, "the call that is under way holds three of the new period");
    b.unreserve(3);
    assert_eq!(b.left(), 4);
}

#[test]
fn a_budget_left_alone_for_years_is_full_once() {
    let mut b = budget(1 << 20, 1 << 10);
    for now in [(1 << 31) + 5, (1 << 32) + 7, (1 << 45) + 9_u64] {
        b.set_left(-3);
        b.replenish(now);
        assert_eq!(b.left(), 1 << 10);
        assert!(b.next_replenishment() > now && b.next_replenishment() <= now + (1 << 20));
        assert!(!b.replenish(now), "and not again at the same time");
    }
}

#[test]
fn low_words_are_trusted_only_as_far_as_they_tell_times_apart() {
    for period in [100, u64::from(Budget::FRESH) + 5, u64::from(u32::MAX)] {
        let mut b = budget(period, 1);
        let mut now = 0_u64;
        while now < 3 << 32 {
            now += u64::from(Budget::FRESH) / 2 - 3;
            assert!(!b.is_current(Instant::of(now)) || now < b.next_replenishment(), "period {period}: stale at {now}");
            let before = b.is_current(Instant::of(now));
            b.look(Instant::of(now));
            assert_eq!(b.is_current(Instant::of(now)), before, "period {period} at {now}");
            if !b.is_current(Instant::of(now)) {
                b.replenish(now);
                assert!(b.is_current(Instant::of(now)));
            }
        }
    }
}

/// The same budget, refilled on every boundary as it passes.
struct Eager {
    period: u64,
    capacity: i64,
    left: i64,
    reserved: i64,
}

impl Eager {
    fn tick(&mut self, now: u64, runs: bool) {
        self.left -= i64::from(runs);
        if (now + 1).is_multiple_of(self.period) {
            self.left = (self.left + self.capacity).min(self.capacity - self.reserved);
        }
    }
}

#[test]
fn at_every_instant_it_holds_what_a_refill_at_every_boundary_leaves() {
    let mut rng = Rng::new(1);
    for _ in 0..2_000 {
        let period = 1 + rng.below(40);
        let capacity = 1 + rng.below(period);
        let mut b = budget(period, capacity);
        let mut eager = Eager { period, capacity: capacity as i64, left: capacity as i64, reserved: 0 };
        let mut now = 0;
        for _ in 0..60 {
            let span = if rng.chance(5) { rng.below(4 * period) } else { rng.below(6) };
            let runs = rng.chance(2);
            (now..now + span).for_each(|tick| eager.tick(tick, runs));
            now += span;
            if runs {
                b.ran(b.left() - span as i32, now);
            } else {
                b.replenish(now);
            }
            assert_eq!(i64::from(b.left()), eager.left, "{period}/{capacity} at {now}");
            assert_eq!(b.next_replenishment(), (now / period + 1) * period, "the grid never moves");
            match rng.below(4) {
                0 if b.left() > 0 => {
                    let part = 1 + rng.below(b.left() as u64) as i32;
                    b.reserve(part);
                    (eager.left, eager.reserved) = (eager.left - i64::from(part), eager.reserved + i64::from(part));
                }
                1 if eager.reserved > 0 => {
                    b.unreserve(eager.reserved as i32);
                    (eager.left, eager.reserved) = (eager.left + eager.reserved, 0);
                }
                2 => {
                    let price = rng.below(3) as u32;
                    b.pay(price);
                    eager.left -= i64::from(price);
                }
                _ => {}
            }
        }
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
            if wants && b.left() > 0 {
                b.ran(b.left() - 1, now as u64 + 1);
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

#[test]
fn an_outlook_is_what_a_charge_and_the_time_would_leave_and_changes_nothing() {
    let fresh = budget(100, 30);
    assert_eq!(fresh.outlook(0, 0), (30, 100));
    assert_eq!(fresh.outlook(12, 99), (18, 1));
    assert_eq!(fresh.outlook(40, 99), (0, 1), "debt is nothing that is left");
    assert_eq!(fresh.outlook(40, 100), (20, 100), "debt is paid at the boundary");
    assert_eq!(fresh.outlook(80, 130), (0, 70));
    assert_eq!(fresh.outlook(80, 1_030), (30, 70), "periods without use pay it back");
    assert_eq!(fresh, budget(100, 30));
}
