//! Memory with a temporal specification.
//!
//! [`malloc`] first looks into the domain's own arena of that specification: within the envelope that the manifest declares, this is
//! a heap operation of constant time, which cannot fail. Beyond it, and for what only the manager can do (an address, sharing,
//! revocation), the memory manager is asked through its gate. The manager grants extents that one
//! region register covers; they are clean, and carry their bound.
//!
//! For Rust and, with the feature `c`, for C (`cofferdam_memory.h`). The run-time provides `cof_grants_call`, `cof_grants_life` and
//! `cof_heap_wait`.
#![no_std]

mod arenas;
#[cfg(feature = "c")]
mod c;
mod client;

use core::ptr::NonNull;

use abi::Error;
use abi::info::UNBOUNDED;
use abi::info::area::DERIVED;
pub use client::{Failure, GATE, Manager, SharedWanted};
use info::info;
pub use manager::wire::{Answer, Granted, Operation, Refused, Request, access};
pub use spec::{AccessLevel, Independence, MemoryClass, Method, TablePlace, TemporalSpec};

/// Allocates at least `bytes` bytes with a specification.
///
/// # Errors
/// [`Failure`]: never within the envelope.
///
/// # Time complexity
/// Constant within the envelope; beyond it one call of the manager's gate.
pub fn malloc(bytes: u32, spec: TemporalSpec) -> Result<NonNull<u8>, Failure> {
    // An arena ignores allow-partial; only the manager acts on it.
    match arenas::alloc(bytes, TemporalSpec { allow_partial: false, ..spec }.bits()) {
        Some(block) => Ok(block),
        None => pointer(manager()?.grant(bytes, spec.bits(), 0)?),
    }
}

/// Allocates memory at a given address, which lies in the manager's memory.
///
/// # Errors
/// [`Failure`].
///
/// # Time complexity
/// One call of the manager's gate.
pub fn malloc_at(address: u32, bytes: u32, spec: TemporalSpec) -> Result<NonNull<u8>, Failure> {
    if address == 0 {
        return Err(Error::BadArgument.into());
    }
    pointer(manager()?.grant(bytes, spec.bits(), address)?)
}

/// This domain's own shared memory under a name that the manifest declares, made when there is none.
///
/// # Errors
/// [`Failure`].
///
/// # Time complexity
/// One call of the manager's gate.
pub fn shmget(wanted: &SharedWanted) -> Result<NonNull<u8>, Failure> {
    pointer(manager()?.share(wanted)?)
}

/// Maps the shared memory of another domain, by the owner's name and the name that the manifest declares for it there.
///
/// # Errors
/// [`Failure`].
///
/// # Time complexity
/// One call of the manager's gate.
pub fn shmget_of(owner: &str, wanted: &SharedWanted) -> Result<NonNull<u8>, Failure> {
    pointer(manager()?.join(owner, wanted)?)
}

/// Gives back what one of the functions above returned. Memory of the manager's is scrubbed, in
/// bounded steps that the caller pays for.
///
/// # Errors
/// `BAD_ARGUMENT` for what is not allocated; [`Failure`] of the manager, for example while others have shared memory mapped.
///
/// # Safety
/// The memory is no longer in use.
pub unsafe fn free(memory: NonNull<u8>) -> Result<(), Failure> {
    // SAFETY: as the caller promises.
    match unsafe { arenas::free(memory) } {
        Some(Ok(())) => Ok(()),
        Some(Err(_)) => Err(Error::BadArgument.into()),
        None => manager()?.free(memory.as_ptr() as u32),
    }
}

/// The promise about accesses to an address of this domain: by the manifest for its areas, by the
/// manager for memory that it granted. The level is the one that was asked for; method 0 and
/// [`UNBOUNDED`] cycles say that nothing is promised.
///
/// # Errors
/// `BAD_ADDRESS` when the address is not this domain's.
///
/// # Time complexity
/// O(areas), and one call of the manager's gate if none of them contains the address.
pub fn query(address: u32) -> Result<Granted, Failure> {
    if let Some((found, (base, bytes))) = info().ok_or(Error::BadState)?.piece_at(address) {
        let (spec, cycles) = (found.spec, found.bound);
        let level = TemporalSpec::level_in(spec);
        let derived = found.access & DERIVED != 0;
        let method = match cycles {
            UNBOUNDED => 0,
            _ if derived => Method::Derived as u32,
            _ => Method::Observed as u32,
        };
        let place = manager::wire::place::TABLE;
        return Ok(Granted { base, bytes, spec, level, cycles, method, place, ..Granted::default() });
    }
    let Some(manager) = Manager::find() else { return Err(Error::BadAddress.into()) };
    manager.query(address).map_err(|failure| match failure {
        Failure::Refused(_) => Error::BadAddress.into(),
        failed => failed,
    })
}

fn manager() -> Result<Manager, Failure> {
    Manager::find().ok_or(Failure::Failed(Error::BadHandle))
}

fn pointer(granted: Granted) -> Result<NonNull<u8>, Failure> {
    NonNull::new(granted.base as *mut u8).ok_or(Failure::Failed(Error::BadState))
}
