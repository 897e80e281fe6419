//! The command line.

use std::path::PathBuf;

use clap::builder::TypedValueParser as _;
use clap::{Args, Parser, Subcommand};
use manifest::{Size, Time};

/// Isolates real software beside hard-real-time code on one chip, and shows what happens.
#[derive(Debug, Parser)]
#[command(name = "cofferdam", version, after_help = EXIT_CODES)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub verb: Verb,
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

const EXIT_CODES: &str = "Exit codes: 0 as promised; 1 the run ended, but not as promised (the report says why), or two \
reports differ; 2 wrong use of the \
command; 3 the manifest or a program was refused; 4 a program does not build; 5 a tool is missing or of the wrong version; 6 a file \
cannot be written; 70 the command itself does not build; 130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Make a directory with a starter system.
    New(New),
    /// Admit the system, or explain why not; nothing is run.
    Check(Check),
    /// Build the image.
    Build(Build),
    /// Build, run, and write the report. A program instead of a manifest runs in a domain of its own.
    Run(Run),
    /// Run many programs, each by itself, and print what each took, beside an earlier run.
    Suite(Suite),
    /// Run under gdb, with the symbols of kernel and every domain.
    Debug(Debug),
    /// Write the report of the last run again.
    Report(Again),
    /// Compare two reports: verdicts, times, budgets, gates, sizes. Exit code 0 when they are equal within the threshold, 1 when they differ.
    Diff(Diff),
    /// Run, and write a trace that Perfetto opens.
    Trace(Trace),
    /// Measure the kernel's paths beside FreeRTOS and FreeRTOS-MPU, and print the table.
    Bench(Bench),
    /// Measure what the kernel's paths cost at most, with caches as bad as can be, and compare with the board's file.
    Costs(Costs),
    /// Explain an error code, for example CF0303.
    Explain(Explain),
    /// List boards and their memories and devices.
    Boards,
    /// Print the flags with which programs become domains.
    Sdk(Sdk),
    /// Print what completes the command's words in a shell, for example bash.
    Completions(Completions),
    /// Print the manual page.
    Man,
    /// Print the JSON Schema of manifests, for editors.
    Schema,
}

impl Verb {
    /// Its name, for JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Verb::New(_) => "new",
            Verb::Check(_) => "check",
            Verb::Build(_) => "build",
            Verb::Run(_) => "run",
            Verb::Suite(_) => "suite",
            Verb::Debug(_) => "debug",
            Verb::Report(_) => "report",
            Verb::Diff(_) => "diff",
            Verb::Trace(_) => "trace",
            Verb::Bench(_) => "bench",
            Verb::Costs(_) => "costs",
            Verb::Explain(_) => "explain",
            Verb::Boards => "boards",
            Verb::Sdk(_) => "sdk",
            Verb::Completions(_) => "completions",
            Verb::Man => "man",
            Verb::Schema => "schema",
        }
    }
}

/// `cofferdam new`
#[derive(Debug, Args)]
pub struct New {
    /// Directory to make; its name becomes the system's.
    pub directory: PathBuf,
    /// Start with a program in Rust instead of C.
    #[arg(long)]
    pub rust: bool,
}

/// `cofferdam check`
#[derive(Debug, Args)]
pub struct Check {
    /// The manifest.
    #[arg(default_value = "system.toml", value_parser = in_directory())]
    pub manifest: PathBuf,
    /// The board, in the place of the manifest's.
    #[arg(long)]
    pub board: Option<String>,
    /// The timing profile (a chip of `chips/`, or a path), in the place of the manifest's or the board's own.
    #[arg(long)]
    pub profile: Option<String>,
    /// Check without building the programs; their sizes and symbols stay unchecked.
    #[arg(long)]
    pub quick: bool,
    /// Show every term of each response time, and every area with what it is promised.
    #[arg(long)]
    pub verbose: bool,
}

/// `cofferdam build`
#[derive(Debug, Args)]
pub struct Build {
    /// The manifest.
    #[arg(default_value = "system.toml", value_parser = in_directory())]
    pub manifest: PathBuf,
    /// The board, in the place of the manifest's.
    #[arg(long)]
    pub board: Option<String>,
    /// The timing profile (a chip of `chips/`, or a path), in the place of the manifest's or the board's own.
    #[arg(long)]
    pub profile: Option<String>,
    /// Do not enforce budgets: every capacity is its period.
    #[arg(long)]
    pub no_budgets: bool,
}

/// `cofferdam run`
#[derive(Debug, Args)]
pub struct Run {
    /// The manifest, its directory, or a program: an ELF file or a source in C or C++ (then `--board` is needed).
    #[arg(default_value = "system.toml", value_parser = in_directory())]
    pub subject: PathBuf,
    /// The board, in the place of the manifest's; a program needs it.
    #[arg(long)]
    pub board: Option<String>,
    /// The timing profile (a chip of `chips/`, or a path), in the place of the manifest's or the board's own.
    #[arg(long)]
    pub profile: Option<String>,
    /// Do not enforce budgets: every capacity is its period. Shows what budgets are for.
    #[arg(long)]
    pub no_budgets: bool,
    /// Modelled time after which the run ends, as "500 ms", in the place of the manifest's.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub limit: Option<Time>,
    /// Advance time after every instruction: slow, and exact for latencies.
    #[arg(long)]
    pub exact: bool,
    /// Make caches, TLBs, predictor and flash buffers as bad as others can leave them at each entry to the kernel: for a `wcet` that holds
    /// beside any program.
    #[arg(long, conflicts_with = "fallback")]
    pub adverse: bool,
    /// Write a waveform of all signals from one cycle until another to run/waves.fst in the system's directory; on the soft core alone.
    #[arg(long, value_name = "FROM..TO", value_parser = waves, conflicts_with = "fallback")]
    pub waves: Option<record::WavesWatch>,
    /// Run without the model, by QEMU's instruction counter; any version of QEMU will do.
    #[arg(long)]
    pub fallback: bool,
    /// Directory of the report (default: target/cofferdam/SYSTEM beside the manifest, or FILE.BOARD beside a program).
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// About a program.
    #[command(flatten)]
    pub lone: Lone,
}

/// How a program is run; a manifest says this itself.
#[derive(Debug, Args)]
pub struct Lone {
    /// Stack of the program, as "64 KiB", which is the default.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub stack: Option<Size>,
    /// Its heap, a multiple of 64 KiB (default: "4 MiB", or half of what a smaller memory has).
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub heap: Option<Size>,
    /// Time that it may use in each period (default: "8500 us/10 ms"; the console keeps "1 ms/10 ms").
    #[arg(long, value_name = "TIME/PERIOD", value_parser = share)]
    pub budget: Option<Share>,
    /// Arguments of its `main`, behind its name.
    #[arg(last = true)]
    pub arguments: Vec<String>,
}

/// A capacity of time in each period.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Not 0, and at most the period.
    pub capacity: Time,
    /// As in a manifest.
    pub period: Time,
}

/// `cofferdam suite`
#[derive(Debug, Args)]
pub struct Suite {
    /// Programs: ELF files or C sources, each of which becomes a domain as in `cofferdam run FILE.elf`.
    #[arg(required = true)]
    pub programs: Vec<PathBuf>,
    /// The board; may be repeated.
    #[arg(long, required = true)]
    pub board: Vec<String>,
    /// How many run side by side (default: one for each processor).
    #[arg(long, short)]
    pub jobs: Option<std::num::NonZeroU16>,
    /// Modelled time after which a program counts as hung, as "500 ms".
    #[arg(long, value_name = "TIME", default_value = "10 s", value_parser = time)]
    pub limit: Time,
    /// An earlier run with which this one is compared.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write this run, for a later `--baseline`.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// By how much a program may take more cycles than in the baseline, as 1%; figures are exact, so that 0% is a limit, too.
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = percent, requires = "baseline")]
    pub above: f64,
}

/// `cofferdam debug`
#[derive(Debug, Args)]
pub struct Debug {
    /// The manifest.
    #[arg(default_value = "system.toml", value_parser = in_directory())]
    pub manifest: PathBuf,
    /// The board, in the place of the manifest's.
    #[arg(long)]
    pub board: Option<String>,
    /// The timing profile (a chip of `chips/`, or a path), in the place of the manifest's or the board's own.
    #[arg(long)]
    pub profile: Option<String>,
    /// TCP port on the local host.
    #[arg(long, default_value_t = 3333)]
    pub port: u16,
    /// Commands for gdb, which then ends by itself (may be repeated).
    #[arg(long = "command", short = 'x')]
    pub commands: Vec<String>,
}

/// `cofferdam report`
#[derive(Debug, Args)]
pub struct Again {
    /// The manifest, or the name of a system.
    #[arg(default_value = "system.toml", value_parser = in_directory())]
    pub subject: PathBuf,
    /// The board for which it was built in the place of the manifest's.
    #[arg(long)]
    pub board: Option<String>,
    /// The profile for which it was built in the place of the manifest's.
    #[arg(long)]
    pub profile: Option<String>,
    /// Directory of the result (default: target/cofferdam/SYSTEM beside the manifest).
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// `cofferdam diff`
#[derive(Debug, Args)]
pub struct Diff {
    /// The earlier report: a report.json, a directory with one, or the name of a system that was run.
    #[arg(value_name = "A")]
    pub earlier: PathBuf,
    /// The later one.
    #[arg(value_name = "B")]
    pub later: PathBuf,
    /// Differences up to this share of the earlier value are none, as "2%".
    #[arg(long, value_name = "SHARE", value_parser = percent, default_value = "0%")]
    pub above: f64,
}

/// `cofferdam trace`
#[derive(Debug, Args)]
pub struct Trace {
    /// The system to run, and how.
    #[command(flatten)]
    pub run: Run,
    /// Do not run: take the last run.
    #[arg(long)]
    pub last: bool,
}

/// `cofferdam bench`
#[derive(Debug, Args)]
pub struct Bench {
    /// Only rows whose ids begin so, for example m7.gate.
    #[arg(long)]
    pub only: Option<String>,
    /// Directory of bench.json (default: bench below the target directory).
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// `cofferdam costs`
#[derive(Debug, Args)]
pub struct Costs {
    /// The board.
    #[arg(long)]
    pub board: String,
    /// Write what was seen and a margin into the board's file.
    #[arg(long)]
    pub write: bool,
    /// Only systems whose manifests begin so, for example tests/time; nothing is written then.
    #[arg(long, conflicts_with = "write")]
    pub only: Option<String>,
    /// Directory of the runs' files (default: costs below the target directory).
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// `cofferdam explain`
#[derive(Debug, Args)]
pub struct Explain {
    /// The code; without it all are listed.
    pub code: Option<String>,
}

/// `cofferdam sdk`
#[derive(Debug, Args)]
pub struct Sdk {
    /// The board.
    #[arg(long)]
    pub board: String,
    /// Print only the compiler's flags.
    #[arg(long, conflicts_with_all = ["ldflags", "header", "cmake"])]
    pub cflags: bool,
    /// Print only the linker's flags.
    #[arg(long, conflicts_with_all = ["header", "cmake"])]
    pub ldflags: bool,
    /// Print the generated part of cofferdam.h.
    #[arg(long, conflicts_with = "cmake")]
    pub header: bool,
    /// Write a CMake toolchain file.
    #[arg(long, value_name = "FILE")]
    pub cmake: Option<PathBuf>,
}

/// A share in percent.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.filter(|number| number.is_finite() && *number >= 0.0).map(|number| number / 100.0);
    share.ok_or_else(|| "a share is a number and %, as \"2%\"".to_owned())
}

/// `cofferdam completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// The path of a manifest, or of the directory in which it is `system.toml`.
fn in_directory() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    clap::builder::PathBufValueParser::new().map(|path: PathBuf| {
        let inside = path.join("system.toml");
        if inside.is_file() { inside } else { path }
    })
}

/// Cycles since reset, as "1000000..1002000".
fn waves(text: &str) -> Result<record::WavesWatch, String> {
    let cycle = |text: &str| text.parse::<u64>().ok();
    let ends = text.split_once("..").and_then(|(from, to)| Some((cycle(from)?, cycle(to)?)));
    match ends.filter(|(from, to)| from < to) {
        Some((from, to)) => Ok(record::WavesWatch { from, to, ..record::WavesWatch::default() }),
        None => Err("write two cycles, the first below the second, as 1000000..1002000".into()),
    }
}

/// A time as manifests have it.
fn time(text: &str) -> Result<Time, String> {
    Time::parse(text).ok_or_else(|| "a time is a number and ns, us, ms or s, as \"500 ms\"".to_owned())
}

/// A size as manifests have it.
fn size(text: &str) -> Result<Size, String> {
    Size::parse(text)
        .filter(|size| size.0 > 0)
        .ok_or_else(|| "a size is a number other than 0 and B, KiB or MiB, as \"64 KiB\"".to_owned())
}

/// A budget: two times with a stroke between them.
fn share(text: &str) -> Result<Share, String> {
    let parsed = text.split_once('/').and_then(|(capacity, period)| {
        let (capacity, period) = (Time::parse(capacity.trim())?, Time::parse(period.trim())?);
        (capacity.0 > 0 && capacity <= period).then_some(Share { capacity, period })
    });
    parsed.ok_or_else(|| {
        "a budget is a time other than 0, a stroke, and a period at least as long, as \"2 ms/10 ms\"".to_owned()
    })
}
