//! `cofferdam-lint [ROOT]`: prints every finding of every check; exit code 0 clean, 1 findings, 2 unreadable repository.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cofferdam_lint::{Finding, dependencies, files, layers, portable, workspace};

fn main() -> ExitCode {
    let root = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    match run(&root) {
        Ok(found) if found.is_empty() => ExitCode::SUCCESS,
        Ok(found) => {
            for finding in &found {
                println!("{finding}");
            }
            ExitCode::from(1)
        }
        Err(text) => {
            eprintln!("cofferdam-lint: {text}");
            ExitCode::from(2)
        }
    }
}

fn run(root: &Path) -> Result<Vec<Finding>, String> {
    let members = workspace::read(root)?;
    let sources = files::read(root)?;
    let document = root.join(dependencies::DOCUMENT);
    let document = std::fs::read_to_string(&document).map_err(|e| format!("reading {}: {e}", document.display()))?;

    let mut found = layers::check(&members);
    found.extend(layers::check_members(&members, sources.iter().map(|source| source.path.as_str())));
    found.extend(dependencies::check(&members, &document));
    for source in &sources {
        if portable::applies(&source.path) {
            found.extend(portable::check(&source.path, &source.text));
        }
        found.extend(files::check(source));
    }
    report(members.len(), &sources);
    Ok(found)
}

fn report(members: usize, sources: &[files::Source]) {
    let lines: usize = sources.iter().map(|source| source.text.lines().count()).sum();
    println!("{members} packages, {} source files, {lines} lines", sources.len());
    for source in sources.iter().filter(|source| files::size(source) == files::Size::Long) {
        println!("note: {} has {} lines", source.path, source.text.lines().count());
    }
}
