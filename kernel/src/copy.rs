//! What the kernel copies to and from domains' memory. Domains' addresses are translated piece by piece; where they are physical addresses, there
//! is one piece.

use protect::pmsav7::AccessKind;

use crate::arch::Arch;
use crate::kernel::Kernel;
use crate::protection::Protection;

impl<A: Arch> Kernel<A> {
    /// Copies from one domain's memory to another's.
    ///
    /// # Safety
    /// Both domains may access their ranges so, every byte, and the ranges do not overlap.
    #[inline(always)]
    pub(crate) unsafe fn copy_across(&mut self, writer: u8, dst: u32, reader: u8, src: u32, bytes: u32) {
        let mut done = 0;
        while done < bytes {
            let to = self.domain(writer).protection.physical(dst + done, AccessKind::Write);
            let from = self.domain(reader).protection.physical(src + done, AccessKind::Read);
            let (Some((to, room)), Some((from, rest))) = (to, from) else { return };
            let step = room.min(rest).min(bytes - done);
            // SAFETY: the caller's duty; the piece is where the domains' addresses lead.
            unsafe { self.arch.copy(to, from, step) };
            done += step;
        }
    }

    /// Writes to a domain's memory: a copy of what is at a physical address, or zeros. Whether the domain may write all of it; what lies
    /// before the first byte that it may not has been written.
    ///
    /// # Safety
    /// The source is memory that no domain can write.
    #[inline(always)]
    pub(crate) unsafe fn write_to(&mut self, domain: u8, dst: u32, source: Option<u32>, bytes: u32) -> bool {
        let mut done = 0;
        while done < bytes {
            let Some((to, room)) = self.domain(domain).protection.physical(dst + done, AccessKind::Write) else {
                return false;
            };
            let step = room.min(bytes - done);
            match source {
                // SAFETY: the domain may write there; the source is the caller's duty.
                Some(source) => unsafe { self.arch.copy(to, source + done, step) },
                // SAFETY: the domain may write there.
                None => unsafe { self.arch.zero(to, step) },
            }
            done += step;
        }
        true
    }
}
