use record::Range;

use super::*;

fn meter() -> Meter {
    let context = |domain, space, start| ContextWatch { domain, space, code: vec![Range { start, end: start + 16 }] };
    let stack = |thread, start| StackWatch { domain: 0, thread, range: Range { start, end: start + 64 } };
    let watch = MeterWatch {
        clock: vec![Range { start: 0x4000, end: 0x4004 }],
        contexts: vec![context(0, Some(1), 0x100), context(1, Some(2), 0x200)],
        stacks: vec![stack(Some(0), 0x1000), stack(None, 0x1040)],
    };
    Meter::new(Some(&watch))
}

#[test]
fn an_address_space_decides_where_there_are_some_and_code_elsewhere() {
    let meter = meter();
    assert_eq!([meter.domain(0x200, Some(1)), meter.domain(0x200, None)], [0, 1]);
    assert_eq!([meter.domain(0x200, Some(9)), meter.domain(0x210, None)], [IDLE, IDLE]);
}

#[test]
fn an_empty_stack_is_at_its_end() {
    let meter = meter();
    assert_eq!(
        [0x1000, 0x1001, 0x1040, 0x1041, 0x1080, 0x1081].map(|sp| meter.stack(sp)),
        [NO_STACK, 0, 0, 1, 1, NO_STACK]
    );
}

#[test]
fn first_and_last_read_of_the_clock_in_a_stretch_of_the_kernel_are_told() {
    let mut meter = meter();
    meter.since = 10;
    for (at, cycle) in [(0x4004, 11), (0x4000, 25), (0x4000, 40), (0x3ffc, 41)] {
        meter.loaded(at, cycle);
    }
    let record = meter.reads(100).expect("it was read twice");
    assert_eq!((record.cycle, record.event, record.detail, record.payload), (100, observed::CLOCK, 15, 60));
    assert_eq!(meter.reads(100), None);
    meter.in_kernel = false;
    meter.loaded(0x4000, 110);
    assert_eq!(meter.reads(120), None);
}

#[test]
fn a_stretch_is_recorded_at_its_end_and_one_below_zero_is_broken() {
    let mut meter = meter();
    meter.handled = Handled { exception: 6, call: None };
    meter.identify(6, 45);
    let record = meter.end(30).expect("a stretch of 30");
    assert_eq!((record.cycle, record.event, record.payload), (30, observed::HANDLED, 30));
    assert_eq!(Handled::from_detail(record.detail).exception, 45);
    assert_eq!(meter.end(30), None);
    assert_eq!((meter.end(29), meter.broken), (None, 1));
    (meter.in_kernel, meter.domain, meter.stack) = (false, 1, 7);
    let record = meter.end(40).expect("a stretch of 11");
    assert_eq!((record.event, record.domain, record.detail, record.payload), (observed::RAN, 1, 7, 11));
}
