//! Files appear complete or not at all.

use std::io;
use std::path::Path;

use super::{build, job};
use crate::WriteError;
use crate::output::{write_together, write_with};

#[test]
fn both_files_are_written_whole_and_readable() {
    let directory = tempfile::tempdir().expect("a directory");
    let report = build(500, job(0, 100));
    let (json, html) = (directory.path().join("report.json"), directory.path().join("report.html"));
    report.write_json(&json).expect("json");
    report.write_html(&html).expect("html");
    assert_eq!(std::fs::read_to_string(&json).expect("json"), report.to_json());
    assert_eq!(std::fs::read_to_string(&html).expect("html"), report.to_html());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&json).expect("json").permissions().mode() & 0o777, 0o644);
    }
}

#[test]
fn a_failed_write_leaves_the_older_file_and_nothing_else() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("report.json");
    std::fs::write(&path, "older").expect("older file");
    let full = |_: &mut io::BufWriter<&mut std::fs::File>| Err(io::Error::from(io::ErrorKind::StorageFull));
    let error = write_with(&path, full).expect_err("full");
    assert!(matches!(error, WriteError::Full { .. }), "{error}");
    assert!(error.to_string().contains("no space left"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).expect("older file"), "older");
    assert_eq!(std::fs::read_dir(directory.path()).expect("listing").count(), 1);
}

#[test]
fn report_and_page_are_written_both_or_neither() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = |name: &str| directory.path().join(name);
    let listed = || std::fs::read_dir(directory.path()).expect("listing").count();
    let (json, html) = (place("report.json"), place("report.html"));
    let text = |path: &Path| std::fs::read_to_string(path).expect("a file");
    std::fs::write(&json, "older").expect("older file");
    let report = build(500, job(0, 100));
    // The page's place is none: nothing is moved.
    report.write(&json, &place("no/such/report.html")).expect_err("no directory");
    std::fs::create_dir(&html).expect("a directory");
    report.write(&json, &html).expect_err("a directory stands there");
    assert_eq!((text(&json), listed()), ("older".to_owned(), 2));
    std::fs::remove_dir(&html).expect("an empty directory");
    report.write(&json, &html).expect("both");
    assert_eq!((text(&json), text(&html), listed()), (report.to_json(), report.to_html(), 2));
    // The last file cannot be moved to its place: the first one is put back, and one that was not there goes.
    std::fs::write(&json, "older").expect("older file");
    let new = place("new.json");
    let long = place(&"long".repeat(100));
    let all: [(&Path, &[u8]); 3] = [(&json, b"1"), (&new, b"2"), (&long, b"3")];
    write_together(&all).expect_err("no name is so long");
    assert_eq!((text(&json), listed()), ("older".to_owned(), 2));
}

/// `/dev/full` answers every write with the error of a full disk; the path it is written for is what the error names.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_recognised() {
    use std::io::Write;
    let mut full = std::fs::File::options().write(true).open("/dev/full").expect("a device of Linux");
    let error = WriteError::new(Path::new("report.json"), full.write_all(b"x").expect_err("full"));
    assert!(matches!(error, WriteError::Full { .. }), "{error}");
}

#[test]
fn a_missing_directory_is_another_error() {
    let error = build(500, []).write_json(Path::new("no/such/place/report.json")).expect_err("no directory");
    assert!(matches!(error, WriteError::Io { .. }), "{error}");
    assert!(error.to_string().starts_with("no/such/place/report.json: "), "{error}");
}

#[test]
fn json_is_spread_over_lines_to_the_third_level() {
    let value = serde_json::json!({"a": [[1, {"b": [2, 3], "c": {}}], []], "d": {}, "e": [{}]});
    let text = crate::json::to_text(&value).expect("text");
    let expected = r#"{
  "a": [
    [
      1,
      {"b": [2, 3], "c": {}}
    ],
    []
  ],
  "d": {},
  "e": [
    {}
  ]
}
"#;
    assert_eq!(text, expected);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
}
