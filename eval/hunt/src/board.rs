//! Runs systems under QEMU from programs that were built once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use board_facts::BoardText;
use build_tool::{Claim, Install, Loaded, Options, Programs, Toolchain, assemble, build_crate, build_kernel, prepare};
use manifest::{CrateSource, Document};
use record::EventsFile;
use report::Report;
use runner::{Go, Simulator};

use crate::plan::{Pace, Plan};

/// The player's package, from the root.
const PLAYER: &str = "tests/time/player";
/// That of the domain whose handler never returns.
const ENDLESS: &str = "tests/direct/endless";
/// Host time after which a run is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its report.
    pub report: Report,
    /// Seconds from programs to report.
    pub seconds: f64,
}

/// A way to admit and run systems: QEMU on this machine, or whatever drives a cluster.
pub trait Drive {
    /// Bounds over deadlines of the threads with deadlines, in the order of threads, if the system is admitted; else the codes of the
    /// refusals.
    ///
    /// # Errors
    /// The system is refused.
    fn admit(&self, plan: &Plan) -> Result<Vec<f64>, Vec<String>>;

    /// Runs a system that was admitted.
    ///
    /// # Errors
    /// The reason why it could not be run.
    fn run(&mut self, plan: &Plan) -> Result<Ran, String>;

    /// The manifest of a system, as it is run.
    fn manifest(&self, plan: &Plan) -> String;

    /// The rows of its threads, as they are run.
    fn rows(&self, plan: &Plan) -> String;

    /// Whether interrupts can reach handlers without the kernel.
    fn has_handlers(&self) -> bool;

    /// The smallest capacity that is admitted, in a plan's microseconds.
    fn least_us(&self) -> u64;

    /// Bytes that identify the programs that run, and the costs that they are admitted with.
    fn programs(&self) -> &[u8];
}

/// A board under QEMU on this machine.
pub struct Board {
    install: Install,
    simulator: Box<dyn Simulator>,
    name: String,
    system: String,
    kernel: Vec<u8>,
    player: Vec<u8>,
    /// Where interrupts can reach handlers without the kernel.
    endless: Option<Vec<u8>>,
    /// Kernel, player and the board's file, for [`Drive::programs`].
    programs: Vec<u8>,
    directory: PathBuf,
    claim: Claim,
    adverse: bool,
    pace: Pace,
    least_us: u64,
}

impl Board {
    /// Builds the programs. Hunts with different lanes can run at the same time.
    ///
    /// # Errors
    /// Something is missing, or does not build.
    pub fn new(name: &str, lane: u32, adverse: bool) -> Result<Board, String> {
        let told = |d: manifest::Diagnostic| d.to_string();
        let install = Install::find().map_err(told)?;
        let board = install.board(name).map_err(told)?;
        let file = install.board_file(name, Path::new(".")).map_err(told)?;
        let pace = if install.chip_of(&file).map_err(told)?.is_modelled { Pace::USUAL } else { Pace::SLOW };
        let least = board.rate().us(u64::from(board.switching().activation()) + 1);
        let least_us = (least / pace.stretch as f64).ceil() as u64;
        let simulator = runner::find(&board.simulator).map_err(|error| error.to_string())?;
        let chain = Toolchain::find(&install, &board.core).map_err(told)?;
        let kernel = build_kernel(&install, &chain, &board).map_err(told)?;
        let program = |path: &str| {
            let source = CrateSource { path: path.into(), bin: None, features: Vec::new() };
            let built = build_crate(&install, &chain, &board, &install.root.join(path), &source);
            built.map(|program| program.nominal).map_err(told)
        };
        let player = program(PLAYER)?;
        let endless = if board.secure().is_some() { Some(program(ENDLESS)?) } else { None };
        let system = format!("hunt-{lane}-{}", name.chars().take(4).collect::<String>());
        let claim = install.claim(&system, &mut || eprintln!("hunt: waiting for another hunt with lane {lane}"));
        let claim = claim.map_err(told)?;
        let directory = install.target.join("hunt").join(&system);
        fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let file = install.root.join("boards").join(name).join("board.toml");
        let file = BoardText::read(&file).map_err(|error| format!("{}: {error}", file.display()))?.text;
        let handlers = endless.as_deref().unwrap_or_default();
        let programs = [kernel.as_slice(), &player, handlers, file.as_bytes(), &[u8::from(adverse)]].concat();
        Ok(Board {
            install,
            simulator,
            name: name.to_owned(),
            system,
            kernel,
            player,
            endless,
            programs,
            directory,
            claim,
            adverse,
            pace,
            least_us,
        })
    }

    fn load(&self, plan: &Plan) -> Result<Loaded, String> {
        let path = self.directory.join("system.toml");
        let document = Document::parse(&path, &self.manifest(plan)).map_err(|d| d.to_string())?;
        Loaded::new(&self.install, document).map_err(|d| d.to_string())
    }
}

impl Drive for Board {
    fn admit(&self, plan: &Plan) -> Result<Vec<f64>, Vec<String>> {
        let loaded = self.load(plan).map_err(|what| vec![what])?;
        let code = |d: &manifest::Diagnostic| d.refusal().code.to_string();
        let admitted = loaded.admit(true).map_err(|all| all.iter().map(code).collect::<Vec<String>>())?;
        Ok(admitted.bounds.iter().map(|bound| bound.response as f64 / bound.deadline as f64).collect())
    }

    fn run(&mut self, plan: &Plan) -> Result<Ran, String> {
        let started = Instant::now();
        let acts = self.directory.join("acts.txt");
        fs::write(&acts, self.rows(plan)).map_err(|error| format!("{}: {error}", acts.display()))?;
        let loaded = self.load(plan)?;
        let of =
            |name: &String| match (&self.endless, plan.domain(name).is_some_and(|domain| domain.handlers.is_some())) {
                (Some(endless), true) => endless.clone(),
                _ => self.player.clone(),
            };
        let domains = loaded.document.manifest.domain.keys().map(of).collect();
        let programs = Programs { kernel: self.kernel.clone(), domains };
        let first = |all: Vec<manifest::Diagnostic>| all.first().map_or("refused".to_owned(), ToString::to_string);
        let built =
            assemble(&self.install, loaded, Options::default(), &programs, self.claim.clone()).map_err(first)?;
        let mut run = prepare(&built, false).map_err(|error| error.to_string())?;
        run.time_limit = Some(PATIENCE);
        run.watch.adverse = self.adverse;
        let ran = run.start(&*self.simulator, &mut |_| Go::On).map_err(|error| error.to_string())?;
        let events = EventsFile::open(&ran.events).map_err(|error| format!("{}: {error}", ran.events.display()))?;
        let report = Report::build(&built.description, &ran.summary, events).map_err(|error| error.to_string())?;
        if !report.run.finished {
            return Err(format!("the run ended early: {}", report.run.end));
        }
        Ok(Ran { report, seconds: started.elapsed().as_secs_f64() })
    }

    fn manifest(&self, plan: &Plan) -> String {
        let [player, endless] = [PLAYER, ENDLESS].map(|path| self.install.root.join(path).display().to_string());
        plan.manifest(&self.system, &self.name, [&player, &endless], self.pace)
    }

    fn rows(&self, plan: &Plan) -> String {
        plan.rows(self.pace)
    }

    fn has_handlers(&self) -> bool {
        self.endless.is_some()
    }

    fn least_us(&self) -> u64 {
        self.least_us
    }

    fn programs(&self) -> &[u8] {
        &self.programs
    }
}
