//! Runs an image with what it says about itself and prints the summary: `observe IMAGE [DIRECTORY] [exact|quantum] [PROFILE]`.

use std::path::PathBuf;

use runner::{Go, ImageFacts, Mode, ProfileSource, Run, RunError, Tools, Watch};

fn main() -> Result<(), RunError> {
    let mut arguments = std::env::args().skip(1);
    let image = PathBuf::from(arguments.next().unwrap_or_default());
    let directory = arguments.next().unwrap_or_else(|| "target/observe".to_owned());
    let mode = if arguments.next().as_deref() == Some("exact") { Mode::Exact } else { Mode::Quantum };
    let profile = arguments.next().map_or_else(ProfileSource::default, |path| ProfileSource::Path(path.into()));
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
    let outcome = Run::new(image, directory, watch).start(&Tools::find()?, &mut |at| {
        eprintln!("{} cycles, {} instructions", at.cycles, at.instructions);
        Go::On
    })?;
    print!("{}", outcome.summary.to_json());
    Ok(())
}
