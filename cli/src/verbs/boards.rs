//! `cofferdam boards`

use std::path::Path;

use build_tool::Install;
use serde_json::json;

use super::one;
use crate::output::{OK, Outcome, Output};

/// Lists boards with their memories and devices.
pub fn run(output: &mut Output) -> Outcome {
    let install = Install::find().map_err(one)?;
    let mut listed = Vec::new();
    for name in install.boards() {
        let board = install.board_file(&name, Path::new(".")).map_err(one)?;
        let core = install.core(&install.chip_of(&board).map_err(one)?.core).map_err(one)?;
        let runs = install.board(&name).is_ok();
        let yet = if runs { "" } else { "; no system can run on it yet" };
        output.say(format!("{name}: {}; {} (profile {}){yet}", board.about, core.about, board.chip));
        let mut memories = Vec::new();
        for (memory, m) in &board.memory {
            let kind = m.kind.text();
            let free = m.bytes - m.reserved;
            let kept = if m.reserved > 0 { format!(", {free} for domains") } else { String::new() };
            let roles = in_place_of(&m.stands_in_for);
            output.say(format!("  memory {memory:<10} {:#010x}  {:>9} bytes  {kind}{kept}{roles}", m.base, m.bytes));
            memories
                .push(json!({ "name": memory, "base": m.base, "bytes": m.bytes, "kind": kind, "reserved": m.reserved,
                    "stands_in_for": m.stands_in_for }));
        }
        let mut devices = Vec::new();
        for (device, d) in &board.device {
            let owner = if d.kernel { " (the kernel's)" } else { "" };
            let lines: Vec<String> = d.lines.iter().map(|(line, number)| format!("{line}={number}")).collect();
            let roles = in_place_of(&d.stands_in_for);
            let about = format!("{}{owner}{roles}", d.about);
            output.say(format!("  device {device:<10} {:#010x}  {about}  {}", d.base, lines.join(" ")));
            devices
                .push(json!({ "name": device, "base": d.base, "bytes": d.bytes, "lines": d.lines, "kernel": d.kernel,
                    "stands_in_for": d.stands_in_for }));
        }
        listed.push(
            json!({ "name": name, "about": board.about, "core": core.name, "profile": board.chip, "regions": core.regions,
            "runs": runs, "memories": memories, "devices": devices }),
        );
    }
    output.field("boards", json!(listed));
    Ok(OK)
}

/// The names of other boards in whose place something is given.
pub(super) fn in_place_of(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(", in the place of {}", names.join(", ")) }
}
