//! `cofferdam-lint [ROOT]`: prints every finding of every check; exit code 0 clean, 1 findings, 2 unreadable repository.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cofferdam_lint::{Finding, dependencies, files, layers, modules, mutants, names, owners, portable, workspace};

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
    let read = |path: &str| {
        let path = root.join(path);
        std::fs::read_to_string(&path).map_err(|error| format!("reading {}: {error}", path.display()))
    };
    let document = read(dependencies::DOCUMENT)?;

    let mut found = layers::check(&members);
    found.extend(layers::check_members(&members, sources.iter().map(|source| source.path.as_str())));
    found.extend(dependencies::check(&members, &document));
    found.extend(modules::check(&members, &sources));
    found.extend(names::check(&sources));
    let porting = read(names::DOCUMENT)?;
    found.extend(names::check_document(&porting, |path| root.join(path).exists()));
    found.extend(owners::check(&sources, &porting));
    for list in mutants::LISTS {
        found.extend(mutants::check(list, &read(list)?, |path| read(path).ok())?);
    }
    for map in names::MAPS {
        found.extend(names::check_paths(map, &read(map)?, |path| root.join(path).exists()));
    }
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
