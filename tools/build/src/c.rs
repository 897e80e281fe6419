//! Builds domains from sources in C and C++, and prints the flags with which anybody else can.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use manifest::{Board, CSources, Diagnostic, Refusal, input};

use crate::c_library::{Library, files, installed};
use crate::command;
use crate::core_rules;
use crate::files::{create_dir, short};
use crate::install::{Install, unreadable};
use crate::linked::{Linked, addresses, elsewhere_flags};
use crate::objects::Objects;
use crate::sources::{can_be_compiled, is_cpp};
use crate::toolchain::Toolchain;

/// The parts of the run-time that every domain in C is linked with.
const GLUE: &str = "user/c/src";

/// Flags with which all domains of a board are compiled and linked. The second name the objects of the run-time, so they are made once for a system and not for
/// each of its domains: that takes longer than a small program.
pub(crate) struct Flags {
    compile: Vec<String>,
    link: Vec<String>,
}

impl Flags {
    /// Both, and the objects.
    ///
    /// # Errors
    /// CF0501 for a file of the checkout that cannot be read, CF0506 when the run-time does not build, CF0601 when the library of C is not installed.
    pub(crate) fn of(install: &Install, tools: &Toolchain, board: &Board) -> Result<Flags, Diagnostic> {
        let library = Library::of(install, tools, board)?;
        Ok(Flags { compile: flags_with(install, board, &library), link: linking(install, tools, board, &library)? })
    }
}

/// Flags for compiling: processor, sections, library of C, include directories of `cofferdam.h`.
///
/// # Errors
/// CF0501 for a file of the checkout that cannot be read, CF0601 when the library of C is not installed.
pub fn compiler_flags(install: &Install, tools: &Toolchain, board: &Board) -> Result<Vec<String>, Diagnostic> {
    Ok(flags_with(install, board, &Library::of(install, tools, board)?))
}

fn flags_with(install: &Install, board: &Board, library: &Library) -> Vec<String> {
    let own = [install.root.join("user/c/include"), install.root.join(&board.core.entry).join("include")];
    let mut flags = board.core.targets.c_flags.clone();
    flags.extend(["-O2", "-g", "-ffunction-sections", "-fdata-sections"].map(String::from));
    flags.extend(library.compile.iter().cloned());
    flags.extend(own.into_iter().chain(library.include()).map(|dir| format!("-I{}", dir.display())));
    flags
}

/// Flags for linking: the domain's linker script, relocations kept, and the run-time's objects in front of the C library.
///
/// # Errors
/// CF0501 and CF0601 as [`compiler_flags`] has them; CF0506 when the run-time does not build.
pub fn linker_flags(install: &Install, tools: &Toolchain, board: &Board) -> Result<Vec<String>, Diagnostic> {
    linking(install, tools, board, &Library::of(install, tools, board)?)
}

fn linking(install: &Install, tools: &Toolchain, board: &Board, library: &Library) -> Result<Vec<String>, Diagnostic> {
    let mut flags = board.core.targets.c_flags.clone();
    flags.push("-nostartfiles".to_owned());
    flags.extend(["-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments", "-Wl,-z,noexecstack"].map(String::from));
    flags.extend(library.link.iter().cloned());
    flags.extend(addresses(&board.core));
    // All insert into the last of them, and the first has to come first.
    let script = |name: &str| install.root.join("user").join(name);
    let scripts = [script("unwind.ld")].into_iter().chain(library.scripts()).chain([script("domain.ld")]);
    flags.extend(scripts.map(|script| format!("-T{}", script.display())));
    flags.extend(glue(install, tools, board, library)?.iter().map(|object| object.display().to_string()));
    Ok(flags)
}

/// Compiles the run-time for a board.
fn glue(install: &Install, tools: &Toolchain, board: &Board, library: &Library) -> Result<Vec<PathBuf>, Diagnostic> {
    let dir = install.target.join("sdk").join(&board.name);
    create_dir(&dir)?;
    let mut flags = flags_with(install, board, library);
    let common = install.root.join(GLUE);
    flags.extend([common.as_path(), library.directory()].map(|dir| format!("-I{}", dir.display())));
    let entry = files(&install.root.join(&board.core.entry), "S");
    let sources = files(&common, "c").into_iter().chain(library.sources()).chain(entry);
    // Boards of one name, and checkouts that build into one directory, have their own.
    let with = flags.join("\0");
    let store = Objects::of(install, tools);
    let glue = sources.map(|file| Ok(store.make(&flags, &file, &dir.join(object_name(&file, &with)))?.0));
    glue.chain([crate::rust::build_malloc(install, tools, board, &dir)]).collect()
}

/// The one name of a file.
fn identity(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| file.to_owned())
}

/// The name of a source's object: no two sources share one, whatever their directories are called.
pub(crate) fn object_name(source: &Path, with: &str) -> String {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let all = [identity(source).as_os_str().as_encoded_bytes(), with.as_bytes()].join(&0);
    format!("{name}-{}.o", short(&all))
}

/// An entry of `compile_commands.json`.
fn compile_command(tools: &Toolchain, flags: &[String], source: &Path) -> serde_json::Value {
    let source = std::path::absolute(source).unwrap_or_else(|_| source.to_owned()).display().to_string();
    let program = tools.gcc.display().to_string();
    let arguments: Vec<_> =
        [program].into_iter().chain(flags.iter().cloned()).chain(["-c".to_owned(), source.clone()]).collect();
    let directory = std::env::current_dir().unwrap_or_default().display().to_string();
    serde_json::json!({ "directory": directory, "file": source, "arguments": arguments })
}

/// The refusal of a file that is no source. Of a header the compiler would make something else than an object; others it would pass on to the linker.
pub(crate) fn no_source(path: &Path, pattern: &str) -> Refusal {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_header = path.extension().is_some_and(|e| e.to_string_lossy().to_lowercase().starts_with('h'));
    let what = if is_header { "a header" } else { "no source" };
    let remedy = match pattern.rsplit_once('*') {
        Some((before, _)) => {
            format!("write a pattern that leaves it out, such as `{}*.c`", before.trim_end_matches('.'))
        }
        None if is_header => "leave it out: sources include it, and `include` names directories of headers".to_owned(),
        None => "leave it out".to_owned(),
    };
    Refusal::at("CF0524", "", format!("`{name}` is {what}"))
        .value(format!("`{pattern}` in `sources`"))
        .limit(".c; .cc, .cp, .cpp, .cxx, .c++, .C, .CPP; .S, .s, .sx; .i, .ii")
        .rule("each of the sources becomes an object of the program")
        .remedy(remedy)
}

/// Replaces patterns (`src/*.c`) by the files that match; `*` stands for any part of a file's name.
fn expand(directory: &Path, pattern: &str) -> Result<Vec<PathBuf>, Diagnostic> {
    let path = directory.join(pattern);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some((before, after)) = name.split_once('*') else { return Ok(vec![path]) };
    let parent = path.parent().unwrap_or(directory);
    let entries = std::fs::read_dir(parent).map_err(|error| unreadable(parent, &error.into()))?;
    let fits =
        |name: &str| name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after);
    let matching = entries.flatten().filter(|entry| fits(&entry.file_name().to_string_lossy()));
    let mut files: Vec<PathBuf> = matching.map(|entry| entry.path()).collect();
    files.sort();
    if files.is_empty() {
        return Err(unreadable(&path, &std::io::Error::from(std::io::ErrorKind::NotFound).into()));
    }
    Ok(files)
}

/// Builds a domain from C sources; `directory` is the manifest's, and `objects` what is built goes into, with the domain's name.
///
/// # Errors
/// CF0501 for a source that does not exist, CF0506 when it does not build.
pub(crate) fn build_c(
    install: &Install,
    tools: &Toolchain,
    board: &Board,
    common: &Flags,
    directory: &Path,
    objects: &Path,
    source: &CSources,
) -> Result<Linked, Diagnostic> {
    let (dir, name) = (objects, objects.file_name().unwrap_or_default().to_string_lossy());
    create_dir(dir)?;
    let mut flags = common.compile.clone();
    flags.extend(source.include.iter().map(|include| format!("-I{}", directory.join(include).display())));
    flags.extend(source.flags.iter().cloned());
    let mut sources = Vec::new();
    let mut named = BTreeSet::new();
    for pattern in &source.sources {
        let files = expand(directory, pattern)?;
        if let Some(other) = files.iter().find(|file| !can_be_compiled(file)) {
            return Err(no_source(other, pattern).into());
        }
        // One that two patterns name is linked once.
        sources.extend(files.into_iter().filter(|file| named.insert(identity(file))));
    }
    let cpp = sources.iter().any(|file| is_cpp(file));
    if cpp {
        installed(tools, board, "libstdc++.a", "the library of C++ for the chip (libstdc++)")?;
    }
    let commands = sources.iter().map(|file| compile_command(tools, &flags, file)).collect();
    let store = Objects::of(install, tools);
    let compiled = sources.iter().map(|file| store.make(&flags, file, &dir.join(object_name(file, ""))));
    let compiled = compiled.collect::<Result<Vec<_>, _>>()?;
    let (objects, warnings): (Vec<_>, Vec<_>) = compiled.into_iter().unzip();
    let libraries: &[&str] = if cpp { &["-lstdc++", "-lm", "-o"] } else { &["-lm", "-o"] };
    let link = |suffix: &str, more: &[&str]| {
        let output = dir.join(format!("{name}{suffix}.elf"));
        let mut command = Command::new(&tools.gcc);
        command.args(&objects).args(&common.link).args(more).args(libraries).arg(&output);
        command::run(&format!("the domain `{name}`"), &mut command)?;
        input::read(&output, input::MOST_BINARY).map_err(|why| unreadable(&output, &why))
    };
    let warnings = warnings.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    let more = elsewhere_flags(board);
    let elsewhere = if more.is_empty() { None } else { Some(link(".elsewhere", more)?) };
    Ok(Linked { nominal: link("", &[])?, elsewhere, commands, warnings })
}

/// A CMake toolchain file with the same flags.
///
/// # Errors
/// CF0501 and CF0601 as [`compiler_flags`] has them; CF0506 when the run-time does not build.
pub fn cmake_toolchain(install: &Install, tools: &Toolchain, board: &Board) -> Result<String, Diagnostic> {
    let quoted = |flags: Vec<String>| flags.join(" ");
    let (compile, link) =
        (quoted(compiler_flags(install, tools, board)?), quoted(linker_flags(install, tools, board)?));
    let processor = core_rules::isa(&board.core)?.processor;
    Ok(format!(
        "# Made by `cofferdam sdk --board {board} --cmake`: builds programs as protection domains.\n\
         set(CMAKE_SYSTEM_NAME Generic)\n\
         set(CMAKE_SYSTEM_PROCESSOR {processor})\n\
         set(CMAKE_C_COMPILER \"{gcc}\")\n\
         set(CMAKE_CXX_COMPILER \"{gxx}\")\n\
         set(CMAKE_TRY_COMPILE_TARGET_TYPE EXECUTABLE)\n\
         set(CMAKE_EXECUTABLE_SUFFIX \".elf\")\n\
         set(CMAKE_C_FLAGS_INIT \"{compile}\")\n\
         set(CMAKE_CXX_FLAGS_INIT \"{compile}\")\n\
         set(CMAKE_EXE_LINKER_FLAGS_INIT \"{link}\")\n",
        board = board.name,
        gcc = tools.gcc.display(),
        gxx = tools.gxx().display(),
    ))
}
