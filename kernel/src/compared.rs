//! The comparison of what is mapped with the areas that a domain began with, in steps: a restart takes away what is none of them.

use system::{Area, Domain, System};

/// Areas that one step compares with: their records may lie in slow memory, and a domain has up to 256.
pub(crate) const AREAS: usize = 4;

/// How far a restart has compared what is mapped at one address with the areas that the domain began with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// The area that was found last. A search begins with it, and goes on around the end of the
    /// table: what follows in memory is mostly of the same area or of the next.
    first: u8,
    /// So many areas from there on do not hold it. There are 256 at most, and this stays below.
    seen: u8,
}

impl Compared {
    /// What is mapped at another address was compared with nothing yet.
    pub(crate) fn begin_anew(&mut self) {
        self.seen = 0;
    }

    /// One step of a search for the area that holds an address: what `holds` says of the area, the default if it says nothing of any
    /// area, and `None` as long as it was not asked about all.
    ///
    /// If what lies there is exchanged between two steps, the search goes on, because whoever
    /// exchanges it could otherwise keep a restart from its end. So what is found is exact, and what
    /// was brought back meanwhile may be missed: it goes as what was mapped at run time does.
    ///
    /// # Bound
    /// [`AREAS`] areas.
    pub(crate) fn step<T: Default>(
        &mut self,
        tables: &System<'_>,
        domain: &Domain,
        holds: impl Fn(Area) -> Option<T>,
    ) -> Option<T> {
        let (count, seen) = (domain.areas as usize, usize::from(self.seen));
        for number in seen..count.min(seen + AREAS) {
            let index = usize::from(self.first) + number;
            let index = if index < count { index } else { index - count };
            if let Some(told) = holds(tables.get(domain.first_area as usize + index)) {
                *self = Compared { first: index as u8, seen: 0 };
                return Some(told);
            }
        }
        if seen + AREAS < count {
            self.seen += AREAS as u8;
            return None;
        }
        self.begin_anew();
        Some(T::default())
    }
}
