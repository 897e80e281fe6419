//! The cast of the conformance suite on a target. The rows are in `tests/conformance/rows`; here they are performed.
#![no_std]

pub mod board;
pub mod perform;
pub mod scene;
