//! Rules of who runs and who pays.
//!
//! - [`budget`]: deferrable-server budgets, charged and replenished by pure functions over ticks.
//! - [`reading`]: a consistent read of accounts that an exception keeps, which can interrupt the
//!   reader.
//! - [`response`]: response-time analysis of fixed-priority threads on such budgets, with its terms, so that a refusal can say
//!   what interferes by how much.
//! - [`sampling`]: random intervals between looks at handlers that interrupts reach without the kernel.
//! - [`switching`]: what a switch and an activation cost, for the kernel that charges it and the analysis that counts it.
//!
//! Times are `u64` in one unit of the caller's choice (ticks, cycles); every quantity of one call is in the same unit.
#![no_std]
#![forbid(unsafe_code)]

pub mod budget;
pub mod reading;
pub mod response;
pub mod sampling;
pub mod switching;

#[cfg(test)]
extern crate std;

#[cfg(test)]
extern crate testing;
