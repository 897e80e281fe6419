//! What a domain may touch, as a bounded sorted list: the kernel validates every pointer that a domain passes against it.
//!
//! A check is one binary search: each area knows how far, over adjacent areas, reading, writing and executing go on.

use crate::pmsav7::AccessKind;

/// How an area is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residence {
    /// A region register holds it whenever the domain runs.
    Pinned,
    /// Through the trie, on a miss.
    Paged,
    /// Device memory: always pinned, and never a buffer.
    Device,
}

/// Bits of [`Area::rights`]: read.
pub const READ: u8 = 1;
/// Bits of [`Area::rights`]: write.
pub const WRITE: u8 = 2;
/// Bits of [`Area::rights`]: execute.
pub const EXEC: u8 = 4;

/// One area. `last` is inclusive, so that an area may reach the end of the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// First byte.
    pub first: u32,
    /// Last byte.
    pub last: u32,
    /// Unprivileged rights: [`READ`], [`WRITE`], [`EXEC`].
    pub rights: u8,
    /// How it is reached.
    pub residence: Residence,
}

/// Why an area cannot be entered or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// The list is full.
    Full {
        /// Areas it holds at most.
        limit: usize,
    },
    /// `first` is above `last`, or there are no rights.
    Empty,
    /// A byte belongs to this area already.
    Overlap {
        /// The area in the way.
        with: Area,
    },
    /// No area is exactly this range.
    NotMapped,
}

/// Why a pointer is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `base + len` exceeds the address space.
    Overflow,
    /// This byte of the range is in none of the domain's areas.
    Outside {
        /// First such byte.
        addr: u32,
    },
    /// This byte lies in an area without the right asked.
    Right {
        /// First such byte.
        addr: u32,
    },
    /// This byte is device memory, which the kernel never reads or writes on behalf of a domain.
    Device {
        /// First such byte.
        addr: u32,
    },
}

const NO_AREA: Area = Area { first: 0, last: 0, rights: 0, residence: Residence::Pinned };

/// At most `N` areas, sorted, without overlap.
#[derive(Clone, Debug)]
pub struct AccessMap<const N: usize> {
    areas: [Area; N],
    /// For each area and kind, the last byte up to which that kind of access goes on from its first byte; meaningful only if
    /// the area itself grants it.
    reach: [[u32; 3]; N],
    len: usize,
}

impl<const N: usize> Default for AccessMap<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> AccessMap<N> {
    /// No areas.
    pub const fn new() -> Self {
        Self { areas: [NO_AREA; N], reach: [[0; 3]; N], len: 0 }
    }

    /// The areas in ascending order.
    pub fn areas(&self) -> &[Area] {
        &self.areas[..self.len]
    }

    /// Enters an area.
    ///
    /// # Errors
    /// [`MapError`]; nothing has changed then.
    ///
    /// # Time complexity
    /// O(N).
    pub fn insert(&mut self, area: Area) -> Result<(), MapError> {
        if area.first > area.last || area.rights & (READ | WRITE | EXEC) == 0 {
            return Err(MapError::Empty);
        }
        let at = self.areas().partition_point(|other| other.last < area.first);
        if let Some(&with) = self.areas().get(at).filter(|other| other.first <= area.last) {
            return Err(MapError::Overlap { with });
        }
        if self.len == N {
            return Err(MapError::Full { limit: N });
        }
        self.areas.copy_within(at..self.len, at + 1);
        self.areas[at] = area;
        self.len += 1;
        self.link();
        Ok(())
    }

    /// Removes the area that is exactly `first..=last`.
    ///
    /// # Errors
    /// [`MapError::NotMapped`]; nothing has changed then.
    ///
    /// # Time complexity
    /// O(N).
    pub fn remove(&mut self, first: u32, last: u32) -> Result<Area, MapError> {
        let at = self.index_of(first).ok_or(MapError::NotMapped)?;
        let area = self.areas[at];
        if (area.first, area.last) != (first, last) {
            return Err(MapError::NotMapped);
        }
        self.areas.copy_within(at + 1..self.len, at);
        self.len -= 1;
        self.link();
        Ok(area)
    }

    /// The area that contains `addr`, device areas included.
    ///
    /// # Time complexity
    /// O(log N).
    pub fn area_at(&self, addr: u32) -> Option<&Area> {
        self.areas.get(self.index_of(addr)?)
    }

    /// Whether the kernel may access `len` bytes from `base` on the domain's behalf: all of them are the domain's, with the right
    /// asked, in ordinary memory. Adjacent areas count as one. An empty range is granted anywhere: nothing is accessed.
    ///
    /// # Errors
    /// [`Refusal`], with the first byte refused.
    ///
    /// # Time complexity
    /// O(log N) when granted, O(N) for the explanation of a refusal.
    pub fn check(&self, base: u32, len: u32, kind: AccessKind) -> Result<(), Refusal> {
        let Some(past) = len.checked_sub(1) else { return Ok(()) };
        let last = base.checked_add(past).ok_or(Refusal::Overflow)?;
        let (right, column) = column(kind);
        let granted = self.index_of(base).is_some_and(|at| match (self.areas.get(at), self.reach.get(at)) {
            (Some(area), Some(reach)) => {
                area.rights & right != 0 && area.residence != Residence::Device && last <= reach[column]
            }
            _ => false,
        });
        if granted {
            return Ok(());
        }
        Err(self.explain(base, right))
    }

    fn index_of(&self, addr: u32) -> Option<usize> {
        let at = self.areas().partition_point(|area| area.last < addr);
        self.areas().get(at).filter(|area| area.first <= addr).map(|_| at)
    }

    /// The first byte from `base` on that is not granted; only called when there is one.
    #[cold]
    fn explain(&self, base: u32, right: u8) -> Refusal {
        let mut addr = base;
        while let Some(area) = self.area_at(addr) {
            if area.residence == Residence::Device {
                return Refusal::Device { addr };
            }
            if area.rights & right == 0 {
                return Refusal::Right { addr };
            }
            let Some(next) = area.last.checked_add(1) else { break };
            addr = next;
        }
        Refusal::Outside { addr }
    }

    /// Recomputes how far each kind of access goes on, from the last area to the first.
    fn link(&mut self) {
        for at in (0..self.len).rev() {
            let area = self.areas[at];
            let follows = at + 1 < self.len && area.last.checked_add(1) == Some(self.areas[at + 1].first);
            for kind in [AccessKind::Read, AccessKind::Write, AccessKind::Exec] {
                let (right, column) = column(kind);
                let goes_on = follows
                    && self.areas[at + 1].rights & right != 0
                    && self.areas[at + 1].residence != Residence::Device;
                self.reach[at][column] = if goes_on { self.reach[at + 1][column] } else { area.last };
            }
        }
    }
}

#[inline]
const fn column(kind: AccessKind) -> (u8, usize) {
    match kind {
        AccessKind::Read => (READ, 0),
        AccessKind::Write => (WRITE, 1),
        AccessKind::Exec => (EXEC, 2),
    }
}

#[cfg(test)]
mod tests;
