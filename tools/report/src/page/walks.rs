//! Translation by each domain, where hardware walks tables.

use record::TranslationCounts;

use super::format;
use super::units::{Units, color};
use crate::schema::{DomainReport, Report};

/// Misses of a domain's micro-TLBs, by what served them.
pub struct WalkView {
    pub name: String,
    pub class: String,
    pub misses: String,
    pub locked: String,
    pub main: String,
    pub near: String,
    pub beyond: String,
    /// Some walk went beyond on-chip RAM and locked ways.
    pub went_beyond: bool,
    /// Widths of the four relative to the domain with the most misses.
    pub widths: [String; 4],
    pub stall: String,
    pub stall_share: String,
    /// Of the kernel's accesses on its behalf.
    pub kernel_walks: String,
    pub kernel_beyond: String,
}

/// A row for each domain; none where no hardware walks tables.
pub fn walks(report: &Report, units: &Units) -> Vec<WalkView> {
    if !report.checks.walks {
        return Vec::new();
    }
    let most = report.domains.iter().map(|domain| domain.counters.translation.micro_misses).max().unwrap_or(0);
    report.domains.iter().map(|domain| walk(domain, most.max(1) as f64, units)).collect()
}

/// Walks, and those of them that went beyond on-chip RAM and locked ways.
pub fn totals(counts: &TranslationCounts) -> (u64, u64) {
    (counts.data_walks.all() + counts.fetch_walks.all(), counts.beyond())
}

fn walk(domain: &DomainReport, most: f64, units: &Units) -> WalkView {
    let counts = &domain.counters.translation;
    let (all, beyond) = totals(counts);
    let (kernel_all, kernel_beyond) = totals(&domain.counters.kernel_translation);
    let stall = counts.data_stall_cycles + counts.fetch_stall_cycles;
    let parts = [counts.locked_hits, counts.main_hits, all - beyond, beyond];
    WalkView {
        name: domain.name.clone(),
        class: color(domain.color),
        misses: format::count(counts.micro_misses),
        locked: format::count(counts.locked_hits),
        main: format::count(counts.main_hits),
        near: format::count(all - beyond),
        beyond: format::count(beyond),
        went_beyond: beyond > 0,
        widths: parts.map(|part| format::position(part as f64, most)),
        stall: units.time(stall),
        stall_share: format::percent(stall as f64 / domain.counters.cycles.max(1) as f64),
        kernel_walks: format::count(kernel_all),
        kernel_beyond: format::count(kernel_beyond),
    }
}
