//! The contract between a protection domain, the kernel and the tools that watch them.
//!
//! Everything here is plain data: numbers of system calls ([`Call`]), the errors they return ([`Error`]), the read-only
//! block that a domain finds at its start ([`info`]), and the words that the kernel writes to its trace port
//! ([`trace`]). `cofferdam.h` is generated from the same tables ([`header`]).
#![no_std]
#![forbid(unsafe_code)]

mod boot;
mod call;
pub mod console;
mod error;
pub mod header;
pub mod info;
mod mapping;
pub mod trace;

pub use boot::BootError;
pub use call::{Argument, CALLS, Call, CallDoc};
pub use error::{ERRORS, Error, ErrorDoc};
pub use mapping::{GRANULE_BYTES, Mapping, access, region};

/// The kinds of object a capability can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The slot holds nothing.
    Empty = 0,
    /// A protection domain.
    Domain = 1,
    /// A thread.
    Thread = 2,
    /// A budget (deferrable server).
    Budget = 3,
    /// A gate (synchronous invocation).
    Gate = 4,
    /// A notification word.
    Notification = 5,
    /// An interrupt line.
    Interrupt = 6,
    /// A range of physical frames.
    Frames = 7,
}

impl Kind {
    /// Decodes the number, or `None` for a number that names no kind.
    pub const fn from_number(number: u8) -> Option<Kind> {
        Some(match number {
            0 => Kind::Empty,
            1 => Kind::Domain,
            2 => Kind::Thread,
            3 => Kind::Budget,
            4 => Kind::Gate,
            5 => Kind::Notification,
            6 => Kind::Interrupt,
            7 => Kind::Frames,
            _ => return None,
        })
    }
}

/// The rights of a capability; each right is meaningful for the kinds named.
pub mod rights {
    /// Read state (all kinds); receive (notification).
    pub const READ: u8 = 1;
    /// Change state (all kinds); signal (notification); invoke (gate).
    pub const WRITE: u8 = 2;
    /// Copy the capability to another domain.
    pub const GRANT: u8 = 4;
    /// Every right.
    pub const ALL: u8 = READ | WRITE | GRANT;
}

/// Largest number of bytes one [`Call::GateCopyIn`] or [`Call::GateCopyOut`] moves. It bounds the time for which
/// interrupts stay masked; longer transfers are a loop in the callee, charged to the caller's budget.
pub const COPY_MAX_BYTES: u32 = 64;

/// Most domains of a system: their numbers fit a trace record, and bits of a notification word.
pub const MAX_DOMAINS: usize = 32;
/// A service that comes with Cofferdam (console, memory manager) serves clients whose badge is below
/// this: each has tables or a ring in the service's memory.
pub const SERVICE_CLIENTS: usize = 16;

/// How deeply gate calls may nest in one thread.
pub const MAX_NESTING: usize = 4;

/// Largest number of bytes of a writable part that one entry of [`Call::DomainRestart`] puts back.
pub const RESTART_BYTES: u32 = 128;

/// Largest number of bytes that one entry of [`Call::FramesClean`] clears.
pub const CLEAN_BYTES: u32 = 256;

#[cfg(test)]
mod tests;
