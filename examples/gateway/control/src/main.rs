//! The motor control loop: released every millisecond, it measures, computes and applies the voltage before its deadline.
//! The motor is a model that runs in here too; everything that the loop touches is pinned.
//!
//! Names: notification `stop` (optional; bit 0 ends the loop). The speed goes into the trace as marker 1 (in units of
//! 1/1000 rad/s) every 50 releases. The exit code is 0 when no release was missed.
#![no_std]
#![no_main]

use cofferdam::{Notification, Start, sys};
use motor::{Controller, Motor, speed_reference};

/// Marker of the speed in the trace, and releases between two of them.
const SPEED_MARKER: u32 = 1;
const RELEASES_PER_MARKER: u32 = 50;
/// Load torque in newton metres, on from one release and off from the next multiple.
const LOAD: f32 = 0.12;
const LOAD_RELEASES: u32 = 700;

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let stop = Notification::named(start.info, "stop");
    let (mut motor, mut controller) = (Motor::default(), Controller::new());
    let (mut releases, mut missed) = (0_u32, 0_u32);
    loop {
        let voltage = controller.step(speed_reference(releases), motor.measure());
        let load = if releases / LOAD_RELEASES % 2 == 1 { LOAD } else { 0.0 };
        motor.run(voltage, load);
        if releases.is_multiple_of(RELEASES_PER_MARKER) {
            let _ = sys::mark(SPEED_MARKER, (motor.speed * 1000.0) as i32 as u32);
        }
        releases = releases.wrapping_add(1);
        if stop.is_some_and(|stop| stop.poll(1) == Ok(1)) {
            break;
        }
        match sys::wait_period() {
            Ok(late) => missed += late,
            Err(_) => return 1,
        }
    }
    u32::from(missed > 0)
}
