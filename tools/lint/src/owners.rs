//! A concept with several implementations is named only by the files that `docs/porting.md` lists for a further one: the list is complete, and
//! code elsewhere does not choose between them.

use crate::Finding;
use crate::files::Source;
use crate::names::{DOCUMENT, is_product, listed, product_lines, stands_for};

/// A concept that `docs/porting.md` has a list for.
pub struct Concept {
    /// The line above the list.
    pub list: &'static str,
    /// Parts of names that tell its implementations apart.
    pub terms: &'static [&'static str],
}

/// All of them.
pub const CONCEPTS: &[Concept] = &[
    Concept {
        list: "A core:",
        terms: &[
            "armv7",
            "armv8",
            "Armv7",
            "Armv8",
            "riscv",
            "Riscv",
            "rv32",
            "Rv32",
            "thumbv",
            "-none-eabi",
            "R_ARM",
            "EM_ARM",
            "EF_ARM",
        ],
    },
    Concept {
        list: "A scheme of protection:",
        terms: &[
            "pmsav",
            "Pmsav",
            "vmsav",
            "Vmsav",
            "rtmmu",
            "Rtmmu",
            "Hardware::Regions",
            "Hardware::Pages",
            "is_paged",
            "has_pages",
        ],
    },
    Concept { list: "A simulator:", terms: &["qemu", "Qemu", "verilator", "Verilator"] },
];

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
        let is_owned = |path: &str| owners.iter().any(|owner| self.covers(owner, path));
        let others = sources.iter().filter(|source| is_product(&source.path) && !is_owned(&source.path));
        others.filter(|source| source.path.ends_with(".rs")).flat_map(|source| self.named(source)).collect()
    }

    /// Whether a path is a listed one or below it. `NAME` stands for every name, another word in capitals for the concept's.
    fn covers(&self, listed: &str, path: &str) -> bool {
        let mut parts = path.split('/');
        listed.split('/').all(|part| {
            let Some(own) = parts.next() else { return false };
            let is_named = || self.terms.iter().any(|term| own.contains(term));
            part == own || part == "NAME" || (stands_for(part) && is_named())
        })
    }

    fn named(&self, source: &Source) -> Vec<Finding> {
        let lines = product_lines(source).filter(|(_, line)| !is_comment(line) && !is_declaration(line));
        let found = lines.filter_map(|(number, line)| {
            let term = self.terms.iter().find(|term| line.contains(**term))?;
            let text = format!("`{term}`: only files of the list \"{}\" in {DOCUMENT} tell these apart", self.list);
            Some(Finding::new("owner", format!("{}:{number}", source.path), text))
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
