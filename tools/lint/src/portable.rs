//! Portability of `crates/`, `kernel/` and the rows of the conformance suite: no standard library, no assembly, no code that asks for its
//! target.

use crate::Finding;
use crate::layers::Layer;

/// Portable crates in which unsafe code is allowed because their purpose needs it, each with the reason.
pub const UNSAFE_ALLOWED: &[(&str, &str)] = &[];

const TARGET_WORDS: &[&str] = &[
    "target_arch",
    "target_os",
    "target_pointer_width",
    "target_has_atomic",
    "target_feature",
    "target_endian",
    "target_env",
    "target_vendor",
    "target_abi",
    "target_family",
];
const ASSEMBLY_WORDS: &[&str] = &["asm", "global_asm", "naked_asm", "llvm_asm"];

/// True for files that the portability rules apply to: `path` is relative to the root.
pub fn applies(path: &str) -> bool {
    let portable = |layer| matches!(layer, Layer::Crates | Layer::Kernel | Layer::Rows);
    let package = path.split_once("/src/").map_or(path, |(package, _)| package);
    Layer::of_directory(package).is_some_and(portable) && path.ends_with(".rs")
}

/// Checks one portable source file.
pub fn check(path: &str, source: &str) -> Vec<Finding> {
    let code = code_only(source);
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let place = || format!("{path}:{}", number + 1);
        for word in words(line) {
            if TARGET_WORDS.contains(&word.text) {
                let text = format!("`{}` in portable code; move it to arch/", word.text);
                found.push(Finding::new("portable-target", place(), text));
            }
            if ASSEMBLY_WORDS.contains(&word.text) && word.next == Some('!') {
                found.push(Finding::new("portable-asm", place(), "assembly belongs to arch/"));
            }
        }
        if line.contains("core::arch::") || line.contains("std::arch::") {
            found.push(Finding::new("portable-asm", place(), "processor intrinsics belong to arch/"));
        }
    }
    if path.ends_with("src/lib.rs") {
        found.extend(check_root(path, &code));
    }
    found
}

/// How a crate says that it does without the standard library, strings taken out. A feature may be named beside `test`: fuzzers
/// drive the tests of a crate through one.
const NO_STD: [&str; 3] =
    ["#![no_std]", "#![cfg_attr(not(test),no_std)]", "#![cfg_attr(not(any(test,feature=)),no_std)]"];

/// A crate's root says that it needs no standard library and, but for the kernel's, that it holds no unsafe code.
fn check_root(path: &str, code: &str) -> Vec<Finding> {
    let squeezed: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let mut found = Vec::new();
    if !NO_STD.iter().any(|form| squeezed.contains(form)) {
        found.push(Finding::new("portable-std", path, "#![no_std] is missing"));
    }
    let package = path.trim_end_matches("/src/lib.rs");
    if Layer::of_directory(package) != Some(Layer::Kernel) {
        let name = package.rsplit('/').next().unwrap_or_default();
        let allowed = UNSAFE_ALLOWED.iter().any(|(known, _)| *known == name);
        if !allowed && !squeezed.contains("#![forbid(unsafe_code)]") {
            let text = "#![forbid(unsafe_code)] is missing; a crate whose purpose needs unsafe code is listed in \
                        UNSAFE_ALLOWED with its reason";
            found.push(Finding::new("portable-unsafe", path, text));
        }
    }
    found
}

struct Word<'a> {
    text: &'a str,
    next: Option<char>,
}

fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    line.split(move |c: char| !in_word(c)).filter(|text| !text.is_empty()).map(move |text| {
        let end = text.as_ptr() as usize - line.as_ptr() as usize + text.len();
        Word { text, next: line[end..].chars().find(|c| !c.is_whitespace()) }
    })
}

/// The source with comments and the contents of string literals replaced by blanks; line numbers stay. Character
/// literals that hold a quote are understood; raw strings with hashes are.
pub fn code_only(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let blank = literal_or_comment(rest);
        if blank == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            out.extend(rest[..blank].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[blank..];
        }
    }
    out
}

/// Length in bytes of the comment or literal that `text` begins with; 0 when it begins with code.
fn literal_or_comment(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment(text);
    }
    if text.starts_with("r\"") || text.starts_with("r#") {
        let hashes = text[1..].bytes().take_while(|b| *b == b'#').count();
        if text[1 + hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let body = 2 + hashes;
            return text[body..].find(&close).map_or(text.len(), |at| body + at + close.len());
        }
        return 0;
    }
    if text.starts_with('"') {
        return quoted(text);
    }
    ["'\"'", "'\\''", "'\\\"'"].iter().find(|literal| text.starts_with(**literal)).map_or(0, |literal| literal.len())
}

fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Block comments nest in Rust.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}
