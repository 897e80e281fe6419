//! Runs `eval/peers/freertos-regions` under the observer and prints how many modelled cycles a miss takes there.
//!
//! The observer is found beside this program: `./cofferdam --version` builds it. Exit code 1 with a reason when anything fails.
#![forbid(unsafe_code)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use build_tool::{Install, Profile};
use record::{EndReason, EventsReader, ProbeWatch, Watch, observed};
use runner::{Go, ImageFacts, Machine, Mode, ProfileSource, Qemu, Run};

/// The chip that is modelled.
const PROFILE: &str = "stm32f767";
/// A run that takes longer hangs: 10 s of modelled time.
const CYCLE_LIMIT: u64 = 2_160_000_000;

/// The number of the exception that a miss is.
const MEMORY_FAULT: u16 = 4;
/// First instruction of its handler.
const START: &str = "regions_memory_fault";
/// The instruction behind the load that misses.
const END: &str = "probe_miss_end";

fn main() -> ExitCode {
    match measure() {
        Ok(Misses { cycles, interrupted }) => {
            println!("modelled cycles ({PROFILE}), FreeRTOS-MPU 11.2 on mps2-an500, table in DTCM, handler in ITCM");
            println!("from the faulting load to the instruction behind it, {} times:", cycles.len());
            let middle = cycles[cycles.len() / 2];
            println!("least {}, median {middle}, most {}", cycles[0], cycles[cycles.len() - 1]);
            println!("not counted: {interrupted} that an interrupt lengthened");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("cofferdam-stand-alone: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The misses that were measured.
struct Misses {
    /// Cycles of each, ascending; not empty.
    cycles: Vec<u32>,
    /// How many more there were, with another exception inside.
    interrupted: usize,
}

/// The samples of the one probe, told apart by the exceptions before each.
fn misses(events: &Path) -> Result<Misses, String> {
    let file = File::open(events).map_err(|error| format!("{}: {error}", events.display()))?;
    let (mut cycles, mut interrupted, mut clean) = (Vec::new(), 0, false);
    for event in EventsReader::new(file).map_err(|error| error.to_string())? {
        let event = event.map_err(|error| error.to_string())?;
        match event.event {
            observed::EXCEPTION_ENTRY => clean = event.detail == MEMORY_FAULT,
            observed::PROBE if clean => cycles.push(event.payload),
            observed::PROBE => interrupted += 1,
            _ => {}
        }
    }
    cycles.sort_unstable();
    if cycles.is_empty() { Err("no miss was seen".to_owned()) } else { Ok(Misses { cycles, interrupted }) }
}

/// Builds the example with its own Makefile.
fn build(install: &Install, out: &Path) -> Result<PathBuf, String> {
    let mut make = Command::new("make");
    make.args(["-s", "-C"]).arg(install.root.join("eval/peers/freertos-regions")).arg("all");
    let status = make.arg(format!("BUILD={}", out.display())).status().map_err(|error| format!("make: {error}"))?;
    if status.success() { Ok(out.join("freertos-regions.elf")) } else { Err(format!("make: {status}")) }
}

fn measure() -> Result<Misses, String> {
    let install = Install::find().map_err(|refusal| refusal.to_string())?;
    let simulator = runner::find(Qemu::NAME).map_err(|error| error.to_string())?;
    let profile = Profile::find(&install, PROFILE, &install.root).map_err(|refusal| refusal.to_string())?;
    let out = install.target.join("stand-alone");
    std::fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let image = build(&install, &out)?;
    let facts = ImageFacts::read(&image).map_err(|error| error.to_string())?;
    let symbol = |name: &str| facts.symbol(name).ok_or_else(|| format!("the image has no symbol {name}"));
    let probe =
        ProbeWatch { name: "miss".to_owned(), start: symbol(START)?, end: symbol(END)?, ..ProbeWatch::default() };
    let watch = Watch {
        profile: ProfileSource::Text(profile.text.clone()),
        mode: Mode::Exact,
        trace_port: Some(symbol("peer_port")?),
        vectors: facts.vectors.clone(),
        cycle_limit: CYCLE_LIMIT,
        probes: vec![probe],
        exception_events: true,
        ..Watch::default()
    };
    let outcome = Run::new(Machine::named(&profile.parameters.board), &image, out.join("run"), watch)
        .start(&*simulator, &mut |_| Go::On);
    let outcome = outcome.map_err(|error| error.to_string())?;
    let summary = &outcome.summary;
    if summary.end.reason != EndReason::Exit || summary.end.status != Some(0) {
        return Err(format!("the run ended by {:?}, status {:?}", summary.end.reason, summary.end.status));
    }
    misses(&outcome.events)
}
