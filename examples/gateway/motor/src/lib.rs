//! Field-oriented control of a permanent-magnet synchronous motor, and the motor as a model, in 32-bit floating point.
//!
//! The controller runs once in [`PERIOD`]: it turns phase currents into the rotor's frame, holds the flux current at zero,
//! and cascades a speed controller over a torque-current controller. Amounts are in SI units; angles in radians.
//! Transformations are the amplitude-invariant ones (Vas, Sensorless Vector and Direct Torque Control, 1998, chapter 2).
#![no_std]
#![forbid(unsafe_code)]

mod angle;
mod control;
mod model;
mod window;

pub use control::{Controller, speed_reference};
pub use model::{Measured, Motor, Voltage};
pub use window::Window;

/// Seconds between two runs of the controller.
pub const PERIOD: f32 = 0.001;

/// The motor's parameters, as the controller knows them.
pub mod machine {
    /// Resistance of a phase in ohm.
    pub const RESISTANCE: f32 = 0.35;
    /// Inductance in henry, the same in both axes.
    pub const INDUCTANCE: f32 = 0.0012;
    /// Flux linkage of the magnets in weber.
    pub const FLUX: f32 = 0.018;
    /// Pairs of poles.
    pub const POLE_PAIRS: f32 = 4.0;
    /// Inertia of rotor and load in kilogram square metres.
    pub const INERTIA: f32 = 2.5e-5;
    /// Viscous friction in newton metres for each radian a second.
    pub const FRICTION: f32 = 1.0e-5;
    /// Greatest length of the voltage vector in volt: 24 V / sqrt(3).
    pub const VOLTAGE_MAX: f32 = 13.856;
    /// Greatest torque current in ampere.
    pub const CURRENT_MAX: f32 = 8.0;
    /// Newton metres for each ampere of torque current.
    pub const TORQUE: f32 = 1.5 * POLE_PAIRS * FLUX;
}

/// A vector in a plane: the stator's frame or the rotor's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vector {
    /// Along the axis of phase a, or of the magnets.
    pub x: f32,
    /// A quarter of a turn ahead of `x`.
    pub y: f32,
}

impl Vector {
    /// The vector of three phase values that sum to zero, of which two are measured (Clarke).
    pub fn of_phases(a: f32, b: f32) -> Self {
        const INVERSE_SQRT_3: f32 = 0.577_350_3;
        Vector { x: a, y: (a + 2.0 * b) * INVERSE_SQRT_3 }
    }

    /// The same vector in a frame that is turned by `angle` (Park).
    pub fn into_frame(self, angle: f32) -> Self {
        let (sin, cos) = angle::sin_cos(angle);
        Vector { x: cos * self.x + sin * self.y, y: cos * self.y - sin * self.x }
    }

    /// The same vector seen from the frame outside of the one that is turned by `angle`.
    pub fn out_of_frame(self, angle: f32) -> Self {
        let (sin, cos) = angle::sin_cos(angle);
        Vector { x: cos * self.x - sin * self.y, y: sin * self.x + cos * self.y }
    }

    /// Its length.
    pub fn length(self) -> f32 {
        libm::sqrtf(self.x * self.x + self.y * self.y)
    }
}

#[cfg(test)]
mod tests;
