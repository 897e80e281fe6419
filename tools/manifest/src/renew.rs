//! New values in a board's file.

use toml_edit::{DocumentMut, Item, value};

/// Table of the costs of kernel paths.
const TABLE: &str = "kernel";

/// A value that takes the place of an old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// Key in the table `[kernel]`.
    pub key: &'static str,
    /// Its new value.
    pub value: u64,
    /// Comment above it: one line, without `#`.
    pub comment: String,
}

/// Text of a board's file with new values in `[kernel]`, and their comments above them. The rest of the file stays as it is.
///
/// # Errors
/// The reason: `text` is no TOML, has no such table or key, or a value has more than 63 bits.
pub fn renewed(text: &str, renewals: &[Renewal]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let table = document.get_mut(TABLE).and_then(Item::as_table_mut).ok_or("it has no table [kernel]")?;
    for renewal in renewals {
        let mut key = table.key_mut(renewal.key).ok_or_else(|| format!("[kernel] has no {}", renewal.key))?;
        key.leaf_decor_mut().set_prefix(format!("# {}\n", renewal.comment));
        let new = i64::try_from(renewal.value).map_err(|error| error.to_string())?;
        if let Some(item) = table.get_mut(renewal.key) {
            *item = value(new);
        }
    }
    Ok(document.to_string())
}
