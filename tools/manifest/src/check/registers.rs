//! Limits on the slots of paged memory.

use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::schema::{Domain, Manifest};

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let Some(registers) = board.protection.facts().loaded_slots else { return Vec::new() };
    manifest.domain.iter().filter_map(|(name, domain)| slots(name, domain, registers)).collect()
}

/// A limit leaves what an instruction may need, and is not more than there is.
fn slots(name: &str, domain: &Domain, registers: u32) -> Option<Refusal> {
    let asked = domain.paging.slots?;
    let (code, data) = paged(domain);
    let need = if code { 4 } else { 2 };
    let refuse = |rule: &str, limit: String, remedy: String| {
        Refusal::at(
            "CF0304",
            format!("domain.{name}.paging.slots"),
            format!("`{name}` cannot page with `slots = {asked}`"),
        )
        .value(format!("{asked} for paged memory"))
        .limit(limit)
        .rule(rule)
        .remedy(remedy)
    };
    if !code && !data {
        let remedy = "page an area, or remove `slots`".to_owned();
        return Some(refuse("slots serve paged memory", "nothing is paged".into(), remedy));
    }
    let limit = format!("{need} to {registers}, without those of pinned areas");
    if asked < need {
        let rule =
            "an instruction and its operand can each need two regions at once: with fewer slots it would miss for ever";
        return Some(refuse(rule, limit, format!("write `slots = {need}`, or remove it")));
    }
    let rule = "there are so many region registers";
    (asked > registers).then(|| refuse(rule, limit, "remove `slots`".into()))
}

/// Whether code, and whether anything else, is paged.
fn paged(domain: &Domain) -> (bool, bool) {
    let data = &domain.data.spec;
    let shared = domain.shared.iter().map(|used| &used.spec);
    let files = domain.files.iter().map(|used| &used.spec);
    let arenas = domain.envelope.iter().map(|envelope| &envelope.spec);
    let heap = domain.heap.iter().map(|heap| &heap.spec);
    let paged = [data].into_iter().chain(shared).chain(files).chain(arenas).chain(heap).any(|spec| !spec.pinned());
    (!domain.code.spec.pinned(), paged)
}
