//! A manifest together with its text, so that every diagnostic can point into it.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use crate::console;
use crate::diagnostic::{Diagnostic, Refusal};
use crate::input::{self, Unread};
use crate::nearest::correct;
use crate::schema::Manifest;
use crate::unread::unread;

/// A parsed manifest with its source.
#[derive(Clone, Debug)]
pub struct Document {
    /// The schema's view.
    pub manifest: Manifest,
    /// Path that it was read from.
    pub path: PathBuf,
    text: Arc<str>,
}

impl Document {
    /// Reads and parses a file.
    ///
    /// # Errors
    /// CF0101 when the file cannot be read, CF0102 when it is not TOML, CF0103 when a key or value is wrong.
    pub fn read(path: &Path) -> Result<Document, Diagnostic> {
        let text = input::read_text(path).map_err(|why| {
            let refusal = unread(path, &why, "CF0101");
            Diagnostic::from(match why {
                Unread::Io(_) | Unread::Text => refusal
                    .rule("a manifest is a readable text file")
                    .remedy("name an existing system.toml, or make one with `cofferdam new DIRECTORY`"),
                _ => refusal,
            })
        })?;
        Document::parse(path, &text)
    }

    /// Parses text; `path` is only for messages and for resolving relative paths.
    ///
    /// # Errors
    /// As [`Document::read`].
    pub fn parse(path: &Path, text: &str) -> Result<Document, Diagnostic> {
        let source: Arc<str> = text.into();
        let point = |d: Diagnostic, span: Option<Range<usize>>| d.source(path, source.clone(), span);
        if let Err(error) = DeTable::parse(text) {
            let d = Diagnostic::new("CF0102", format!("not valid TOML: {}", error.message().trim()));
            return Err(point(
                d.rule("a manifest is TOML 1.0").remedy("correct the syntax at the place shown"),
                error.span(),
            ));
        }
        match toml::from_str::<Manifest>(text) {
            Ok(mut manifest) => {
                let expanded = console::expand(&mut manifest);
                let document = Document { manifest, path: path.into(), text: source };
                match expanded {
                    Ok(()) => Ok(document),
                    Err(refusal) => Err(document.locate(*refusal)),
                }
            }
            Err(error) => Err(point(schema_error(error.message()), error.span())),
        }
    }

    /// Text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The directory to which paths in the manifest are relative.
    pub fn directory(&self) -> &Path {
        self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Turns a refusal, which names its place by keys (`domain.control.stack`), into a diagnostic that points there.
    pub fn locate(&self, refusal: Refusal) -> Diagnostic {
        let span = self.span_of(&refusal.place);
        let others = refusal.also.iter();
        let others = others.filter_map(|also| Some((self.span_of(&also.place)?, also.label.clone())));
        let others = others.filter(|(other, _)| Some(other) != span.as_ref()).collect();
        Diagnostic::from(refusal).source(&self.path, self.text.clone(), span).with_labels(others)
    }
}

impl Document {
    fn span_of(&self, place: &str) -> Option<Range<usize>> {
        span_of(&self.text, if console::made(&self.manifest, place) { "console" } else { place })
    }
}

/// Names the kind of schema error: an unknown key has its own code.
fn schema_error(message: &str) -> Diagnostic {
    let message = message.lines().next().unwrap_or(message);
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let (key, known) = rest.split_once(", expected ").unwrap_or((rest, ""));
        let known = known.trim_start_matches("one of ");
        return Diagnostic::new("CF0103", format!("unknown key {key}"))
            .rule("every key of the manifest is known: a misspelt key must not be ignored")
            .limit(format!("known here: {known}"))
            .remedy(meant(key, known));
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return Diagnostic::new("CF0104", format!("the key {key} is missing"))
            .rule("a key without a default is written")
            .remedy(format!("add {key} here; docs/manifest.md says what it means"));
    }
    Diagnostic::new("CF0104", in_words(message))
        .rule("every value has the type and unit that docs/manifest.md gives it")
        .remedy("write the value as described in docs/manifest.md")
}

/// A message of the parser's, with the types of a manifest in the place of Rust's.
fn in_words(message: &str) -> String {
    let Some((before, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let range = match expected {
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" => format!("a whole number from 0 to {}", u64::MAX),
        other => other.to_owned(),
    };
    format!("{before}, expected {range}")
}

/// Remedy for a misspelt key: the known one that it may have been.
fn meant(key: &str, known: &str) -> String {
    let known = known.split(',').flat_map(|key| key.split(" or "));
    let known = known.map(|key| key.trim().trim_start_matches("or ").trim_matches('`'));
    correct(key.trim_matches('`'), known, "remove the key, or use one of the known ones".into())
}

/// Span to which the keys of `place` (`domain.control.thread[1].budget`) lead; that of the deepest existing ancestor otherwise.
fn span_of(text: &str, place: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let mut found = None;
    let mut keys = place.split('.').filter(|k| !k.is_empty());
    let first = keys.next()?;
    let mut value = step_table(document.get_ref(), first, &mut found)?;
    for key in keys {
        let Some(next) = step(value, key, &mut found) else { break };
        value = next;
    }
    found
}

type Value<'t, 'i> = &'t toml::Spanned<DeValue<'i>>;

fn step_table<'t, 'i>(table: &'t DeTable<'i>, key: &str, found: &mut Option<Range<usize>>) -> Option<Value<'t, 'i>> {
    let (name, index) = match key.split_once('[') {
        Some((name, rest)) => (name, rest.trim_end_matches(']').parse::<usize>().ok()),
        None => (key, None),
    };
    let (key_text, value) = table.iter().find(|(k, _)| k.get_ref().as_ref() == name)?;
    let leaf = !matches!(value.get_ref(), DeValue::Table(_));
    *found = Some(if leaf { value.span() } else { key_text.span() });
    let Some(index) = index else { return Some(value) };
    let element = value.get_ref().as_array()?.get(index)?;
    *found = Some(element.span());
    Some(element)
}

fn step<'t, 'i>(value: Value<'t, 'i>, key: &str, found: &mut Option<Range<usize>>) -> Option<Value<'t, 'i>> {
    step_table(value.get_ref().as_table()?, key, found)
}
