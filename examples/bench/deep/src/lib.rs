//! Misses at their worst: the table is as deep as it can be, and floating-point state is active. Two programs, because the labels
//! that `cofferdam bench` measures between must differ.
#![no_std]

/// A program whose thread waits for `go`, then loads one word of each page of its heap in turn, 1100 times. `$start` is before the load,
/// `$end` behind it. There are more pages than region registers, so that each load misses. It returns 0, as the heap is.
#[macro_export]
macro_rules! program {
    ($start:literal, $end:literal) => {
        cofferdam::entry!(main);

        fn main(start: cofferdam::Start) -> u32 {
            let Some(go) = cofferdam::Notification::named(start.info, "go") else { return 1 };
            if go.wait(1).is_err() {
                return 2;
            }
            let (heap, bytes) = start.info.heap();
            (0..1100).fold(0, |sum, round| sum | load(heap + round * $crate::PAGE % bytes))
        }

        #[inline(never)]
        fn load(address: u32) -> u32 {
            let value: u32;
            // SAFETY: the address lies in the heap, which this domain may read; the move makes floating-point state active.
            unsafe {
                core::arch::asm!(concat!(".global ", $start), concat!($start, ":"),
                    "vmov s0, {address}", "ldr {value}, [{address}]",
                    concat!(".global ", $end), concat!($end, ":"),
                    address = in(reg) address, value = out(reg) value, out("s0") _, options(nostack, readonly));
            }
            value
        }
    };
}

/// Bytes of one paged region of the heap: the smallest.
pub const PAGE: u32 = 256;
