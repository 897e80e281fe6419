//! The motor control loop: released every millisecond, it measures, computes and applies the voltage before its deadline.
//! The motor is a model that runs in here too; everything that the loop touches is pinned. Its
//! record of the last releases is allocated `deterministic` within the domain's envelope: no call
//! leaves the domain for it, and it cannot be refused.
//!
//! Names: notification `stop` (optional; bit 0 ends the loop). Every 50 releases the speed goes into the trace as marker 1, and the
//! root mean square of the speed's error over the last 256 releases as marker 4 (both in units of 1/1000 rad/s). The exit code is 0
//! when no release was missed, 2 when there is no memory.
#![no_std]
#![no_main]

use cofferdam::memory::{self, AccessLevel, Failure, TemporalSpec};
use cofferdam::{Notification, Start, sys};
use motor::{Controller, Motor, Window, speed_reference};

/// Markers of the speed and of its error in the trace, and releases between two of them.
const SPEED_MARKER: u32 = 1;
const ERROR_MARKER: u32 = 4;
const RELEASES_PER_MARKER: u32 = 50;
/// Load torque in newton metres, on from one release and off from the next multiple.
const LOAD: f32 = 0.12;
const LOAD_RELEASES: u32 = 700;

/// Releases over which the error is averaged.
const WINDOW: u32 = 256;

cofferdam::entry!(main);

/// Memory for the errors of the last releases: pinned, for ever.
fn errors() -> Result<&'static mut [i32], Failure> {
    let spec = TemporalSpec { independent: true, ..TemporalSpec::level(AccessLevel::Deterministic) };
    let block = memory::malloc(WINDOW * 4, spec)?;
    // SAFETY: the block has so many words, aligned to 8; arenas begin as zeros; nobody else has it, and it is never freed.
    Ok(unsafe { core::slice::from_raw_parts_mut(block.as_ptr().cast(), WINDOW as usize) })
}

fn main(start: Start) -> u32 {
    let Ok(errors) = errors() else { return 2 };
    let mut window = Window::new(errors);
    let stop = Notification::named(start.info, "stop");
    let (mut motor, mut controller) = (Motor::default(), Controller::new());
    let (mut releases, mut missed) = (0_u32, 0_u32);
    loop {
        let wanted = speed_reference(releases);
        let voltage = controller.step(wanted, motor.measure());
        window.push(wanted - motor.speed);
        let load = if releases / LOAD_RELEASES % 2 == 1 { LOAD } else { 0.0 };
        motor.run(voltage, load);
        if releases.is_multiple_of(RELEASES_PER_MARKER) {
            let _ = sys::mark(SPEED_MARKER, (motor.speed * 1000.0) as i32 as u32);
            let _ = sys::mark(ERROR_MARKER, (window.rms() * 1000.0) as u32);
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
