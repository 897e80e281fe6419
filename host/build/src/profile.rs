//! Timing profiles: by name from those that come with Cofferdam, or from a file.

use std::path::Path;

use manifest::Diagnostic;
use report::describe;

use crate::install::{Install, unreadable};

/// A profile with its text, which the observer is given.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The parameters.
    pub parameters: timing::profile::Profile,
    /// The TOML text.
    pub text: String,
}

impl Profile {
    /// Finds a profile: a name (a file below `boards/profiles`), or a path relative to `directory` that ends in `.toml`.
    ///
    /// # Errors
    /// CF0202 for an unknown name, CF0605 for a profile that is not valid.
    pub fn find(install: &Install, name: &str, directory: &Path) -> Result<Profile, Diagnostic> {
        let home = install.root.join("boards/profiles");
        let path = if name.ends_with(".toml") {
            directory.join(name)
        } else if manifest::name_ok(name) && home.join(format!("{name}.toml")).is_file() {
            home.join(format!("{name}.toml"))
        } else {
            return Err(Diagnostic::new("CF0202", format!("there is no profile `{name}`"))
                .limit(format!("known: {}", install.profiles().join(", ")))
                .rule("a profile is a file below boards/profiles, or a path that ends in .toml")
                .remedy("choose one of the known profiles"));
        };
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        Profile::parse(name, text)
    }

    fn parse(name: &str, text: String) -> Result<Profile, Diagnostic> {
        let wrong = |why: String| {
            Diagnostic::new("CF0605", format!("the profile `{name}` is wrong: {why}"))
                .rule("a profile follows the schema of crates/timing, each parameter with unit and source")
                .remedy("correct the profile")
        };
        let parsed: Result<timing::profile::Profile, _> = toml::from_str(&text);
        let parameters = parsed.map_err(|error| wrong(error.message().to_owned()))?;
        match parameters.validate().first() {
            Some(error) => Err(wrong(error.to_string())),
            None => Ok(Profile { parameters, text }),
        }
    }

    /// Clock of the processor in Hz.
    pub fn cpu_hz(&self) -> u64 {
        self.parameters.core_clock.value
    }

    /// What a report says about the profile.
    pub fn describe(&self) -> describe::Profile {
        let mut listed = Vec::new();
        if let Ok(table) = self.text.parse::<toml::Table>() {
            collect("", &toml::Value::Table(table), &mut listed);
        }
        describe::Profile {
            name: self.parameters.name.clone(),
            summary: self.parameters.title.clone(),
            parameters: listed,
            caveats: self.parameters.caveats.clone(),
        }
    }
}

/// Every table with a value, a unit and a source is a parameter.
fn collect(path: &str, value: &toml::Value, out: &mut Vec<describe::Parameter>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        toml::Value::Table(table) => {
            if let (Some(value), Some(unit), Some(source)) =
                (table.get("value"), table.get("unit"), table.get("source"))
            {
                let unit = unit.as_str().unwrap_or_default();
                let shown = shown(value, unit);
                let source = source.as_str().unwrap_or_default().to_owned();
                out.push(describe::Parameter { name: path.to_owned(), value: shown, source });
                return;
            }
            table.iter().for_each(|(key, value)| collect(&join(key), value, out));
        }
        toml::Value::Array(items) => {
            for item in items.iter().filter(|item| item.is_table()) {
                let name = item.get("name").and_then(toml::Value::as_str).unwrap_or("?");
                collect(&join(name), item, out);
            }
        }
        _ => {}
    }
}

fn shown(value: &toml::Value, unit: &str) -> String {
    let plain = match value {
        toml::Value::Integer(number) if unit == "address" => format!("{number:#010x}"),
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if matches!(unit, "choice" | "count" | "address") { plain } else { format!("{plain} {unit}") }
}
