//! Memory as objects: typing, mapping and scrubbing ranges of frames.

use abi::Error;

use crate::arch::Arch;
use crate::kernel::{Kernel, Outcome};

impl<A: Arch> Kernel<A> {
    #[inline(never)]
    pub(crate) fn retype(&mut self, _: u32, _: u32, _: u32, _: u32) -> Result<Outcome, Error> {
        Err(Error::BadCall)
    }

    #[inline(never)]
    pub(crate) fn frames_split(&mut self, _: u32, _: u32, _: u32) -> Result<Outcome, Error> {
        Err(Error::BadCall)
    }

    #[inline(never)]
    pub(crate) fn frames_map(&mut self, _: u32, _: u32, _: u32) -> Result<Outcome, Error> {
        Err(Error::BadCall)
    }

    #[inline(never)]
    pub(crate) fn frames_unmap(&mut self, _: u32, _: u32) -> Result<Outcome, Error> {
        Err(Error::BadCall)
    }

    #[inline(never)]
    pub(crate) fn frames_scrub(&mut self, _: u32) -> Result<Outcome, Error> {
        Err(Error::BadCall)
    }
}
