//! Random systems: five threads, each on a budget of its own.

use testing::Rng;

pub const THREADS: usize = 5;
/// 1 ms in ticks.
const MS: f64 = 25_000.0;

/// A periodic thread, in ticks. Its deadline is its period.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub wcet: u64,
    pub period: u64,
}

/// How periods are chosen, between 1 and 50 ms.
#[derive(Clone, Copy, Debug)]
pub enum Periods {
    /// Log-uniform, any tick.
    Any,
    /// Log-uniform, whole milliseconds.
    Whole,
    /// One of 1, 2, 5, 10, 20 and 50 ms.
    Round,
}

impl Periods {
    pub const ALL: [Periods; 3] = [Periods::Any, Periods::Whole, Periods::Round];

    pub fn text(self) -> &'static str {
        match self {
            Periods::Any => "periods of any tick",
            Periods::Whole => "periods of whole milliseconds",
            Periods::Round => "periods of 1 2 5 10 20 50 ms",
        }
    }

    fn choose(self, rng: &mut Rng) -> u64 {
        let any = (unit(rng) * 50f64.ln()).exp();
        let ms = match self {
            Periods::Any => any,
            Periods::Whole => any.round(),
            Periods::Round => [1.0, 2.0, 5.0, 10.0, 20.0, 50.0][rng.below(6) as usize],
        };
        (ms * MS) as u64
    }
}

/// A number from 0 to 1.
fn unit(rng: &mut Rng) -> f64 {
    (rng.next() >> 11) as f64 / (1u64 << 53) as f64
}

/// A set that uses `utilisation` of the processor, the most urgent first (deadline-monotonic): shares by UUniFast (Bini and Buttazzo 2005).
pub fn random(rng: &mut Rng, utilisation: f64, periods: Periods) -> Vec<Task> {
    let mut left = utilisation;
    let mut tasks: Vec<Task> = (0..THREADS)
        .map(|i| {
            let after = if i + 1 == THREADS { 0.0 } else { left * unit(rng).powf(1.0 / (THREADS - i - 1) as f64) };
            let share = left - after;
            left = after;
            let period = periods.choose(rng);
            Task { wcet: ((share * period as f64) as u64).max(1), period }
        })
        .collect();
    tasks.sort_by_key(|task| task.period);
    tasks
}
