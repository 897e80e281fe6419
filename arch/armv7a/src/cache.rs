//! First-level caches and the snoop control unit. The second level is in [`pl310`](crate::pl310).

use units::{Bytes, VirtAddr};

use crate::block::Block;
use crate::cp15::{self, dsb, isb};

/// Bytes of a line, of both levels (ARM DDI 0388, 7.1).
pub const LINE_BYTES: u32 = 32;

/// Invalidates the instruction cache and the branch predictors.
pub fn invalidate_instructions() {
    // SAFETY: nothing is lost: instruction caches hold no data.
    unsafe {
        cp15::iciallu::write(0);
        cp15::bpiall::write(0);
    }
    dsb();
    isb();
}

/// Invalidates the first-level data cache, because its contents are undefined after power-up (DDI
/// 0388, 7.2).
///
/// # Safety
/// The cache is off, and nothing in it is wanted.
pub unsafe fn invalidate_data() {
    // SAFETY: selects the first-level data cache.
    unsafe { cp15::csselr::write(0) };
    isb();
    let size = cp15::ccsidr::read();
    let (sets, ways) = ((size >> 13 & 0x7fff) + 1, (size >> 3 & 0x3ff) + 1);
    let set_shift = (size & 7) + 4;
    // The number of the way is in the uppermost bits (DDI 0406C B4.2.1).
    let way_shift = (ways - 1).leading_zeros();
    for way in 0..ways {
        for set in 0..sets {
            // SAFETY: the caller's duty.
            unsafe { cp15::dcisw::write(way.checked_shl(way_shift).unwrap_or(0) | set << set_shift) };
        }
    }
    dsb();
}

/// Writes the lines of a range back to where table walks and instruction fetches find them, and
/// waits until that is done.
///
/// # Time complexity
/// One operation for each line of 32 bytes.
pub fn clean_to_unification(VirtAddr(base): VirtAddr<u32>, Bytes(bytes): Bytes<u32>) {
    for line in (base & !(LINE_BYTES - 1)..base + bytes).step_by(LINE_BYTES as usize) {
        // SAFETY: cleaning changes no contents.
        unsafe { cp15::dccmvau::write(line) };
    }
    dsb();
}

/// Turns the snoop control unit on and this CPU's part in coherency, which shareable write-back memory and exclusive accesses
/// need even when one CPU runs (DDI 0407, 2.1 and 2.2; DDI 0388, 4.3.10: before the caches).
///
/// # Safety
/// The data cache of this CPU is off and invalid; no other CPU runs.
pub unsafe fn join_coherency(scu: Block) {
    const CONTROL: u32 = 0x00;
    const INVALIDATE: u32 = 0x0c;
    const SMP: u32 = 1 << 6;
    // Invalidates the tags of one CPU. The others invalidate their own when they start.
    scu.write(INVALIDATE, 0xf);
    scu.write(CONTROL, scu.read(CONTROL) | 1);
    dsb();
    // SAFETY: as DDI 0388 wants it, with the MMU and the caches off.
    unsafe { cp15::actlr::write(cp15::actlr::read() | SMP) };
    isb();
}

/// Switches the prefetcher of the first-level data cache on (`ACTLR`, DDI 0388I 4.3.10), which
/// reads ahead of streams of misses within 4 KiB (7.6.2). It is off at reset, and stays off unless
/// the system asks for it, because which lines it brings depends on what ran before.
pub fn read_ahead() {
    const DATA_PREFETCH: u32 = 1 << 2;
    // SAFETY: a line more or less in a cache changes nothing but time.
    unsafe { cp15::actlr::write(cp15::actlr::read() | DATA_PREFETCH) };
    isb();
}
