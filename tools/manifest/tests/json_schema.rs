//! The JSON Schema that editors get against the parser, over every manifest of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use manifest::{Document, json_schema};

/// Manifests below a directory.
fn manifests(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            manifests(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "toml")
            && fs::read_to_string(&path).is_ok_and(|text| text.contains("[system]"))
        {
            found.push(path);
        }
    }
}

struct Editor {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Editor {
    fn new() -> Editor {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("system.schema.json", json_schema()).unwrap();
        let index = compiler.compile("system.schema.json", &mut schemas).unwrap();
        Editor { schemas, index }
    }

    fn accepts(&self, text: &str) -> Result<(), String> {
        let value = toml::from_str(text).map_err(|error| error.to_string())?;
        self.schemas.validate(&value, self.index).map_err(|error| format!("{error:#}"))
    }
}

/// An editor takes every manifest that the parser takes, and underlines every one that the parser refuses by its schema.
#[test]
fn an_editor_takes_a_manifest_if_the_parser_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut found, editor) = (Vec::new(), Editor::new());
    for directory in ["examples", "tests", "eval", "cli/src/templates"] {
        manifests(&root.join(directory), &mut found);
    }
    let (mut taken, mut refused) = (0, 0);
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        let (parser, editor) = (Document::parse(&path, &text), editor.accepts(&text));
        taken += usize::from(editor.is_ok());
        refused += usize::from(editor.is_err());
        match parser.map_err(|refusal| refusal.refusal().code.to_owned()) {
            Ok(_) => assert_eq!(editor, Ok(()), "{}", path.display()),
            Err(code) if ["CF0102", "CF0103", "CF0104"].contains(&code.as_str()) => {
                assert!(editor.is_err(), "{}: {code}", path.display());
            }
            Err(_) => {}
        }
    }
    assert!(taken > 60 && refused >= 5, "{taken} {refused}");
}

/// Every key says what it is: an editor shows that.
#[test]
fn every_key_is_described() {
    let schema = json_schema();
    let mut tables = schema["$defs"].as_object().unwrap().clone();
    tables.insert("Manifest".into(), schema.clone());
    for (name, table) in &tables {
        for (key, about) in table["properties"].as_object().into_iter().flatten() {
            let described = about["description"].is_string() || about["$ref"].is_string();
            assert!(described, "{name}.{key}: {about}");
        }
    }
}
