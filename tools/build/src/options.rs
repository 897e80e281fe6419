//! How a system may be built otherwise than its manifest says.

/// Deviations from the manifest.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Budgets are enforced; without, every capacity is its period and response times are not analysed.
    pub budgets: bool,
    /// Response times are analysed, and a system with a deadline that can be missed is refused. Only who measures what the analysis assumes does without.
    pub analysis: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { budgets: true, analysis: true }
    }
}
