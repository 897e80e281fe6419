//! The motor: currents, speed and angle, integrated in small steps.

use core::f32::consts::TAU;

use crate::machine::{FLUX, FRICTION, INDUCTANCE, INERTIA, POLE_PAIRS, RESISTANCE, TORQUE};
use crate::{PERIOD, Vector};

/// Voltage in the stator's frame, in volt.
pub type Voltage = Vector;

/// Steps of integration in a period.
const STEPS: u32 = 10;

/// The measurements at the start of a period.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Current of phase a in ampere.
    pub phase_a: f32,
    /// Current of phase b in ampere.
    pub phase_b: f32,
    /// Electrical angle of the rotor in radians.
    pub angle: f32,
    /// Mechanical speed in radians a second.
    pub speed: f32,
}

/// State of the motor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Motor {
    /// Current in the rotor's frame, in ampere: `x` makes flux, `y` makes torque.
    pub current: Vector,
    /// Mechanical speed in radians a second.
    pub speed: f32,
    /// Electrical angle in radians, from 0 to 2 pi.
    pub angle: f32,
}

impl Motor {
    /// The sensors' values now.
    pub fn measure(&self) -> Measured {
        const HALF_SQRT_3: f32 = 0.866_025_4;
        let stator = self.current.out_of_frame(self.angle);
        let phase_b = HALF_SQRT_3 * stator.y - 0.5 * stator.x;
        Measured { phase_a: stator.x, phase_b, angle: self.angle, speed: self.speed }
    }

    /// Lets one period pass with a constant voltage and a constant load torque in newton metres.
    pub fn run(&mut self, voltage: Voltage, load: f32) {
        const STEP: f32 = PERIOD / STEPS as f32;
        for _ in 0..STEPS {
            let electrical = self.speed * POLE_PAIRS;
            let applied = voltage.into_frame(self.angle);
            let current = self.current;
            let x = applied.x - RESISTANCE * current.x + electrical * INDUCTANCE * current.y;
            let y = applied.y - RESISTANCE * current.y - electrical * (INDUCTANCE * current.x + FLUX);
            self.current = Vector { x: current.x + x / INDUCTANCE * STEP, y: current.y + y / INDUCTANCE * STEP };
            let torque = TORQUE * self.current.y - load - FRICTION * self.speed;
            self.speed += torque / INERTIA * STEP;
            self.angle = turn(self.angle + electrical * STEP);
        }
    }
}

/// An angle within one turn, from one that is at most a turn outside.
fn turn(angle: f32) -> f32 {
    if angle >= TAU {
        angle - TAU
    } else if angle < 0.0 {
        angle + TAU
    } else {
        angle
    }
}
