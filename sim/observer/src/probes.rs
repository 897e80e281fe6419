//! Probes: how long it takes from one address to another.

use record::{CoreId, ProbeResult, ProbeWatch, Spread, Watch};

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

    /// The instruction at `pc` is about to execute in `domain`, at this cycle and behind so many instructions. A stretch that begins there
    /// begins at cycle `start`. `ended` takes the place and the cycles of each stretch that ends.
    pub fn reach(
        &mut self,
        (pc, domain): (u32, u8),
        (start, cycle, instruction): (u64, u64, u64),
        mut ended: impl FnMut(u16, u64),
    ) {
        for (index, probe) in (0..).zip(&mut self.probes) {
            if probe.watch.end == pc
                && probe.watch.end_domain.is_none_or(|only| only == domain)
                && let Some((from, first)) = probe.started.take()
            {
                probe.add(cycle - from, instruction - first);
                ended(index, cycle - from);
            }
            if probe.watch.start == pc && probe.watch.start_domain.is_none_or(|only| only == domain) {
                probe.started = Some((start, instruction));
            }
        }
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
