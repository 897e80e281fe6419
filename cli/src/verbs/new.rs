//! `cofferdam new`

use std::path::Path;

use build_tool::{Install, write_file};
use manifest::{Diagnostic, name_ok};
use serde_json::json;

use super::one;
use crate::cli::New;
use crate::output::{OK, Outcome, Output};

const MANIFEST: &str = include_str!("../templates/system.toml");
const MAIN_C: &str = include_str!("../templates/main.c");
const MAIN_RS: &str = include_str!("../templates/main.rs.txt");
const PACKAGE: &str = include_str!("../templates/package.toml");

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
    if args.directory.join("system.toml").exists() {
        return Err(one(Diagnostic::new("CF0604", format!("`{}` holds a system already", args.directory.display()))
            .rule("nothing is overwritten")
            .remedy("choose another directory")));
    }
    let root = install.root.display().to_string();
    let program = if args.rust { "crate = \"app\"" } else { "c = { sources = [\"main.c\"] }" };
    let filled = |text: &str| text.replace("@NAME@", &name).replace("@ROOT@", &root).replace("@PROGRAM@", program);
    let mut files = Vec::new();
    let mut write = |path: &str, text: &str| {
        files.push(path.to_owned());
        write_file(&args.directory.join(path), filled(text).as_bytes()).map_err(one)
    };
    if args.rust {
        write("app/Cargo.toml", PACKAGE)?;
        write("app/src/main.rs", MAIN_RS)?;
    } else {
        write("main.c", MAIN_C)?;
    }
    write("system.toml", MANIFEST)?;
    let manifest: &Path = &args.directory.join("system.toml");
    output.say(format!("made {}; run it: cofferdam run {}", args.directory.display(), manifest.display()));
    output.field("manifest", json!(manifest));
    output.field("files", json!(files));
    Ok(OK)
}
