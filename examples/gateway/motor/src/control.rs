//! The controller.

use crate::machine::{CURRENT_MAX, FLUX, INDUCTANCE, INERTIA, POLE_PAIRS, RESISTANCE, TORQUE, VOLTAGE_MAX};
use crate::model::{Measured, Voltage};
use crate::{PERIOD, Vector};

/// Bandwidths in radians a second: the inner loop leaves the outer one room, the sampling leaves the inner one room.
const CURRENT_BANDWIDTH: f32 = 400.0;
const SPEED_BANDWIDTH: f32 = 100.0;

/// Proportional-integral control with a bounded output; the integral stops where the output is bounded.
#[derive(Clone, Copy, Debug)]
struct Pi {
    proportional: f32,
    integral: f32,
    sum: f32,
}

impl Pi {
    const fn new(proportional: f32, integral: f32) -> Self {
        Pi { proportional, integral, sum: 0.0 }
    }

    fn step(&mut self, error: f32, forward: f32, limit: f32) -> f32 {
        let sum = self.sum + self.integral * PERIOD * error;
        let wanted = self.proportional * error + sum + forward;
        let output = wanted.clamp(-limit, limit);
        if output == wanted {
            self.sum = sum;
        }
        output
    }
}

/// Speed control over torque-current control, flux current at zero.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    speed: Pi,
    torque: Pi,
    flux: Pi,
}

impl Controller {
    /// A controller at rest.
    pub const fn new() -> Self {
        let current = Pi::new(INDUCTANCE * CURRENT_BANDWIDTH, RESISTANCE * CURRENT_BANDWIDTH);
        let gain = INERTIA * SPEED_BANDWIDTH / TORQUE;
        Controller { speed: Pi::new(gain, gain * SPEED_BANDWIDTH / 4.0), torque: current, flux: current }
    }

    /// One period: the voltage to apply in the stator's frame, for a speed that is wanted.
    pub fn step(&mut self, wanted_speed: f32, measured: Measured) -> Voltage {
        let electrical = measured.speed * POLE_PAIRS;
        let current = Vector::of_phases(measured.phase_a, measured.phase_b).into_frame(measured.angle);
        let wanted = self.speed.step(wanted_speed - measured.speed, 0.0, CURRENT_MAX);
        // The voltage that the rotation induces is taken out before the controllers see it.
        let flux = self.flux.step(-current.x, -electrical * INDUCTANCE * current.y, VOLTAGE_MAX);
        let left = libm::sqrtf((VOLTAGE_MAX * VOLTAGE_MAX - flux * flux).max(0.0));
        let induced = electrical * (INDUCTANCE * current.x + FLUX);
        let torque = self.torque.step(wanted - current.y, induced, left);
        // The voltage is held while the rotor turns: aim at the middle of the period.
        let middle = measured.angle + electrical * PERIOD * 0.5;
        Vector { x: flux, y: torque }.out_of_frame(middle)
    }
}

impl Default for Controller {
    fn default() -> Self {
        Self::new()
    }
}

/// The speed that is wanted in a period: a profile of ramps and plateaus that repeats, in radians a second.
pub fn speed_reference(period: u32) -> f32 {
    const PLATEAUS: [f32; 4] = [60.0, 150.0, -90.0, 20.0];
    const PERIODS: u32 = 400;
    const RAMP: u32 = 150;
    let (plateau, within) = ((period / PERIODS) as usize % PLATEAUS.len(), period % PERIODS);
    let before = if period < PERIODS { 0.0 } else { PLATEAUS[(plateau + PLATEAUS.len() - 1) % PLATEAUS.len()] };
    let part = within.min(RAMP) as f32 / RAMP as f32;
    before + (PLATEAUS[plateau] - before) * part
}
