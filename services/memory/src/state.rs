//! The manager's state between calls.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

use cofferdam::Info;
use cofferdam::abi::Kind;
use manager::standard::Standard;
use manager::{Books, HandOver, HandOverError};

use crate::kernel::{Kernel, Pool};

/// Manager and capabilities. The main thread opens them; after that only the gate uses them, and it serves one caller at a time.
pub struct State {
    is_open: AtomicBool,
    parts: UnsafeCell<(Standard, Kernel)>,
}

// SAFETY: `parts` is reached by `open`, once and before `is_open` is set, and by `with`, which only the gate calls after that.
unsafe impl Sync for State {}

impl State {
    pub const fn new() -> State {
        let manager = Standard::new(Books::closed());
        State { is_open: AtomicBool::new(false), parts: UnsafeCell::new((manager, Kernel::new())) }
    }

    /// Lets the gate use the manager; `None` while it is not open.
    pub fn with<R>(&self, serve: impl FnOnce(&mut Standard, &mut Kernel) -> R) -> Option<R> {
        if !self.is_open.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: the kernel lets one caller at a time into the gate, and `open` is done.
        let (manager, kernel) = unsafe { &mut *self.parts.get() };
        Some(serve(manager, kernel))
    }

    /// Reads the hand-over and takes the capabilities in.
    ///
    /// # Errors
    /// Why the manager cannot work.
    pub fn open(&self, info: Info) -> Result<(), &'static str> {
        if self.is_open.load(Ordering::Acquire) {
            return Err("opened already");
        }
        // SAFETY: `is_open` is false, so that the gate does not look; the main thread calls this once.
        let (manager, kernel) = unsafe { &mut *self.parts.get() };
        let area = info.area("ledger").ok_or("there is no area `ledger`")?;
        // SAFETY: the area is this domain's to read, and constant.
        let bytes = unsafe { core::slice::from_raw_parts(area.base as *const u8, area.bytes as usize) };
        let hand_over = HandOver::new(bytes);
        manager.account.open(hand_over).map_err(HandOverError::text)?;
        for pool in manager.account.pools() {
            let slot = info.cap(pool.text(), Kind::Frames).ok_or("a pool without a capability of its name")?.slot;
            kernel.add(Pool { slot, base: pool.base, bytes: pool.bytes }).ok_or("too many pools")?;
        }
        kernel.adopt(info, |number, name| {
            manager.enrol(number, name);
        });
        for share in hand_over.shares() {
            let share = share.map_err(HandOverError::text)?;
            if !manager.declare(share.owner.into(), share.name, share.who) {
                return Err("too much shared memory");
            }
        }
        self.is_open.store(true, Ordering::Release);
        Ok(())
    }
}
