//! A level-1 cache with its switch.

use alloc::format;

use crate::cache::Cache;
use crate::profile::{CacheParams, ProfileError};

/// A level-1 cache and whether it is on.
#[derive(Clone, Debug)]
pub(crate) struct Level1 {
    pub cache: Cache,
    pub on: bool,
}

impl Level1 {
    /// Fills it with lines of somebody else, changed ones if `dirty`. A cache that is off holds none.
    pub fn spoil(&mut self, dirty: bool) {
        if self.on {
            self.cache.spoil(u32::MAX, dirty);
        }
    }

    /// An empty cache; `path` names it in an error.
    pub fn new(p: &CacheParams, path: &str) -> Result<Self, ProfileError> {
        match Cache::new(p.geometry(), p.replacement.value) {
            Ok(cache) => Ok(Self { cache, on: p.enabled.value }),
            Err(why) => Err(ProfileError { path: path.into(), rule: format!("{why}") }),
        }
    }
}
