//! A level-1 cache with its switch.

use alloc::format;

use crate::cache::{Cache, Geometry, Replacement};
use crate::profile::{CacheParams, ProfileError};

/// A level-1 cache and whether it is on. For a core that has none stands a cache of one line that nothing switches on.
#[derive(Clone, Debug)]
pub(crate) struct Level1 {
    pub cache: Cache,
    pub on: bool,
    is_there: bool,
}

/// The shape of the cache that is not there.
const NONE: Geometry = Geometry { size_bytes: 2, ways: 1, line_bytes: 2 };

impl Level1 {
    /// Fills it with lines of somebody else, changed ones if `dirty`. A cache that is off holds none.
    pub fn spoil(&mut self, dirty: bool) {
        if self.on {
            self.cache.spoil(u32::MAX, dirty);
        }
    }

    /// Switches it, if it is there.
    pub fn switch(&mut self, on: bool) {
        self.on = on && self.is_there;
    }

    /// An empty cache, or none; `path` names it in an error.
    pub fn new(p: Option<&CacheParams>, path: &str) -> Result<Self, ProfileError> {
        let (geometry, replacement) = p.map_or((NONE, Replacement::Lru), |p| (p.geometry(), p.replacement.value));
        match Cache::new(geometry, replacement) {
            Ok(cache) => Ok(Self { cache, on: p.is_some_and(|p| p.enabled.value), is_there: p.is_some() }),
            Err(why) => Err(ProfileError { path: path.into(), rule: format!("{why}") }),
        }
    }
}
