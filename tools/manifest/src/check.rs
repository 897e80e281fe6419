//! The semantic checks that need only manifest and board: names, references, memory as declared, time.
//!
//! Each check returns every refusal that it finds, so that a user sees all of them at once.

mod fixed;
mod hardware;
mod heap;
mod manager;
mod memory;
mod names;
mod registers;
mod specs;
pub(crate) mod time;

use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::schema::Manifest;

pub(crate) use fixed::Fixed;
#[cfg(test)]
pub(crate) use names::QUEUED_MAX;
pub use names::name_ok;

/// Everything that is wrong with the manifest on this board; empty when it is admitted so far. What depends on the
/// programs' sizes is checked at placement, and response times by the analysis.
pub fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut found = names::check(manifest, board);
    found.extend(hardware::check(manifest, board));
    found.extend(memory::check(manifest, board));
    found.extend(heap::check(manifest, board));
    found.extend(specs::check(manifest, board));
    found.extend(manager::check(manifest));
    found.extend(registers::check(manifest, board));
    if found.is_empty() {
        found.extend(crate::admission::admit(manifest, board));
    }
    found.extend(fixed::check(manifest, board));
    found.extend(time::check(manifest, board));
    found
}
