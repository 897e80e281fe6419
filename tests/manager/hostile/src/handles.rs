//! Capabilities by their handles.

use cofferdam::abi::{Kind, Mapping, access};
use cofferdam::{Error, Info, PAGES, sys};

/// The capabilities that it was given.
pub struct Handles {
    pub frames: [u32; 4],
    pub domains: [u32; 4],
    pub own: u32,
    pub pool_slot: u32,
    pub table: u32,
}

impl Handles {
    pub fn of(info: Info) -> Handles {
        let mut handles = Handles { frames: [0; 4], domains: [0; 4], own: u32::MAX, pool_slot: u32::MAX, table: 0 };
        for kind in [Kind::Frames, Kind::Domain] {
            let slots = info.caps().filter(|(_, cap)| cap.kind == kind);
            let list = if kind == Kind::Frames { &mut handles.frames } else { &mut handles.domains };
            let mut last = 0;
            for (to, (_, cap)) in list.iter_mut().zip(slots) {
                *to = cap.slot;
                last = cap.slot;
            }
            for to in list.iter_mut().filter(|slot| **slot == 0) {
                *to = last;
            }
        }
        handles.pool_slot = info.cap("pool", Kind::Frames).map_or(u32::MAX, |cap| cap.slot);
        handles.own = info.cap("myself", Kind::Domain).map_or(u32::MAX, |cap| cap.slot);
        handles.table = info.caps().map(|(_, cap)| cap.slot + 1).max().unwrap_or(0);
        handles
    }

    /// Addresses at which memory of the pool can be asked for. Pages: where no domain has anything. Otherwise where the pool begins in its
    /// memory, which begins in the MiB of `memory`: elsewhere, the kernel says that these frames are not at this address.
    pub fn pool(&self, memory: u32) -> Option<u32> {
        if PAGES {
            return Some(0x4000_0000);
        }
        let (target, frames) = (self.own as u16, self.pool_slot as u16);
        let asked = |at: u32| Mapping { target, frames, at, access: access::READ, offset: 0, bytes: 0x100 };
        let inside = |at: &u32| sys::frames_map(&asked(*at)) != Err(Error::BadAddress);
        let first = memory & !0xf_ffff;
        (first..first + 0x100_0000).step_by(0x1000).find(inside)
    }
}
