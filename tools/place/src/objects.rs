//! Whether the kernel's objects fit the memory that its image leaves for them.

use system::objects::{Kind, needs};
use system::{AnyScheme, System};

use crate::elf::Kernel;
use crate::error::PlaceError;
use crate::placed::{Objects, Taken};

/// Memory that the objects take from `range` (base and end), as the kernel computes it at boot from the same tables.
///
/// # Errors
/// [`PlaceError::Objects`]: they take more.
pub(crate) fn fit(tables: &[u32], kernel: &Kernel, range: (u32, u32)) -> Result<Objects, PlaceError> {
    let tables = System::parse(tables).map_err(PlaceError::Tables)?;
    let wrong = |_| PlaceError::Elf { domain: "kernel".into(), reason: "an area has no exact regions".into() };
    let (base, end) = range;
    let needs = needs::<AnyScheme>(&tables, &kernel.object_sizes()?, base).map_err(wrong)?;
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
