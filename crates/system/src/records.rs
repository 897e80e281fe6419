//! The records of the tables. Every field is one word.

use crate::{Record, Table};

/// A record of words.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$fmeta])* pub $field: u32,)* }

        impl $crate::Words for $name {
            const WORDS: usize = [$(stringify!($field)),*].len();
            fn decode(words: &[u32]) -> Self {
                let mut next = words.iter().copied();
                $name { $($field: next.next().unwrap_or(0),)* }
            }
            fn encode(&self, words: &mut [u32]) {
                for (word, value) in words.iter_mut().zip([$(self.$field),*]) { *word = value; }
            }
        }
    };
}
pub(crate) use words;

/// A record of a table.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident in $table:ident { $($fields:tt)* }) => {
        words! { $(#[$meta])* $name { $($fields)* } }

        impl Record for $name {
            const TABLE: Table = Table::$table;
        }
    };
}

/// Consequences of a domain's fault; stopping its threads always comes first.
pub mod policy {
    /// The domain stays stopped.
    pub const STOP: u32 = 0;
    /// A supervisor restarts it.
    pub const RESTART: u32 = 1;
    /// A supervisor reports it; it stays stopped.
    pub const REPORT: u32 = 2;
}

/// Bits and values of [`Area`]'s fields.
pub mod area {
    /// The domain may read.
    pub const READ: u32 = abi::access::READ;
    /// The domain may write.
    pub const WRITE: u32 = abi::access::WRITE;
    /// The domain may execute.
    pub const EXECUTE: u32 = abi::access::EXECUTE;
    /// The check of an access never waits for a table: always in the region registers while the domain runs, or locked in the TLB.
    pub const PINNED: u32 = abi::access::PINNED;
    /// The check of an access never waits for memory off the chip; where each area has tables of its own.
    pub const NEAR: u32 = abi::access::NEAR;
    /// Shared with another domain: several areas may name the same range.
    pub const SHARED: u32 = 32;
    /// Interleaved: areas of other domains have bytes in the same range, none of them a byte of this.
    pub const WOVEN: u32 = 64;
    /// Handlers of the domain that interrupts reach without the kernel use it, too ([`crate::direct`]).
    pub const OPEN: u32 = 128;
    /// All of it is zero when domains begin: boot clears it before it loads initial data.
    pub const CLEAR: u32 = 256;
    /// Frames that pages of the domain get at their first touch: the scheme says which ([`crate::rtmmu::Space`]).
    pub const DEMAND: u32 = 512;

    /// Normal memory, write-back cacheable.
    pub const NORMAL: u32 = 0;
    /// Normal memory, write-through cacheable (flash).
    pub const WRITE_THROUGH: u32 = 1;
    /// Normal memory, not cacheable.
    pub const UNCACHED: u32 = 2;
    /// Device memory: never cached, never executable, never paged.
    pub const DEVICE: u32 = 3;
}

/// Kinds of [`Frames`].
pub mod frames {
    /// RAM that domains can be given.
    pub const USER: u32 = 0;
    /// RAM for kernel objects; never accessible to a domain.
    pub const KERNEL: u32 = 1;
    /// Read-only memory (flash).
    pub const ROM: u32 = 2;
    /// Device registers.
    pub const DEVICE: u32 = 3;
}

record! {
    /// A range of physical memory, untyped when the kernel starts. Ranges do not overlap.
    Frames in Frames {
        /// First address, a multiple of 32.
        base,
        /// Size in bytes, a multiple of 32, not 0.
        bytes,
        /// One of the constants in [`frames`].
        kind,
        /// Marks of the kernel's frame table that its holders may use inside it, all together.
        marks,
    }
}

record! {
    /// A protection domain.
    Domain in Domains {
        /// Address of its initialised data.
        data_base,
        /// Address in flash from which `data_bytes` are copied to `data_base` at start and restart.
        data_source,
        /// Bytes of initialised data, a multiple of 4.
        data_bytes,
        /// Bytes set to zero behind the initialised data, a multiple of 4.
        zero_bytes,
        /// Address of the start-up information block.
        info,
        /// Address (Thumb bit set) to which gate entry functions return: it performs `GATE_RETURN`.
        gate_return,
        /// One of the constants in [`policy`].
        policy,
        /// Slots of its capability table.
        cap_slots,
        /// First entry in the table of areas; its areas are consecutive.
        first_area,
        /// Number of areas.
        areas,
        /// 1 when the run ends only after this domain has finished.
        awaited,
        /// Notification that is signalled (bit = domain index modulo 32) when the domain faults, plus one; 0 for none.
        fault_notification,
    }
}

record! {
    /// Memory that a domain may access.
    Area in Areas {
        /// The domain.
        domain,
        /// First address, as the domain uses it.
        base,
        /// Size in bytes.
        bytes,
        /// Bits of [`area`].
        flags,
        /// Memory type: one of the constants in [`area`].
        memory,
        /// First physical address: that of `base` where addresses are not translated.
        physical,
    }
}

record! {
    /// A budget: a deferrable server.
    Budget in Budgets {
        /// Ticks between replenishments; not 0.
        period,
        /// Ticks that may be used in a period; not 0, at most `period`.
        capacity,
        /// Misses of paged regions that its threads may cause in a period, outside of gates; 0: any number.
        misses,
    }
}

record! {
    /// A thread.
    Thread in Threads {
        /// Its domain.
        domain,
        /// Entry address, Thumb bit set.
        entry,
        /// Passed in r1.
        argument,
        /// Lowest address of its stack, a multiple of 8.
        stack_base,
        /// Size of the stack in bytes, a multiple of 8.
        stack_bytes,
        /// 0 is the most important, 31 the least.
        priority,
        /// The budget that pays for it.
        budget,
        /// Ticks between releases, or 0 when not periodic.
        period,
        /// Ticks from release to deadline, or 0 for none; at most `period`.
        deadline,
    }
}

record! {
    /// A gate.
    Gate in Gates {
        /// The callee's domain.
        domain,
        /// Entry address, Thumb bit set.
        entry,
        /// Lowest address of the gate's stack, a multiple of 8.
        stack_base,
        /// Size of the stack in bytes, a multiple of 8.
        stack_bytes,
        /// Ceiling priority: no caller may be more important.
        ceiling,
        /// Ticks that one call may take, not 0.
        bound,
    }
}

record! {
    /// A notification.
    Notification in Notifications {
        /// Bits that are set at the start.
        initial,
    }
}

record! {
    /// An interrupt line bound to a notification.
    Interrupt in Interrupts {
        /// Number of the line (external interrupt).
        line,
        /// The notification that it signals.
        notification,
        /// Bits that it sets, not 0.
        bits,
        /// 0: the kernel takes it. Otherwise it reaches a handler without the kernel while the handler's domain occupies Non-secure state, and signals
        /// when the handler asks for it: the level ([`crate::direct::LEVELS`]) in the low byte, above it the place of the domain's
        /// [`crate::direct::Direct`].
        direct,
    }
}

impl Interrupt {
    /// The level of its handler and the place of its domain's [`crate::direct::Direct`], if it has a handler.
    pub const fn handler(&self) -> Option<(u32, usize)> {
        if self.direct == 0 { None } else { Some((self.direct & 0xff, (self.direct >> 8) as usize)) }
    }
}

record! {
    /// A capability that a domain holds at its start.
    Cap in Caps {
        /// The holder.
        domain,
        /// Slot in its table.
        slot,
        /// Number of the kind of object (`abi::Kind`).
        kind,
        /// Index of the object in its table.
        object,
        /// Rights (`abi::rights`).
        rights,
        /// Badge: what a gate's callee sees as its caller's identity.
        badge,
    }
}
