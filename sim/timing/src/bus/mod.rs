//! Memories behind their buses: transfers that occupy a bus, open rows, and the store buffer.

use units::PhysAddr;

use crate::profile::{Interface, LatencyParams, MemoryKind, MemoryParams, RowParams};

/// Cycles of a transfer, from a memory's parameters.
#[derive(Clone, Copy, Debug)]
struct Latency {
    beat_log2: u32,
    read_first: u32,
    write_first: u32,
    next: u32,
    /// Of `read_first`, the cycles in which the bus takes no other transfer.
    busy_first: u32,
}

impl From<&LatencyParams> for Latency {
    fn from(p: &LatencyParams) -> Self {
        Self {
            beat_log2: p.beat.value.trailing_zeros(),
            read_first: p.read_first.value,
            write_first: p.write_first.value,
            next: p.next.value,
            busy_first: p.busy_first.as_ref().map_or(p.read_first.value, |busy| busy.value),
        }
    }
}

impl Latency {
    /// Whether no transfer takes any.
    const fn is_none(self) -> bool {
        self.read_first | self.write_first | self.next | self.busy_first == 0
    }

    /// Cycles after the first beat until `bytes` are through.
    fn further(self, bytes: u32) -> u32 {
        let beats = (bytes + (1 << self.beat_log2) - 1) >> self.beat_log2;
        beats.saturating_sub(1) * self.next
    }
}

/// A bus that carries one transfer after the other.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    latency: Latency,
    free_at: u64,
}

impl Port {
    pub fn new(p: &LatencyParams) -> Self {
        Self { latency: Latency::from(p), free_at: 0 }
    }

    /// Reads `total` bytes at time `now`, of which the first `needed` are waited for; `more` cycles come before the first
    /// beat. Extra cycles.
    pub fn read(&mut self, more: u32, needed: u32, total: u32, now: u64) -> u32 {
        let latency = self.latency;
        let start = now.max(self.free_at);
        self.free_at = start + u64::from(latency.busy_first + more + latency.further(total));
        (start - now) as u32 + latency.read_first + more + latency.further(needed)
    }

    /// Writes `bytes`, starting at `now` or when the bus is free. When it is done.
    pub fn write(&mut self, more: u32, bytes: u32, now: u64) -> u64 {
        let cycles = self.latency.write_first + more + self.latency.further(bytes);
        self.free_at = now.max(self.free_at) + u64::from(cycles);
        self.free_at
    }
}

const NO_ROW: u32 = u32::MAX;
const MAX_BANKS: usize = 16;

#[derive(Clone, Debug)]
struct Rows {
    row_log2: u32,
    bank_log2: u32,
    miss: u32,
    open: [u32; MAX_BANKS],
}

impl From<&RowParams> for Rows {
    fn from(p: &RowParams) -> Self {
        Self {
            row_log2: p.row.value.trailing_zeros(),
            bank_log2: p.bank.value.trailing_zeros(),
            miss: p.miss.value,
            open: [NO_ROW; MAX_BANKS],
        }
    }
}

impl Rows {
    /// Opens the row of `offset`: extra cycles.
    fn open(&mut self, offset: u32) -> u32 {
        let bank = (offset >> self.bank_log2) as usize % MAX_BANKS;
        let row = offset >> self.row_log2;
        if self.open[bank] == row {
            return 0;
        }
        self.open[bank] = row;
        self.miss
    }

    /// An offset in another row of the same bank.
    const fn elsewhere(&self, offset: u32) -> u32 {
        offset ^ 1 << self.row_log2
    }
}

/// One memory, as the machine uses it.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub base: u32,
    /// The base of its alias; its own base if it has none.
    alias: u32,
    /// Bytes of the chip's memory, at the board's address.
    pub size: u32,
    pub kind: MemoryKind,
    pub interface: Interface,
    pub cacheable: bool,
    /// None for tightly coupled memory, which never makes anyone wait.
    port: Option<Port>,
    rows: Option<Rows>,
}

impl Memory {
    pub fn new(p: &MemoryParams) -> Self {
        let window = p.chip_window();
        Self {
            base: narrow(window.base()),
            alias: narrow(p.alias_window().unwrap_or(window).base()),
            // A window of 4 GiB does not pass the profile's check together with anything else.
            size: u32::try_from(window.size().0).unwrap_or(u32::MAX),
            kind: p.kind,
            interface: p.interface,
            cacheable: p.cacheable.value,
            port: p.latency.as_ref().map(Port::new),
            rows: p.rows.as_ref().map(Rows::from),
        }
    }

    #[inline]
    pub fn holds(&self, addr: u32) -> bool {
        addr.wrapping_sub(self.base) < self.size || addr.wrapping_sub(self.alias) < self.size
    }

    /// The address of the same byte from its base on. It holds `addr`.
    #[inline]
    pub fn home(&self, addr: u32) -> u32 {
        if addr.wrapping_sub(self.base) < self.size {
            addr
        } else {
            addr.wrapping_sub(self.alias).wrapping_add(self.base)
        }
    }

    /// Whether no access to it ever waits.
    pub fn never_waits(&self) -> bool {
        self.port.as_ref().is_none_or(|port| port.latency.is_none()) && self.rows.is_none()
    }

    /// Wait states of a read of one beat.
    pub fn read_first(&self) -> u32 {
        self.port.as_ref().map_or(0, |port| port.latency.read_first)
    }

    /// Reads `total` bytes at `addr` at time `now`, of which the first `needed` are waited for. Extra cycles.
    pub fn read(&mut self, addr: u32, needed: u32, total: u32, now: u64) -> u32 {
        let more = self.row(addr);
        self.port.as_mut().map_or(0, |port| port.read(more, needed, total, now))
    }

    /// Writes `bytes` at `addr`, starting at `now` or when the bus is free. When it is done.
    pub fn write(&mut self, addr: u32, bytes: u32, now: u64) -> u64 {
        let more = self.row(addr);
        self.port.as_mut().map_or(now, |port| port.write(more, bytes, now))
    }

    /// An address whose transfer holds up the next one near `addr` most: in another row of its bank where there are rows.
    pub fn elsewhere(&self, addr: u32) -> u32 {
        let offset = addr.wrapping_sub(self.base);
        self.base.wrapping_add(self.rows.as_ref().map_or(offset, |rows| rows.elsewhere(offset)))
    }

    /// Leaves no row open.
    pub fn close_rows(&mut self) {
        if let Some(rows) = &mut self.rows {
            rows.open = [NO_ROW; MAX_BANKS];
        }
    }

    fn row(&mut self, addr: u32) -> u32 {
        let offset = addr.wrapping_sub(self.base);
        self.rows.as_mut().map_or(0, |rows| rows.open(offset))
    }
}

/// Board addresses lie within 32 bits in every profile that passed its check.
fn narrow(addr: PhysAddr) -> u32 {
    addr.to_u32().unwrap_or(u32::MAX)
}

const MAX_STORES: usize = 16;

/// Stores under way: the time at which each is done, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct StoreBuffer {
    done: [u64; MAX_STORES],
    /// Place of the oldest.
    at: usize,
    depth: usize,
    latest: u64,
}

impl StoreBuffer {
    /// An empty buffer for `depth` stores (1 to 16).
    pub fn new(depth: u32) -> Self {
        Self { done: [0; MAX_STORES], at: 0, depth: (depth as usize).clamp(1, MAX_STORES), latest: 0 }
    }

    /// Waits for a place at time `now`: extra cycles.
    pub fn wait(&self, now: u64) -> u32 {
        self.done[self.at].saturating_sub(now) as u32
    }

    /// Takes a store that is done at `done`, into the place of the oldest.
    pub fn push(&mut self, done: u64) {
        self.done[self.at] = done;
        self.at = if self.at + 1 == self.depth { 0 } else { self.at + 1 };
        self.latest = self.latest.max(done);
    }

    /// Extra cycles at time `now` until every store is done.
    pub fn drain(&self, now: u64) -> u32 {
        self.latest.saturating_sub(now) as u32
    }
}

#[cfg(test)]
mod tests;
