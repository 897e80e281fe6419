//! Builds cargo packages for the chip.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use manifest::{Board, Core, CrateSource, Diagnostic, input};

use crate::cargo::{Build, Finished};
use crate::command;
use crate::core_rules;
use crate::files::{hash, short};
use crate::install::{Install, unreadable};
use crate::linked::{Linked, SECOND, addresses, elsewhere_flags, twin};
use crate::toolchain::Toolchain;

/// The profile `bare` of the workspace, for packages outside it.
const PROFILE: &[&str] = &[
    "profile.bare.inherits=\"release\"",
    "profile.bare.opt-level=3",
    "profile.bare.lto=\"fat\"",
    "profile.bare.codegen-units=1",
    "profile.bare.panic=\"abort\"",
    "profile.bare.debug=2",
    "profile.bare.package.\"*\".debug=\"line-tables-only\"",
    "profile.bare.overflow-checks=false",
];

/// The profile of a kernel that is to be small: a later setting counts. Code that is generic over the architecture is compiled with the image, for size.
/// The rest is compiled for speed: that makes it faster by up to a half, and not longer.
const SMALL: &[&str] = &[
    "profile.bare.opt-level=\"z\"",
    "profile.bare.package.cofferdam-kernel.opt-level=2",
    "profile.bare.package.cofferdam-memory.opt-level=2",
    "profile.bare.package.cofferdam-protect.opt-level=2",
    "profile.bare.package.cofferdam-sched.opt-level=2",
];

/// Directory of the linker of domains and its script.
const LINKING: &str = "user";
/// The linker of domains: it runs the compiler's twice. From the end of its name rustc takes it for a `gcc`. It is found by its name, because a path
/// among the options would have the compiler's library built again for each checkout.
const LINK_TWICE: &str = "link-twice-gcc";
/// The linker script of domains, which the linker finds beside itself.
const DOMAIN_SCRIPT: &str = "domain.ld";

/// Directories of kernels, each with a directory for each board: all that kernels can have, and without the code for handlers.
const KERNELS: [&str; 2] = ["kernel", "kernel-without-handlers"];

/// For whom a package is built.
enum For {
    Kernel,
    /// Its own directory: whoever builds and reads a kernel at the same time finds that with all features.
    KernelWithoutHandlers,
    Domain,
}

/// A build of a package.
fn cargo(
    install: &Install,
    tools: &Toolchain,
    board: &Board,
    (whom, package): (For, &Path),
    flags: &[String],
) -> Result<Build, Diagnostic> {
    let targets = &board.core.targets;
    let (target, dir) = match &whom {
        // Of a core's boards each has a kernel of its own, with constants of its own.
        For::Kernel => (&targets.kernel, Path::new(KERNELS[0]).join(&board.name)),
        For::KernelWithoutHandlers => (&targets.kernel, Path::new(KERNELS[1]).join(&board.name)),
        For::Domain => (&targets.domain, PathBuf::from("bare")),
    };
    let directory = install.target.join(dir);
    let is_domain = matches!(whom, For::Domain);
    let small = !is_domain && targets.small_kernel;
    let debug: &[&str] = if install.no_debug { &["profile.bare.debug=0"] } else { &[] };
    let settings = || PROFILE.iter().chain(if small { SMALL } else { &[] }).chain(debug);
    let asked = |verb: &str, target: Option<&str>| {
        let mut command = Command::new(&tools.cargo);
        command.env("RUSTC", &tools.rustc).env_remove("RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
        command.args([verb, "--profile", "bare", "--target-dir"]).arg(&directory);
        command.args(target.iter().flat_map(|target| ["--target", target]));
        command.arg("--manifest-path").arg(package.join("Cargo.toml"));
        settings().for_each(|setting| {
            command.args(["--config", setting]);
        });
        command
    };
    let mut command = asked("build", Some(target.as_str()));
    command.args(["--message-format", "json-render-diagnostics"]);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    if !targets.cc_flags.is_empty() {
        command.env(format!("CFLAGS_{}", target.replace('-', "_")), targets.cc_flags.join(" "));
    }
    let elsewhere = elsewhere_flags(board).join(" ");
    command.env("COFFERDAM_LINKER", &tools.gcc).env("COFFERDAM_ELSEWHERE", &elsewhere);
    command.env("COFFERDAM_ROOT", &install.root).env("COFFERDAM_BOARD", &board.path).env_remove("COFFERDAM_OWN_BOARD");
    if install.is_own(&board.path) {
        command.env("COFFERDAM_OWN_BOARD", &board.path);
    }
    if tools.build_std {
        let library = if is_domain { "-Zbuild-std=core,alloc" } else { "-Zbuild-std=core" };
        command.env("RUSTC_BOOTSTRAP", "1").arg(library);
    }
    let mut with = vec![tools.linker()];
    if is_domain {
        let read = |path: PathBuf| input::read(&path, input::MOST_TEXT).map_err(|why| unreadable(&path, &why));
        let linking = install.root.join(LINKING);
        for file in [DOMAIN_SCRIPT, LINK_TWICE] {
            with.push(hash(&read(linking.join(file))?));
        }
        command.env("PATH", first_in_path(linking)?);
        with.push(elsewhere);
    }
    Ok(Build {
        command,
        clean: [asked("clean", Some(target.as_str())), asked("clean", None)],
        others: kernels(install).filter(|other| *other != directory).collect(),
        of_target: !is_domain,
        directory,
        target: target.clone(),
        with: with.join("\n"),
        compilers: tools.compilers(),
    })
}

/// Directories in which kernels were built.
fn kernels(install: &Install) -> impl Iterator<Item = PathBuf> {
    let entries = KERNELS.iter().filter_map(|kind| std::fs::read_dir(install.target.join(kind)).ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    paths.collect::<std::collections::BTreeSet<_>>().into_iter()
}

fn codegen(options: &[&str]) -> Vec<String> {
    options.iter().flat_map(|option| ["-C".to_owned(), (*option).to_owned()]).collect()
}

/// The search path of programs, with this directory before all others.
///
/// # Errors
/// CF0605 for a directory that the path cannot name.
pub(crate) fn first_in_path(directory: PathBuf) -> Result<OsString, Diagnostic> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(directory.clone()).chain(std::env::split_paths(&path));
    std::env::join_paths(all).map_err(|_| {
        Diagnostic::new("CF0605", format!("`{}` cannot be searched for programs", directory.display()))
            .rule("the linker of domains is found by PATH, whose parts have no colon")
            .remedy("move the checkout to a directory without a colon in its name")
    })
}

/// The compiler's options for domains of a board.
fn domain_flags(board: &Board) -> Vec<String> {
    let cpu = format!("target-cpu={}", board.core.targets.cpu);
    let linker = format!("linker={LINK_TWICE}");
    let mut options = vec![cpu.as_str(), linker.as_str(), "link-arg=-nostartfiles"];
    options.extend(["relocation-model=static", "link-arg=-Wl,--gc-sections"]);
    let mut flags = codegen(&options);
    flags.extend(addresses(&board.core).iter().flat_map(|flag| ["-C".to_owned(), format!("link-arg={flag}")]));
    flags.extend(board.core.targets.c_flags.iter().flat_map(|f| ["-C".to_owned(), format!("link-arg={f}")]));
    flags
}

/// Builds a domain from a cargo package. `directory` is the package's.
///
/// # Errors
/// CF0501 when there is no package, CF0506 when it does not build or has no binary.
pub fn build_crate(
    install: &Install,
    tools: &Toolchain,
    board: &Board,
    directory: &Path,
    source: &CrateSource,
) -> Result<Linked, Diagnostic> {
    let package = directory.join("Cargo.toml");
    if !package.is_file() {
        return Err(Diagnostic::new("CF0501", format!("there is no cargo package in `{}`", source.path))
            .value(package.display().to_string())
            .rule("`crate` names a directory with a Cargo.toml, relative to the manifest")
            .remedy("correct the path, or create the package"));
    }
    install.link_for(directory)?;
    let flags = domain_flags(board);
    let mut build = cargo(install, tools, board, (For::Domain, directory), &flags)?;
    if let Some(bin) = &source.bin {
        build.command.args(["--bin", bin]);
    }
    if !source.features.is_empty() {
        build.command.args(["--features", &source.features.join(",")]);
    }
    let finished = build.run(&format!("the package `{}`", source.path))?;
    let path = executable(&finished.output.stdout, source.bin.as_deref()).ok_or_else(|| {
        Diagnostic::new("CF0506", format!("the package `{}` has no binary, or several", source.path))
            .rule("a domain is one program")
            .remedy("name it: `crate = { path = \"...\", bin = \"...\" }`")
    })?;
    let nominal = read(&path)?;
    let warnings = command::warnings(&finished.output);
    let elsewhere = match board.core.targets.linked_at {
        Some(_) => None,
        None => {
            Some(read(&twin(&path, &nominal, SECOND).ok_or_else(|| without_second(&path))?.with_extension(SECOND))?)
        }
    };
    Ok(Linked { nominal, elsewhere, commands: Vec::new(), warnings })
}

fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    input::read(path, input::MOST_BINARY).map_err(|why| unreadable(path, &why))
}

fn without_second(path: &Path) -> Diagnostic {
    Diagnostic::new("CF0605", format!("the second link of `{}` is missing", path.display()))
        .rule("programs are linked twice, and compared")
        .remedy("remove the directory `bare` of the target directory, and build again")
}

/// Builds the kernel of a board and returns its ELF file's bytes: the file may be another's a moment later.
///
/// # Errors
/// CF0506 when it does not build; CF0605 when it lacks a label that the core's file names.
pub fn build_kernel(install: &Install, tools: &Toolchain, board: &Board) -> Result<Vec<u8>, Diagnostic> {
    let (path, _finished) = kernel_program(install, tools, board, For::Kernel, &[])?;
    core_rules::timer_entry(&board.core, &path)?;
    read(&path)
}

/// Builds a board's kernel without the code for handlers that interrupts reach without it, and returns its ELF file's bytes: it refuses tables with
/// handlers.
///
/// # Errors
/// CF0506 when it does not build.
pub fn build_kernel_without_handlers(
    install: &Install,
    tools: &Toolchain,
    board: &Board,
) -> Result<Vec<u8>, Diagnostic> {
    let (path, _finished) =
        kernel_program(install, tools, board, For::KernelWithoutHandlers, &["--no-default-features"])?;
    read(&path)
}

/// Builds a program that runs in the place of a board's kernel, an example of its package, and returns its ELF file.
///
/// # Errors
/// CF0506 when it does not build.
pub fn build_example(
    install: &Install,
    tools: &Toolchain,
    board: &Board,
    example: &str,
) -> Result<PathBuf, Diagnostic> {
    kernel_program(install, tools, board, For::Kernel, &["--example", example]).map(|(path, _)| path)
}

/// The program of the kernel's package that the arguments select; by default its one binary.
fn kernel_program(
    install: &Install,
    tools: &Toolchain,
    board: &Board,
    whom: For,
    select: &[&str],
) -> Result<(PathBuf, Finished), Diagnostic> {
    let Core { targets, image, .. } = &board.core;
    let cpu = format!("target-cpu={}", targets.cpu);
    let linker = format!("linker={}", tools.gcc.display());
    // The linker script names functions by their mangled names.
    let options = [&cpu, &linker, "link-arg=-nostartfiles", "link-arg=-nostdlib", "symbol-mangling-version=v0"];
    let mut flags = codegen(&options);
    flags.extend(targets.link_flags.iter().flat_map(|flag| ["-C".to_owned(), format!("link-arg={flag}")]));
    let mut build = cargo(install, tools, board, (whom, &install.root.join(&image.package)), &flags)?;
    build.command.args(select);
    let finished = build.run("the kernel")?;
    let path = executable(&finished.output.stdout, None).ok_or_else(|| {
        Diagnostic::new("CF0605", "the kernel's package has no such program")
            .rule("it has one")
            .remedy("restore the checkout")
    })?;
    Ok((path, finished))
}

/// Builds the heap of domains that are C alone and returns its object file in `dir`. Only this object of cargo's library is linked:
/// the others would take the place of the C library's `memcpy` and its kin.
///
/// # Errors
/// CF0506 when it does not build.
pub fn build_malloc(install: &Install, tools: &Toolchain, board: &Board, dir: &Path) -> Result<PathBuf, Diagnostic> {
    const PACKAGE: &str = "cofferdam-malloc";
    // A library is not linked, but with other options the core library would be built again for it.
    let flags = domain_flags(board);
    let mut build = cargo(install, tools, board, (For::Domain, &install.root), &flags)?;
    build.command.args(["-p", PACKAGE]);
    let finished = build.run("the heap")?;
    let library = artifact(&finished.output.stdout, ".a").ok_or_else(|| without_object("library"))?;
    let mut list = Command::new(&tools.ar);
    let members = command::run("the heap", list.arg("t").arg(&library))?;
    let members = String::from_utf8_lossy(&members.stdout).into_owned();
    let member = members.lines().find(|name| name.starts_with("cofferdam_malloc-") && name.ends_with(".o"));
    let member = member.ok_or_else(|| without_object("object"))?;
    let object = command::run("the heap", Command::new(&tools.ar).arg("p").arg(&library).arg(member))?;
    let path = dir.join(format!("cofferdam_malloc-{}.o", short(&object.stdout)));
    crate::files::write_file(&path, &object.stdout)?;
    Ok(path)
}

fn without_object(what: &str) -> Diagnostic {
    Diagnostic::new("CF0605", format!("the heap's package has no {what}"))
        .rule("it has one")
        .remedy("restore the checkout")
}

/// The file of this kind that cargo's messages name last.
fn artifact(messages: &[u8], kind: &str) -> Option<PathBuf> {
    let text = String::from_utf8_lossy(messages);
    let parsed = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let files = parsed.flat_map(|value| value["filenames"].as_array().cloned().unwrap_or_default());
    files.filter_map(|file| file.as_str().map(PathBuf::from)).rfind(|file| file.to_string_lossy().ends_with(kind))
}

/// The one executable that cargo's messages name.
pub(crate) fn executable(messages: &[u8], bin: Option<&str>) -> Option<PathBuf> {
    let text = String::from_utf8_lossy(messages);
    let parsed = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let named = |value: &serde_json::Value| bin.is_none_or(|bin| value["target"]["name"] == bin);
    let files = parsed.filter(named).filter_map(|value| value["executable"].as_str().map(PathBuf::from));
    let files: Vec<PathBuf> = files.collect();
    if files.len() == 1 { files.into_iter().next() } else { None }
}
