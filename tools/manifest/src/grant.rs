//! Capabilities that domains start with.

/// An object of the manifest, by its number in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// A gate: number over all domains.
    Gate(usize),
    /// A notification.
    Notification(usize),
    /// A domain.
    Domain(usize),
    /// A thread: number over all domains.
    Thread(usize),
    /// A budget.
    Budget(usize),
    /// The time of a domain's handlers.
    Handlers(usize),
    /// A range of frames.
    Frames(usize),
    /// An interrupt line: number over all domains.
    Interrupt(usize),
}

/// A capability that a domain starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Name in the start-up information block.
    pub name: String,
    /// The object that it names.
    pub object: Object,
    /// Bits 1 read, 2 write, 4 grant.
    pub rights: u32,
    /// Badge that a gate's callee sees.
    pub badge: u32,
}
