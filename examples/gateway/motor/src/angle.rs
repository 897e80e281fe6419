//! Sine and cosine in 32-bit arithmetic alone: `libm` computes them in 64 bits, which a Cortex-M33 does in software.

use core::f32::consts::FRAC_2_PI;

/// A quarter of a turn as a number of few bits, whose multiples are exact, and the rest of it.
const QUARTER: f32 = 1.570_312_5;
const QUARTER_REST: f32 = 4.838_267_7e-4;

/// Sine and cosine of an angle of a few turns at most: both within 1e-6.
pub fn sin_cos(angle: f32) -> (f32, f32) {
    let quarters = angle * FRAC_2_PI;
    let quarters = (if quarters < 0.0 { quarters - 0.5 } else { quarters + 0.5 }) as i32;
    let whole = quarters as f32;
    let x = angle - whole * QUARTER - whole * QUARTER_REST;
    // Taylor's polynomials; the next terms are below 2e-9 and 3e-8 at an eighth of a turn.
    let square = x * x;
    let sin =
        x * (1.0 + square * (-1.0 / 6.0 + square * (1.0 / 120.0 + square * (-1.0 / 5040.0 + square / 362_880.0))));
    let cos = 1.0 + square * (-0.5 + square * (1.0 / 24.0 + square * (-1.0 / 720.0 + square / 40_320.0)));
    match quarters & 3 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}
