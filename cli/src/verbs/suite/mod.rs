//! `cofferdam suite`: many programs, each in a domain of its own and a boot of its own, in one table.

mod rows;

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use build_tool::{Built, Install, Loaded, Options, prepare};
use clap::Parser;
use manifest::Diagnostic;
use record::EndReason;
use report::Report;
use runner::{Go, Outcome as Ran};
use serde_json::json;

use rows::{Change, Ended, Figures, Row, Suite};

use super::results::report_of;
use super::run::wrong;
use super::{leave_if_interrupted, one, program};
use crate::cli::{self, Cli, Verb};
use crate::output::{INTERRUPTED, NOT_AS_PROMISED, OK, Outcome, Output};
use crate::table::Columns;

/// The domain of a program that runs by itself.
const DOMAIN: &str = "program";

/// One boot.
struct Job<'a> {
    program: &'a Path,
    board: &'a str,
}

/// Runs the programs, prints the table, compares and saves.
pub fn run(args: &cli::Suite, output: &mut Output) -> Outcome {
    let install = Install::find().map_err(one)?;
    // A wrong baseline is told before anything runs.
    let baseline = args.baseline.as_deref().map(read).transpose().map_err(one)?;
    for board in &args.board {
        let file = install.board_file(board, Path::new(".")).map_err(one)?;
        runner::find(&file.simulator).map_err(|error| one(wrong(&error)))?;
    }
    runner::stop_on_interrupt();
    let boards = || args.board.iter();
    let jobs: Vec<Job<'_>> =
        args.programs.iter().flat_map(|program| boards().map(move |board| Job { program, board })).collect();
    let (rows, interrupted) = all(&install, &jobs, args, output);
    let suite = Suite::new(rows);
    let changes = baseline.map(|baseline| baseline.compare(&suite));
    let worse = tell(&suite, changes.as_deref(), args.above, output);
    if interrupted {
        output.say("interrupted; nothing was saved");
        return Ok(INTERRUPTED);
    }
    if let Some(path) = &args.save {
        let text = serde_json::to_string_pretty(&suite).unwrap_or_default() + "\n";
        build_tool::write_file(path, text.as_bytes()).map_err(one)?;
        output.say(format!("saved: {}", path.display()));
    }
    let failed = suite.rows.iter().any(|row| row.ended != Ended::Passed);
    Ok(if failed || worse { NOT_AS_PROMISED } else { OK })
}

/// Reads an earlier run.
fn read(path: &Path) -> Result<Suite, Diagnostic> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
    text.and_then(|text| Suite::from_json(&text)).map_err(|why| {
        Diagnostic::new("CF0501", format!("`{}` is no baseline: {why}", path.display()))
            .rule("a baseline is a file that `cofferdam suite --save` has written")
            .remedy("make one: `cofferdam suite PROGRAM... --board BOARD --save FILE`")
    })
}

/// Runs all jobs, several side by side; a row for each, in their order, and whether somebody interrupted.
fn all(install: &Install, jobs: &[Job<'_>], args: &cli::Suite, output: &mut Output) -> (Vec<Row>, bool) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = args.jobs.map_or(processors, |jobs| jobs.get().into()).min(jobs.len());
    let (next, done, building) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(()));
    let output = Mutex::new(output);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(number) else { break };
            let row = one_row(install, number, job, args, &building, &output);
            let mut done = lock(&done);
            done.push((number, row));
            let text = format!("{} of {} programs", done.len(), jobs.len());
            lock(&output).progress(text);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(number, _)| *number);
    let interrupted = done.iter().any(|(_, (_, interrupted))| *interrupted);
    (done.into_iter().map(|(_, (row, _))| row).collect(), interrupted)
}

/// A panic elsewhere leaves rows and output as they are.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Builds and runs one program. One is built at a time: they share cargo's directory.
fn one_row(
    install: &Install,
    number: usize,
    job: &Job<'_>,
    args: &cli::Suite,
    building: &Mutex<()>,
    output: &Mutex<&mut Output>,
) -> (Row, bool) {
    let mut row = Row {
        program: job.program.display().to_string(),
        board: job.board.to_owned(),
        ended: Ended::NotBuilt,
        exit_code: None,
        figures: None,
        why: String::new(),
    };
    let built = {
        let _turn = lock(building);
        lone(install, number, job, args).and_then(|loaded| {
            build_tool::build(install, loaded, Options::default(), &mut |_| {
                leave_if_interrupted("saved", &mut lock(output));
            })
        })
    };
    let built = match built {
        Ok(built) => built,
        Err(refused) => {
            row.why = first(&refused);
            return (row, runner::is_interrupted());
        }
    };
    row.ended = Ended::NotRun;
    match boot(&built) {
        Ok((ran, report)) => {
            let interrupted = ran.summary.end.reason == EndReason::Killed;
            judge(&mut row, &built, &ran, &report);
            (row, interrupted)
        }
        Err(refused) => {
            row.why = first(&refused);
            (row, false)
        }
    }
}

/// Code and sentence of the first refusal: a row has no room for all that a compiler says.
fn first(refused: &[Diagnostic]) -> String {
    let Some(refused) = refused.first() else { return String::new() };
    let said = refused.to_string();
    let mut lines = said.lines();
    let sentence = lines.next().unwrap_or_default();
    let error = lines.find(|line| line.contains("error")).map_or(String::new(), |line| format!(": {}", line.trim()));
    format!("{}: {sentence}{error}", refused.refusal().code)
}

/// The system around one program, as `run` makes it. A C source takes the place of the ELF file.
fn lone(install: &Install, number: usize, job: &Job<'_>, args: &cli::Suite) -> Result<Loaded, Vec<Diagnostic>> {
    let path = job.program.canonicalize().map_err(|error| {
        one(Diagnostic::new("CF0501", format!("`{}`: {error}", job.program.display()))
            .rule("a program is an ELF file or a C source")
            .remedy("correct the path"))
    })?;
    let line: [&OsStr; 5] =
        ["cofferdam".as_ref(), "run".as_ref(), "--board".as_ref(), job.board.as_ref(), path.as_os_str()];
    let Ok(Cli { verb: Verb::Run(alone), .. }) = Cli::try_parse_from(line) else {
        return Err(one(Diagnostic::new("CF0501", format!("`{}` cannot be the path of a program", path.display()))
            .rule("a program is an ELF file or a C source")
            .remedy("rename the file")));
    };
    let mut loaded = program::system(install, &alone)?;
    let manifest = &mut loaded.document.manifest;
    manifest.run.limit = args.limit;
    // Two programs of one name have directories of their own.
    let name = format!("suite-{number}.{}", manifest.system.name);
    manifest.system.name.clone_from(&name.replace('.', "-").chars().take(15).collect());
    loaded.results = format!("{name}.{}", job.board.rsplit('/').next().unwrap_or(job.board));
    Ok(loaded)
}

fn boot(built: &Built) -> Result<(Ran, Report), Vec<Diagnostic>> {
    let simulator = runner::find(&built.loaded.board.simulator).map_err(|error| one(wrong(&error)))?;
    let run = prepare(built, false).map_err(|error| one(wrong(&error)))?;
    let ran = run.start(&*simulator, &mut |_| Go::On).map_err(|error| one(wrong(&error)))?;
    let report = report_of(&built.description, &ran).map_err(one)?;
    Ok((ran, report))
}

/// How the program ended, and what it took.
fn judge(row: &mut Row, built: &Built, ran: &Ran, report: &Report) {
    let number = built.system.domains.iter().position(|domain| domain.name == DOMAIN).unwrap_or(0);
    row.figures = ran.summary.domain(number as u8).map(|counted| Figures {
        cycles: counted.cycles + counted.kernel_cycles,
        instructions: counted.instructions + counted.kernel_instructions,
        paged_misses: counted.paged_misses,
        icache_misses: counted.icache.misses,
        dcache_misses: counted.dcache.misses,
    });
    row.exit_code = report.domains.get(number).and_then(|domain| domain.exit_code).map(|code| code as i32);
    let fault = report.faults.iter().find(|fault| usize::from(fault.domain) == number);
    let failure = report.verdict.failures.first();
    (row.ended, row.why) = match (fault, ran.summary.end.reason) {
        (_, EndReason::Killed) => (Ended::NotRun, "interrupted".into()),
        (Some(fault), _) => {
            let at = fault.symbol.as_ref().map_or(String::new(), |symbol| format!(" in {symbol}"));
            (Ended::Faulted, format!("{} at {:#x}{at}", fault.kind, fault.address))
        }
        (None, EndReason::CycleLimit | EndReason::InstructionLimit | EndReason::IdleForever)
            if row.exit_code.is_none() =>
        {
            (Ended::Hung, format!("not ended after {:.3} s", report.run.seconds))
        }
        _ => match (row.exit_code, failure) {
            (Some(code), _) if code != 0 => (Ended::Failed, format!("ended with code {code}")),
            (_, Some(failure)) => (Ended::Failed, failure.text.clone()),
            _ => (Ended::Passed, String::new()),
        },
    };
}

/// Prints the table and what it comes to; whether a program got worse than the threshold.
fn tell(suite: &Suite, changes: Option<&[Change]>, above: f64, output: &mut Output) -> bool {
    let header = ["program", "board", "cycles", "change", "instructions", "paged", "i-cache", "d-cache", "exit", ""];
    let mut table = Columns::new(&header, 2..9);
    let mut worse = 0;
    let mut listed = Vec::new();
    for (index, row) in suite.rows.iter().enumerate() {
        let change = changes.and_then(|changes| changes.get(index)).copied();
        let slower = change.is_some_and(|change| change.is_worse(above));
        worse += usize::from(slower);
        let figure =
            |of: fn(&Figures) -> u64| row.figures.as_ref().map_or("-".into(), |figures| of(figures).to_string());
        let verdict = match (row.ended, slower) {
            (Ended::Passed, false) => "PASS".to_owned(),
            (Ended::Passed, true) => "FAIL slower than the threshold".into(),
            _ => format!("FAIL {}", row.why),
        };
        table.row(vec![
            row.program.clone(),
            row.board.clone(),
            figure(|f| f.cycles),
            change.map_or("-".into(), Change::text),
            figure(|f| f.instructions),
            figure(|f| f.paged_misses),
            figure(|f| f.icache_misses),
            figure(|f| f.dcache_misses),
            row.exit_code.map_or("-".into(), |code| code.to_string()),
            verdict,
        ]);
        let mut value = json!(row);
        value["change"] = json!(change);
        value["worse"] = json!(slower);
        listed.push(value);
    }
    output.say(table.text());
    output.field("rows", json!(listed));
    let passed = suite.rows.iter().filter(|row| row.ended == Ended::Passed).count();
    let compared = changes.map_or(String::new(), |_| format!(", {worse} slower by more than {:.2} %", above * 100.0));
    let word = if passed == suite.rows.len() && worse == 0 { "PASS" } else { "FAIL" };
    output.say(format!("{word}: {passed} of {} passed{compared}", suite.rows.len()));
    worse > 0
}
