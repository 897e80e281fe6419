//! The simulators, by the names that the files of boards state.

use crate::error::RunError;
use crate::qemu::Qemu;
use crate::simulator::Simulator;
use crate::verilator::Verilator;

type Find = fn() -> Result<Box<dyn Simulator>, RunError>;

/// Name, search, and search without an observer.
const SIMULATORS: [(&str, Find, Find); 2] = [
    (Qemu::NAME, || Ok(Box::new(Qemu::find()?)), || Ok(Box::new(Qemu::find_fallback()?))),
    (Verilator::NAME, || Ok(Box::new(Verilator::find()?)), || Err(RunError::NoFallback(Verilator::NAME))),
];

/// The simulator that a board's file names.
///
/// # Errors
/// There is none of this name, or a part of it is missing or of the wrong version.
pub fn find(name: &str) -> Result<Box<dyn Simulator>, RunError> {
    by_name(name)?.1()
}

/// The same without an observer: time is then an instruction count, and the summary says so.
///
/// # Errors
/// There is none of this name, or it is not installed.
pub fn find_fallback(name: &str) -> Result<Box<dyn Simulator>, RunError> {
    by_name(name)?.2()
}

/// Whether a board's file can state this name.
///
/// # Errors
/// There is no simulator of this name.
pub fn check_name(name: &str) -> Result<(), RunError> {
    by_name(name).map(|_| ())
}

fn by_name(name: &str) -> Result<&'static (&'static str, Find, Find), RunError> {
    let unknown = || RunError::SimulatorUnknown {
        name: name.to_owned(),
        known: SIMULATORS.iter().map(|(known, ..)| *known).collect(),
    };
    SIMULATORS.iter().find(|(known, ..)| *known == name).ok_or_else(unknown)
}
