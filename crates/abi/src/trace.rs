//! The trace port: two words of kernel memory that nobody else can write. The kernel stores the payload to the first
//! word and then the header to the second; an observer that sees the second store has a whole record. The stores cost
//! the same whether anybody watches or not.

/// The symbol of the trace port in the kernel image: two words, payload first.
pub const SYMBOL: &str = "COFFERDAM_TRACE_PORT";

/// Domain number in a record when no domain runs.
pub const IDLE: u8 = 0xff;

macro_rules! events {
    ($($variant:ident = $number:literal, $name:literal, $does:literal;)*) => {
        /// The kinds of trace records. In a header, bits 0-7 are the event, 8-15 the domain, 16-31
        /// `detail`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Event { $(#[doc = $does] $variant = $number,)* }

        impl Event {
            /// Decodes the low byte of a header.
            pub const fn from_number(number: u8) -> Option<Event> {
                match number { $($number => Some(Event::$variant),)* _ => None }
            }

            /// Name in reports and traces.
            pub const fn name(self) -> &'static str {
                match self { $(Event::$variant => $name,)* }
            }
        }
    };
}

events! {
    Switch = 1, "switch", "From now on `detail` (thread) runs in the domain; domain 255: idle. Payload 0.";
    Release = 2, "release", "Thread `detail` is released; the payload is the nominal release in ticks (low word).";
    Complete = 3, "complete", "Thread `detail` completed its release and waits for the next. Payload 0.";
    GateEnter = 4, "gate_enter", "Thread `detail` entered the domain through the gate in the payload.";
    GateExit = 5, "gate_exit", "Thread `detail` is back in the domain; the payload is the callee's status.";
    Fault = 6, "fault", "The domain faulted; `detail` is the kind of fault, the payload the address.";
    FaultPc = 7, "fault_pc", "Follows `Fault`: the payload is the program counter.";
    Miss = 8, "miss", "A paged region was filled: `detail` is the slot, the payload the address.";
    BudgetOut = 9, "budget_out", "Budget `detail` is exhausted. Payload 0.";
    Replenish = 10, "replenish", "Budget `detail` was replenished; the payload is its capacity in ticks.";
    Interrupt = 11, "interrupt", "Interrupt line `detail` was delivered to a notification. Payload 0.";
    Mark = 12, "mark", "A domain's marker: id in `detail`, value in the payload.";
    Exit = 13, "exit", "The domain's last thread ended; the payload is its code.";
    Restart = 14, "restart", "The domain was restarted; `detail` counts restarts.";
    Refused = 15, "refused", "System call `detail` was refused; the payload is the error's status word.";
    End = 16, "end", "The run is over; the payload is the status.";
    Overrun = 17, "overrun", "Thread `detail` was still running at its next release; the payload is the nominal release.";
    Start = 18, "start", "The kernel begins to schedule: the payload is the time in ticks (low word) at this cycle. Comes once, before every other record.";
    Stop = 19, "stop", "The domain was stopped by another that holds it. Detail and payload 0.";
    KernelFailed = 20, "kernel_failed", "The kernel stops for good: it went wrong at the address in the payload (0: unknown), or did not start, and `detail` is the number of a `BootError`.";
    Occupy = 21, "occupy", "The domain's handlers are reached without the kernel from now on, and nobody else's. Detail and payload 0.";
}

/// Packs a header word.
#[inline]
pub const fn header(event: Event, domain: u8, detail: u16) -> u32 {
    event as u32 | (domain as u32) << 8 | (detail as u32) << 16
}

/// Status of a run whose kernel went wrong.
const WENT_WRONG: u32 = 0xdead;
/// Status of a run whose kernel did not start, less the number of the reason (`BootError`).
const DOES_NOT_START: u32 = 0x100;

/// The status with which the run ends by this record, 0 for success; `None` if the record is not its last one. Whoever executes an image ends the run
/// here, and at nothing else that the image does: only the kernel can store to the port.
pub const fn status_at_end(header: u32, payload: u32) -> Option<u32> {
    match (Event::from_number(header as u8), header >> 16) {
        (Some(Event::End), _) => Some(payload),
        (Some(Event::KernelFailed), 0) => Some(WENT_WRONG),
        (Some(Event::KernelFailed), reason) => Some(DOES_NOT_START + reason),
        _ => None,
    }
}

/// Exit code of a program for a status: its low byte, and never 0 unless the status is.
pub const fn exit_code(status: u32) -> u8 {
    if status != 0 && status as u8 == 0 { u8::MAX } else { status as u8 }
}

/// Kinds of fault, `detail` of [`Event::Fault`] and value of `FAULT_NEXT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// Read or write of memory that the domain may not access so; the address is the access's.
    Data = 1,
    /// Execution of memory that the domain may not execute; the address is the program counter.
    Execute = 2,
    /// The stack pointer left the thread's pinned stack (exception stacking failed), or a push was about to leave it; the address is the stack pointer, or
    /// what it would have been.
    Stack = 3,
    /// Undefined or unaligned instruction, division by zero and the like; the address is the program counter.
    Usage = 4,
    /// The bus refused an access (precise or imprecise).
    Bus = 5,
    /// A gate exceeded its declared bound; the address is the gate's index.
    GateOverrun = 6,
    /// An illegal attempt to return from an exception.
    Return = 7,
    /// The miss budget was exceeded.
    Miss = 8,
}

impl Fault {
    /// Decodes a number.
    pub const fn from_number(number: u8) -> Option<Fault> {
        Some(match number {
            1 => Fault::Data,
            2 => Fault::Execute,
            3 => Fault::Stack,
            4 => Fault::Usage,
            5 => Fault::Bus,
            6 => Fault::GateOverrun,
            7 => Fault::Return,
            8 => Fault::Miss,
            _ => return None,
        })
    }

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Fault::Data => "data access",
            Fault::Execute => "execution",
            Fault::Stack => "stack",
            Fault::Usage => "usage",
            Fault::Bus => "bus",
            Fault::GateOverrun => "gate overrun",
            Fault::Return => "exception return",
            Fault::Miss => "miss budget",
        }
    }
}
