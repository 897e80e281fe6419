//! Results of a run: [`Report`] as `report.json`, as the page `report.html`, and the run itself as a [`trace`] for Perfetto.
//!
//! A report is built in two readings of the events of a run: one counts and finds what stands out, the other keeps the segments around
//! that. Memory does not grow with the length of the run. Held are the meters of each thread, domain, budget and gate; the last
//! completed jobs of each thread ([`spool::HELD`]; those before them are in a file without a name); and lists, each up to its cap: the ones
//! below, [`timeline::MAX_MARKERS`], and the segments of [`timeline::MAX_HIGHLIGHTS`] windows. The report holds every figure that the page
//! shows, because the page is rendered from nothing else.

mod analyse;
mod assemble;
pub mod compare;
pub mod describe;
mod fault;
pub mod highlights;
mod json;
pub mod names;
mod output;
mod page;
pub mod place;
mod running;
pub mod schema;
pub mod spool;
pub mod stats;
mod time;
pub mod timeline;
pub mod trace;
mod verdict;
pub mod windows;

#[cfg(test)]
mod tests;

pub use describe::SystemDescription;
pub use output::{WriteError, can_write};
pub use schema::{Report, SCHEMA};

/// Most faults that a report lists; all are counted.
pub const MAX_FAULTS: usize = 500;
/// Most different markers of one domain that a report lists.
pub const MAX_MARKS: usize = 256;
/// Most grants that a report lists; all are counted.
pub const MAX_GRANTS: usize = 500;
/// Most grants that can be held at once; one more makes no sense.
pub const MAX_HELD: usize = 1 << 16;
/// Most different refusals (domain, call, error) that a report lists.
pub const MAX_REFUSALS: usize = 512;
/// Most bytes of console output that a report keeps.
pub const MAX_CONSOLE_BYTES: usize = 256 * 1024;
