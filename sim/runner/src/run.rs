//! One run.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use abi::trace::exit_code;
use record::{Architecture, End, EndReason, Masked, Progress, SUMMARY_VERSION, Summary, Watch, Witness};

use crate::error::RunError;
use crate::guard::{Guarded, is_interrupted};
use crate::monitor::Monitor;
use crate::simulator::{Machine, Simulator, Start};

const PATIENCE: Duration = Duration::from_millis(100);
/// The same where the end is looked for.
const PATIENCE_LOOKING: Duration = Duration::from_millis(20);
/// How long a simulator may take that is told to end.
const FAREWELL: Duration = Duration::from_secs(5);
const OUTPUT_TOLD_BYTES: usize = 2000;

/// An image with the conditions of its run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The image, an ELF file for the board.
    pub image: PathBuf,
    /// Directory of the run's files; created when missing.
    pub directory: PathBuf,
    /// The request to the observer. The paths of events, summary and progress are filled in.
    pub watch: Watch,
    /// The board.
    pub machine: Machine,
    /// Host time after which the run is killed.
    pub time_limit: Option<Duration>,
    /// Wait for a debugger on this TCP port of the local host before the first instruction.
    pub debugger_port: Option<u16>,
}

/// The caller's answer to a report of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// The run goes on.
    On,
    /// The run is killed; there is still an outcome if the observer could write one.
    Stop,
}

/// Why a simulator does not run any more.
enum Over {
    /// It has ended.
    Itself(ExitStatus),
    /// The kernel has ended the run with this status.
    Kernel(u32),
    /// It was stopped.
    Stopped,
}

/// The result of a run, and its files.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The summary, with the guest's exit status; also in `summary_path`.
    pub summary: Summary,
    /// The summary's file.
    pub summary_path: PathBuf,
    /// The events file; empty in the fall-back.
    pub events: PathBuf,
    /// The guest's output to its first UART.
    pub uart: PathBuf,
    /// The output of the simulator.
    pub output: PathBuf,
}

impl Run {
    /// A run without limits.
    pub fn new(machine: Machine, image: impl Into<PathBuf>, directory: impl Into<PathBuf>, watch: Watch) -> Self {
        let (image, directory) = (image.into(), directory.into());
        Self { image, directory, watch, machine, time_limit: None, debugger_port: None }
    }

    /// Runs to the end. `progress` is called about ten times a second.
    ///
    /// # Errors
    /// When the run could not start, or the simulator ended without a summary.
    pub fn start(
        mut self,
        simulator: &dyn Simulator,
        progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<Outcome, RunError> {
        simulator.has(&self.machine)?;
        fs::create_dir_all(&self.directory).map_err(|error| RunError::File(self.directory.clone(), error))?;
        let directory = self.directory.canonicalize().map_err(|error| RunError::File(self.directory.clone(), error))?;
        let file = |name: &str| directory.join(name);
        let (uart, output) = (file("uart.txt"), file("simulator.log"));
        let config = file("watch.json");
        self.watch.events = file("events.bin");
        self.watch.summary = file("summary.json");
        self.watch.progress = Some(file("progress.bin"));
        self.watch.debugger = self.debugger_port.is_some();
        self.watch.image.clone_from(&self.image);
        if let Some(waves) = &mut self.watch.waves {
            waves.file = file("waves.fst");
            remove(&waves.file)?;
        }
        for stale in [&self.watch.events, &self.watch.summary, &uart, &output, &file("progress.bin")] {
            remove(stale)?;
        }
        if let Some(counter) = self.watch.handlers.as_mut().and_then(|handlers| handlers.counter.as_mut()) {
            (counter.share, counter.receiver) = (file("memory.bin"), file("receiver"));
            remove(&counter.share)?;
            remove(&counter.receiver)?;
            share(&counter.share, self.machine.memory.as_deref())?;
            fifo(&counter.receiver)?;
        }
        let text = serde_json::to_string_pretty(&self.watch).expect("a watch holds only plain values");
        write(&config, text.as_bytes())?;
        let command = self.command(simulator, &config, &uart, &output)?;
        let started = Instant::now();
        let over = self.supervise(command, simulator, progress)?;
        let summary = self.summary(over, &output, started.elapsed())?;
        note(&self.machine.name, summary.cycles);
        write(&self.watch.summary, summary.to_json().as_bytes())?;
        Ok(Outcome { summary, summary_path: self.watch.summary, events: self.watch.events, uart, output })
    }

    fn command(
        &self,
        simulator: &dyn Simulator,
        config: &Path,
        uart: &Path,
        output: &Path,
    ) -> Result<Command, RunError> {
        let log = File::create(output).map_err(|error| RunError::File(output.to_path_buf(), error))?;
        let log_too = log.try_clone().map_err(|error| RunError::File(output.to_path_buf(), error))?;
        let mut command = simulator.command(&Start {
            machine: &self.machine,
            image: &self.image,
            watch: config,
            mode: self.watch.mode,
            uart,
            counter: self.watch.handlers.as_ref().and_then(|handlers| handlers.counter.as_ref()),
            debugger_port: self.debugger_port,
        });
        if simulator.observes() {
            command.stdin(Stdio::null()).stdout(log);
        } else {
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
        }
        command.stderr(log_too);
        Ok(command)
    }

    fn supervise(
        &self,
        command: Command,
        simulator: &dyn Simulator,
        progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<Over, RunError> {
        let told = |error| RunError::Start(simulator.program().to_path_buf(), error);
        let mut guarded = Guarded::start(command).map_err(told)?;
        let monitor = guarded.streams.take().map(|(input, output)| Monitor::new(input, output));
        let mut monitor = monitor.transpose().map_err(told)?;
        let patience = if monitor.is_some() { PATIENCE_LOOKING } else { PATIENCE };
        let started = Instant::now();
        loop {
            if let Some(status) = guarded.wait(patience) {
                return status.map(Over::Itself).map_err(told);
            }
            if let Some((monitor, port)) = monitor.as_mut().zip(self.watch.trace_port)
                && let Some(status) = monitor.ended(port)
            {
                monitor.quit();
                let _ = guarded.wait(FAREWELL);
                return Ok(Over::Kernel(status));
            }
            let is_late = self.time_limit.is_some_and(|limit| started.elapsed() >= limit);
            let at = self.watch.progress.as_ref().and_then(|path| fs::read(path).ok());
            let go = progress(at.and_then(|bytes| Progress::from_bytes(&bytes)).unwrap_or_default());
            if is_late || is_interrupted() || go == Go::Stop {
                return Ok(Over::Stopped);
            }
        }
    }

    /// The observer's summary completed, or one that says how far it got.
    fn summary(&self, over: Over, output: &Path, elapsed: Duration) -> Result<Summary, RunError> {
        match fs::read_to_string(&self.watch.summary) {
            Ok(text) => {
                let mut summary = Summary::from_json(&text).map_err(RunError::Summary)?;
                if let (EndReason::Exit, None, Over::Itself(ended)) = (summary.end.reason, summary.end.status, over) {
                    summary.end.status = ended.code();
                }
                Ok(summary)
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(RunError::File(self.watch.summary.clone(), error))
            }
            Err(_) => match over {
                Over::Stopped => Ok(self.unmodelled(EndReason::Killed, None, elapsed)),
                Over::Kernel(status) => {
                    Ok(self.unmodelled(EndReason::Exit, Some(i32::from(exit_code(status))), elapsed))
                }
                Over::Itself(ended) => Err(RunError::NoSummary { ended: describe(ended), output: tail(output) }),
            },
        }
    }

    fn unmodelled(&self, reason: EndReason, status: Option<i32>, elapsed: Duration) -> Summary {
        let at = self.watch.progress.as_ref().and_then(|path| fs::read(path).ok());
        let at = at.and_then(|bytes| Progress::from_bytes(&bytes)).unwrap_or_default();
        let host_seconds = elapsed.as_secs_f64();
        Summary {
            version: SUMMARY_VERSION,
            profile: "none".to_owned(),
            architecture: Architecture::default(),
            modelled: false,
            exact: false,
            mode: self.watch.mode,
            quantum_cycles: 0,
            longest_block_cycles: 0,
            cpu_hz: 0,
            cycles: at.cycles,
            sleep_cycles: 0,
            instructions: at.instructions,
            domains: Vec::new(),
            exceptions: Vec::new(),
            masked: Masked::default(),
            violations: Vec::new(),
            violations_total: 0,
            witness: Witness::default(),
            probes: Vec::new(),
            areas: Vec::new(),
            disturbances: 0,
            faults: Vec::new(),
            broken_stretches: 0,
            clock: None,
            regions: None,
            counter: None,
            use_recorded: false,
            events: at.events,
            end: End { reason, status, trace_status: None },
            host_seconds,
            mips: at.instructions as f64 / host_seconds / 1e6,
        }
    }
}

/// Adds a line to the file that `COFFERDAM_RUNS` names, if there is one: scripts/test.sh compares what a suite runs with what it may.
fn note(machine: &str, cycles: u64) {
    let Some(list) = std::env::var_os("COFFERDAM_RUNS") else { return };
    let list = File::options().create(true).append(true).open(list);
    // In one write, so that suites' programs that append at the same time do not mix their lines. A list that cannot be written only counts too few.
    let _ = list.and_then(|mut list| list.write_all(format!("{machine} {cycles}\n").as_bytes()));
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    fs::write(path, bytes).map_err(|error| RunError::File(path.to_path_buf(), error))
}

/// A file of zeros of the simulator's size of memory, such as `16M`.
fn share(path: &Path, memory: Option<&str>) -> Result<(), RunError> {
    let memory = memory.unwrap_or_default();
    let shift = if memory.ends_with('G') { 30 } else { 20 };
    let number = memory.trim_end_matches(['M', 'G']).parse::<u64>().unwrap_or(0);
    let file = File::create(path).and_then(|file| file.set_len(number << shift));
    file.map_err(|error| RunError::File(path.to_path_buf(), error))
}

fn fifo(path: &Path) -> Result<(), RunError> {
    let failed = |error| RunError::File(path.to_path_buf(), error);
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| failed(error.into()))?;
    // SAFETY: the name is a C string.
    match unsafe { libc::mkfifo(name.as_ptr(), 0o600) } {
        0 => Ok(()),
        _ => Err(failed(io::Error::last_os_error())),
    }
}

fn remove(path: &Path) -> Result<(), RunError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RunError::File(path.to_path_buf(), error)),
        _ => Ok(()),
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// The end of a text file, for error messages.
fn tail(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let from = text.len().saturating_sub(OUTPUT_TOLD_BYTES);
    match String::from_utf8_lossy(&text[from..]).trim() {
        "" => "nothing".to_owned(),
        said => said.to_owned(),
    }
}
