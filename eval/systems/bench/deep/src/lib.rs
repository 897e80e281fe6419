//! Misses at their worst: the table is as deep as it can be, the data cache is cold, and floating-point state is active. Three programs, because the labels
//! that `cofferdam bench` measures between must differ.
#![no_std]

/// A program whose thread waits for `go`, then reads the area `wash`, which is larger than the data cache, and loads one word of each page of its heap in turn, 1100 times. `$start` is before the load,
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
            let Some(wash) = start.info.area("wash") else { return 3 };
            (0..1100).fold(0, |sum, round| {
                for line in (wash.base..wash.base + wash.bytes).step_by($crate::LINE) {
                    // SAFETY: the area is this domain's to read.
                    let _ = unsafe { (line as *const u32).read_volatile() };
                }
                sum | load(heap + round * $crate::PAGE % bytes)
            })
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

/// Bytes of a line of the data cache.
pub const LINE: usize = 32;
/// Bytes of one paged region of the heap: the smallest.
pub const PAGE: u32 = 256;
