//! Programs and files: each is a string or a table.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use crate::spec::Spec;

/// A cargo package: `"directory"` or a table.
#[derive(Clone, Debug)]
pub struct CrateSource {
    pub path: String,
    pub bin: Option<String>,
    pub features: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CSources {
    /// Paths; `*` is a pattern. `.cc`, `.cpp` and `.cxx` are C++.
    pub sources: Vec<String>,
    /// Directories of headers.
    #[serde(default)]
    pub include: Vec<String>,
    /// Further flags of the compiler.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// A constant file: `"name"` or a table.
#[derive(Clone, Debug)]
pub struct FileUse {
    pub name: String,
    pub spec: Spec,
}

/// A value that may be written as a string or as a table.
macro_rules! string_or_table {
    ($name:ident, $raw:ident, $expecting:literal, |$text:ident| $from:expr, { $($(#[$meta:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        struct $raw { $($(#[$meta])* $field: $type,)* }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                json_schema!({ "description": $expecting, "anyOf": [{ "type": "string" }, generator.subschema_for::<$raw>()] })
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Either;
                impl<'de> Visitor<'de> for Either {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: de::Error>(self, $text: &str) -> Result<$name, E> {
                        Ok($from)
                    }
                    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<$name, M::Error> {
                        let raw = $raw::deserialize(de::value::MapAccessDeserializer::new(map))?;
                        Ok($name { $($field: raw.$field,)* })
                    }
                }
                deserializer.deserialize_any(Either)
            }
        }
    };
}
string_or_table!(CrateSource, RawCrate, "a directory, or a table with `path`",
|text| CrateSource { path: text.into(), bin: None, features: Vec::new() },
{
    /// Directory of the package, relative to the manifest, or `cofferdam:NAME`.
    path: String,
    /// The binary, of several.
    bin: Option<String>,
    /// Features of the package.
    #[serde(default)] features: Vec<String>,
});
string_or_table!(FileUse, RawFile, "the name of a file, or a table with `name`",
|text| FileUse { name: text.into(), spec: Spec::default() },
{
    /// Name of a `[file.NAME]`.
    name: String,
    /// How far the check of an access may reach.
    #[serde(default)] spec: Spec,
});
