//! The building blocks of both cores' pieces.

/// Rounds of each stretch; the first 100 warm the caches and are not counted.
pub const ROUNDS: u32 = 1100;

/// Memory that loads and stores go to: zeros, so that an offset that was loaded is 0.
#[repr(C, align(64))]
pub struct Words([u32; 64]);

impl Words {
    /// Zeros.
    pub const fn new() -> Self {
        Self([0; 64])
    }

    /// Its address.
    pub fn address(&mut self) -> u32 {
        self.0.as_mut_ptr() as u32
    }
}

/// A function `fn(r4: u32)` that runs `$setup`, then `$body` `$warm` times, and `$times` times
/// between the labels. The body may change r0 to r5, r8, r12, lr, flags, and s0 to s15.
#[macro_export]
macro_rules! stretch {
    ($name:ident, $label:literal, $setup:expr, $warm:literal, $times:literal, $body:expr $(, $after:expr)?) => {
        #[inline(never)]
        fn $name(data: u32) {
            // SAFETY: what changes is declared; loads and stores go to the words at `data`.
            unsafe {
                core::arch::asm!(
                    $setup,
                    concat!(".rept ", $warm),
                    $body,
                    ".endr",
                    concat!(".global probe_", $label, "_start"),
                    concat!("probe_", $label, "_start:"),
                    concat!(".rept ", $times),
                    $body,
                    ".endr",
                    concat!(".global probe_", $label, "_end"),
                    concat!("probe_", $label, "_end:"),
                    $($after,)?
                    inout("r4") data => _,
                    out("r0") _, out("r1") _, out("r2") _, out("r3") _, out("r5") _,
                    out("r8") _, out("r12") _, out("lr") _,
                    out("s0") _, out("s1") _, out("s2") _, out("s3") _,
                    out("s4") _, out("s5") _, out("s6") _, out("s7") _,
                );
            }
        }
    };
}
