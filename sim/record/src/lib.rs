//! What a run leaves behind. Two files describe it: *events*, a flat binary sequence of stamped records
//! ([`EventsReader`]), and the *summary*, a versioned JSON document ([`Summary`]). A third, [`Watch`], is what the
//! observer was asked to watch; whoever starts a run writes it.
//!
//! Cycles are modelled core cycles since reset, time asleep included. Instructions are those that completed.

mod architecture;
mod events;
mod fault;
mod summary;
mod translation;
mod watch;

#[cfg(test)]
mod tests;

pub use architecture::{Architecture, FIRST_LINE};
pub use events::{
    EVENT_BYTES, EventsFile, EventsReader, EventsWriter, FileCursor, FormatError, HEADER_BYTES, Handled, RunEvent,
    observed,
};
pub use fault::{CONTEXTS_PER_DOMAIN, Deed, FaultContext, STACK_BYTES};
pub use summary::{
    CacheCounts, CallTime, ClockSeen, DomainCounters, End, EndReason, ExceptionCount, IDLE, Masked, ProbeResult,
    SUMMARY_VERSION, Spread, Summary, VectorTime, Violation, ViolationKind, Waits, Window, Witness,
};
pub use translation::{AreaCounts, Disagreement, TranslationCounts, Walks};
pub use units::CoreId;
pub use watch::{
    AreaWatch, ClockWatch, ClusterWatch, ContextWatch, DomainWatch, Interference, MeterWatch, Mode, ProbeWatch,
    ProfileSource, Progress, ProtectionWatch, Range, StackWatch, Watch, Window as MemoryWindow,
};
