//! A concept with several implementations is named only by the files that `docs/porting.md` lists for a further one: the list is complete, and
//! code elsewhere does not choose between them.

use std::collections::BTreeSet;

use crate::Finding;
use crate::files::Source;
use crate::names::{DOCUMENT, is_product, listed, product_lines, stands_for};

/// A concept that `docs/porting.md` has a list for.
pub struct Concept {
    /// The line above the list.
    pub list: &'static str,
    /// The directory with one directory for each implementation; its names are terms, too.
    pub directory: &'static str,
    /// Text by which code tells the implementations apart.
    pub terms: &'static [&'static str],
}

/// All of them.
pub const CONCEPTS: &[Concept] = &[Concept {
    list: "A scheme of protection:",
    directory: "crates/protect/src/",
    terms: &["Hardware::Regions", "Hardware::Pages", "is_paged", "has_pages"],
}];

/// Code that names an implementation of a concept outside of the files listed for it.
pub fn check(sources: &[Source], document: &str) -> Vec<Finding> {
    CONCEPTS.iter().flat_map(|concept| concept.check(sources, document)).collect()
}

impl Concept {
    fn check(&self, sources: &[Source], document: &str) -> Vec<Finding> {
        let owners: Vec<&str> = items(document, self.list).collect();
        if owners.is_empty() {
            let text = format!("there is no list under `{}`", self.list);
            return vec![Finding::new("owner", DOCUMENT, text)];
        }
        let names = self.names(sources);
        let terms: Vec<String> =
            names.iter().copied().chain(self.terms.iter().copied()).map(str::to_lowercase).collect();
        let is_owned = |path: &str| owners.iter().any(|owner| covers(owner, path, &names));
        let others = sources.iter().filter(|source| is_product(&source.path) && !is_owned(&source.path));
        others.flat_map(|source| self.named(source, &terms)).collect()
    }

    /// Names of the implementations.
    fn names<'a>(&self, sources: &'a [Source]) -> BTreeSet<&'a str> {
        let inside = sources.iter().filter_map(|source| source.path.strip_prefix(self.directory)?.split_once('/'));
        inside.map(|(name, _)| name).collect()
    }

    fn named(&self, source: &Source, terms: &[String]) -> Vec<Finding> {
        let lines = product_lines(source).filter(|(_, line)| !is_comment(line) && !is_declaration(line));
        let found = lines.flat_map(|(number, line)| {
            let line = line.to_lowercase();
            let found: Vec<_> = terms.iter().filter(|term| line.contains(term.as_str())).collect();
            found.into_iter().map(move |term| {
                let text = format!("`{term}`: only files of the list \"{}\" in {DOCUMENT} tell these apart", self.list);
                Finding::new("owner", format!("{}:{number}", source.path), text)
            })
        });
        found.collect()
    }
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "/*", "* ", "*/"].iter().any(|start| line.starts_with(start))
}

/// A module has to be declared above it.
fn is_declaration(line: &str) -> bool {
    line.trim_start_matches("pub ").starts_with("mod ") && line.ends_with(';')
}

/// The paths of the list below a line.
fn items<'a>(document: &'a str, list: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = document.lines().skip_while(move |line| *line != list).skip(1);
    lines.take_while(|line| !line.is_empty() && !line.starts_with('#')).filter_map(listed)
}

/// Whether a path is a listed one or below it. A part in capitals stands for each of the names; `NAME` for everything.
fn covers(listed: &str, path: &str, names: &BTreeSet<&str>) -> bool {
    let mut parts = path.split('/');
    listed.split('/').all(|part| {
        let Some(own) = parts.next() else { return false };
        part == own || part == "NAME" || (stands_for(part) && names.contains(own))
    })
}
