//! Tests that a budget is, or is not, found empty.

use super::*;

fn share(level: u8, period: u64, price: u64) -> Share {
    Share { level, period: Some(period), price: Some(price), reservation: None, arranges: 0 }
}

fn free_to_run(level: u8) -> Share {
    Share { level, period: None, price: None, reservation: None, arranges: 0 }
}

#[test]
fn declared_demands_are_summed() {
    let shares = [share(1, 50, 20), share(2, 100, 60)];
    assert_eq!(sharing(100, 100, &shares, 1, &COSTS), Sharing::Covered { demand: 100 });
    assert_eq!(sharing(100, 99, &shares, 0, &COSTS), Sharing::Exceeded { demand: 100 });
    // 30 is no divisor of 100: five jobs.
    assert_eq!(sharing(100, 500, &[share(1, 30, 20)], 0, &COSTS), Sharing::Covered { demand: 100 });
}

#[test]
fn a_full_budget_at_each_release_needs_the_highest_urgency_and_boundaries() {
    let shares = [share(1, 200, 60), free_to_run(2), Share { reservation: Some(30), ..free_to_run(3) }];
    // Overrun, own price, an activation for each sharer, a boundary's timer, one reservation, the slack of its callee.
    let demand = 1_100 + 60 + 2 * 14 + 7 + 30 + 1_114;
    assert_eq!(sharing(100, demand, &shares, 0, &COSTS), Sharing::Full { demand });
    assert_eq!(sharing(100, demand - 1, &shares, 0, &COSTS), Sharing::Exceeded { demand });
    let early = [share(1, 50, 60), shares[1]];
    assert_eq!(sharing(100, demand, &early, 0, &COSTS), Sharing::Emptied { by: 1 });
    let equal = [shares[0], free_to_run(1)];
    assert_eq!(sharing(100, demand, &equal, 0, &COSTS), Sharing::Emptied { by: 1 });
}

/// The demand that is counted for a full budget covers what less urgent sharers can have taken at a
/// boundary, whatever they did before, and at times is no more than that.
#[test]
fn debt_at_a_boundary_is_counted() {
    let mut met = 0;
    for (period, capacity) in (2..=6).flat_map(|period| (1..=period).map(move |capacity| (period, capacity))) {
        for (half, overrun, threads, arranges) in [
            (0, 0, 1, 0),
            (0, 2, 1, 0),
            (1, 0, 1, 0),
            (1, 1, 1, 0),
            (1, 1, 2, 0),
            (2, 1, 2, 0),
            (1, 1, 1, 1),
            (1, 1, 2, 2),
        ] {
            let rules = Rules { period, capacity, half, overrun, arranges };
            let least = Machine::new(&rules, threads).least_at_boundary(&rules);
            let switching = Switching { entry: half as u32, ..Switching::default() };
            let costs = Costs { switching, masked: overrun as u64, ..Costs::default() };
            let mut shares = std::vec![share(0, period as u64, 0)];
            let other = Share { arranges: arranges as u64, ..free_to_run(1) };
            shares.extend((0..threads).map(|_| other));
            let full = match sharing(period as u64, u64::MAX, &shares, 0, &costs) {
                Sharing::Full { demand } => demand as i64,
                other => panic!("{other:?}"),
            };
            assert!(capacity - least <= full, "{rules:?}, {threads} threads: {least}");
            met += usize::from(capacity - least == full);
        }
    }
    assert!(met >= 30, "met in {met}");
}

#[test]
fn more_urgent_sharers_must_be_declared() {
    let shares = [share(1, 100, 10), share(2, 100, 20), free_to_run(3)];
    assert_eq!(sharing(100, 2_000, &shares, 1, &COSTS), Sharing::Full { demand: 1_100 + 10 + 20 + 14 + 7 });
    let shares = [free_to_run(1), share(2, 100, 20)];
    assert_eq!(sharing(100, 2_000, &shares, 1, &COSTS), Sharing::Emptied { by: 0 });
}
