//! Runs an image with what it says about itself and prints the summary: `observe BOARD IMAGE [DIRECTORY] [exact|quantum] [CHIP]`.

use std::path::{Path, PathBuf};

use runner::{Go, ImageFacts, Machine, Mode, ProfileSource, Qemu, Run, RunError, Watch};

/// The profile of a chip that comes with Cofferdam.
fn chip(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = timing::profile::read_text(&root.join("chips").join(format!("{name}.toml")), &root.join("cores"));
    text.unwrap_or_else(|why| panic!("{name}: {why}")).profile
}

fn main() -> Result<(), RunError> {
    let mut arguments = std::env::args().skip(1);
    let board = arguments.next().unwrap_or_default();
    let image = PathBuf::from(arguments.next().unwrap_or_default());
    let directory = arguments.next().unwrap_or_else(|| "target/observe".to_owned());
    let mode = if arguments.next().as_deref() == Some("exact") { Mode::Exact } else { Mode::Quantum };
    let profile = arguments.next().map_or_else(ProfileSource::default, |name| ProfileSource::Text(chip(&name)));
    let facts = ImageFacts::read(&image)?;
    let range = |start: &str, end: &str| Some(record::Range { start: facts.symbol(start)?, end: facts.symbol(end)? });
    let kernel_text = range("kernel_start", "kernel_end").into_iter().collect();
    let watch = Watch {
        profile,
        mode,
        trace_port: facts.trace_port,
        vectors: facts.vectors.clone(),
        kernel_text,
        exception_events: true,
        ..Watch::default()
    };
    runner::stop_on_interrupt();
    let outcome =
        Run::new(Machine::named(&board), image, directory, watch).start(&*runner::find(Qemu::NAME)?, &mut |at| {
            eprintln!("{} cycles, {} instructions", at.cycles, at.instructions);
            Go::On
        })?;
    print!("{}", outcome.summary.to_json());
    Ok(())
}
