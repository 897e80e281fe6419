//! Boards, chips and cores are data: code of the product names none of them. `docs/porting.md` says which files a further one takes; the files
//! that it names exist.

use crate::Finding;
use crate::files::Source;

/// Directories of code that is the product's, and the linker scripts and headers in them.
const PRODUCT: &[&str] = &[
    "crates/",
    "kernel/",
    "arch/",
    "images/",
    "user/",
    "services/",
    "drivers/",
    "capi/",
    "sim/",
    "tools/",
    "eval/",
    "cli/",
];
/// An experiment on one board.
const EXPERIMENTS: &[&str] = &["eval/stand-alone/"];
/// Parts of the paths of tests and studies.
const NOT_PRODUCT: &[&str] = &[
    "eval/peers/",
    "eval/systems/",
    "/tests/",
    "/tests.rs",
    "/examples/",
    "/benches/",
    "tests/suites/",
    "tools/lint/",
];

/// The document, and how the files of a list are marked in it.
pub const DOCUMENT: &str = "docs/porting.md";

/// The names of all boards, chips and cores: directories with a `board.toml`, and files of `chips/` and `cores/`.
pub fn names(sources: &[Source]) -> Vec<String> {
    let name = |source: &Source| {
        let path = source.path.strip_suffix(".toml")?;
        let board = path.strip_prefix("boards/").and_then(|rest| rest.strip_suffix("/board"));
        let name = board.or_else(|| path.strip_prefix("chips/")).or_else(|| path.strip_prefix("cores/"))?;
        Some(name.to_owned())
    };
    sources.iter().filter_map(name).collect()
}

/// Code of the product that names a board, a chip or a core. Tests, which stand behind `#[cfg(test)]` or in files of their own, may.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let names = names(sources);
    let code = sources.iter().filter(|source| is_product(&source.path));
    code.flat_map(|source| named(source, &names)).collect()
}

/// Whether a file is code of the product.
pub(crate) fn is_product(path: &str) -> bool {
    let begins = |with: &[&str]| with.iter().any(|start| path.starts_with(start));
    let is_code = !path.ends_with(".toml");
    is_code && begins(PRODUCT) && !begins(EXPERIMENTS) && !NOT_PRODUCT.iter().any(|part| path.contains(part))
}

fn named(source: &Source, names: &[String]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, line) in product_lines(source) {
        for name in names.iter().filter(|name| line.contains(name.as_str()) || line.contains(&name.replace('-', "_"))) {
            let text = format!("names `{name}`, which is data: read the file of the board, chip or core");
            found.push(Finding::new("name", format!("{}:{number}", source.path), text));
        }
    }
    found
}

/// Lines of a file without the items that only tests have, with their numbers. Sources are formatted, so that an item ends where a bracket
/// closes at its own indentation.
pub(crate) fn product_lines(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let rust = source.path.ends_with(".rs");
    let mut part = Part::Product;
    (1..).zip(source.text.lines()).filter(move |(_, line)| {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        part = match part {
            Part::Product if rust && text.starts_with("#[cfg(test)]") => Part::Attribute(indent),
            Part::Attribute(_) if text.starts_with("#[") || text.starts_with("//") => return false,
            Part::Attribute(_) if text.ends_with([';', '}', ',']) => {
                part = Part::Product;
                return false;
            }
            Part::Attribute(at) => Part::Item(at),
            Part::Item(at)
                if indent == at && (text.starts_with('}') || text.starts_with(')') && text.ends_with([';', ','])) =>
            {
                part = Part::Product;
                return false;
            }
            other => other,
        };
        matches!(part, Part::Product)
    })
}

/// The part of a file that a line is in.
#[derive(Clone, Copy)]
enum Part {
    Product,
    /// Behind `#[cfg(test)]` of this indentation.
    Attribute(usize),
    /// In its item.
    Item(usize),
}

/// The path that a line of a list names.
pub(crate) fn listed(line: &str) -> Option<&str> {
    line.strip_prefix("* `")?.split('`').next()
}

/// Whether a part of such a path stands for names.
pub(crate) fn stands_for(part: &str) -> bool {
    part.chars().any(char::is_uppercase)
}

/// Files and directories that `docs/porting.md` names in its lists, `* \`path\``, and that are not there. Words in capitals stand for names.
pub fn check_document(document: &str, exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, line) in document.lines().enumerate() {
        let Some(path) = listed(line) else { continue };
        let known: Vec<&str> = path.split('/').take_while(|part| !stands_for(part)).collect();
        let known = known.join("/");
        if known.is_empty() || !exists(&known) {
            let text = format!("`{path}` is in a list of files, and `{known}` does not exist");
            found.push(Finding::new("porting", format!("{DOCUMENT}:{}", number + 1), text));
        }
    }
    found
}

/// Documents whose paths a newcomer follows.
pub const MAPS: &[&str] = &["README.md", "docs/architecture.md", "docs/contributing.md"];

/// Paths below the root, `` `directory/...` ``, that a document names and that are not there. What is below `target` comes with builds.
pub fn check_paths(name: &str, document: &str, exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let is_path = |text: &&str| {
        text.split_once('/').is_some_and(|(first, _)| {
            !first.is_empty() && !first.starts_with('.') && first != "target" && exists(first)
        }) && !text.contains([' ', '*', ':'])
    };
    let mut found = Vec::new();
    for (number, line) in (1..).zip(document.lines()) {
        for path in line.split('`').skip(1).step_by(2).filter(is_path) {
            let known: Vec<&str> = path.split('/').take_while(|part| !stands_for(part)).collect();
            if !exists(&known.join("/")) && !exists(path) {
                found.push(Finding::new("map", format!("{name}:{number}"), format!("`{path}` does not exist")));
            }
        }
    }
    found
}
