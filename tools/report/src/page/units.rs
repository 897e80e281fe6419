//! Figures and colours as the page shows them.

use super::format;
use crate::schema::Report;

/// Colours of the page's palette; `page.css` defines as many classes `c0`, `c1`, ...
pub const PALETTE: u8 = 10;

/// Cycles to time, at the clock of the run.
pub struct Units {
    pub cpu_hz: f64,
}

impl Units {
    pub fn time(&self, cycles: u64) -> String {
        format::seconds(cycles as f64 / self.cpu_hz)
    }

    pub fn signed(&self, cycles: i64) -> String {
        format::seconds(cycles as f64 / self.cpu_hz).replace('-', "\u{2212}")
    }

    pub fn count(&self, value: &u64) -> String {
        format::count(*value)
    }

    pub fn cycles(&self, value: &u64) -> String {
        self.time(*value)
    }

    /// The value of `data-goto` that shows a cycle.
    pub fn around(&self, value: &u64) -> String {
        let around = (self.cpu_hz / 2000.0) as u64;
        format!("{},{},{value}", value.saturating_sub(around), value.saturating_add(around))
    }

    pub fn address(&self, value: &u64) -> String {
        format::address(*value)
    }
}

/// Class of a colour of the palette.
pub fn color(index: u8) -> String {
    format!("c{}", index % PALETTE)
}

pub fn color_of(report: &Report, domain: u8) -> String {
    report.domains.iter().find(|d| d.index == domain).map_or_else(|| "ck".to_owned(), |d| color(d.color))
}
