//! Region registers: those of pinned areas, and what is left for paged memory.

use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::schema::{Domain, Manifest};

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    manifest.domain.iter().filter_map(|(name, domain)| registers(board, name, domain)).collect()
}

/// The areas that are pinned as declared, and whether anything is paged.
fn pinned_areas(domain: &Domain) -> (Vec<String>, bool) {
    let mut pinned = Vec::new();
    let mut paged = false;
    let mut area = |is_pinned: bool, name: String| {
        if is_pinned { pinned.push(name) } else { paged = true }
    };
    area(domain.code.pinned, "code".into());
    let data = domain.data.memory.as_str();
    let together = domain.data.pinned && domain.stack.memory.as_deref().is_none_or(|m| m == data);
    if together {
        area(true, "data with stacks".into());
    } else {
        area(true, "stacks".into());
        area(domain.data.pinned, "data".into());
    }
    if let Some(heap) = &domain.heap {
        area(heap.pinned, "heap".into());
    }
    domain.shared.iter().for_each(|s| area(s.pinned, s.name.clone()));
    domain.files.iter().for_each(|f| area(f.pinned, f.name.clone()));
    domain.devices.iter().for_each(|d| area(true, d.clone()));
    (pinned, paged)
}

/// At least one register for each pinned area must be there, and enough for what is paged.
fn registers(board: &Board, name: &str, domain: &Domain) -> Option<Refusal> {
    let (pinned, paged) = pinned_areas(domain);
    let have = board.protection.regions as usize;
    let place = format!("domain.{name}");
    if pinned.len() > have {
        return Some(
            Refusal::at("CF0303", place, format!("domain `{name}` pins more memory than there are region registers"))
                .value(format!("{} pinned: {}", pinned.len(), pinned.join(", ")))
                .limit(format!("{have} region registers"))
                .rule("pinned memory is in region registers whenever the domain runs")
                .remedy(format!("page at least {} of them, or put them into one area", pinned.len() - have)),
        );
    }
    let need = if !paged {
        0
    } else if domain.code.pinned {
        2
    } else {
        4
    };
    let left = have - pinned.len();
    if left < need {
        let why = if domain.code.pinned { "an operand" } else { "code and an operand" };
        return Some(
            Refusal::at("CF0304", place, format!("too few region registers are left for the paged memory of `{name}`"))
                .value(format!("{need} slots for paged memory, beside {} pinned: {}", pinned.len(), pinned.join(", ")))
                .limit(format!("{left} of {have} region registers"))
                .rule(format!(
                    "{why} can cross region borders within one instruction: {need} slots let every instruction progress"
                ))
                .remedy(format!("pin at least {} fewer, or page nothing", need - left)),
        );
    }
    slots(name, domain, need, left)
}

/// A limit on the paged slots leaves what an instruction may need, and is not more than there is.
fn slots(name: &str, domain: &Domain, need: usize, left: usize) -> Option<Refusal> {
    let asked = domain.paging.slots? as usize;
    let place = format!("domain.{name}.paging.slots");
    let refuse = |text: &str, remedy: &str| {
        Refusal::at("CF0304", place.clone(), format!("`{name}` cannot page with `slots = {asked}`"))
            .value(format!("{asked} for paged memory"))
            .limit(format!("{need} to {left}"))
            .rule(text)
            .remedy(remedy)
    };
    if need == 0 {
        return Some(refuse("slots serve paged memory", "page an area, or remove `slots`").limit("nothing is paged"));
    }
    if asked < need {
        let rule =
            "an instruction and its operand can each need two regions at once: with fewer slots it would miss for ever";
        return Some(refuse(rule, &format!("write `slots = {need}`, or remove it")));
    }
    let rule = "each pinned area takes a region register; what is left can serve paged memory";
    (asked > left).then(|| refuse(rule, &format!("write `slots = {left}`, or remove it")))
}
