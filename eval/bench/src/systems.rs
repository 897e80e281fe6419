//! Builds a system of Cofferdam for a measurement, says what the observer watches in every run, and
//! checks that the run came to its end.

use std::path::{Path, PathBuf};

use build_tool::{Built, Install, Loaded, Profile};
use record::{EndReason, Watch};
use runner::{Go, ImageFacts, Outcome, ProfileSource, Run, Simulator};

use crate::chip::Chip;
use crate::rows::Row;
use crate::{Error, run};

/// A run that takes longer in modelled time hangs.
const LIMIT_SECONDS: u64 = 60;

/// A board, and what is needed to run something on it.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub install: &'a Install,
    pub simulator: &'a dyn Simulator,
    pub chip: &'a Chip,
    /// Of the chip.
    pub profile: Profile,
    /// For the runs' files.
    out: PathBuf,
}

impl<'a> Place<'a> {
    /// # Errors
    /// [`Error::Build`]: there is no such profile.
    pub(crate) fn new(
        install: &'a Install,
        simulator: &'a dyn Simulator,
        chip: &'a Chip,
        out: &Path,
    ) -> Result<Place<'a>, Error> {
        let profile = Profile::find(install, &chip.board.chip.name, &install.root);
        let profile = profile.map_err(|refusal| Error::Build(refusal.to_string()))?;
        Ok(Place { install, simulator, chip, profile, out: out.join(chip.prefix()) })
    }

    /// Builds the system of a manifest, which is named from the root of the repository, for this board.
    ///
    /// # Errors
    /// [`Error::Build`]: the first refusal.
    pub(crate) fn build(&self, manifest: &str, progress: &mut dyn FnMut(&str)) -> Result<Built, Error> {
        let refused = |refusal: &manifest::Diagnostic| Error::Build(refusal.to_string());
        let loaded = Loaded::load_for(self.install, &self.install.root.join(manifest), Some(&self.chip.board.name));
        build_tool::build(
            self.install,
            loaded.map_err(|refusal| refused(&refusal))?,
            build_tool::Options::default(),
            progress,
        )
        .map_err(|refusals| refusals.first().map_or_else(|| Error::Build("refused".to_owned()), refused))
    }

    /// The directory of a run's files.
    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }

    /// The facts of the kernel's file that the observer needs, and the limit of the run.
    ///
    /// # Errors
    /// When the kernel's file cannot be read.
    pub(crate) fn watch(&self, kernel: &Path) -> Result<Watch, Error> {
        watch(kernel, self.chip, &self.profile)
    }

    /// Runs an image to its end; the run's files go to a directory with this name.
    ///
    /// # Errors
    /// [`Error::Run`] unless it ends itself with status 0 and breaks no rule that hardware would enforce.
    pub(crate) fn start(&self, name: &str, image: &Path, directory: &str, watch: Watch) -> Result<Outcome, Error> {
        let machine = build_tool::machine(&self.chip.board);
        let run = Run::new(machine, image, self.out.join(directory), watch);
        let outcome = run.start(self.simulator, &mut |_| Go::On).map_err(|error| Error::Run(error.to_string()))?;
        let summary = &outcome.summary;
        if summary.end.reason != EndReason::Exit || summary.end.status != Some(0) || !summary.is_clean() {
            let (end, first) = (&summary.end, summary.violations.first());
            return Err(Error::Run(format!("{name}: ended by {end:?}, first violation {first:?}")));
        }
        Ok(outcome)
    }

    /// A row without a figure.
    pub(crate) fn row(&self, id: String, subject: &str, operation: String) -> Row {
        row(self.chip, id, subject, operation)
    }
}

/// The facts of the kernel's file that the observer needs, and the limit of the run.
///
/// # Errors
/// When the kernel's file cannot be read.
pub(crate) fn watch(kernel: &Path, chip: &Chip, profile: &Profile) -> Result<Watch, Error> {
    let facts = ImageFacts::read(kernel).map_err(|error| Error::Run(error.to_string()))?;
    Ok(Watch {
        profile: ProfileSource::Text(profile.text.clone()),
        trace_port: facts.trace_port,
        vectors: facts.vectors,
        cluster: build_tool::cluster(&chip.board),
        kernel_text: run::code_of(kernel)?,
        cycle_limit: LIMIT_SECONDS * profile.cpu_hz(),
        ..Watch::default()
    })
}

/// A row without a figure.
pub(crate) fn row(chip: &Chip, id: String, subject: &str, operation: String) -> Row {
    Row {
        command: format!("./cofferdam bench --only {id}"),
        id,
        board: chip.board.name.clone(),
        profile: chip.board.chip.name.clone(),
        subject: subject.to_owned(),
        operation,
        ..Row::default()
    }
}
