//! The system around a lone program: a domain of its own, and the console.

use std::path::{Path, PathBuf};

use build_tool::{Install, Instead, Loaded, Profile, is_source, results_of, write_file};
use manifest::{Board, Diagnostic, Document, Size, input};

use super::one;
use crate::cli;
use crate::output::argument;

const TEMPLATE: &str = include_str!("../templates/program.toml");
/// Stack of a program that does not say how much it needs.
const STACK: Size = Size(64 << 10);
/// Heap of a program that does not say how much it needs, where there is so much.
const HEAP: Size = Size(4 << 20);
/// Page of its heap: templates/program.toml.
const PAGE: u64 = 64 << 10;
/// More than most programs use in a period leaves the console its share.
const BUDGET: cli::Share = cli::Share { capacity: manifest::Time(8_500_000), period: manifest::Time(10_000_000) };
/// Longest name of a system that is made for a program.
const NAME_LETTERS: usize = 15;

/// Whether a path names a program, an ELF file or a source, and no manifest.
pub fn is_program(path: &Path) -> bool {
    let start = || {
        input::readable(path, u64::MAX).ok()?;
        std::fs::File::open(path).ok().and_then(|mut file| {
            let mut magic = [0; 4];
            std::io::Read::read_exact(&mut file, &mut magic).ok()?;
            Some(magic)
        })
    };
    let elf = || path.extension().is_some_and(|e| e == "elf") || start().is_some_and(|magic| magic == *b"\x7fELF");
    is_source(path) || elf()
}

/// The path of a program without links.
fn whole(program: &Path) -> PathBuf {
    program.canonicalize().unwrap_or_else(|_| program.to_owned())
}

/// Name of a program's results: that of its file, of which there is one in a directory.
pub fn results(program: &Path) -> String {
    whole(program).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A path as a string of TOML, which takes those of JSON.
fn quoted(path: &Path) -> String {
    serde_json::Value::from(path.display().to_string()).to_string()
}

/// Name of the system that is made for a program.
fn name(program: &Path) -> String {
    let stem: String = program.file_stem().unwrap_or_default().to_string_lossy().chars().take(NAME_LETTERS).collect();
    if manifest::name_ok(&stem) { stem } else { "program".into() }
}

/// A system around the program of the command line.
pub fn system(install: &Install, args: &cli::Run) -> Result<Loaded, Vec<Diagnostic>> {
    let Some(board) = &args.board else {
        return Err(one(Diagnostic::new("CF0104", "a program alone does not say for which board it is")
            .rule("a program alone is run with `--board`")
            .remedy(format!("cofferdam run --board {} {}", install.boards().join("|"), argument(&args.subject)))));
    };
    let file = install.board_file(board, Path::new(".")).map_err(one)?;
    let chip = match &args.profile {
        Some(name) => Profile::find(install, name, Path::new(".")),
        None => install.chip_of(&file),
    };
    let facts = chip.and_then(|chip| chip.board(install, file.clone())).map_err(one)?;
    let path = whole(&args.subject);
    let name = name(&path);
    let results = results_of(&results(&args.subject), Some(&facts.name), args.profile.as_deref());
    let quoted = quoted(&path);
    let program = if is_source(&path) { format!("c = {{ sources = [{quoted}] }}") } else { format!("elf = {quoted}") };
    let stack = args.lone.stack.unwrap_or(STACK);
    let budget = args.lone.budget.unwrap_or(BUDGET);
    let mut text = TEMPLATE
        .replace("@NAME@", &name)
        .replace("@BOARD@", &install.board_text(&file))
        .replace("@PROGRAM@", &program)
        .replace("@STACK@", &stack.to_string())
        .replace("@STACK_MEMORY@", stack_memory(&facts, stack))
        .replace("@HEAP@", &args.lone.heap.unwrap_or(heap(&facts)).to_string())
        .replace("@CAPACITY@", &budget.capacity.to_string())
        .replace("@PERIOD@", &budget.period.to_string());
    let arguments = arguments(&install.system_dir(&results), &args.lone.arguments)?;
    text = text.replace("@FILES@", if arguments.is_some() { "files = [\"arguments\"]" } else { "" });
    if let Some(path) = arguments {
        text.push_str(&format!("\n[file.arguments]\npath = {}\n", self::quoted(&path)));
    }
    let document = Document::parse(&PathBuf::from("system.toml (made for the program)"), &text).map_err(one)?;
    let instead = Instead { board: None, profile: args.profile.as_deref() };
    let mut loaded = Loaded::of(install, document, instead).map_err(one)?;
    loaded.results = results;
    Ok(loaded)
}

/// Options of a lone program say nothing to a system, which has a manifest to say it.
pub fn none_for_a_system(args: &cli::Run) -> Result<(), Vec<Diagnostic>> {
    let lone = &args.lone;
    let given =
        [("--stack", lone.stack.is_some()), ("--heap", lone.heap.is_some()), ("--budget", lone.budget.is_some())];
    let given = given.into_iter().chain([("--", !lone.arguments.is_empty())]).find(|(_, given)| *given);
    let Some((option, _)) = given else { return Ok(()) };
    Err(one(Diagnostic::new(
        "CF0104",
        format!("`{option}` is for a program alone, and `{}` is a manifest", args.subject.display()),
    )
    .rule("a manifest says itself how much stack, heap and time each domain gets, and which files")
    .remedy("write it into the manifest (docs/manifest.md), or give a program")))
}

/// Bytes that the kernel leaves to domains.
fn left(memory: &manifest::Memory) -> u64 {
    memory.usable.saturating_sub(memory.reserved).into()
}

/// The usual heap, or as many of its pages as half of the memory has that it lies in.
fn heap(board: &Board) -> Size {
    let half = board.memory("sdram").map_or(HEAP.0, left) / 2;
    Size(half.clamp(PAGE, HEAP.0) / PAGE * PAGE)
}

/// The fastest memory that has room for the stack: the board's first that is tightly coupled, else that for data.
fn stack_memory(board: &Board, stack: Size) -> &'static str {
    let fits = |memory: &manifest::Memory| left(memory) >= stack.0;
    if board.memory.get("dtcm").is_some_and(fits) { "dtcm" } else { "sram" }
}

/// Writes the arguments where the system's constant file is read from, one on each line.
fn arguments(results: &Path, arguments: &[String]) -> Result<Option<PathBuf>, Vec<Diagnostic>> {
    if arguments.is_empty() {
        return Ok(None);
    }
    if let Some(bad) = arguments.iter().find(|argument| argument.contains(['\n', '\0'])) {
        return Err(one(Diagnostic::new("CF0104", format!("the argument {bad:?} has more than one line"))
            .rule("arguments reach a program as the lines of a text file")
            .remedy(
                "pass what has several lines another way, for example as a constant file of a system of its own",
            )));
    }
    let path = results.join("arguments");
    write_file(&path, format!("{}\n", arguments.join("\n")).as_bytes()).map_err(one)?;
    Ok(Some(path))
}
