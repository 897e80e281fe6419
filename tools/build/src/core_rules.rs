//! Whether a core's file names what is there: directories of the checkout, targets of the compilers, a label of the kernel.

use std::path::Path;
use std::process::Command;

use manifest::{Core, Diagnostic};
use place::Isa;
use runner::ImageFacts;

use crate::linked::{COMPILE, ENTRY_HEADER, GATE_RETURN};

fn wrong(core: &Core, key: &str, value: &str, limit: &str, rule: &str) -> Diagnostic {
    Diagnostic::new("CF0605", format!("the file of the core `{}` is wrong: {key}", core.name))
        .value(value)
        .limit(limit)
        .rule(rule)
        .remedy("correct the core's file")
}

/// Its directories have the files that builds take from there.
pub(crate) fn directories(core: &Core, root: &Path) -> Result<(), Diagnostic> {
    let entry = [ENTRY_HEADER, GATE_RETURN].map(|file| ("entry", &core.entry, file));
    let library = format!("user/c/{}", core.targets.c_library.name);
    let others = [("image.package", &core.image.package, "Cargo.toml"), ("targets.c_library.name", &library, COMPILE)];
    for (key, directory, file) in entry.into_iter().chain(others) {
        if !root.join(directory).join(file).is_file() {
            let limit = format!("there is no `{directory}/{file}`");
            return Err(wrong(core, key, directory, &limit, "it is a directory of the checkout with what builds need"));
        }
    }
    Ok(())
}

/// The instruction set of its programs.
pub(crate) fn isa(core: &Core) -> Result<&'static Isa, Diagnostic> {
    let (key, triple) = ("targets.domain", &core.targets.domain);
    let limit = "no table of tools/place/src/isa has it";
    Isa::of_target(triple).ok_or_else(|| wrong(core, key, triple, limit, "it is a target for a known instruction set"))
}

/// The compilers know its targets, its processor and its flags. rustc only warns of a processor that it does not know.
pub(crate) fn targets(core: &Core, rustc: &Path, gcc: &Path) -> Result<(), Diagnostic> {
    let targets = &core.targets;
    for (key, triple) in [("targets.kernel", &targets.kernel), ("targets.domain", &targets.domain)] {
        let mut command = Command::new(rustc);
        let known = said(command.args(["--print", "target-cpus", "--target", triple]));
        let known = known.map_err(|why| wrong(core, key, triple, &why, "rustc knows the target"))?;
        if !known.lines().any(|line| line.split_whitespace().next() == Some(&targets.cpu)) {
            let limit = format!("`rustc --print target-cpus --target {triple}` lists those that it knows");
            return Err(wrong(core, "targets.cpu", &targets.cpu, &limit, "rustc knows the processor"));
        }
    }
    let rule = format!("{}gcc knows the flags", isa(core)?.tools);
    for (key, flags) in [("targets.c_flags", &targets.c_flags), ("targets.cc_flags", &targets.cc_flags)] {
        let mut command = Command::new(gcc);
        let compiled = said(command.args(flags).args(["-fsyntax-only", "-x", "c", "/dev/null"]));
        compiled.map_err(|why| wrong(core, key, &flags.join(" "), &why, &rule))?;
    }
    Ok(())
}

/// Output of a program, or the first line of its complaint.
pub(crate) fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let complaint = || text(&output.stderr).lines().next().unwrap_or("it fails").to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(complaint()) }
}

/// The kernel, an ELF file, has the label at which its timer's handler begins.
pub(crate) fn timer_entry(core: &Core, kernel: &Path) -> Result<(), Diagnostic> {
    let label = &core.exceptions.timer_entry;
    let found = ImageFacts::read(kernel).ok().and_then(|facts| facts.symbol(label));
    let refusal =
        || wrong(core, "exceptions.timer_entry", label, "the kernel has no such label", "it is a label of the kernel");
    found.map(|_| ()).ok_or_else(refusal)
}
