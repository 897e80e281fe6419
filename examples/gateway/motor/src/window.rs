//! How well the speed follows, over the last releases.

/// Errors of the speed over a moving window, in memory that the caller provides. In whole numbers, so that nothing builds up
/// however long the loop runs.
#[derive(Debug)]
pub struct Window<'m> {
    /// The last errors, in 1/100 rad/s.
    errors: &'m mut [i32],
    next: usize,
    squares: u64,
}

/// Largest error that is counted, in 1/100 rad/s; a greater one counts as this.
const LARGEST: i32 = 1_000_000;

impl<'m> Window<'m> {
    /// A window of as many releases as there are words; none of them had an error.
    pub fn new(errors: &'m mut [i32]) -> Self {
        errors.fill(0);
        Window { errors, next: 0, squares: 0 }
    }

    /// Takes the error of a release in, in rad/s, and lets go of the oldest.
    ///
    /// # Time complexity
    /// Constant.
    pub fn push(&mut self, error: f32) {
        let error = ((error * 100.0) as i32).clamp(-LARGEST, LARGEST);
        let Some(slot) = self.errors.get_mut(self.next) else { return };
        self.squares -= square(core::mem::replace(slot, error));
        self.squares += square(error);
        self.next = (self.next + 1) % self.errors.len();
    }

    /// The root of the mean square, in rad/s; 0 for a window of no releases.
    pub fn rms(&self) -> f32 {
        if self.errors.is_empty() {
            return 0.0;
        }
        libm::sqrtf(self.squares as f32 / self.errors.len() as f32) / 100.0
    }
}

const fn square(error: i32) -> u64 {
    (error as i64 * error as i64) as u64
}
