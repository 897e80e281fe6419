//! What a run showed: [`Report`] as `report.json`, as the page `report.html`, and the run itself as a [`trace`] for Perfetto.
//!
//! A report is built in one pass over the events of a run, in memory that does not grow with their number except for
//! two words per completed job. It holds every figure that the page shows, because the page is rendered from nothing else.

mod analyse;
mod assemble;
pub mod describe;
mod fault;
mod json;
mod output;
mod page;
pub mod place;
mod running;
pub mod schema;
pub mod stats;
mod time;
pub mod timeline;
pub mod trace;
mod verdict;

#[cfg(test)]
mod tests;

pub use describe::SystemDescription;
pub use output::WriteError;
pub use schema::{Report, SCHEMA};

/// Most faults that a report lists; all are counted.
pub const MAX_FAULTS: usize = 500;
/// Most different markers of one domain that a report lists.
pub const MAX_MARKS: usize = 256;
/// Most grants that a report lists; all are counted.
pub const MAX_GRANTS: usize = 500;
/// Most different refusals (domain, call, error) that a report lists.
pub const MAX_REFUSALS: usize = 512;
/// Most bytes of console output that a report keeps.
pub const MAX_CONSOLE_BYTES: usize = 256 * 1024;
