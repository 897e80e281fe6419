//! cofferdam-runner
