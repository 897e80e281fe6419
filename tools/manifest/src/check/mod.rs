//! The semantic checks that need only manifest and board: names, references, memory as declared, time.
//!
//! Each check returns every refusal that it finds, so that a user sees all of them at once.

mod circles;
mod direct;
mod fixed;
mod hardware;
mod heap;
mod manager;
mod memory;
mod names;
mod outputs;
mod registers;
mod specs;
pub(crate) mod time;

use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::resolved::{System, resolve};
use crate::schema::Manifest;

pub use circles::circles;
#[cfg(test)]
pub(crate) use names::QUEUED_MAX;
pub use names::name_ok;

/// The system that the manifest describes on this board, where it is admitted so far. Rules that depend on the programs' sizes are checked at
/// placement, and response times by the analysis. Without `enforced` budgets each may use all of its period.
///
/// # Errors
/// Everything that is wrong.
pub fn check(manifest: &Manifest, board: &Board, enforced: bool) -> Result<System, Vec<Refusal>> {
    let mut found = names::check(manifest, board);
    found.extend(hardware::check(manifest, board));
    found.extend(direct::check(manifest, board));
    found.extend(outputs::check(manifest, board));
    found.extend(memory::check(manifest, board));
    found.extend(heap::check(manifest, board));
    found.extend(specs::check(manifest, board));
    found.extend(manager::check(manifest));
    found.extend(registers::check(manifest, board));
    let mut resolved = None;
    if found.is_empty() {
        match resolve(manifest, board, enforced) {
            Ok(mut system) => {
                found.extend(crate::admission::admit(&system, board));
                if enforced && found.is_empty() {
                    found.extend(crate::analysis::widen(&mut system, board));
                }
                resolved = Some(system);
            }
            Err(refusal) => found.push(*refusal),
        }
    }
    found.extend(fixed::check(manifest, board));
    found.extend(time::check(manifest, board));
    resolved.filter(|_| found.is_empty()).ok_or(found)
}
