//! The figures of Cofferdam beside those of its peers, all under one board and one profile: what `cofferdam bench` prints.
//!
//! For the command: [`run`] builds the peers (`eval/peers/`) and the benchmark system (`eval/systems/bench`), runs each in the exact
//! mode, writes `bench.json` into [`Options::out_dir`] and returns its rows; [`table`] formats them. `progress` is called with
//! one line before each step. A missed target is no error: the rows and the table say so.
//!
//! `docs/bench.md` says what is measured from which instruction to which.

#![forbid(unsafe_code)]

mod bench;
mod calls;
mod cells;
pub mod chip;
pub mod costs;
mod direct;
mod error;
pub mod figures;
mod grants;
mod heaps;
mod images;
pub mod micro;
mod operations;
mod paths;
mod peers;
mod rows;
mod run;
mod samples;
mod speed;
mod subject;
mod symbols;
mod table;
mod traces;

#[cfg(test)]
mod tests;

pub use bench::Bench;
pub use error::Error;
pub use operations::{CyclesLimit, Limit, Operation, Promise};
pub use peers::{Peer, build as build_peer, sources};
pub use rows::{Cycles, Public, Row, Target, judge, read, write};
pub use run::{Options, peer_subject, run};
pub use subject::Subject;
pub use symbols::Symbols;
pub use table::table;
