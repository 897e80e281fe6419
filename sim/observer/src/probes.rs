//! Probes: how long it takes from one address to another.

use record::{CoreId, ProbeResult, ProbeWatch, Spread, Watch, observed};

use crate::block::InsnInfo;

use crate::family::Family;
use crate::observer::CoreObserver;

const SAMPLES_KEPT: usize = 1_000_000;

struct Probe {
    watch: ProbeWatch,
    started: Option<(u64, u64)>,
    samples: Vec<(u64, u64)>,
    extremes: [Spread; 2],
}

/// All probes of the run.
pub struct Probes {
    probes: Vec<Probe>,
}

impl Probes {
    /// As requested, nothing measured.
    pub fn new(watch: &Watch) -> Self {
        let probe = |watch: &ProbeWatch| Probe {
            watch: watch.clone(),
            started: None,
            samples: Vec::new(),
            extremes: [Spread { min: u64::MAX, ..Spread::default() }; 2],
        };
        Self { probes: watch.probes.iter().map(probe).collect() }
    }

    /// Whether some probe starts or ends at `pc`.
    pub fn concerns(&self, pc: u32) -> bool {
        self.probes.iter().any(|probe| probe.watch.start == pc || probe.watch.end == pc)
    }

    /// For the summary.
    pub fn results(&self, core: CoreId) -> Vec<ProbeResult> {
        self.probes.iter().map(|probe| probe.result(core)).collect()
    }
}

impl Probe {
    fn add(&mut self, cycles: u64, instructions: u64) {
        for (spread, value) in self.extremes.iter_mut().zip([cycles, instructions]) {
            spread.count += 1;
            spread.min = spread.min.min(value);
            spread.max = spread.max.max(value);
        }
        if self.samples.len() < SAMPLES_KEPT {
            self.samples.push((cycles, instructions));
        }
    }

    fn result(&self, core: CoreId) -> ProbeResult {
        let spread = |which: usize, of: fn(&(u64, u64)) -> u64| {
            let mut values: Vec<u64> = self.samples.iter().map(of).collect();
            values.sort_unstable();
            let median = values.get(values.len() / 2).copied();
            median.map_or(Spread::default(), |median| Spread { median, ..self.extremes[which] })
        };
        ProbeResult {
            core,
            name: self.watch.name.clone(),
            cycles: spread(0, |sample| sample.0),
            instructions: spread(1, |sample| sample.1),
            dropped: self.extremes[0].count - self.samples.len() as u64,
        }
    }
}

impl<F: Family> CoreObserver<F> {
    /// An instruction at which a probe starts or ends is about to run.
    pub(crate) fn probed(&mut self, insn: &InsnInfo) {
        // SAFETY: blocks live as long as the process.
        let is_first = insn.pc() == unsafe { (*insn.block).pc };
        let cycle = if is_first { self.block_start } else { self.clock.now() - self.charged_from(insn) };
        let instruction = self.instructions - u64::from(insn.after + 1);
        let is_handler = self.shared.watch.vectors.contains(&insn.pc()) || self.family.is_vector(insn.pc());
        let start = if is_handler { self.exceptions.entry_cycle } else { cycle };
        for index in 0..self.probes.probes.len() {
            let probe = &mut self.probes.probes[index];
            if probe.watch.end == insn.pc()
                && probe.watch.domain.is_none_or(|domain| domain == self.domain)
                && let Some((from, first)) = probe.started.take()
            {
                probe.add(cycle - from, instruction - first);
                self.note(observed::PROBE, index as u16, u32::try_from(cycle - from).unwrap_or(u32::MAX));
            }
            let probe = &mut self.probes.probes[index];
            if probe.watch.start == insn.pc() {
                probe.started = Some((start, instruction));
            }
        }
    }
}
