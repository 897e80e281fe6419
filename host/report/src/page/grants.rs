//! What the ledger granted: each area with its bound, and each domain's account.

use super::{color, format};
use crate::describe::{Account, Area};
use crate::schema::Report;

/// An area that was granted under a temporal specification.
pub struct GrantView {
    pub domain: String,
    pub class: String,
    pub area: String,
    pub spec: String,
    pub size: String,
    /// Level at which the check of an access ends at the latest.
    pub level: String,
    /// Cycles that the check adds to one access at most.
    pub bound: String,
    pub method: String,
    /// Where that lies which the check reads.
    pub tables_in: String,
    /// What may be allocated from it at once, of an envelope's arena.
    pub envelope: String,
}

/// What a domain holds of the hardware that checks accesses.
pub struct AccountView {
    pub domain: String,
    pub class: String,
    pub pinned: String,
    pub paged: String,
    pub table: String,
    pub used: String,
}

/// Rows of the table of grants: the areas with a specification, in the order of domains.
pub fn grants(report: &Report) -> Vec<GrantView> {
    let mut rows = Vec::new();
    for domain in &report.domains {
        rows.extend(domain.areas.iter().filter(|area| !area.spec.is_empty()).map(|area| GrantView {
            domain: domain.name.clone(),
            class: color(domain.color),
            area: area.name.clone(),
            spec: area.spec.clone(),
            size: format::bytes(area.bytes),
            level: area.level.clone(),
            bound: area.bound_cycles.map(|cycles| format::count(cycles.into())).unwrap_or_default(),
            method: area.bound_method.clone(),
            tables_in: if !area.kept.is_empty() {
                area.kept.clone()
            } else if area.pinned {
                "registers".to_owned()
            } else {
                domain.account.table.clone()
            },
            envelope: envelope(&domain.account, area),
        }));
    }
    rows
}

fn envelope(account: &Account, area: &Area) -> String {
    let found = account.envelopes.iter().find(|envelope| envelope.arena == area.name);
    let text = |envelope: &crate::describe::Envelope| {
        let (live, largest) = (format::bytes(envelope.live.into()), format::bytes(envelope.largest.into()));
        format!("{live} in {} blocks of at most {largest}", format::count(envelope.count.into()))
    };
    found.map(text).unwrap_or_default()
}

/// Rows of the table of accounts: one for each domain that has one.
pub fn accounts(report: &Report) -> Vec<AccountView> {
    let has = |account: &Account| account.pinned + account.paged > 0;
    let domains = report.domains.iter().filter(|domain| has(&domain.account));
    let rows = domains.map(|domain| AccountView {
        domain: domain.name.clone(),
        class: color(domain.color),
        pinned: domain.account.pinned.to_string(),
        paged: domain.account.paged.to_string(),
        table: domain.account.table.clone(),
        used: match domain.account.table_bytes {
            0 => "none".to_owned(),
            bytes => format!("{} of {}", format::bytes(domain.account.table_used.into()), format::bytes(bytes.into())),
        },
    });
    rows.collect()
}
