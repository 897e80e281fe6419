//! The rows that are asked for.

/// The beginning of the ids of the rows that are asked for, and the listener to progress.
pub(super) struct Selection<'a> {
    pub only: Option<&'a str>,
    pub progress: &'a mut dyn FnMut(&str),
}

impl Selection<'_> {
    /// Whether rows whose ids begin with `prefix` are asked for.
    pub fn any(&self, prefix: &str) -> bool {
        self.only.is_none_or(|only| only.starts_with(prefix) || prefix.starts_with(only))
    }

    /// Whether rows whose ids begin with `prefix` are asked for, and no others.
    pub fn by_name(&self, prefix: &str) -> bool {
        self.only.is_some_and(|only| only.starts_with(prefix.trim_end_matches('.')))
    }

    pub fn tell(&mut self, id: &str) {
        (self.progress)(&format!("figures: {id}"));
    }
}
