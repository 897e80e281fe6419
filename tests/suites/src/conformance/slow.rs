//! The rows on a board whose processor is too slow for their times: the same system, with all times as many times as long.

use std::fs;
use std::ops::Range;

use super::{Column, MANIFEST, column};
use crate::{cofferdam, root, target_dir};

/// Domains whose code is in the larger memory: the smaller one does not hold the code of all.
const LARGE: [&str; 5] = ["lead", "client", "chief", "driver", "guest"];

/// Performs some of the rows on a board, with all times of rows and manifest `stretch` times as long.
///
/// # Errors
/// As for [`super::on_target`].
pub fn on_slow(board: &str, stretch: u32, rows: Range<u32>) -> Result<Column, String> {
    let dir = target_dir().join("slow-rows").join(format!("{board}-{}-{}", rows.start, rows.end));
    let path = dir.join("system.toml");
    let problem = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(&dir).map_err(problem)?;
    let original = fs::read_to_string(root().join(MANIFEST)).map_err(problem)?;
    fs::write(&path, manifest(&original, stretch, &rows)).map_err(problem)?;
    let results = super::system(board);
    let _ = (fs::remove_file(results.join(super::EVENTS)), fs::remove_file(results.join("report.json")));
    let output = cofferdam(&["run", &path.to_string_lossy(), "--board", board, "--quiet"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    column(board, &results, &[]).map_err(|how| format!("{how}\n{said}"))
}

/// The manifest with its times stretched; the threads' arguments say so, and which rows are performed (`conformance::stretch`, `selected`).
fn manifest(original: &str, stretch: u32, rows: &Range<u32>) -> String {
    let cast = root().join("tests/conformance/cast");
    let selected = rows.start << 16 | (rows.end - rows.start) << 24;
    let mut text = String::new();
    for line in original.lines() {
        text += &longer(line, stretch).replace("path = \"cast\"", &format!("path = \"{}\"", cast.display()));
        text.push('\n');
        if line == "[[domain.lead.thread]]" {
            text += &format!("argument = {}\n", (stretch - 1) << 8 | selected);
        }
        if LARGE.iter().any(|domain| line == format!("[domain.{domain}]")) {
            text += "code = { memory = \"sdram\" }\n";
        }
    }
    text
}

/// A line with its time, or the argument of its thread, changed.
fn longer(line: &str, stretch: u32) -> String {
    let Some((key, value)) = line.split_once(" = ") else { return line.to_owned() };
    if let ("argument", Ok(number)) = (key, value.parse::<u32>()) {
        return format!("argument = {}", number | (stretch - 1) << 8);
    }
    let time = value.trim_matches('"').split_once(' ').filter(|(_, unit)| ["s", "ms", "us"].contains(unit));
    match time.and_then(|(number, unit)| Some((number.parse::<u32>().ok()?, unit))) {
        Some((number, unit)) => format!("{key} = \"{} {unit}\"", number * stretch),
        None => line.to_owned(),
    }
}
