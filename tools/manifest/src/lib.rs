//! The manifest `system.toml`: its strict schema, the semantic checks that need no program, and the diagnostics that
//! every later stage of the tool uses. docs/manifest.md is the reference for users.
#![forbid(unsafe_code)]

mod admission;
mod analysis;
mod arena;
mod board;
mod board_file;
mod board_rules;
mod check;
mod codes;
mod console;
mod core;
mod diagnostic;
mod document;
mod exceptions;
mod grant;
mod installed;
mod nearest;
mod quantity;
mod references;
mod renew;
pub mod resolved;
mod rules;
mod schema;
mod scheme;
mod spec;
mod unread;

pub use self::core::{Chip, Core, Counts, Image, ImageClock, Setup, Targets};
pub use self::spec::Spec;
pub use admission::{Refused, admit_domain, refused};
pub use analysis::{Bound, Kind, Term, analyse};
pub use arena::too_big;
pub use board::{Board, Counter, platform};
pub use board_facts::input;
pub use board_file::{BoardFile, Clock, Device, KernelCosts, Memory, MemoryKind};
pub use check::{check, circles, name_ok};
pub use codes::{CODES, Code, code};
pub use console::fit_console;
pub use diagnostic::{Also, Diagnostic, Refusal, Report, render};
pub use document::Document;
pub use exceptions::{Exceptions, Handler, Span};
pub use grant::{Grant, Object};
pub use quantity::{Address, Size, Time};
pub use references::{clients, grant, grants};
pub use renew::{Renewal, renewed};
pub use schema::{
    AccessMode, Budget, CArea, CSources, CrateSource, DataArea, Delivery, Domain, Envelope, FaultPolicy, File, FileUse,
    Frames, Gate, Geometry, Handlers, Hardware, HeapArea, InterruptLine, Manifest, NearTables, Notification, Paging,
    Replacement, Run, Shared, SharedUse, Slips, StackArea, SystemSection, Thread, Use, json_schema,
};
pub use scheme::{Facts, Fixed, Scheme, SchemeName};
pub use unread::unread;

#[cfg(test)]
mod tests;
