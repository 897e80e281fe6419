//! The results of a run. Two files describe it: *events*, a flat binary sequence of stamped records
//! ([`EventsReader`]), and the *summary*, a versioned JSON document ([`Summary`]). A third, [`Watch`], is the
//! request to the observer, which the starter of a run writes.
//!
//! Cycles are modelled core cycles since reset, time asleep included. Instructions are those that completed.

mod architecture;
pub mod bench;
mod events;
mod fault;
mod summary;
mod text;
mod translation;
mod violation;
mod watch;

#[cfg(test)]
mod tests;

pub use architecture::{Architecture, FIRST_LINE, Registers};
pub use events::{
    EVENT_BYTES, Entered, EventsFile, EventsReader, EventsWriter, FileCursor, FormatError, HEADER_BYTES, Handled,
    RunEvent, observed,
};
pub use fault::{CONTEXTS_PER_DOMAIN, Deed, FaultContext, HandlerPlace, STACK_BYTES};
pub use summary::{
    CacheCounts, CallTime, ClockSeen, Counted, DomainCounters, End, EndReason, ExceptionCount, IDLE, Masked,
    ProbeResult, SUMMARY_VERSION, Spread, Summary, VectorTime, Waits, Window, Witness,
};
pub use text::{visible, visible_bytes, visible_json, visible_name};
pub use translation::{AreaCounts, TranslationCounts, Walks};
pub use units::CoreId;
pub use violation::{Disagreement, Violation, ViolationKind};
pub use watch::{
    AreaWatch, AttributionWatch, ClockWatch, ClusterWatch, ContextWatch, CounterWatch, DEBUG_BYTES, DEBUG_REGISTERS,
    DomainWatch, FrameWatch, HandlersOwner, HandlersWatch, Interference, MemoryWindow, MeterWatch, Mode, OutputWatch,
    ProbeWatch, ProfileSource, Progress, ProtectionWatch, Range, StackWatch, Watch, WavesWatch,
};
