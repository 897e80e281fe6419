//! A crate is read bottom up: no module imports another that, directly or by way of others, imports it back. Parents count as modules.
//!
//! An import is a path to an item, in a `use` or in code. A module that only hands an item on, `pub use`, does not import it. Code that
//! only tests have does not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::Finding;
use crate::files::Source;
use crate::workspace::Member;

mod graph;
mod paths;

use graph::components;
use paths::{Contents, contents};

/// A module by the names from the crate's root down; the root is empty.
type Module = Vec<String>;

/// The modules of a package.
type Modules = BTreeMap<Module, Contents>;

/// Names and globs on the way to an item at most; globs may lead in a circle.
const REEXPORTS: usize = 16;

/// The circles of modules in every package, and files that are not Rust.
pub fn check(members: &[Member], sources: &[Source]) -> Vec<Finding> {
    members.iter().flat_map(|member| check_package(&member.directory, sources)).collect()
}

fn check_package(directory: &str, sources: &[Source]) -> Vec<Finding> {
    let below = format!("{directory}/src/");
    let mut found = Vec::new();
    let mut modules = Modules::new();
    let files: Vec<_> = sources.iter().filter_map(|source| Some((source.path.strip_prefix(&below)?, source))).collect();
    let is_library = files.iter().any(|(path, _)| *path == "lib.rs");
    for (path, source) in files {
        let Some(module) = module_of(path).filter(|_| !(is_library && path == "main.rs")) else { continue };
        match contents(&source.text) {
            Ok(read) => _ = modules.insert(module, read),
            Err(text) => found.push(Finding::new("module-syntax", &source.path, text)),
        }
    }
    let imports = imports(&modules);
    found.extend(components(&imports).iter().map(|circle| finding(directory, circle, &imports)));
    found
}

/// The module of a file below `src`. Tests are none. Each program of `bin`, and `main.rs` beside a library, is a crate of its own.
fn module_of(path: &str) -> Option<Module> {
    let mut names: Module = path.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if names.iter().any(|name| name == "tests") || names[0] == "bin" {
        return None;
    }
    if matches!(names.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        names.pop();
    }
    Some(names)
}

/// For each module the modules that it imports, with an item of each.
type Imports = BTreeMap<Module, BTreeMap<Module, String>>;

fn imports(modules: &Modules) -> Imports {
    let mut found = Imports::new();
    for (module, contents) in modules {
        let of = found.entry(module.clone()).or_default();
        let items = contents.imported().filter_map(|path| Way::default().resolve(modules, module, path));
        for (other, item) in items.filter(|(other, _)| other != module) {
            of.entry(other).or_insert(item);
        }
    }
    found
}

/// The way to the module that defines an item.
#[derive(Clone, Copy, Default)]
struct Way {
    /// Names and globs that were followed.
    steps: usize,
    /// Through a glob: an item that no file defines, as macros make them, is not there.
    glob: bool,
}

impl Way {
    /// The module that defines the item of a path in `from`, and the item's name; `None` for other crates and for modules as such.
    fn resolve(self, modules: &Modules, from: &Module, path: &[String]) -> Option<(Module, String)> {
        let mut base = from.clone();
        let mut names = path;
        while let Some((first, rest)) = names.split_first() {
            match first.as_str() {
                "crate" => base.clear(),
                "super" => _ = base.pop()?,
                "self" => (),
                _ => break,
            }
            names = rest;
        }
        let anchored = names.len() < path.len();
        self.find(modules, &base, names, anchored)
    }

    fn find(self, modules: &Modules, module: &Module, names: &[String], certain: bool) -> Option<(Module, String)> {
        let (first, rest) = names.split_first()?;
        let child: Module = module.iter().chain([first]).cloned().collect();
        if modules.contains_key(&child) {
            return self.find(modules, &child, rest, true);
        }
        let contents = modules.get(module)?;
        if contents.defines(first) {
            return Some((module.clone(), first.clone()));
        }
        let next = Self { steps: (self.steps < REEXPORTS).then_some(self.steps + 1)?, ..self };
        if let Some(named) = contents.named(first) {
            let whole: Vec<String> = named.iter().chain(rest).cloned().collect();
            return next.resolve(modules, module, &whole);
        }
        let through = |glob: &[String]| {
            let whole: Vec<String> = glob.iter().chain(names).cloned().collect();
            Self { glob: true, ..next }.resolve(modules, module, &whole)
        };
        let made_by_macro = || (certain && !self.glob).then(|| (module.clone(), first.clone()));
        contents.globs().find_map(through).or_else(made_by_macro)
    }
}

/// One circle as one finding, with an item for each import in it.
fn finding(directory: &str, circle: &BTreeSet<Module>, imports: &Imports) -> Finding {
    let name = |module: &Module| if module.is_empty() { "the root".to_owned() } else { module.join("::") };
    let mut text = String::from("modules that import each other:");
    for module in circle {
        for (other, item) in imports[module].iter().filter(|(other, _)| circle.contains(*other)) {
            text += &format!("\n    {} imports {} of {}", name(module), item, name(other));
        }
    }
    Finding::new("module-circle", format!("{directory}/src"), text)
}
