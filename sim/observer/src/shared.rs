//! State that all cores of a chip share.

use std::cell::{Cell, RefCell};

use record::{Mode, Watch};

use crate::log::Log;

const DEFAULT_QUANTUM: u64 = 1000;

/// Request, log and facts of the chip.
pub struct Shared {
    pub watch: Watch,
    pub log: RefCell<Log>,
    /// Name of the profile.
    pub profile: String,
    /// Clock of the cores, Hz.
    pub cpu_hz: u64,
    /// Cycles between two advances of the simulator's clock.
    pub quantum: u64,
    /// Host time of the start, seconds.
    pub started: f64,
    /// The payload of the trace port's `End` record.
    pub trace_status: Cell<Option<u32>>,
    /// The status that the record of the run's end says; it ends with the block that has stored it.
    pub ended: Cell<Option<u32>>,
    generation: Cell<u32>,
}

impl Shared {
    /// Of a run that begins now, on a chip of this name and clock.
    ///
    /// # Errors
    /// A text: a file that cannot be written.
    pub fn new(watch: Watch, (profile, cpu_hz): (String, u64)) -> Result<Self, String> {
        let quantum = match watch.mode {
            Mode::Exact => 1,
            Mode::Quantum if watch.quantum_cycles == 0 => DEFAULT_QUANTUM,
            Mode::Quantum => watch.quantum_cycles,
        };
        let (log, started) = (RefCell::new(Log::create(&watch)?), host_seconds());
        let (trace_status, ended, generation) = (Cell::new(None), Cell::new(None), Cell::new(1));
        Ok(Self { watch, log, profile, cpu_hz, quantum, started, trace_status, ended, generation })
    }

    /// A number that no core had before for its permissions: blocks remember it.
    pub fn next_generation(&self) -> u32 {
        let next = self.generation.get().wrapping_add(1).max(1);
        self.generation.set(next);
        next
    }
}

/// Seconds of the host's clock, behind the hook's back.
pub fn host_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place for the answer is ours.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
