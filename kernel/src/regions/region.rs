//! A region that is mapped or unmapped at run time.

use abi::Error;
use protect::pmsav7::{RegionRegs, Span, encode_one};
use protect::{Access, Data, MemType};
use units::PhysRange;

use crate::frames::physical;
use crate::protection::{Words, access};

/// A region that is mapped or unmapped at run time.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Its registers, without a slot.
    pub(super) regs: RegionRegs,
    /// It has a register of its own.
    pub(super) pinned: bool,
    /// It permits to execute.
    pub(super) execute: bool,
}

/// Every bit that means something here.
const ACCESS: u32 = access::READ | access::WRITE | access::EXECUTE | access::PINNED;

impl Region {
    /// The region that the words of a call describe: `base`, and in `shape` log2 of the size and above it the eighths that are disabled.
    ///
    /// # Errors
    /// `BAD_ARGUMENT`: no register can hold it exactly, or it could be written and executed.
    pub fn decode(words: Words) -> Result<Region, Error> {
        let Words { access: bits, base, shape } = words;
        let (write, execute) = (bits & access::WRITE != 0, bits & access::EXECUTE != 0);
        let pinned = bits & access::PINNED != 0;
        let (log2, srd) = (shape & 0xff, shape >> 8);
        // Regions with eighths, and keys of the trie, begin at 256 bytes.
        let smallest = if pinned && srd == 0 { 5 } else { 8 };
        let aligned = (smallest..32).contains(&log2) && base & ((1 << log2) - 1) == 0;
        if bits & access::READ == 0 || bits > ACCESS || (write && execute) || srd >= 0xff || !aligned {
            return Err(Error::BadArgument);
        }
        let data = if write { Data::Rw } else { Data::Ro };
        let whole = Span::new(base, 1 << log2);
        let rights = Access { data, exec: execute };
        let regs = encode_one(whole, rights, MemType::WriteBack).map_err(|_| Error::BadArgument)?;
        Ok(Region { regs: RegionRegs { rasr: regs.rasr | srd << 8, ..regs }, pinned, execute })
    }

    /// Each run that it permits.
    pub fn runs(&self) -> impl Iterator<Item = PhysRange> + use<> {
        self.regs.runs().filter_map(|run| physical(run.base, run.len as u32))
    }
}
