//! A sentence of a comment or a document begins with its subject: one that begins with a question word asks.

use std::fs;
use std::path::Path;

use crate::Finding;
use crate::files::Source;

const QUESTION_WORDS: &[&str] = &["What", "Where", "Which", "Who", "Whose"];

/// The documents at the root and in `docs`.
///
/// # Errors
/// The path and the reason, when one cannot be read.
pub fn documents(root: &Path) -> Result<Vec<Source>, String> {
    let mut found = Vec::new();
    for directory in [root.to_path_buf(), root.join("docs")] {
        let failed = |error| format!("reading {}: {error}", directory.display());
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path).map_err(failed)?;
                found.push(Source { path: crate::workspace::relative(root, &path), text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The sentences of a file that begin with a question word and do not ask.
pub fn check(source: &Source) -> Vec<Finding> {
    let extension = source.path.rsplit('.').next().unwrap_or_default();
    let mut found = Vec::new();
    for (line, text) in paragraphs(&source.text, extension) {
        for sentence in sentences(&text).filter(|sentence| begins_as_question(sentence) && !sentence.ends_with('?')) {
            let text = format!("begins with a question word and does not ask: {sentence}");
            found.push(Finding::new("sentence", format!("{}:{line}", source.path), text));
        }
    }
    found
}

fn begins_as_question(sentence: &str) -> bool {
    let bare = sentence.trim_start_matches(['*', '_', '(', '"']);
    QUESTION_WORDS
        .iter()
        .any(|word| bare.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
}

/// Sentences end with a mark before a space and a capital letter or a code word.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let ends = rest.match_indices(['.', '!', '?']).map(|(at, _)| at + 1);
        let is_end = |at: &usize| {
            let next = rest[*at..].strip_prefix(' ').and_then(|behind| behind.chars().next());
            next.is_some_and(|c| c.is_uppercase() || "`*\"([".contains(c))
        };
        let end = ends.clone().find(is_end).unwrap_or(rest.len());
        let (sentence, behind) = rest.split_at(end);
        rest = behind.trim_start();
        (!sentence.is_empty()).then_some(sentence.trim_end())
    })
}

/// The paragraphs of prose in a file with their first lines. A list item and a cell of a table are paragraphs.
fn paragraphs(text: &str, extension: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    let mut code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let Some(prose) = prose(line, extension).map(str::trim) else {
            open = false;
            continue;
        };
        code ^= prose.starts_with("```");
        let item = prose.strip_prefix("* ").or_else(|| prose.strip_prefix("- ")).or_else(|| numbered(prose));
        match found.last_mut() {
            _ if code || prose.is_empty() || prose.starts_with("```") => open = false,
            _ if prose.starts_with('|') => {
                found.extend(prose.split('|').map(|cell| (number, cell.trim().to_owned())));
                open = false;
            }
            Some((_, last)) if open && item.is_none() => *last = format!("{last} {prose}"),
            _ => {
                found.push((number, item.unwrap_or(prose).trim_start_matches(['#', ' ', '>']).to_owned()));
                open = true;
            }
        }
    }
    found
}

fn numbered(prose: &str) -> Option<&str> {
    let (number, rest) = prose.split_once(". ")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
}

/// The prose of a line: the whole line of a document, the comment of a line of code.
fn prose<'a>(line: &'a str, extension: &str) -> Option<&'a str> {
    let text = line.trim_start();
    let behind = |marks: &[&str]| marks.iter().find_map(|mark| text.strip_prefix(mark));
    match extension {
        "md" => Some(line),
        "toml" | "sh" | "py" => behind(&["#!", "#"]).or_else(|| line.split_once(" # ").map(|(_, comment)| comment)),
        "rs" => behind(&["///", "//!", "//"]).or_else(|| line.split_once(" // ").map(|(_, comment)| comment)),
        _ => behind(&["/**", "/*", "//", "* ", "*"])
            .or_else(|| line.split_once("/* ").map(|(_, comment)| comment))
            .map(|comment| comment.trim_end_matches("*/")),
    }
}
