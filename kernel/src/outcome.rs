//! How calls end.

use abi::Error;

/// Outcome of a call that succeeded, for its caller.
pub(crate) enum Outcome {
    /// Status 0 and two values, now.
    Values(u32, u32),
    /// The caller waits, was moved elsewhere or gets its result later.
    Later,
}

pub(crate) const DONE: Result<Outcome, Error> = Ok(Outcome::Values(0, 0));
