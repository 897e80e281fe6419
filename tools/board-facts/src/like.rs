//! Boards that are like another one: `like = "NAME"` names it, and all that the file does not say is said in the other board's file of that name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::ser::{Serialize, Serializer};
use serde_derive::{Deserialize, Serialize};

use crate::input::{Unread, read_text};

/// The key.
const LIKE: &str = "like";

/// The text of a file of a board, and the file of the board that it is like.
#[derive(Debug)]
pub struct BoardText {
    /// The text, with all that the other board says and this one does not. Of files that are no TOML, as it is.
    pub text: String,
    /// The other board's file.
    pub like: Option<PathBuf>,
}

impl BoardText {
    /// Reads a file of a board. A board can be like one of the directory next to its own, which is like no other.
    ///
    /// # Errors
    /// [`Unread`], of either file.
    pub fn read(path: &Path) -> Result<BoardText, Unread> {
        let text = read_text(path)?;
        let Ok(mut own) = basic_toml::from_str::<Table>(&text) else { return Ok(BoardText { text, like: None }) };
        let Some(Value::Text(name)) = own.0.remove(LIKE) else { return Ok(BoardText { text, like: None }) };
        let boards = path.parent().and_then(Path::parent).unwrap_or(Path::new(""));
        let like = boards.join(name).join(path.file_name().unwrap_or_default());
        let other = read_text(&like)?;
        let Ok(mut other) = basic_toml::from_str::<Table>(&other) else {
            return Ok(BoardText { text: other, like: Some(like) });
        };
        other.replace(own);
        let text = basic_toml::to_string(&other).map_err(|_| Unread::Text)?;
        Ok(BoardText { text, like: Some(like) })
    }
}

/// A value of TOML.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Array(Vec<Value>),
    Table(Table),
}

impl Value {
    /// Whether it stands behind the keys of its table.
    fn is_table(&self) -> bool {
        match self {
            Value::Table(_) => true,
            Value::Array(values) => values.iter().any(Value::is_table),
            _ => false,
        }
    }
}

/// A table of TOML.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
struct Table(BTreeMap<String, Value>);

impl Table {
    /// Values of another table in the place of its own; tables of both are one.
    fn replace(&mut self, other: Table) {
        for (key, value) in other.0 {
            match (self.0.get_mut(&key), value) {
                (Some(Value::Table(own)), Value::Table(other)) => own.replace(other),
                (_, value) => drop(self.0.insert(key, value)),
            }
        }
    }
}

/// Tables behind everything else, as TOML has them.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (tables, keys): (Vec<_>, Vec<_>) = self.0.iter().partition(|(_, value)| value.is_table());
        to.collect_map(keys.into_iter().chain(tables))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(own: &str, other: &str) -> String {
        let directory = std::env::temp_dir().join(format!("cofferdam-like-{}", std::process::id()));
        for (name, text) in [("own", own), ("other", other)] {
            std::fs::create_dir_all(directory.join(name)).unwrap();
            std::fs::write(directory.join(name).join("board.toml"), text).unwrap();
        }
        let text = BoardText::read(&directory.join("own/board.toml"));
        std::fs::remove_dir_all(&directory).unwrap();
        let BoardText { text, like } = text.unwrap();
        assert_eq!(like.map(|like| like.ends_with("other/board.toml")), own.contains("like").then_some(true));
        text
    }

    #[test]
    fn a_board_says_how_it_is_unlike_another() {
        let other = "name = \"other\"\nrate = 7\nopen = [1, 2]\n\n[a]\nx = 1\ny = 2\n\n[a.b]\nz = true\n";
        let text = merged("like = \"other\"\nname = \"own\"\nopen = [3]\n\n[a]\ny = 3\n\n[a.b]\nw = \"new\"\n", other);
        let expected = "name = \"own\"\nrate = 7\nopen = [3]\n\n[a]\nx = 1\ny = 3\n\n[a.b]\nz = true\nw = \"new\"\n";
        let table = |text: &str| basic_toml::from_str::<Table>(text).unwrap();
        assert_eq!(table(&text), table(expected));
        assert_eq!(merged(other, other), other, "a text that is like no other stays as it is");
    }
}
