use super::Disturbances;
use record::{Interference, Watch};

fn every(every_cycles: u64, domain: Option<u8>) -> Disturbances {
    asked(Interference { every_cycles, domain, mark: None })
}

fn asked(interference: Interference) -> Disturbances {
    Disturbances::new(&Watch { interference: Some(interference), ..Watch::default() })
}

#[test]
fn it_comes_with_the_mark_of_its_domain_and_not_by_time() {
    let mut marked = asked(Interference { every_cycles: 0, domain: Some(3), mark: Some(5) });
    assert!(marked.is_marked(5, 3) && !marked.is_marked(4, 3) && !marked.is_marked(5, 2));
    marked.enter(3, 10);
    assert!(!marked.is_due(1 << 40));
    assert_eq!(marked.count, 1);
    assert!(!every(100, None).is_marked(0, 0));
}

#[test]
fn it_comes_at_a_steady_rate_and_once_when_late() {
    let mut steady = every(100, None);
    assert!(!steady.is_due(99) && steady.is_due(100) && !steady.is_due(199) && steady.is_due(230));
    assert_eq!((steady.next, steady.count), (300, 2));
    assert!(steady.is_due(555));
    assert_eq!((steady.next, steady.count), (600, 3));
    assert!(!every(0, None).is_due(u64::MAX - 1));
}

#[test]
fn only_the_time_of_its_domain_counts() {
    let mut one = every(100, Some(3));
    assert!(!one.is_due(1000));
    one.enter(3, 1000);
    one.enter(3, 1020);
    one.enter(5, 1060);
    assert!(!one.is_due(1500));
    one.enter(3, 2000);
    assert!(!one.is_due(2039) && one.is_due(2040));
    one.enter(255, 2090);
    one.enter(3, 3000);
    assert_eq!((one.next, one.count), (3050, 1));
}
