//! `cofferdam new`

use std::path::Path;

use build_tool::{Install, write_file};
use manifest::{Diagnostic, Document, name_ok};
use serde_json::json;

use super::one;
use crate::cli::New;
use crate::output::{OK, Outcome, Output, argument};

const MANIFEST: &str = include_str!("../templates/system.toml");
const MAIN_C: &str = include_str!("../templates/main.c");
const MAIN_RS: &str = include_str!("../templates/main.rs.txt");
const PACKAGE: &str = include_str!("../templates/package.toml");
/// Results, and the link to the checkout, which is made anew wherever the project is built.
const IGNORED: &str = "target/\n.cofferdam\n";

/// Makes a directory with a system that runs.
pub fn run(args: &New, output: &mut Output) -> Outcome {
    let install = Install::find().map_err(one)?;
    // `.` has the name of the directory that it is.
    let whole = std::path::absolute(&args.directory).unwrap_or_else(|_| args.directory.clone());
    let name = whole.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if !name_ok(&name) {
        return Err(one(Diagnostic::new("CF0201", format!("`{name}` cannot be the name of a system"))
            .limit("1 to 31 letters, digits, `-` or `_`")
            .rule("the directory's name becomes the system's")
            .remedy("choose a shorter or simpler name")));
    }
    let taken = ["system.toml", if args.rust { "app" } else { "main.c" }].into_iter();
    if let Some(file) = { taken }.find(|file| args.directory.join(file).exists()) {
        return Err(one(Diagnostic::new("CF0604", format!("`{}` has a `{file}` already", args.directory.display()))
            .rule("nothing is overwritten")
            .remedy("choose another directory")));
    }
    let program = if args.rust { "crate = \"app\"" } else { "c = { sources = [\"main.c\"] }" };
    let filled = |text: &str| text.replace("@NAME@", &name).replace("@PROGRAM@", program);
    let mut files = Vec::new();
    let mut write = |path: &str, text: &str| {
        // These a project may have already: they stay.
        if path.starts_with('.') && args.directory.join(path).exists() {
            return Ok(());
        }
        files.push(path.to_owned());
        write_file(&args.directory.join(path), filled(text).as_bytes()).map_err(one)
    };
    if args.rust {
        write("app/Cargo.toml", PACKAGE)?;
        write("app/src/main.rs", MAIN_RS)?;
        // For `cargo check` and editors; builds name their target themselves.
        let starter = Document::parse(&args.directory.join("system.toml"), &filled(MANIFEST)).map_err(one)?;
        let target = install.board(&starter.manifest.system.board).map_err(one)?.core.targets.domain;
        write(".cargo/config.toml", &format!("[build]\ntarget = \"{target}\"\n"))?;
        install.link_into(&args.directory).map_err(one)?;
    } else {
        write("main.c", MAIN_C)?;
    }
    write(".gitignore", IGNORED)?;
    write("system.toml", MANIFEST)?;
    let manifest: &Path = &args.directory.join("system.toml");
    output.say(format!("made {}; run it: cofferdam run {}", args.directory.display(), argument(manifest)));
    output.field("manifest", json!(manifest));
    output.field("files", json!(files));
    Ok(OK)
}
