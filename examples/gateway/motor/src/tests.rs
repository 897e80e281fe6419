use super::*;

#[test]
fn frames_turn_vectors_and_back() {
    let vector = Vector { x: 3.0, y: -4.0 };
    for angle in [0.0, 0.5, 2.0, 6.0] {
        let back = vector.into_frame(angle).out_of_frame(angle);
        assert!((back.x - 3.0).abs() < 1e-5 && (back.y + 4.0).abs() < 1e-5, "{angle}: {back:?}");
        assert!((vector.into_frame(angle).length() - 5.0).abs() < 1e-5);
    }
    let quarter = Vector { x: 1.0, y: 0.0 }.into_frame(core::f32::consts::FRAC_PI_2);
    assert!(quarter.x.abs() < 1e-6 && (quarter.y + 1.0).abs() < 1e-6, "{quarter:?}");
}

#[test]
fn sines_and_cosines_are_those_of_64_bits() {
    for step in -4000..4000_i16 {
        let angle = f32::from(step) * 0.005;
        let ((sin, cos), (right_sin, right_cos)) = (angle::sin_cos(angle), f64::from(angle).sin_cos());
        let off = (f64::from(sin) - right_sin).abs().max((f64::from(cos) - right_cos).abs());
        assert!(off < 1e-6, "{angle}: {off}");
    }
}

#[test]
fn sensors_and_clarke_agree() {
    let motor = Motor { current: Vector { x: 1.0, y: 2.0 }, speed: 0.0, angle: 1.1 };
    let seen = motor.measure();
    let current = Vector::of_phases(seen.phase_a, seen.phase_b).into_frame(seen.angle);
    assert!((current.x - 1.0).abs() < 1e-5 && (current.y - 2.0).abs() < 1e-5, "{current:?}");
}

/// Runs the loop and returns the greatest error of speed at the ends of the plateaus, and the greatest current.
fn worst(load: f32) -> (f32, f32) {
    let (mut motor, mut controller) = (Motor::default(), Controller::new());
    let (mut error, mut current) = (0.0_f32, 0.0_f32);
    for period in 0..3200 {
        let wanted = speed_reference(period);
        motor.run(controller.step(wanted, motor.measure()), load);
        current = current.max(motor.current.length());
        if period % 400 > 380 {
            error = error.max((motor.speed - wanted).abs());
        }
    }
    (error, current)
}

#[test]
fn the_loop_settles_on_every_plateau_with_and_without_load() {
    for load in [0.0, 0.1, -0.2] {
        let (error, current) = worst(load);
        assert!(error < 1.0, "load {load}: {error} rad/s off at the end of a plateau");
        assert!(current < machine::CURRENT_MAX * 1.3, "load {load}: {current} A");
    }
}

#[test]
fn a_load_that_is_too_great_is_not_held() {
    let (error, current) = worst(machine::TORQUE * machine::CURRENT_MAX * 1.5);
    assert!(error > 50.0, "the test above could not fail: {error}");
    assert!(current.is_finite());
}

#[test]
fn the_voltage_never_exceeds_what_the_supply_gives() {
    let mut controller = Controller::new();
    let measured = Measured { phase_a: -50.0, phase_b: 80.0, angle: 2.0, speed: 900.0 };
    for wanted in [-1.0e6, 0.0, 1.0e6] {
        for _ in 0..100 {
            let length = controller.step(wanted, measured).length();
            assert!(length < machine::VOLTAGE_MAX * 1.0001, "{length}");
        }
    }
}

#[test]
fn the_reference_is_continuous_and_starts_at_rest() {
    assert_eq!(speed_reference(0), 0.0);
    for period in 0..4000 {
        let step = (speed_reference(period + 1) - speed_reference(period)).abs();
        assert!(step <= 240.0 / 150.0 + 1e-3, "{period}: {step}");
    }
}

#[test]
fn a_window_knows_its_last_releases_only() {
    let mut memory = [7; 4];
    let mut window = Window::new(&mut memory);
    assert_eq!(window.rms(), 0.0);
    for error in [100.0, -100.0, 3.0, -3.0, 3.0, 3.0] {
        window.push(error);
    }
    assert_eq!(window.rms(), 3.0);
    window.push(f32::INFINITY);
    (0..4).for_each(|_| window.push(f32::NAN));
    assert_eq!(window.rms(), 0.0, "what is no number is no error, and nothing of it stays");
    Window::new(&mut []).push(1.0);
}
