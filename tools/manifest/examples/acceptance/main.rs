//! How many random systems `check` would admit, against how much of the processor their threads use: docs/time.md, "How tight".
//!
//! `cargo run --release -p cofferdam-manifest --example acceptance [DIRECTORY]` prints the utilisation at which half of the systems are
//! admitted, and writes `acceptance.csv` for both boards and `acceptance.svg` for the first. The same seed gives the same files.

mod draw;
mod judge;
mod sets;

use std::fmt::Write as _;
use std::path::Path;

use judge::{Judge, judges};
use manifest::{Board, BoardFile, Chip, Core, Diagnostic, Setup};
use sched::response::Costs;
use sets::{Periods, random};
use testing::Rng;

const SETS: usize = 2_000;
const SEED: u64 = 12;

/// The share of admitted sets at each utilisation, in percent of the processor.
struct Curve {
    name: &'static str,
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// The utilisation at which half of the sets are admitted, in percent.
    fn half(&self) -> f64 {
        let below = self.points.windows(2).find(|pair| pair[0].1 >= 0.5 && pair[1].1 < 0.5);
        below.map_or(f64::NAN, |pair| {
            let [(u, high), (v, low)] = [pair[0], pair[1]];
            u + (v - u) * (high - 0.5) / (high - low)
        })
    }
}

fn costs(board: &Board) -> Costs {
    Costs {
        switching: board.switching(),
        masked: board.ticks_in(board.kernel.masked_cycles),
        late: board.rate().counts_in(board.enforcement_ns).ceil(),
        miss: 0,
        look: u64::from(board.ticks_per_second) / 2,
    }
}

fn curves(costs: &Costs, periods: Periods) -> Vec<Curve> {
    let judges = judges();
    let mut curves: Vec<Curve> = judges.iter().map(|judge| Curve { name: judge.name, points: Vec::new() }).collect();
    for percent in (20..=100).step_by(2) {
        let mut rng = Rng::new(SEED);
        let sets: Vec<_> = (0..SETS).map(|_| random(&mut rng, f64::from(percent) / 100.0, periods)).collect();
        for (curve, judge) in curves.iter_mut().zip(&judges) {
            let admitted = sets.iter().filter(|set| admits(judge, set, costs)).count();
            curve.points.push((f64::from(percent), admitted as f64 / SETS as f64));
        }
    }
    curves
}

fn admits(judge: &Judge, set: &[sets::Task], costs: &Costs) -> bool {
    (0..set.len()).all(|i| judge.admits(set, i, costs))
}

fn table(title: &str, curves: &[Curve], csv: &mut String) {
    let [ours, plain] = [curves[0].half(), curves[1].half()];
    println!("{title}: half of the systems are admitted at");
    for curve in curves {
        let half = curve.half();
        println!("  {:<34}{half:>6.1} %  {:>+6.1} points", curve.name, half - ours);
        for (utilisation, ratio) in &curve.points {
            let _ = writeln!(csv, "{title},{},{utilisation},{ratio}", curve.name);
        }
    }
    println!("  behind deadline-monotonic analysis: {:.1} points", plain - ours);
}

/// The board with its core, and the clock of its chip.
fn board(root: &Path, name: &str) -> std::io::Result<Board> {
    let wrong = |refusal: Diagnostic| std::io::Error::other(refusal.to_string());
    let read = |path: String| std::fs::read_to_string(root.join(path));
    let file = BoardFile::parse(&read(format!("boards/{name}/board.toml"))?, root.into()).map_err(wrong)?;
    let chip: toml::Table = read(format!("chips/{}.toml", file.chip))?.parse().map_err(std::io::Error::other)?;
    let core = chip["core"].as_str().unwrap_or_default();
    let core = Core::parse(&read(format!("cores/{core}.toml"))?).map_err(wrong)?;
    let cpu_hz = chip["core_clock"]["value"].as_integer().unwrap_or_default() as u64;
    file.supported(core, |_| Chip { cpu_hz, ..Chip::default() }, Setup::default()).map_err(wrong)
}

fn main() -> std::io::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "target/acceptance".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut csv = String::from("systems,analysis,utilisation_percent,admitted\n");
    let mut panels = Vec::new();
    for name in ["mps2-an500", "xilinx-zynq-a9"] {
        let board = board(&root, name)?;
        for periods in Periods::ALL {
            let title = format!("{name}: {}", periods.text());
            let curves = curves(&costs(&board), periods);
            table(&title, &curves, &mut csv);
            if panels.len() < Periods::ALL.len() {
                panels.push((title, curves));
            }
        }
    }
    std::fs::create_dir_all(&directory)?;
    std::fs::write(Path::new(&directory).join("acceptance.csv"), csv)?;
    std::fs::write(Path::new(&directory).join("acceptance.svg"), draw::figure(&panels))
}
