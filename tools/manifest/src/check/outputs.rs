//! Registers whose stores a run records: they exist, and what is expected of them can be seen there.

use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::schema::{Manifest, Output};

use super::names::declared;

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let of = |(name, output): (&String, &Output)| {
        let place = format!("run.output.{name}");
        let exists = board.device(&output.device).is_some();
        let unknown = declared("device", &output.device, exists, format!("{place}.device"), board.device.keys());
        unknown.into_iter().chain(wrong(&place, output, board)).collect::<Vec<_>>()
    };
    manifest.run.output.iter().flat_map(of).collect()
}

fn wrong(place: &str, output: &Output, board: &Board) -> Option<Refusal> {
    let Output { offset, bits, baud, text, sequence, .. } = output;
    let bytes = board.device(&output.device).map_or(u32::MAX, |device| device.bytes);
    let refuse = |key: &str, text: &str, value: String, limit: String| {
        Refusal::at("CF0104", format!("{place}.{key}"), text)
            .value(value)
            .limit(limit)
            .rule("an output is a word of a device's registers; a serial line is one of its bits, and has a text; a sequence is of values of its bits")
            .remedy(format!("correct `{key}`"))
    };
    if !offset.is_multiple_of(4) || *offset >= bytes {
        return Some(refuse(
            "offset",
            "there is no such register",
            offset.to_string(),
            format!("a multiple of 4 below {bytes}"),
        ));
    }
    if *bits == 0 || baud.is_some() && !bits.is_power_of_two() {
        let limit = if baud.is_some() { "one bit" } else { "one bit at least" };
        return Some(refuse("bits", "these bits cannot be looked at", format!("{bits:#x}"), limit.into()));
    }
    if *baud == Some(0) || baud.is_none() && text.is_some() {
        let value = baud.map_or("no `baud`".into(), |baud| baud.to_string());
        return Some(refuse("baud", "a serial line without a rate", value, "1 at least".into()));
    }
    let stray = sequence.iter().find(|value| *value & !bits != 0)?;
    Some(refuse("sequence", "a value that these bits cannot have", format!("{stray:#x}"), format!("bits {bits:#x}")))
}
