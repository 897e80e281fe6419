//! `cofferdam boards`

use std::path::Path;

use build_tool::Install;
use manifest::{Board, Device, Memory};
use serde_json::{Value, json};

use super::one;
use crate::output::{OK, Outcome, Output};

/// Lists boards with their memories and devices.
pub fn run(output: &mut Output) -> Outcome {
    let install = Install::find().map_err(one)?;
    let mut listed = Vec::new();
    for name in install.boards() {
        let file = install.board_file(&name, Path::new(".")).map_err(one)?;
        let core = install.core(&install.chip_of(&file).map_err(one)?.core).map_err(one)?;
        let with_profile = install.board(&name).ok();
        let runs = with_profile.is_some();
        let yet = if runs { "" } else { "; no system can run on it yet" };
        output.say(format!("{name}: {}; {} (profile {}){yet}", file.about, core.about, file.chip));
        let memories: Vec<_> =
            file.memory.iter().map(|memory| memory_of(output, memory, with_profile.as_ref())).collect();
        let devices: Vec<_> = file.device.iter().map(|device| device_of(output, device)).collect();
        listed.push(
            json!({ "name": name, "about": file.about, "core": core.name, "profile": file.chip, "regions": core.regions,
            "runs": runs, "memories": memories, "devices": devices }),
        );
    }
    output.field("boards", json!(listed));
    Ok(OK)
}

fn memory_of(output: &mut Output, (name, m): (&String, &Memory), with_profile: Option<&Board>) -> Value {
    let kind = m.kind.text();
    let usable = with_profile.map_or(m.bytes, |board| board.memory.get(name).map_or(0, |m| m.usable));
    let free = usable.saturating_sub(m.reserved);
    let part = if usable < m.bytes { format!(", {usable} with this profile") } else { String::new() };
    let kept = if m.reserved > 0 { format!("{part}, {free} for domains") } else { part };
    let roles = in_place_of(&m.stands_in_for);
    output.say(format!("  memory {name:<10} {:#010x}  {:>9} bytes  {kind}{kept}{roles}", m.base, m.bytes));
    json!({ "name": name, "base": m.base, "bytes": m.bytes, "usable": usable, "kind": kind, "reserved": m.reserved,
        "stands_in_for": m.stands_in_for })
}

fn device_of(output: &mut Output, (name, d): (&String, &Device)) -> Value {
    let owner = if d.kernel { " (the kernel's)" } else { "" };
    let lines: Vec<String> = d.lines.iter().map(|(line, number)| format!("{line}={number}")).collect();
    let about = format!("{}{owner}{}", d.about, in_place_of(&d.stands_in_for));
    output.say(format!("  device {name:<10} {:#010x}  {about}  {}", d.base, lines.join(" ")));
    json!({ "name": name, "base": d.base, "bytes": d.bytes, "lines": d.lines, "kernel": d.kernel,
        "stands_in_for": d.stands_in_for })
}

/// The names of other boards in whose place something is given.
pub(super) fn in_place_of(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(", in the place of {}", names.join(", ")) }
}
