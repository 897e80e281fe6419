use super::{BudgetMeter, Use};
use crate::describe::{Budget, SystemDescription};
use crate::schema::Tolerance;
use crate::time::Timebase;

/// 100 cycles of each 1000, nothing tolerated; an activation costs 10.
fn overdrawn(charges: &[(u64, u64, Option<u16>)]) -> bool {
    let budget = Budget { period_ticks: 1000, capacity_ticks: 100, ..Budget::default() };
    let (cpu_hz, ticks_per_second) = (1_000_000, 1_000_000);
    let time = Timebase::new(&SystemDescription { cpu_hz, ticks_per_second, ..SystemDescription::default() });
    let mut meter = BudgetMeter::new(&budget, Tolerance::default(), 10, &time);
    for (from, cycles, of) in charges {
        let what = if of.is_some() { Use::Activation } else { Use::User };
        meter.charge(*from, from + cycles, what, *of);
    }
    meter.close();
    meter.report(&budget, Vec::new()).overdrawn.count > 0
}

#[test]
fn an_activation_of_each_other_thread_may_have_been_paid_before() {
    assert!(!overdrawn(&[(0, 100, None)]));
    assert!(overdrawn(&[(0, 101, None)]));
    assert!(!overdrawn(&[(0, 100, None), (200, 10, Some(3)), (300, 6, Some(4)), (400, 4, Some(4))]));
    assert!(overdrawn(&[(0, 100, None), (200, 10, Some(3)), (300, 1, Some(3))]), "the second one was not");
    // In a window over the boundary it is one, too.
    let each = [(900, 100, None), (1000, 100, None), (1100, 10, Some(3))];
    assert!(!overdrawn(&each));
    assert!(overdrawn(&[(890, 10, Some(3)), each[0], each[1], each[2], (1300, 1, Some(3))]));
}
