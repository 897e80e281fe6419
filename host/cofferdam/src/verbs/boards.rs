//! `cofferdam boards`

use build_tool::Install;
use manifest::{MemoryKind, Scheme};
use serde_json::json;

use super::one;
use crate::output::{OK, Outcome, Output};

/// Lists boards with their memories and devices.
pub fn run(output: &mut Output) -> Outcome {
    let install = Install::find().map_err(one)?;
    let mut listed = Vec::new();
    for name in install.boards() {
        let board = install.board_file(&name).map_err(one)?;
        let regions = match &board.protection {
            Scheme::Pmsav7(protection) => Some(protection.regions),
            Scheme::Vmsav7(_) => None,
        };
        let runs = board.clone().supported().is_ok();
        let yet = if runs { "" } else { "; no system can run on it yet" };
        output.say(format!("{name}: {} (profile {}){yet}", board.about, board.profile));
        let mut memories = Vec::new();
        for (memory, m) in &board.memory {
            let kind = match m.kind {
                MemoryKind::Ram => "RAM",
                MemoryKind::Rom => "read-only",
                MemoryKind::Kernel => "the kernel's",
            };
            let free = m.bytes - m.reserved;
            let kept = if m.reserved > 0 { format!(", {free} for domains") } else { String::new() };
            output.say(format!("  memory {memory:<10} {:#010x}  {:>9} bytes  {kind}{kept}", m.base, m.bytes));
            memories.push(
                json!({ "name": memory, "base": m.base, "bytes": m.bytes, "kind": kind, "reserved": m.reserved }),
            );
        }
        let mut devices = Vec::new();
        for (device, d) in &board.device {
            let owner = if d.kernel { " (the kernel's)" } else { "" };
            let lines: Vec<String> = d.lines.iter().map(|(line, number)| format!("{line}={number}")).collect();
            output.say(format!("  device {device:<10} {:#010x}  {}{owner}  {}", d.base, d.about, lines.join(" ")));
            devices.push(
                json!({ "name": device, "base": d.base, "bytes": d.bytes, "lines": d.lines, "kernel": d.kernel }),
            );
        }
        listed.push(json!({ "name": name, "about": board.about, "profile": board.profile, "regions": regions,
            "runs": runs, "memories": memories, "devices": devices }));
    }
    output.field("boards", json!(listed));
    Ok(OK)
}
