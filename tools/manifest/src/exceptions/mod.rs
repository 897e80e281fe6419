//! Numbers of a core's exceptions, by what the kernel does at them.

use serde::Deserialize;

// The kernel's constants and the observer's numbers of interrupts begin at the same one.
const _: () = assert!(board_facts::FIRST_LINE == record::FIRST_LINE as u32);

/// First and last number.
pub type Span = [u16; 2];

/// Exceptions by the numbers that the observer reports.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exceptions {
    /// A system call.
    pub call: u16,
    /// A miss of a paged region; none where the processor walks tables by itself.
    #[serde(default)]
    pub miss: Option<u16>,
    /// Faults, misses among them.
    pub faults: Vec<Span>,
    /// The kernel's timer.
    pub timer: u16,
    /// All other interrupts.
    pub interrupts: Span,
    /// The processor saves registers on the stack of whoever is interrupted; that store must not miss.
    pub stacked: bool,
    /// Label of the first instruction of the timer's handler.
    pub timer_entry: String,
}

/// A handler of the kernel, beside that of system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    /// Faults, and misses of paged regions.
    Fault,
    /// The kernel's timer.
    Timer,
    /// Every other interrupt.
    Interrupt,
}

impl Handler {
    /// All, in the order of the table.
    pub const ALL: [Handler; 3] = [Handler::Fault, Handler::Timer, Handler::Interrupt];

    /// Last part of a row's id.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fault => "fault",
            Self::Timer => "timer",
            Self::Interrupt => "interrupt",
        }
    }
}

impl Exceptions {
    /// The handler of an exception that is no system call.
    pub fn handler(&self, exception: u16) -> Option<Handler> {
        self.served().find(|(_, [first, last])| (*first..=*last).contains(&exception)).map(|(handler, _)| handler)
    }

    /// The work of a handler on this processor, in a few words.
    pub fn about(&self, handler: Handler) -> &'static str {
        match handler {
            Handler::Fault if self.miss.is_some() => "fault or miss",
            Handler::Fault => "fault",
            Handler::Timer => "timer, all that is due",
            Handler::Interrupt => "another interrupt",
        }
    }

    fn served(&self) -> impl Iterator<Item = (Handler, Span)> {
        let faults = self.faults.iter().map(|span| (Handler::Fault, *span));
        faults.chain([(Handler::Timer, [self.timer; 2]), (Handler::Interrupt, self.interrupts)])
    }

    /// Whether the kernel's timer is an interrupt line.
    pub(crate) fn timer_has_line(&self) -> bool {
        self.timer >= record::FIRST_LINE
    }

    /// Refuses a range that is empty, an exception that is served twice, a miss that is no fault.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut spans: Vec<Span> = self.served().map(|(_, span)| span).chain([[self.call; 2]]).collect();
        spans.sort_unstable();
        if let Some([first, last]) = spans.iter().find(|[first, last]| first > last) {
            return Err(format!("exceptions {first} to {last} are none"));
        }
        if let Some(both) = spans.windows(2).find(|both| both[0][1] >= both[1][0]) {
            return Err(format!("exception {} is served twice", both[1][0]));
        }
        match self.miss {
            Some(miss) if self.handler(miss) != Some(Handler::Fault) => {
                Err(format!("a miss, exception {miss}, is not among the faults"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
