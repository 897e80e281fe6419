//! The entry points that are the same on every processor, by the names that the entry code of `arch` calls them with.

use core::ptr::NonNull;

use crate::arch::Arch;

/// Result of an entry point: the Context of a thread whose memory is yet to be loaded. If there is
/// none, the thread to resume is that of [`crate::Kernel::resume`]; after a gate's call or return,
/// [`crate::Kernel::on_call`] has to perform it.
pub type Next<A> = Option<NonNull<<A as Arch>::Context>>;

/// Arguments of a system call, where the caller's registers are saved.
pub type Args = [u32; 4];

/// Defines, in the image of a board, what the entry code calls: `entry_points!(Armv7m<Mps2>)` the functions below for the kernel of that
/// processor, and what the host has to know of it; with a list of `path as name(argument: type, ...) -> type, "about";` the processor's own, which the path leads to.
#[macro_export]
macro_rules! entry_points {
    ($arch:ty) => {
        /// Sizes of the kernel's objects, so that the host can compute how much memory they take.
        #[unsafe(no_mangle)]
        #[used]
        #[unsafe(link_section = ".system.objects")]
        static COFFERDAM_OBJECTS: $crate::boot::SizeWords = $crate::boot::sizes::<$arch>().words();

        $crate::entry_points! { of $arch;
            kernel_gate_call(kernel, args) = kernel.pass_in(args[0]), "Into a gate, when nothing is in the way.";
            kernel_gate_return(kernel, args) = kernel.pass_out(args[0], args[1]), "Out of a gate, when nothing is in the way.";
            kernel_yield(kernel) = kernel.on_yield(), "`YIELD`.";
            kernel_signal(kernel, args) = kernel.on_signal(args[0], args[1]), "`SIGNAL`.";
            kernel_wait(kernel, args) = kernel.on_wait(args[0], args[1]), "`WAIT`.";
            kernel_sleep(kernel, args) = kernel.on_sleep(args[0], args[1]), "`SLEEP_UNTIL`.";
            kernel_period(kernel) = kernel.on_period(), "`WAIT_PERIOD`.";
            kernel_exit(kernel, args) = kernel.on_exit(args[0]), "`EXIT`.";
            kernel_call(kernel) = kernel.on_call(), "A system call without an entry point of its own.";
        }
    };
    (of $arch:ty; $($name:ident($kernel:ident $(, $args:ident)?) = $does:expr, $about:literal;)*) => {$(
        #[doc = $about]
        #[unsafe(no_mangle)]
        extern "C" fn $name($kernel: &mut $crate::Kernel<$arch> $(, $args: &$crate::entry::Args)?) -> $crate::entry::Next<$arch> {
            $does
        }
    )*};
    ($arch:ty; $($does:path as $name:ident($($argument:ident: $type:ty),*) -> $result:ty, $about:literal;)*) => {$(
        #[doc = $about]
        #[unsafe(no_mangle)]
        extern "C" fn $name(kernel: &mut $crate::Kernel<$arch> $(, $argument: $type)*) -> $result {
            $does(kernel $(, $argument)*)
        }
    )*};
}
