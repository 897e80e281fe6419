//! Hands the series to `script`: shared memory that it may read, once, and that is taken away again.

use cofferdam::memory::{self, AccessLevel, Granted, Manager, SharedWanted, TemporalSpec, access};
use cofferdam::{Error, Info, Notification, println};
use wire::{SERIES, SERIES_BYTES};

use crate::failure::Failure;
use crate::shared::Memory;

/// The domain that may read it.
const READER: &str = "script";

/// Memory for the series, owned by this domain.
pub struct Owned {
    manager: Manager,
    granted: Granted,
    ready: Notification,
    taken: Notification,
}

impl Owned {
    /// Asks for it; nobody else has it yet.
    pub fn new(info: Info) -> Result<Owned, Failure> {
        let manager = Manager::find().ok_or(Failure::Missing("memory"))?;
        let wanted = SharedWanted {
            name: SERIES,
            bytes: SERIES_BYTES,
            spec: TemporalSpec::level(AccessLevel::L2).bits(),
            access: access::READ | access::WRITE,
            ..SharedWanted::default()
        };
        let named = |name| Notification::named(info, name).ok_or(Failure::Missing(name));
        Ok(Owned { manager, granted: manager.share(&wanted)?, ready: named("ready")?, taken: named("taken")? })
    }

    /// The memory.
    pub fn memory(&self) -> Memory {
        // SAFETY: granted to read and write; `hand_over`, which frees it, takes the whole.
        unsafe { Memory::owned(&self.granted) }
    }

    /// Lets `script` read what is stored, takes it away when that has been done, and gives the memory back.
    pub fn hand_over(self) -> Result<(), Failure> {
        self.manager.permit(SERIES, READER, access::READ)?;
        self.ready.signal(1)?;
        self.taken.wait(1)?;
        self.manager.revoke(SERIES)?;
        let base = core::ptr::NonNull::new(self.granted.base as *mut u8).ok_or(Error::BadState)?;
        // SAFETY: `script` no longer has it mapped, and nothing here uses it after this.
        unsafe { memory::free(base)? };
        println!("took the series away from {READER} and gave its memory back");
        self.ready.signal(2)?;
        Ok(())
    }
}
