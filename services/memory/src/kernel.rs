//! The manager's requests as kernel calls.

use cofferdam::abi::{self, Kind, access};
use cofferdam::{Error, Info, sys};
use manager::note::Note;
use manager::standard::POOLS;
use manager::{Calls, MAX_CLIENTS, Mapping};

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
}

impl Kernel {
    /// Nothing is held.
    pub const fn new() -> Kernel {
        Kernel { domains: [u32::MAX; MAX_CLIENTS], pools: [Pool { slot: 0, base: 0, bytes: 0 }; POOLS] }
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

    /// The mapping as the kernel is asked for it.
    fn mapping(&self, client: u8, mapping: &Mapping) -> Result<abi::Mapping, Error> {
        let Mapping { at, from, bytes, write, pinned, near } = *mapping;
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let access = access::READ | bit(write, access::WRITE) | bit(pinned, access::PINNED) | bit(near, access::NEAR);
        let (frames, offset) = self.pool(from, bytes)?;
        let target = self.domain(client)? as u16;
        Ok(abi::Mapping { target, frames: frames as u16, at, access, offset, bytes })
    }
}

impl Calls for Kernel {
    fn retype(&mut self, base: u32, bytes: u32) -> Result<(), Error> {
        let (frames, offset) = self.pool(base, bytes)?;
        sys::frames_retype(frames, offset, bytes)
    }

    fn map(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error> {
        sys::frames_map(&self.mapping(client, mapping)?)
    }

    fn unmap(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error> {
        sys::frames_unmap(&self.mapping(client, mapping)?)
    }

    fn nodes(&mut self, client: u8, base: u32, bytes: u32) -> Result<u32, Error> {
        let (frames, offset) = self.pool(base, bytes)?;
        sys::nodes_give(self.domain(client)?, frames, offset, bytes).map(|(taken, _)| taken)
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
