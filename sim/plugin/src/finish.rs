//! The end of a run: the summary.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::{fs, io};

use record::{End, EndReason, SUMMARY_VERSION, Summary};

use crate::clock::CLOCK;
use crate::observer::Observer;

/// Seconds of the host's clock, behind the hook's back.
pub fn host_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place for the answer is ours.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Writes the rest of the events and the summary. What fails is said on standard error; the summary is then missing,
/// and whoever started the run sees that.
pub fn write(observer: &mut Observer, reason: EndReason) {
    let written = observer.log.close().and_then(|events| {
        let text = summary(observer, reason, events).to_json();
        replace(&observer.watch.summary, &text)
    });
    if let Err(error) = written {
        eprintln!("cofferdam: writing the results: {error}");
    }
    observer.log.progress(CLOCK.now(), observer.instructions);
    observer.log.over();
}

/// Puts `text` at `path`, whole or not at all.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let partial = path.with_extension("partial");
    fs::write(&partial, text)?;
    fs::rename(&partial, path)
}

fn summary(observer: &mut Observer, reason: EndReason, events: u64) -> Summary {
    let host_seconds = host_seconds() - observer.started;
    let (violations, violations_total) = observer.log.violations();
    Summary {
        version: SUMMARY_VERSION,
        profile: observer.model.name().to_owned(),
        architecture: observer.model.architecture(),
        modelled: true,
        mode: observer.watch.mode,
        quantum_cycles: observer.quantum,
        longest_block_cycles: observer.longest_block,
        cpu_hz: observer.model.cpu_hz(),
        cycles: CLOCK.now(),
        sleep_cycles: CLOCK.slept.load(Ordering::Relaxed),
        instructions: observer.instructions,
        domains: observer.accounts.used(),
        exceptions: observer.exceptions.counts(),
        masked: observer.exceptions.masked(),
        clock: observer.rate.seen(),
        regions: observer.regions.seen(),
        use_recorded: observer.watch.meter.is_some(),
        violations,
        violations_total,
        witness: observer.witness.seen(),
        probes: observer.probes.results(),
        areas: observer.areas.counts(),
        disturbances: observer.disturbances.count,
        broken_stretches: observer.exceptions.broken + observer.accounts.broken + observer.meter.broken,
        events,
        end: End { reason, status: None, trace_status: observer.trace_status },
        host_seconds,
        mips: observer.instructions as f64 / host_seconds / 1e6,
    }
}
