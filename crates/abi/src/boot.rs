//! Why a kernel does not start.

macro_rules! boot_errors {
    ($($variant:ident = $number:literal, $does:literal;)*) => {
        /// Why the kernel does not start. The number is part of the exit status, and `detail` of
        /// [`crate::trace::Event::KernelFailed`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u16)]
        pub enum BootError { $(#[doc = $does] $variant = $number,)* }

        impl BootError {
            /// Decodes a number.
            pub const fn from_number(number: u16) -> Option<BootError> {
                match number { $($number => Some(BootError::$variant),)* _ => None }
            }

            /// A sentence for reports.
            pub const fn text(self) -> &'static str {
                match self { $(BootError::$variant => $does,)* }
            }
        }
    };
}

boot_errors! {
    NoTables = 1, "There are no tables where the image says they are.";
    BadTables = 2, "The tables were rejected.";
    NoMemory = 3, "The kernel's object memory is too small for the tables.";
    TooMany = 4, "There are more threads or budgets than the queues hold.";
    NotExact = 5, "An area cannot be expressed exactly by region registers.";
    NoSlots = 6, "A domain pins more regions than there are registers, or leaves too few for its paged areas.";
    Areas = 7, "Two areas of a domain overlap, or it has too many.";
    WrongBoard = 8, "The board is not what its description says.";
    OtherMemory = 9, "The objects took other memory than was computed: host and kernel would disagree on which systems fit.";
    Regions = 10, "The processor has another number of region registers than the kernel was built for.";
}
