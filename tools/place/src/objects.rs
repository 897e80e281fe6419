//! Whether the kernel's objects fit the memory that its image leaves for them.

use serde::{Deserialize, Serialize};
use system::System;
use system::objects::{Kind, needs};

use crate::elf::Kernel;
use crate::error::PlaceError;

/// Memory of the kernel for its objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    /// Bytes that the system's objects take, gaps included.
    pub used: u64,
    /// Bytes that the kernel has for them.
    pub bytes: u64,
    /// Each kind of object, those that take most first.
    pub taken: Vec<Taken>,
}

/// Objects of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// What several of them are called.
    pub what: String,
    /// How many there are.
    pub count: u32,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Objects {
    /// The three kinds that take most, as a phrase.
    pub fn largest(&self) -> String {
        let most = self.taken.iter().take(3);
        most.map(|Taken { what, count, bytes }| format!("{count} {what} {bytes}")).collect::<Vec<_>>().join(", ")
    }
}

/// Memory that the objects take from `range` (base and end), as the kernel computes it at boot from the same tables.
///
/// # Errors
/// [`PlaceError::Objects`]: they take more.
pub(crate) fn fit(tables: &[u32], kernel: &Kernel, range: (u32, u32)) -> Result<Objects, PlaceError> {
    let tables = System::parse(tables).map_err(PlaceError::Tables)?;
    let wrong = |_| PlaceError::Elf { domain: "kernel".into(), reason: "an area has no exact regions".into() };
    let (base, end) = range;
    let needs = needs(&tables, &kernel.object_sizes()?, base).map_err(wrong)?;
    let kinds = Kind::ALL.iter().map(|&kind| Taken {
        what: kind.plural().into(),
        count: needs.counts[kind as usize],
        bytes: needs.bytes[kind as usize],
    });
    let mut taken: Vec<Taken> = kinds.filter(|taken| taken.bytes > 0).collect();
    taken.sort_by_key(|taken| std::cmp::Reverse(taken.bytes));
    let objects = Objects { used: needs.end - u64::from(base), bytes: u64::from(end - base), taken };
    if objects.used > objects.bytes { Err(PlaceError::Objects(objects)) } else { Ok(objects) }
}
