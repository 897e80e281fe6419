//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use manifest::Time;

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

const EXIT_CODES: &str = "Exit codes: 0 as promised; 1 the run ended, but not as promised (the report says why); 2 wrong use of the \
command; 3 the manifest or a program was refused; 4 a program does not build; 5 a tool is missing or of the wrong version; 6 a file \
cannot be written; 130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Make a directory with a starter system.
    New(New),
    /// Admit the system, or explain why not; nothing is run.
    Check(Check),
    /// Build the image.
    Build(Build),
    /// Build, run, and write the report. An ELF file instead of a manifest runs in a domain of its own.
    Run(Run),
    /// Run under gdb, with the symbols of kernel and every domain.
    Debug(Debug),
    /// Write the report of the last run again.
    Report(Again),
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
}

impl Verb {
    /// Its name, for JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Verb::New(_) => "new",
            Verb::Check(_) => "check",
            Verb::Build(_) => "build",
            Verb::Run(_) => "run",
            Verb::Debug(_) => "debug",
            Verb::Report(_) => "report",
            Verb::Trace(_) => "trace",
            Verb::Bench(_) => "bench",
            Verb::Costs(_) => "costs",
            Verb::Explain(_) => "explain",
            Verb::Boards => "boards",
            Verb::Sdk(_) => "sdk",
            Verb::Completions(_) => "completions",
            Verb::Man => "man",
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
    #[arg(default_value = "system.toml")]
    pub manifest: PathBuf,
    /// The board, in the place of the manifest's.
    #[arg(long)]
    pub board: Option<String>,
    /// Check without building the programs; their sizes and symbols stay unchecked.
    #[arg(long)]
    pub quick: bool,
}

/// `cofferdam build`
#[derive(Debug, Args)]
pub struct Build {
    /// The manifest.
    #[arg(default_value = "system.toml")]
    pub manifest: PathBuf,
    /// The board, in the place of the manifest's.
    #[arg(long)]
    pub board: Option<String>,
    /// Do not enforce budgets: every capacity is its period.
    #[arg(long)]
    pub no_budgets: bool,
}

/// `cofferdam run`
#[derive(Debug, Args)]
pub struct Run {
    /// The manifest, or an ELF file (then `--board` is needed).
    #[arg(default_value = "system.toml")]
    pub subject: PathBuf,
    /// The board, in the place of the manifest's; an ELF file needs it.
    #[arg(long)]
    pub board: Option<String>,
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
    /// Run without the model, by QEMU's instruction counter; any version of QEMU will do.
    #[arg(long)]
    pub fallback: bool,
    /// Directory of the report (default: target/cofferdam/SYSTEM beside the manifest).
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// `cofferdam debug`
#[derive(Debug, Args)]
pub struct Debug {
    /// The manifest.
    #[arg(default_value = "system.toml")]
    pub manifest: PathBuf,
    /// The board, in the place of the manifest's.
    #[arg(long)]
    pub board: Option<String>,
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
    #[arg(default_value = "system.toml")]
    pub subject: PathBuf,
    /// The board for which it was built in the place of the manifest's.
    #[arg(long)]
    pub board: Option<String>,
    /// Directory of the result (default: target/cofferdam/SYSTEM beside the manifest).
    #[arg(long)]
    pub out: Option<PathBuf>,
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

/// `cofferdam completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// A time as manifests have it.
fn time(text: &str) -> Result<Time, String> {
    Time::parse(text).ok_or_else(|| "a time is a number and ns, us, ms or s, as \"500 ms\"".to_owned())
}
