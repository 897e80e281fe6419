//! Requirements on the timing of memory, the bounds that a platform can keep, and the promises made to each domain.
//!
//! - [`TemporalSpec`]: the vocabulary. One level by construction; contradictions are refused with a reason.
//! - [`Platform`]: what each level means on a platform, as data; [`Bound`]: what is promised, and how it was found.
//! - [`Ledger`]: admission. One joint decision for each request, on the host when a system is built and on the target when it
//!   runs; [`Ledger::encode`] and [`Ledger::decode`] hand it over.
//! - [`Regions`] and [`Pages`]: what checks accesses on a chip. The vocabulary and the ledger are the same for both.
//! - [`Refusal`]: the rule, what was asked, what is left, and the smallest change after which the request is admitted.
//! - [`Envelope`]: what a domain declares, so that within it nothing is refused.
//!
//! Bounds cover the access check only ([`SCOPE`]): how long it takes to decide whether an access is permitted, never the access
//! itself.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod block;
mod envelope;
mod ledger;
mod platform;
mod refusal;
mod temporal;

pub use block::DecodeError;
pub use envelope::{Envelope, EnvelopeError, largest_that};
pub use ledger::{
    Account, Charge, Frames, Grant, Ledger, NoFrames, NotThere, Opening, Pool, Quantity, Quota, Range, Request,
    Resource, Wanted, block_bytes,
};
pub use platform::{
    Bound, Costs, Effort, Hardware, Independence, Linear, Meaning, Method, NODE_BYTES, PAGE_BYTES, PLACES, Pages,
    Phrase, Platform, Reason, Regions, SCOPE, Scheme, Sizes, Slots, TablePlace, UNITS, Wording, Work,
};
pub use refusal::{Change, Refusal, Rule};
pub use temporal::{AccessLevel, MemoryClass, SpecError, TemporalSpec};

#[cfg(test)]
mod tests;
