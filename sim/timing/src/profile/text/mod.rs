//! The text of a profile: a chip's file, and its core's part of the model.

use std::format;
use std::path::Path;
use std::string::{String, ToString};

use toml::{Table, Value};

/// Keys of a chip's file that are not the model's: the core, and start-up's writes.
const OTHERS: [&str; 2] = ["core", "setup"];

/// A chip's file with its core's.
#[derive(Clone, Debug)]
pub struct Text {
    /// Name of the core.
    pub core: String,
    /// The profile: all that both files say of the model.
    pub profile: String,
    /// Whether the core's file has a model of time.
    pub is_modelled: bool,
    /// The chip's file.
    pub chip: Table,
}

/// Reads a chip's file, and the file of its core in the directory `cores`.
///
/// # Errors
/// A text: a file cannot be read or is no TOML, the chip's names no core, or both state the same fact.
pub fn read_text(chip: &Path, cores: &Path) -> Result<Text, String> {
    let chip = table(chip)?;
    let core = chip.get("core").and_then(Value::as_str).ok_or("`core` names the file of the chip's core")?;
    let is_name = core.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    let file = cores.join(format!("{core}.toml"));
    if !is_name || !file.is_file() {
        return Err(format!("there is no core `{core}`"));
    }
    let own = table(&file)?;
    let is_modelled = own.contains_key("timing");
    let profile = combined(chip.clone(), own)?;
    Ok(Text { core: core.into(), profile, is_modelled, chip })
}

fn table(path: &Path) -> Result<Table, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.parse().map_err(|error: toml::de::Error| error.message().to_string())
}

/// The chip's table with the table `timing` of the core's file.
fn combined(mut chip: Table, mut core: Table) -> Result<String, String> {
    OTHERS.iter().for_each(|key| drop(chip.remove(*key)));
    if let Some(Value::Table(timing)) = core.remove("timing") {
        add(&mut chip, timing, "")?;
    }
    toml::to_string(&chip).map_err(|error| error.to_string())
}

/// Adds what the core states; no fact stands in both.
fn add(chip: &mut Table, core: Table, path: &str) -> Result<(), String> {
    for (key, value) in core {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (chip.get_mut(&key), value) {
            (Some(Value::Table(table)), Value::Table(more)) if !more.contains_key("source") => add(table, more, &path)?,
            (Some(_), _) => return Err(format!("`{path}` is a fact of the core, whose file states it")),
            (None, value) => drop(chip.insert(key, value)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
