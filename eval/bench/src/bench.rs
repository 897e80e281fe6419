//! Builds and runs a system of Cofferdam for a measurement under the observer, and checks that the run came to its end.

use std::path::{Path, PathBuf};

use build_tool::{Built, Install, Instead, Loaded, Profile};
use object::{Object, ObjectSegment, SegmentFlags};
use record::{EndReason, EventsFile, Range, Watch};
use report::Report;
use runner::{Go, ImageFacts, Outcome, ProfileSource, Run, Simulator};

use crate::chip::Chip;
use crate::error::Error;
use crate::rows::Row;

/// A run that takes longer in modelled time hangs.
const LIMIT_SECONDS: u64 = 60;

/// A board with everything that a run on it needs.
#[derive(Debug)]
pub struct Bench<'a> {
    pub(crate) install: &'a Install,
    /// With the observer.
    pub(crate) simulator: &'a dyn Simulator,
    /// The board.
    pub(crate) chip: &'a Chip,
    /// Of the chip.
    pub(crate) profile: Profile,
    /// Directory of the runs' files.
    out: PathBuf,
}

impl<'a> Bench<'a> {
    /// The runs' files go below `out`.
    ///
    /// # Errors
    /// [`Error::Build`]: there is no such profile.
    pub fn new(install: &'a Install, simulator: &'a dyn Simulator, chip: &'a Chip, out: &Path) -> Result<Self, Error> {
        let profile = Profile::find(install, &chip.board.chip.name, &install.root);
        let profile = profile.map_err(|refusal| Error::Build(refusal.to_string()))?;
        Ok(Self { install, simulator, chip, profile, out: out.join(chip.prefix()) })
    }

    /// Builds the system of a manifest, which is named from the root of the repository, for this board.
    ///
    /// # Errors
    /// [`Error::Build`]: the first refusal.
    pub(crate) fn build(&self, manifest: &str, progress: &mut dyn FnMut(&str)) -> Result<Built, Error> {
        self.build_with(manifest, build_tool::Options::default(), progress)
    }

    /// As [`Bench::build`], with deviations from the manifest.
    pub(crate) fn build_with(
        &self,
        manifest: &str,
        options: build_tool::Options,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Built, Error> {
        let refused = |refusal: &manifest::Diagnostic| Error::Build(refusal.to_string());
        let loaded =
            Loaded::load_for(self.install, &self.install.root.join(manifest), Instead::board(&self.chip.board.name));
        build_tool::build(self.install, loaded.map_err(|refusal| refused(&refusal))?, options, progress)
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
        let facts = ImageFacts::read(kernel).map_err(|error| Error::Run(error.to_string()))?;
        Ok(Watch {
            profile: ProfileSource::Text(self.profile.text.clone()),
            trace_port: facts.trace_port,
            vectors: facts.vectors,
            clock: Some(build_tool::clock(&self.chip.board)),
            cluster: build_tool::cluster(&self.chip.board),
            kernel_text: code_of(kernel)?,
            cycle_limit: LIMIT_SECONDS * self.profile.cpu_hz(),
            ..Watch::default()
        })
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

/// Runs a system to its end, and its report, which says that all was as promised.
///
/// # Errors
/// A text: the run or its report failed, or something was not as promised.
pub(crate) fn reported(built: &Built, run: Run, simulator: &dyn Simulator) -> Result<(Outcome, Report), String> {
    let outcome = run.start(simulator, &mut |_| Go::On).map_err(|error| error.to_string())?;
    let events = EventsFile::open(&outcome.events).map_err(|error| error.to_string())?;
    let report = Report::build(&built.description, &outcome.summary, events).map_err(|error| error.to_string())?;
    match report.verdict.failures.first() {
        Some(failure) => Err(failure.text.clone()),
        None => Ok((outcome, report)),
    }
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
        exact: chip.is_exact(),
        ..Row::default()
    }
}

/// Address ranges of a program's executable segments.
pub(crate) fn code_of(path: &Path) -> Result<Vec<Range>, Error> {
    let bytes = std::fs::read(path).map_err(|error| Error::file(path, &error))?;
    let file = object::File::parse(&*bytes).map_err(|error| Error::file(path, &error))?;
    let executable = |flags| matches!(flags, SegmentFlags::Elf { p_flags } if p_flags & object::elf::PF_X != 0);
    let segments = file.segments().filter(|segment| executable(segment.flags()));
    Ok(segments.map(|s| Range { start: s.address() as u32, end: (s.address() + s.size()) as u32 }).collect())
}
