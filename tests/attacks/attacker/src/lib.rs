//! Attacks beyond the common repertoire: those that need a heap, a device, shared memory, or a
//! victim that calls. The order file names the attacks of a run, one a line.
#![no_std]

pub mod gate;
pub mod lethal;
pub mod marks;
pub mod order;
pub mod pages;
pub mod refused;
pub mod regions;
pub mod states;
pub mod theft;
pub mod world;

/// xorshift32 (Marsaglia 2003): what is random here is the same in every run.
pub struct Random(pub u32);

impl Random {
    /// The next word.
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u32) -> u32 {
        (self.next() >> 8) % limit
    }
}

/// Bit of the notification `go`: look at the registers.
pub const LOOK: u32 = 1;
const END: u32 = 2;

fn tell_helper(bit: u32) {
    if let Some(go) = cofferdam::info().and_then(|info| cofferdam::Notification::named(info, "go")) {
        let _ = go.signal(bit);
    }
}

/// Tells the helper thread to look at its registers.
pub fn order_helper() {
    tell_helper(LOOK);
}

/// Tells the helper thread to end, so that the domain can.
pub fn end_helper() {
    tell_helper(END);
}
