//! Origin of the report.

use crate::schema::Report;

/// Names and values, in the order of the page; none where nobody said.
pub fn rows(report: &Report) -> Vec<(&'static str, String)> {
    let Some(from) = &report.provenance else { return Vec::new() };
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "not known".to_owned());
    let programs = from.programs.iter().map(|ran| format!("{} {} {}", ran.name, ran.hash, ran.path));
    vec![
        ("Run", known(&from.run)),
        ("Hash of the image", known(&from.image_hash)),
        ("Command", from.command.join(" ")),
        ("Manifest", from.manifest.clone()),
        ("Hash of the manifest", known(&from.manifest_hash)),
        ("Hash of the board's file", known(&from.board_hash)),
        ("Hash of the timing profile", known(&from.profile_hash)),
        ("Programs that ran", programs.collect::<Vec<_>>().join(", ")),
        ("Version of Cofferdam", from.version.clone()),
        ("Commit", known(&from.commit)),
        ("Written", from.date.clone()),
        ("Computer", from.host.clone()),
    ]
}
