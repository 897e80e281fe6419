//! The kernel, which performs what the manager decides.

use abi::Error;

use crate::note::Note;
use crate::region::Mapping;

/// The kernel's calls, each bounded.
///
/// The kernel checks everything again, so a refusal here means that the account is wrong. `BUSY` is
/// the exception: another manager's edit is under way, and the same call will succeed later.
pub trait Calls {
    /// Untyped frames become memory that can be mapped.
    ///
    /// # Errors
    /// Those of the kernel.
    fn retype(&mut self, base: u32, bytes: u32) -> Result<(), Error>;

    /// Lets a client access memory in one piece.
    ///
    /// # Errors
    /// Those of the kernel.
    fn map(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error>;

    /// Ends a client's access to memory that was mapped so.
    ///
    /// # Errors
    /// Those of the kernel.
    fn unmap(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error>;

    /// Gives the client's table memory for nodes, from the beginning of the range on. The kernel
    /// takes a part of it at once; returns the bytes that it took.
    ///
    /// # Errors
    /// Those of the kernel.
    fn nodes(&mut self, client: u8, base: u32, bytes: u32) -> Result<u32, Error>;

    /// Takes one step of clearing frames that no domain has mapped; returns the bytes left.
    ///
    /// # Errors
    /// Those of the kernel.
    fn clean(&mut self, base: u32, bytes: u32) -> Result<u32, Error>;

    /// Tells an observer of the run. Does nothing unless an implementation has an observer.
    fn tell(&mut self, note: &Note) {
        let _ = note;
    }
}
