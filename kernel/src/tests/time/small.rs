//! Small systems, with every program of a small language: a victim, two hostile threads on one budget, a gate, a line that is up
//! whenever it can be, paths at their bounds. A program is a cycle of steps.

use std::vec::Vec;

use abi::Call;
use sched::response::{Sharing, sharing};

use super::drive::{Paths, Run};
use super::systems::{self, GATE, Hostile, LINE, System, Victim, WORDS, bounds, word};
use super::{COSTS, START, release};

/// Ticks that times in this file count in.
const UNIT: u32 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Run,
    Sleep,
    Signal,
    Wait,
    /// Calls the gate, and stays inside until shortly before the bound.
    Call,
    /// Acknowledges the line and waits for it.
    Device,
    /// Enters the gate and leaves it at once.
    Knock,
    Doze,
}

const STEPS: [Step; 6] = [Step::Run, Step::Sleep, Step::Signal, Step::Wait, Step::Call, Step::Device];

/// Every program of so many steps.
fn programs(length: u32) -> impl Iterator<Item = Vec<Step>> {
    let step = move |index: usize, position: u32| STEPS[index / STEPS.len().pow(position) % STEPS.len()];
    (0..STEPS.len().pow(length)).map(move |index| (0..length).map(|position| step(index, position)).collect())
}

impl Run<'_> {
    pub fn performs(&mut self, who: usize, step: Step) {
        let half = u64::from(UNIT) / 2;
        self.busy[who] = 0;
        match step {
            Step::Run => self.busy[who] = half,
            Step::Sleep => self.sleep(half - (self.kernel.arch.now - START) % half),
            Step::Signal => self.asks(Call::Signal, [word(0), 1, 0, 0]),
            Step::Wait => self.asks(Call::Wait, [word(0), 1, 0, 0]),
            Step::Call => {
                self.busy[who] = u64::from(self.system.gate.1 - COSTS.switching.path());
                self.asks(Call::GateCall, [GATE, 0, 0, 0]);
            }
            Step::Knock => self.asks(Call::GateCall, [GATE, 0, 0, 0]),
            Step::Doze => self.sleep(1),
            Step::Device => {
                self.then[who] = Some((Call::Wait, [word(WORDS - 1), 1, 0, 0]));
                self.asks(Call::InterruptAck, [LINE, 0, 0, 0]);
            }
        }
    }
}

/// A victim of priority 3 and two others; `None` if it is not admitted.
fn system(periods: [u32; 2], capacity: u32, priorities: [u8; 2], calls: bool) -> Option<(System, Vec<u64>)> {
    let [period, other] = periods.map(|units| units * UNIT);
    let victim = Victim { priority: 3, budget: 0, period, wcet: UNIT, calls };
    let hostile = priorities.map(|priority| Hostile { priority, budget: 1 }).to_vec();
    let mut small = System {
        victims: vec![victim],
        hostile,
        budgets: vec![(period, 0), (other, capacity)],
        gate: (2, 300),
        reload: 0,
    };
    if let Sharing::Exceeded { demand } = sharing(period.into(), 0, &systems::shares(&small, 0), 0, &COSTS) {
        small.budgets[0].1 = demand as u32;
    }
    bounds(&small).map(|bounds| (small, bounds))
}

/// Plays every pair of programs of these lengths for two hyperperiods.
fn all(small: &System, bounds: &[u64], lengths: [u32; 2], units: u32) -> (u32, u64) {
    let (mut played, mut worst) = (0, 0);
    for first in programs(lengths[0]) {
        for second in programs(lengths[1]) {
            let mut run = Run::new(small, 0);
            run.take_scripts(vec![(first.clone(), 0), (second, 0)], Paths::Longest);
            run.play_until(START + 2 * u64::from(units * UNIT), bounds);
            let late = run.worst[0] > bounds[0];
            assert!(
                !late && run.complaint.is_none(),
                "{:?} of {bounds:?}, {:?}\n{:?}\n{}",
                run.worst,
                run.complaint,
                run.scripts,
                run.story()
            );
            worst = worst.max(run.worst[0]);
            played += 1;
            release(run.kernel);
        }
    }
    (played, worst)
}

#[test]
fn no_small_program_delays_a_victim_beyond_its_bound() {
    let cases = [
        ([8, 4], 8, [2, 2], false, [2, 2]),
        ([8, 4], 8, [2, 4], true, [2, 2]),
        ([6, 4], 12, [2, 2], false, [2, 2]),
        ([7, 5], 35, [2, 2], false, [3, 1]),
    ];
    for (periods, units, priorities, calls, lengths) in cases {
        let (small, bounds) = system(periods, 1_000, priorities, calls).unwrap();
        let (played, worst) = all(&small, &bounds, lengths, units);
        std::println!("{periods:?} {priorities:?}: {played} pairs of programs, {worst} of {}", bounds[0]);
        assert_eq!(played, 6u32.pow(lengths[0] + lengths[1]));
    }
}
