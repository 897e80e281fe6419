//! One kind of diagnostic for the whole tool: a stable code, the place, what was asked, what is left, the rule and the
//! remedy. It renders as text (with the manifest's lines) and as JSON.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, Severity, SourceCode};
use serde::Serialize;

use crate::codes;

/// A refusal and its reason, at a place given by keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Stable code, such as `CF0303`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// Keys of the manifest, such as `domain.control.thread[0].budget`; empty when it concerns no key.
    pub place: String,
    /// The value that was asked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The value that is left or allowed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub limit: String,
    /// The value that it would take instead: more than was asked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub needs: String,
    /// The rule that was broken.
    pub rule: String,
    /// The smallest change that would be admitted.
    pub remedy: String,
    /// Other places that have a part in it, the largest part first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Also>,
}

/// Another place of the manifest that has a part in a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Also {
    /// Keys, as in [`Refusal::place`]; empty for what the manifest does not say.
    pub place: String,
    /// Its part in a few words, which stand at the place.
    pub label: String,
    /// Its part, and which change of it would be enough.
    pub note: String,
}

impl Refusal {
    /// A refusal at a place.
    pub fn at(code: &'static str, place: impl Into<String>, message: impl Into<String>) -> Refusal {
        debug_assert!(codes::code(code).is_some(), "{code} is not in the table of codes");
        Refusal { code, message: message.into(), place: place.into(), ..Refusal::default() }
    }

    /// The value that was asked.
    pub fn value(mut self, text: impl Into<String>) -> Self {
        self.value = text.into();
        self
    }

    /// The value that is left or allowed.
    pub fn limit(mut self, text: impl Into<String>) -> Self {
        self.limit = text.into();
        self
    }

    /// The value that it would take instead.
    pub fn needs(mut self, text: impl Into<String>) -> Self {
        self.needs = text.into();
        self
    }

    /// Other places that have a part in it.
    pub fn also(mut self, also: Vec<Also>) -> Self {
        self.also = also;
        self
    }

    /// The rule that was broken.
    pub fn rule(mut self, text: impl Into<String>) -> Self {
        self.rule = text.into();
        self
    }

    /// The smallest change that would be admitted.
    pub fn remedy(mut self, text: impl Into<String>) -> Self {
        self.remedy = text.into();
        self
    }
}

/// A refusal with the text that it points into.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    refusal: Box<Refusal>,
    help: String,
    source: Option<Arc<NamedSource<Arc<str>>>>,
    line: usize,
    span: Option<Range<usize>>,
    also: Vec<(Range<usize>, String)>,
    warning: bool,
}

impl From<Refusal> for Diagnostic {
    fn from(refusal: Refusal) -> Self {
        let help = help(&refusal);
        Diagnostic {
            refusal: Box::new(refusal),
            help,
            source: None,
            line: 0,
            span: None,
            also: Vec::new(),
            warning: false,
        }
    }
}

fn help(refusal: &Refusal) -> String {
    let adds = refusal.also.iter().map(|also| ("adds", &also.note));
    let parts =
        [("rule", &refusal.rule), ("asked", &refusal.value), ("left", &refusal.limit), ("needs", &refusal.needs)];
    let lines = parts.into_iter().chain(adds).chain([("remedy", &refusal.remedy)]);
    let lines = lines.filter(|(_, text)| !text.is_empty());
    lines.map(|(name, text)| format!("{name:<7}{text}")).collect::<Vec<_>>().join("\n")
}

impl Diagnostic {
    /// A diagnostic that concerns no key of the manifest.
    pub fn new(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Refusal::at(code, "", message).into()
    }

    fn change(mut self, change: impl FnOnce(Refusal) -> Refusal) -> Self {
        *self.refusal = change(std::mem::take(&mut *self.refusal));
        self.help = help(&self.refusal);
        self
    }

    /// The value that was asked.
    pub fn value(self, text: impl Into<String>) -> Self {
        self.change(|r| r.value(text))
    }

    /// The value that is left or allowed.
    pub fn limit(self, text: impl Into<String>) -> Self {
        self.change(|r| r.limit(text))
    }

    /// The rule that was broken.
    pub fn rule(self, text: impl Into<String>) -> Self {
        self.change(|r| r.rule(text))
    }

    /// The smallest change that would be admitted.
    pub fn remedy(self, text: impl Into<String>) -> Self {
        self.change(|r| r.remedy(text))
    }

    /// Attaches the text and the place in it.
    pub(crate) fn source(mut self, path: &Path, text: Arc<str>, span: Option<Range<usize>>) -> Self {
        let name = path.display().to_string();
        let span = span.map(|s| first_line(&text, s));
        self.line = span.as_ref().map_or(0, |s| text[..s.start].matches('\n').count() + 1);
        self.source = Some(Arc::new(NamedSource::new(name, text)));
        self.span = span;
        self
    }

    /// Labels other places of the same text.
    pub(crate) fn with_labels(mut self, labels: Vec<(Range<usize>, String)>) -> Self {
        self.also = labels;
        self
    }

    /// Says what is admitted all the same.
    pub fn as_warning(self) -> Self {
        Diagnostic { warning: true, ..self }
    }

    /// The refusal itself.
    pub fn refusal(&self) -> &Refusal {
        &self.refusal
    }

    /// The form that a machine reads.
    pub fn report(&self) -> Report<'_> {
        Report {
            refusal: &self.refusal,
            file: self.source.as_ref().map(|s| s.name().to_owned()),
            line: (self.line > 0).then_some(self.line),
        }
    }
}

/// A span over many lines is cut to its first, so that a table is pointed at, not drawn.
fn first_line(text: &str, span: Range<usize>) -> Range<usize> {
    let start = span.start.min(text.len());
    let end = span.end.clamp(start, text.len());
    let cut = text[start..end].find('\n').map_or(end, |length| start + length);
    start..cut
}

/// A diagnostic as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Report<'a> {
    #[serde(flatten)]
    refusal: &'a Refusal,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.refusal.message)
    }
}

impl std::error::Error for Diagnostic {}

impl miette::Diagnostic for Diagnostic {
    fn severity(&self) -> Option<Severity> {
        Some(if self.warning { Severity::Warning } else { Severity::Error })
    }

    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.refusal.code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.span.as_ref()?;
        self.source.as_deref().map(|s| s as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.span.clone()?;
        let place = if self.refusal.place.is_empty() { "here" } else { &self.refusal.place };
        let first = LabeledSpan::new_primary_with_span(Some(place.to_owned()), span);
        let others =
            self.also.iter().map(|(span, label)| LabeledSpan::new_with_span(Some(label.clone()), span.clone()));
        Some(Box::new(std::iter::once(first).chain(others)))
    }
}

/// Renders a diagnostic for people, in colour only where the caller says so.
pub fn render(diagnostic: &Diagnostic, colour: bool) -> String {
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_links(false);
    let mut text = String::new();
    match handler.render_report(&mut text, diagnostic) {
        Ok(()) => text,
        Err(_) => format!("{}: {}\n", diagnostic.refusal.code, diagnostic.refusal.message),
    }
}
