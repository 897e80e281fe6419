//! `cofferdam-soft-core MODEL --image FILE --watch FILE --console FILE`: runs an image on a Verilated model of the soft core (`rtl/`), and writes events and
//! summary of the run as the request asks. The exit code is the image's; 2 when the run cannot be begun, 3 when it was not ended by its bench.

mod stream;

use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};

use abi::trace::{Event, exit_code};
use observer::{At, SoftCore};
use record::{EndReason, STACK_BYTES, Watch};
use stream::{Entry, Told};

const CANNOT_BEGIN: u8 = 2;
const BROKEN_OFF: u8 = 3;

/// The arguments.
struct Arguments {
    model: PathBuf,
    image: PathBuf,
    watch: PathBuf,
    console: PathBuf,
}

fn main() -> ExitCode {
    match run() {
        Ok(status) => ExitCode::from(status),
        Err((status, why)) => {
            eprintln!("cofferdam: {why}");
            ExitCode::from(status)
        }
    }
}

type Failed = (u8, String);

fn run() -> Result<u8, Failed> {
    let begin = |why: String| (CANNOT_BEGIN, why);
    let arguments = arguments().map_err(begin)?;
    let watch = observer::read_watch(&arguments.watch).map_err(begin)?;
    let mut bench = start(&arguments, &watch).map_err(begin)?;
    let observer = SoftCore::begin(watch).map_err(begin);
    let ended = match (observer, bench.stdout.take()) {
        (Ok(observer), Some(record)) => follow(observer, record),
        (Err(why), _) => Err(why),
        (_, None) => Err((BROKEN_OFF, "the bench has no output".into())),
    };
    if ended.is_err() {
        let _ = bench.kill();
    }
    bench.wait().map_err(|error| (BROKEN_OFF, format!("the bench: {error}")))?;
    ended
}

fn arguments() -> Result<Arguments, String> {
    let mut given = std::env::args_os().skip(1);
    let mut named = [("--image", None), ("--watch", None), ("--console", None)];
    let model = given.next().map(PathBuf::from).ok_or("no model")?;
    while let Some(name) = given.next() {
        let place = named.iter_mut().find(|(known, _)| name == *known);
        let (_, value) = place.ok_or_else(|| format!("unknown argument {}", name.display()))?;
        *value = Some(PathBuf::from(given.next().ok_or_else(|| format!("{} needs a value", name.display()))?));
    }
    let [image, watch, console] = named.map(|(name, value)| value.ok_or_else(|| format!("{name} is missing")));
    Ok(Arguments { model, image: image?, watch: watch?, console: console? })
}

/// Starts the model, whose standard output is the record.
fn start(arguments: &Arguments, watch: &Watch) -> Result<Child, String> {
    let port = watch.trace_port.ok_or("the image has no trace port")?;
    let clock = watch.clock.ok_or("the request names no clock")?;
    let mut command = Command::new(&arguments.model);
    command.arg(&arguments.image).arg("--console").arg(&arguments.console).args(["--record", "-"]);
    command.arg("--port").arg(port.to_string()).arg("--clock").arg(clock.register.to_string());
    command.arg("--faults").arg((Event::Fault as u8).to_string()).arg("--stack-bytes").arg(STACK_BYTES.to_string());
    if let Some(waves) = &watch.waves {
        command.arg("--waves").arg(&waves.file);
        command.arg("--waves-from").arg(waves.from.to_string()).arg("--waves-to").arg(waves.to.to_string());
    }
    for address in watch.probes.iter().flat_map(|probe| [probe.start, probe.end]) {
        command.arg("--probe").arg(address.to_string());
    }
    if let Some(frames) = frames(arguments, watch)? {
        command.arg("--frames").arg(frames);
    }
    if watch.domains.iter().any(|domain| domain.hostile) {
        command.arg("--stores");
    }
    let limit = if watch.cycle_limit == 0 { u64::MAX } else { watch.cycle_limit };
    command.arg("--max-cycles").arg(limit.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().map_err(|error| format!("starting `{}`: {error}", arguments.model.display()))
}

/// Writes the file of frames beside the request, if there are any.
fn frames(arguments: &Arguments, watch: &Watch) -> Result<Option<PathBuf>, String> {
    const READ: u32 = 1;
    let line = |frames: &record::FrameWatch| {
        let rights = READ | u32::from(frames.write) << 1 | u32::from(frames.execute) << 2;
        format!("{:x} {rights:x} {:x} {:x} {:x}\n", frames.space, frames.range.start, frames.range.end, frames.at)
    };
    if watch.frames.is_empty() {
        return Ok(None);
    }
    let path = arguments.watch.with_file_name("frames.txt");
    let text: String = watch.frames.iter().map(line).collect();
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Some(path))
}

/// Reads the record to its end.
fn follow(mut observer: SoftCore, record: impl Read) -> Result<u8, Failed> {
    let mut record = BufReader::with_capacity(1 << 16, record);
    loop {
        let broken = |why: String| (BROKEN_OFF, why);
        let entry = Entry::read(&mut record).map_err(|error| broken(format!("the bench's record: {error}")))?;
        match entry.told().map_err(broken)? {
            Told::Happened(happened) => observer.see(entry.at, happened),
            Told::Ended { status, reason } => return finish(observer, entry.at, status, reason),
        }
        if observer.has_failed() {
            return finish(observer, entry.at, u32::from(BROKEN_OFF), EndReason::ObserverFailed);
        }
    }
}

/// The exit code is the low byte of the status, but never 0 for another one.
fn finish(observer: SoftCore, at: At, status: u32, reason: EndReason) -> Result<u8, Failed> {
    observer.finish(at, reason).map_err(|error| (BROKEN_OFF, format!("writing the results: {error}")))?;
    Ok(exit_code(status))
}
