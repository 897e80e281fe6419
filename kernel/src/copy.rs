//! Copies that the kernel makes to and from domains' memory. Domains' addresses are translated
//! piece by piece; where they are physical addresses, there is one piece.

use protect::AccessKind;
use units::Bytes;

use crate::arch::Protection;
use crate::arch::{Arch, Len, Phys, Virt};
use crate::kernel::Kernel;

/// A piece of a copy: physical addresses of where to and where from, and bytes.
type Piece<A> = (Phys<A>, Phys<A>, Len<A>);

impl<A: Arch> Kernel<A> {
    /// The longest part of a copy between two domains, from an offset on, that is without a gap on
    /// both sides. Domains with page tables can have the same bytes in different pieces.
    #[inline(always)]
    fn piece(&self, writer: u8, dst: Virt<A>, reader: u8, src: Virt<A>, bytes: Len<A>) -> Option<Piece<A>> {
        let (to, room) = self.domain(writer).protection.physical(dst, AccessKind::Write)?;
        let (from, rest) = self.domain(reader).protection.physical(src, AccessKind::Read)?;
        Some((to, from, room.min(rest).min(bytes)))
    }

    /// Returns true if the two sides of a copy overlap in memory. Two domains can have the same
    /// memory at different addresses, so physical addresses are compared. Copying in one direction
    /// would then write what is still to be read.
    #[inline(always)]
    pub(crate) fn overlaps(&self, writer: u8, dst: Virt<A>, reader: u8, src: Virt<A>, bytes: Len<A>) -> bool {
        if A::Protection::PHYSICAL {
            return dst.max(src).minus(dst.min(src)) < bytes;
        }
        let mut done = Bytes::default();
        while done < bytes {
            let (to, from) = (dst.plus(done), src.plus(done));
            // Memory that cannot be accessed is refused for that.
            let Some((to, from, step)) = self.piece(writer, to, reader, from, bytes.minus(done)) else { return false };
            if to.max(from).minus(to.min(from)) < step {
                return true;
            }
            done = done.plus(step);
        }
        false
    }

    /// Copies from one domain's memory to another's.
    ///
    /// # Safety
    /// Both domains may access their ranges so, every byte, and [`Kernel::overlaps`] says that they do not overlap.
    #[inline(always)]
    pub(crate) unsafe fn copy_across(&mut self, writer: u8, dst: Virt<A>, reader: u8, src: Virt<A>, bytes: Len<A>) {
        let mut done = Bytes::default();
        while done < bytes {
            let left = bytes.minus(done);
            let Some((to, from, step)) = self.piece(writer, dst.plus(done), reader, src.plus(done), left) else {
                return;
            };
            // SAFETY: the caller's duty; the piece is where the domains' addresses lead.
            unsafe { self.arch.copy(to, from, step) };
            done = done.plus(step);
        }
    }

    /// Writes to a domain's memory: a copy of what is at a physical address, or zeros. Returns
    /// false if the domain may not write all of it; what lies before the first byte that it may not
    /// has been written then.
    ///
    /// # Safety
    /// The source is memory that no domain can write.
    #[inline(always)]
    pub(crate) unsafe fn write_to(&mut self, domain: u8, dst: Virt<A>, source: Option<Phys<A>>, bytes: Len<A>) -> bool {
        let mut done = Bytes::default();
        while done < bytes {
            let Some((to, room)) = self.domain(domain).protection.physical(dst.plus(done), AccessKind::Write) else {
                return false;
            };
            let step = room.min(bytes.minus(done));
            match source {
                // SAFETY: the domain may write there; the source is the caller's duty.
                Some(source) => unsafe { self.arch.copy(to, source.plus(done), step) },
                // SAFETY: the domain may write there.
                None => unsafe { self.arch.zero(to, step) },
            }
            done = done.plus(step);
        }
        true
    }
}
