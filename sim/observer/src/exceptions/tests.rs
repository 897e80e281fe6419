//! Stretches around sleep, and stretches that cannot be.

use super::{Exceptions, Moment};

const CALL: u16 = 2;

fn moment(cycle: u64, instructions: u64) -> Moment {
    Moment { cycle, instructions, waits: record::Waits::default() }
}

/// A handler that ran from 100 to 150 and left to a thread.
fn left_at_150() -> Exceptions {
    let mut exceptions = Exceptions::new(record::CoreId::FIRST, true);
    let open = exceptions.begin(0x40, CALL, moment(100, 10));
    exceptions.chain = Some(open);
    exceptions.active.push(open);
    exceptions.end_activation(moment(150, 20));
    exceptions.left = Some(moment(150, 20));
    exceptions
}

#[test]
fn a_run_that_ends_as_the_guest_wakes_has_no_stretch_below_zero() {
    let mut exceptions = left_at_150();
    // Three instructions of idling, and 600 000 cycles of sleep.
    exceptions.restart_windows(moment(600_153, 23), 600_000);
    let masked = exceptions.masked();
    let longest = masked.longest_to_thread.expect("the handler's stretch");
    assert_eq!((longest.cycles, longest.instructions, longest.start_cycle), (50, 10, 100));
    assert_eq!(exceptions.broken, 0);
}

#[test]
fn a_stretch_that_ends_before_it_began_is_counted_and_in_no_figure() {
    let mut exceptions = left_at_150();
    exceptions.left = Some(moment(90, 9));
    assert_eq!(exceptions.masked().longest_to_thread, None);
    assert_eq!(exceptions.broken, 1);
    // Longer asleep than there was time.
    exceptions.restart_windows(moment(100, 10), 101);
    assert_eq!(exceptions.broken, 2);
}
