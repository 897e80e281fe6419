//! What measuring a system of Cofferdam begins and ends with, whatever is measured in it: building it, what is watched in every run, and
//! whether the run came to its end.

use std::path::Path;

use build_tool::{Built, Install, Loaded, Profile};
use record::{EndReason, Watch};
use runner::{Go, ImageFacts, Outcome, ProfileSource, Run, Tools};

use crate::rows::Row;
use crate::{Error, run};

/// A run that takes longer hangs: 60 s of modelled time.
const CYCLE_LIMIT: u64 = 60 * 216_000_000;

/// Builds the system of a manifest, which is named from the root of the repository.
///
/// # Errors
/// [`Error::Build`]: the first refusal.
pub(crate) fn build(install: &Install, manifest: &str, progress: &mut dyn FnMut(&str)) -> Result<Built, Error> {
    let refused = |refusal: &manifest::Diagnostic| Error::Build(refusal.to_string());
    let loaded = Loaded::load(install, &install.root.join(manifest)).map_err(|refusal| refused(&refusal))?;
    build_tool::build(install, loaded, build_tool::Options::default(), progress)
        .map_err(|refusals| refusals.first().map_or_else(|| Error::Build("refused".to_owned()), refused))
}

/// What the observer needs to know of the kernel, and the limit of the run.
///
/// # Errors
/// When the kernel's file cannot be read.
pub(crate) fn watch(kernel: &Path, profile: &Profile) -> Result<Watch, Error> {
    let facts = ImageFacts::read(kernel).map_err(|error| Error::Run(error.to_string()))?;
    Ok(Watch {
        profile: ProfileSource::Text(profile.text.clone()),
        trace_port: facts.trace_port,
        vectors: facts.vectors,
        kernel_text: run::code_of(kernel)?,
        cycle_limit: CYCLE_LIMIT,
        ..Watch::default()
    })
}

/// Runs an image to its end; the run's files go to `directory`.
///
/// # Errors
/// [`Error::Run`] unless it ends itself with status 0 and breaks no rule that hardware would enforce.
pub(crate) fn start(name: &str, image: &Path, directory: &Path, watch: Watch, tools: &Tools) -> Result<Outcome, Error> {
    let mut run = Run::new(image, directory, watch);
    run.board = crate::peers::BOARD.to_owned();
    let outcome = run.start(tools, &mut |_| Go::On).map_err(|error| Error::Run(error.to_string()))?;
    let summary = &outcome.summary;
    if summary.end.reason != EndReason::Exit || summary.end.status != Some(0) || !summary.is_clean() {
        let (end, first) = (&summary.end, summary.violations.first());
        return Err(Error::Run(format!("{name}: ended by {end:?}, first violation {first:?}")));
    }
    Ok(outcome)
}

/// A row without a figure.
pub(crate) fn row(id: String, subject: &str, operation: String) -> Row {
    Row {
        command: format!("./cofferdam bench --only {id}"),
        id,
        board: crate::peers::BOARD.to_owned(),
        profile: run::PROFILE.to_owned(),
        subject: subject.to_owned(),
        operation,
        ..Row::default()
    }
}
