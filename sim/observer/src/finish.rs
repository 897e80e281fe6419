//! The end of a run: the summary.

use std::path::Path;
use std::rc::Rc;
use std::{fs, io};

use abi::trace::exit_code;
use record::{End, EndReason, Masked, SUMMARY_VERSION, Summary, Window, Witness};

use crate::observer::Observer;
use crate::per_core::{CoreObserver, Family};
use crate::shared::host_seconds;

/// Those of two cores.
fn all_masked(one: Masked, other: Masked) -> Masked {
    let longest = |windows: [Option<Window>; 2]| windows.into_iter().flatten().max_by_key(|window| window.cycles);
    Masked {
        longest: longest([one.longest, other.longest]),
        longest_to_thread: longest([one.longest_to_thread, other.longest_to_thread]),
        vectors: one.vectors.into_iter().chain(other.vectors).collect(),
        calls: one.calls.into_iter().chain(other.calls).collect(),
    }
}

/// Puts `text` at `path`, whole or not at all.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let partial = path.with_extension("partial");
    fs::write(&partial, text)?;
    fs::rename(&partial, path)
}

impl<F: Family> Observer<F> {
    /// The run is over: writes the rest of the events and the summary. A failure is told on standard error, and the summary is then
    /// missing.
    pub fn finish(&mut self, reason: EndReason) {
        for core in &mut self.cores {
            core.settle(0, 0);
            // Cycles slept since the guest last ran are nobody's.
            core.end_stretch(core.clock.now().saturating_sub(core.asleep()));
        }
        let shared = Rc::clone(&self.shared);
        let written = shared.log.borrow_mut().close();
        let written = written.and_then(|events| {
            let text = self.summary(reason, events).to_json();
            replace(&shared.watch.summary, &text)
        });
        if let Err(error) = written {
            eprintln!("cofferdam: writing the results: {error}");
        }
        let mut log = shared.log.borrow_mut();
        log.progress(self.cores[0].clock.now(), self.sum(|core| core.instructions));
        log.over();
    }

    /// Exit code with which the kernel has ended the run.
    fn status(&self) -> Option<i32> {
        self.shared.ended.get().map(|status| i32::from(exit_code(status)))
    }

    fn sum(&self, of: impl Fn(&CoreObserver<F>) -> u64) -> u64 {
        self.cores.iter().map(of).sum()
    }

    fn summary(&mut self, reason: EndReason, events: u64) -> Summary {
        let shared = Rc::clone(&self.shared);
        let host_seconds = host_seconds() - shared.started;
        let (violations, violations_total) = shared.log.borrow().violations();
        let instructions = self.sum(|core| core.instructions);
        let masked = self.cores.iter_mut().map(|core| core.exceptions.masked()).reduce(all_masked).unwrap_or_default();
        let (cores, first) = (&self.cores, &self.cores[0]);
        Summary {
            version: SUMMARY_VERSION,
            profile: shared.profile.clone(),
            architecture: F::ARCHITECTURE,
            modelled: true,
            exact: false,
            mode: shared.watch.mode,
            quantum_cycles: shared.quantum,
            longest_block_cycles: cores.iter().map(|core| core.longest_block).max().unwrap_or(0),
            cpu_hz: shared.cpu_hz,
            cycles: first.clock.now(),
            sleep_cycles: first.clock.slept(),
            instructions,
            domains: cores.iter().flat_map(|core| core.accounts.used()).collect(),
            exceptions: cores.iter().flat_map(|core| core.exceptions.counts()).collect(),
            masked,
            clock: first.clock_reads.seen(),
            regions: first.family.regions(),
            counter: first.family.counted(),
            use_recorded: shared.watch.meter.is_some(),
            violations,
            violations_total,
            faults: cores.iter().flat_map(|core| core.faults.iter().cloned()).collect(),
            witness: cores.iter().map(|core| core.witness.seen()).fold(Witness::default(), Witness::with),
            probes: cores.iter().flat_map(|core| core.probes.results(core.id)).collect(),
            areas: cores.iter().flat_map(|core| core.family.areas(core.id)).collect(),
            disturbances: self.sum(|core| core.disturbances.count),
            broken_stretches: self.sum(|core| core.exceptions.broken + core.accounts.broken + core.meter.broken),
            events,
            end: End { reason, status: self.status(), trace_status: shared.trace_status.get() },
            host_seconds,
            mips: instructions as f64 / host_seconds / 1e6,
        }
    }
}
