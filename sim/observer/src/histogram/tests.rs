use super::{CLASSES, Histogram, class, top};
use record::Spread;

#[test]
fn classes_are_ordered_and_an_eighth_wide() {
    for value in (0..5000).chain([1 << 20, u64::MAX - 1, u64::MAX]) {
        let class = class(value);
        assert!(class < CLASSES);
        assert!(top(class) >= value, "{value}");
        assert!(class == 0 || top(class - 1) < value, "{value}");
        assert!(top(class) - value <= value / 8, "{value}");
    }
}

#[test]
fn the_median_is_the_middle_one() {
    let mut histogram = Histogram::default();
    assert_eq!(histogram.spread(), Spread::default());
    for value in [9, 1, 5, 1000, 3] {
        histogram.add(value);
    }
    assert_eq!(histogram.spread(), Spread { count: 5, min: 1, median: 5, max: 1000 });
}
