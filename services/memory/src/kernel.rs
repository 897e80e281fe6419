//! The manager's requests as kernel calls.

use cofferdam::abi::Kind;
use cofferdam::{Error, Info, sys};
use manager::books::shape;
use manager::note::Note;
use manager::standard::POOLS;
use manager::{Calls, MAX_CLIENTS, Mapping};
use memory::pieces::PAGE_LOG2;

/// A range of frames: the capability, and where it lies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pool {
    pub slot: u32,
    pub base: u32,
    pub bytes: u32,
}

/// Slots of the capabilities that the manager was given.
#[derive(Debug)]
pub struct Kernel {
    /// By number of the domain; `u32::MAX` for a domain that is no client.
    domains: [u32; MAX_CLIENTS],
    pools: [Pool; POOLS],
    /// The processor has page tables.
    pages: bool,
}

/// What the kernel takes at a time for page tables.
const TABLE_BYTES: u32 = 1024;

const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const PINNED: u32 = 1 << 19;
const NEAR: u32 = 1 << 20;

impl Kernel {
    /// Nothing is held.
    pub const fn new() -> Kernel {
        Kernel { domains: [u32::MAX; MAX_CLIENTS], pools: [Pool { slot: 0, base: 0, bytes: 0 }; POOLS], pages: false }
    }

    /// Takes what the information block names: a domain that may call the gate is a client when the manager also holds a
    /// capability for it, under the same name. Calls `client` with number and name of each.
    pub fn adopt(&mut self, info: Info, mut client: impl FnMut(usize, &str)) {
        for (name, caller) in info.caps().filter(|(_, cap)| cap.kind == Kind::Empty) {
            let number = caller.slot as usize;
            let domain = info.cap(name, Kind::Domain);
            if let (Some(slot), Some(domain)) = (self.domains.get_mut(number), domain) {
                *slot = domain.slot;
                client(number, name);
            }
        }
    }

    /// What a mapping's words mean to the kernel: pages, or the settings of a region register.
    pub const fn set_pages(&mut self, pages: bool) {
        self.pages = pages;
    }

    /// Adds a range of frames; `None` when there is no room for it.
    pub fn add(&mut self, pool: Pool) -> Option<()> {
        *self.pools.iter_mut().find(|known| known.bytes == 0)? = pool;
        Some(())
    }

    /// The frames that a range lies in, and its offset there.
    #[inline(never)]
    fn pool(&self, base: u32, bytes: u32) -> Result<(u32, u32), Error> {
        let inside = |pool: &&Pool| {
            let offset = base.wrapping_sub(pool.base);
            offset < pool.bytes && bytes <= pool.bytes - offset
        };
        let pool = self.pools.iter().find(inside).ok_or(Error::BadAddress)?;
        Ok((pool.slot, base - pool.base))
    }

    fn domain(&self, client: u8) -> Result<u32, Error> {
        self.domains.get(usize::from(client)).copied().ok_or(Error::BadHandle)
    }

    /// Target, frames, base and shape, as `FRAMES_MAP` takes them.
    fn mapping(&self, client: u8, mapping: &Mapping) -> Result<[u32; 4], Error> {
        let Mapping { at, from, bytes, write, pinned, near } = *mapping;
        let access = READ | if write { WRITE } else { 0 } | if pinned { PINNED } else { 0 };
        let (frames, offset) = self.pool(from, bytes)?;
        let target = self.domain(client)? | access;
        if self.pages {
            let pages = (bytes >> PAGE_LOG2).checked_sub(1).ok_or(Error::BadArgument)?;
            return Ok([target | if near { NEAR } else { 0 }, frames, at | pages, offset]);
        }
        let (size_log2, srd) = shape(at, bytes).ok_or(Error::BadArgument)?;
        Ok([target, frames, at, u32::from(size_log2) | u32::from(srd) << 8])
    }
}

impl Calls for Kernel {
    fn retype(&mut self, base: u32, bytes: u32) -> Result<(), Error> {
        let (frames, offset) = self.pool(base, bytes)?;
        sys::frames_retype(frames, offset, bytes)
    }

    fn map(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error> {
        let [target, frames, base, shape] = self.mapping(client, mapping)?;
        sys::frames_map(target, frames, base, shape)
    }

    fn unmap(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error> {
        let [target, frames, base, shape] = self.mapping(client, mapping)?;
        sys::frames_unmap(target, frames, base, shape)
    }

    fn nodes(&mut self, client: u8, base: u32, bytes: u32) -> Result<u32, Error> {
        let (frames, offset) = self.pool(base, bytes)?;
        let given = if self.pages { TABLE_BYTES } else { bytes };
        sys::nodes_give(self.domain(client)?, frames, offset, given)?;
        Ok(given)
    }

    fn clean(&mut self, base: u32, bytes: u32) -> Result<u32, Error> {
        let (frames, offset) = self.pool(base, bytes)?;
        sys::frames_clean(frames, offset, bytes)
    }

    fn tell(&mut self, note: &Note) {
        for (id, value) in note.marks() {
            // Nothing depends on it.
            let _ = sys::mark(u32::from(id), value);
        }
    }
}
