//! Errors of system calls: small negative numbers, stable for ever.

/// The documentation of an error.
#[derive(Clone, Copy, Debug)]
pub struct ErrorDoc {
    /// The error.
    pub error: Error,
    /// Name in C, without the prefix `COF_E_`.
    pub name: &'static str,
    /// The cause.
    pub means: &'static str,
    /// The caller's remedy.
    pub remedy: &'static str,
}

macro_rules! errors {
    ($($variant:ident = $number:literal, $name:literal, $means:literal, $remedy:literal;)*) => {
        /// Why a system call was refused. Nothing was changed when one of these returns, except as documented for `AGAIN`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i32)]
        pub enum Error { $(#[doc = $means] $variant = $number,)* }

        impl Error {
            /// The status word that a caller finds in r0.
            #[inline]
            pub const fn status(self) -> u32 { self as i32 as u32 }

            /// Decodes a status word, or `None` when it is no error.
            pub const fn from_status(status: u32) -> Option<Error> {
                match status as i32 { $($number => Some(Error::$variant),)* _ => None }
            }
        }

        /// Every error with its documentation.
        pub const ERRORS: &[ErrorDoc] = &[$(ErrorDoc {
            error: Error::$variant, name: $name, means: $means, remedy: $remedy,
        },)*];
    };
}

errors! {
    BadCall = -1, "BAD_CALL", "No system call has this number.", "Use the calls of cofferdam.h.";
    BadHandle = -2, "BAD_HANDLE", "The handle names no capability of the calling domain, or one that was revoked.", "Look the name up in the start-up information block.";
    WrongKind = -3, "WRONG_KIND", "The capability names an object of another kind.", "Pass a handle of the documented kind.";
    NoRight = -4, "NO_RIGHT", "The capability lacks a right that the call needs.", "Ask whoever granted it for the right.";
    BadArgument = -5, "BAD_ARGUMENT", "An argument is out of its documented range.", "Pass a value in range.";
    BadAddress = -6, "BAD_ADDRESS", "The whole byte range is not accessible to the domain named.", "Pass memory of that domain's own.";
    BadSlot = -7, "BAD_SLOT", "The slot is out of range or not empty.", "Choose an empty slot of the table.";
    BadState = -8, "BAD_STATE", "The object is in a state that forbids the operation.", "Stop, unmap or finish it first.";
    Full = -9, "FULL", "A fixed table of the kernel or of the domain is full.", "Delete something, or give the domain a larger table.";
    Ceiling = -10, "CEILING", "The caller's priority is above the gate's ceiling.", "Raise the gate's ceiling in the manifest.";
    Nesting = -11, "NESTING", "Gate calls nest too deeply.", "Flatten the chain of calls.";
    NoBudget = -12, "NO_BUDGET", "The budget's capacity is below the gate's declared bound, so waiting would not help. Inside a gate: what is left of its bound does not cover the call; a call of another gate is only refused, while a signal, an acknowledgement or a restart ends the bound, too.", "Give the caller a capacity of at least the bound. Give a gate that calls another a bound of at least the other's, the slack (G + M + A) and its own work; one that signals, acknowledges or restarts a bound that covers each of them.";
    Busy = -13, "BUSY", "Another thread is inside the gate or waits for the notification, or has begun to map or unmap frames.", "Try again later.";
    Stopped = -14, "STOPPED", "The target domain is stopped.", "Wait until it has been restarted.";
    CalleeFault = -15, "CALLEE_FAULT", "The callee faulted; the call was unwound.", "Treat the service as failed for this call.";
    GateOverrun = -16, "GATE_OVERRUN", "The callee exceeded the gate's declared bound; the call was unwound.", "Report it: the declared bound is wrong.";
    InGate = -17, "IN_GATE", "The call may block, which is not allowed inside a gate.", "Return from the gate first.";
    NotInGate = -18, "NOT_IN_GATE", "The call is only meaningful inside a gate.", "Call it from a gate's entry function.";
    NotPeriodic = -19, "NOT_PERIODIC", "The thread has no period.", "Declare a period in the manifest.";
    NotExact = -20, "NOT_EXACT", "The range cannot be protected exactly by the region registers left.", "Change size or alignment as cofferdam check suggests.";
    Again = -21, "AGAIN", "One step of a long operation was done and more are left.", "Repeat the call.";
    Untouched = -22, "UNTOUCHED", "A page of the caller's demand area is to be copied that was never touched. Inside the gate: give this error back. As the status of GATE_CALL, with the page's address as the value: the callee has given it back.", "Touch the page and call again, as the run-times do.";
}
