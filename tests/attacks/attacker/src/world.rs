//! What the attacker has and knows: its own memory, its handles, and where the manifest placed the victims.

use cofferdam::{Area, Domain, Gate, Info, Interrupt, Notification, Shared, shared};
use repertoire::Places;

/// Data of the victim, as `system.toml` places it.
pub const VICTIM_DATA: u32 = 0x2003_1000;
/// The victim's heap, right behind the attacker's.
pub const VICTIM_HEAP: u32 = 0x6001_a000;

/// Everything.
pub struct World {
    /// The own code, stack, and common handles.
    pub own: Places,
    /// The own heap, which needs sub-regions.
    pub heap: Area,
    /// The order file: constant, read-only.
    pub order: Area,
    /// Memory that the service reads requests from.
    pub requests: Shared,
    /// Memory that the attacker may only read.
    pub notices: Shared,
    /// The service's gate.
    pub service: Gate,
    /// The service's second gate, at which everybody may knock with too little budget left.
    pub long: Gate,
    /// The own timer's interrupt.
    pub fired: Interrupt,
    /// Signalled by the own timer.
    pub events: Notification,
    /// The own timer's registers.
    pub timer: *mut u32,
    /// The victim, with the right to read its faults only.
    pub victim: Domain,
}

impl World {
    /// Finds it all.
    pub fn find(info: Info) -> Option<World> {
        Some(World {
            own: Places::find(info)?,
            heap: info.area("heap")?,
            order: info.area("order")?,
            requests: shared(info, "requests")?,
            notices: shared(info, "notices")?,
            service: Gate::named(info, "service")?,
            long: Gate::named(info, "long")?,
            fired: Interrupt::named(info, "fired")?,
            events: Notification::named(info, "events")?,
            timer: info.area("timer1")?.base as *mut u32,
            victim: Domain::named(info, "victim")?,
        })
    }
}
