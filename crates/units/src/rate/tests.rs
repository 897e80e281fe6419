use super::{NS_PER_SECOND, Rate};

#[test]
fn each_rounding_is_the_one_that_its_name_says() {
    let third = Rate::hz(3);
    assert_eq!((third.ns_in(1).floor(), third.ns_in(1).ceil()), (333_333_333, 333_333_334));
    assert_eq!((third.ns_in(3).exact(), third.ns_in(2).exact()), (Some(NS_PER_SECOND), None));
    let clock = Rate::hz(25_000_000);
    assert_eq!([clock.counts_in(41).floor(), clock.counts_in(41).ceil()], [1, 2]);
    assert_eq!((clock.counts_in(40).exact(), clock.counts_in(41).exact()), (Some(1), None));
}

#[test]
fn counts_of_one_clock_become_counts_of_another() {
    let (clock, processor) = (Rate::hz(25_000_000), Rate::hz(216_000_000));
    assert_eq!((processor.counts_of(25, clock).exact(), clock.counts_of(217, processor).ceil()), (Some(216), 26));
    assert_eq!(processor.us(216), 1.0);
}

#[test]
fn nothing_overflows_and_nothing_divides_by_zero() {
    assert_eq!(Rate::hz(0), Rate::hz(1));
    let most = Rate::hz(u64::MAX);
    assert_eq!([most.counts_in(u64::MAX).floor(), most.counts_of(u64::MAX, Rate::hz(1)).ceil()], [u64::MAX; 2]);
    assert_eq!((most.counts_in(u64::MAX).exact(), most.counts_in(NS_PER_SECOND).exact()), (None, Some(u64::MAX)));
}
