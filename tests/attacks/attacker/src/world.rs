//! The attacker's possessions and knowledge: its own memory, its handles, and where the manifest
//! placed the victims.

use cofferdam::{Area, Domain, Gate, Info, Interrupt, Notification, Shared, shared};
use devices::Timer;
use repertoire::{Chip, Places};

/// Data of the victim, as the manifests place it.
pub fn victim_data(chip: Chip) -> u32 {
    chip.foreign.placed + 0x1000
}

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
    /// The own timer.
    pub timer: Timer,
    /// Its registers.
    pub device: u32,
    /// The victim, with the right to read its faults only.
    pub victim: Domain,
}

impl World {
    /// Finds it all.
    pub fn find(info: Info) -> Option<World> {
        let device = info.area("timer1")?;
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
            // SAFETY: the area is the information block's; what attacks store to the device besides is meant.
            timer: unsafe { Timer::open(device) }?,
            device: device.base,
            victim: Domain::named(info, "victim")?,
        })
    }

    /// The victim's heap, which the manifests place right behind the attacker's.
    pub fn victim_heap(&self) -> u32 {
        self.heap.base + self.heap.bytes
    }
}
