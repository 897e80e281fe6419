//! Temporal specifications as they are written: words in a string.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer};
use spec::{AccessLevel, SpecError, TemporalSpec};

/// A specification, or words that are none; the semantic checks refuse those with their place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// The text that was written.
    pub text: String,
    /// Its meaning; the weakest when it means nothing.
    pub value: TemporalSpec,
    /// Why it means nothing.
    pub error: Option<SpecError>,
    /// Whether it stands in the manifest, or is what holds where nothing stands.
    pub written: bool,
}

impl Spec {
    /// Reads the words.
    pub fn parse(text: &str) -> Spec {
        let parsed = TemporalSpec::parse(text);
        Spec { text: text.to_owned(), value: parsed.unwrap_or_default(), error: parsed.err(), written: true }
    }

    /// The default of what is pinned unless it says otherwise.
    pub(crate) fn deterministic() -> Spec {
        Spec { written: false, ..Spec::parse(AccessLevel::Deterministic.text()) }
    }

    /// Whether it asks for region registers of its own.
    pub fn pinned(&self) -> bool {
        self.value.access == AccessLevel::Deterministic
    }
}

impl JsonSchema for Spec {
    fn schema_name() -> Cow<'static, str> {
        "Spec".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Words of a temporal specification, for example \"deterministic\" or \"l2 independent\" (docs/memory.md).",
        })
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Spec::parse(&String::deserialize(deserializer)?))
    }
}
