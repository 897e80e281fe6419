//! Typed handles: a handle of one kind cannot be passed where another is wanted.

use abi::trace;
use abi::{Error, Kind};

use crate::{Info, sys};

/// Ticks of the kernel's clock; `Info::ticks_per_second` says how many make a second.
pub type Ticks = u64;

/// Time since boot.
#[inline]
pub fn now() -> Ticks {
    sys::time_now()
}

macro_rules! handle {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(u32);

        impl $name {
            /// Looks the capability up in the information block.
            pub fn named(info: Info, name: &str) -> Option<Self> {
                info.cap(name, Kind::$name).map(|cap| Self(cap.slot))
            }

            /// The handle in a slot whose content the caller knows from elsewhere; the kernel checks it at each use.
            pub const fn in_slot(slot: u32) -> Self {
                Self(slot)
            }

            /// The slot: what the calls in [`sys`] take.
            pub const fn slot(self) -> u32 {
                self.0
            }
        }
    };
}

handle!(
    /// A gate of another domain.
    Gate
);
handle!(
    /// A word of bits that one thread can wait for.
    Notification
);
handle!(
    /// An interrupt line that this domain owns.
    Interrupt
);
handle!(
    /// A budget.
    Budget
);
handle!(
    /// A protection domain.
    Domain
);

impl Gate {
    /// Calls the gate; the value is what the callee returned.
    ///
    /// # Errors
    /// Those of [`abi::Call::GateCall`], and the callee's own.
    #[inline]
    pub fn call(self, a0: u32, a1: u32, a2: u32) -> Result<u32, Error> {
        sys::gate_call(self.0, a0, a1, a2)
    }
}

impl Notification {
    /// Waits for one of the bits in `mask` (not 0), clears and returns those that were set.
    ///
    /// # Errors
    /// Those of [`abi::Call::Wait`].
    #[inline]
    pub fn wait(self, mask: u32) -> Result<u32, Error> {
        sys::wait(self.0, mask)
    }

    /// Clears and returns the bits of `mask` that are set.
    ///
    /// # Errors
    /// Those of [`abi::Call::Poll`].
    #[inline]
    pub fn poll(self, mask: u32) -> Result<u32, Error> {
        sys::poll(self.0, mask)
    }

    /// Sets bits.
    ///
    /// # Errors
    /// Those of [`abi::Call::Signal`].
    #[inline]
    pub fn signal(self, bits: u32) -> Result<(), Error> {
        sys::signal(self.0, bits)
    }
}

impl Interrupt {
    /// Allows the line to be delivered again.
    ///
    /// # Errors
    /// Those of [`abi::Call::InterruptAck`].
    #[inline]
    pub fn ack(self) -> Result<(), Error> {
        sys::interrupt_ack(self.0)
    }
}

impl Budget {
    /// Ticks left, and ticks until the next replenishment.
    ///
    /// # Errors
    /// Those of [`abi::Call::BudgetQuery`].
    #[inline]
    pub fn left(self) -> Result<(u32, u32), Error> {
        sys::budget_query(self.0)
    }
}

/// A fault report of a domain.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Kind; `None` for a number that this run-time does not know.
    pub kind: Option<trace::Fault>,
    /// Address or program counter, as the kind says.
    pub address: u32,
}

impl Domain {
    /// Takes the oldest unread fault report.
    ///
    /// # Errors
    /// Those of [`abi::Call::FaultNext`].
    pub fn fault_next(self) -> Result<Option<Fault>, Error> {
        let (kind, address) = sys::fault_next(self.0)?;
        Ok((kind != 0).then_some(Fault { kind: trace::Fault::from_number(kind as u8), address }))
    }

    /// Interrupts reach this domain's handlers without the kernel from now on, and those of no other domain.
    ///
    /// # Errors
    /// Those of [`abi::Call::Occupy`].
    pub fn occupy(self) -> Result<(), Error> {
        sys::occupy(self.0).map(|_| ())
    }

    /// One step of restarting the stopped domain; `Ok(true)` when it runs again.
    ///
    /// # Errors
    /// Those of [`abi::Call::DomainRestart`] except `AGAIN`.
    pub fn restart_step(self) -> Result<bool, Error> {
        sys::domain_restart(self.0)
    }
}
