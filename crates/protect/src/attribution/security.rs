//! Security states, and what an address is.

/// A security state of the processor, and of the accesses that it makes on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// It may access Non-secure addresses, too.
    Secure,
    /// It may access nothing else.
    NonSecure,
}

/// Attribution of an address, in ascending order of security.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attribution {
    /// Both states may access it.
    NonSecure,
    /// Secure, and Non-secure code may enter it at an `SG` instruction.
    Callable,
    /// Secure.
    Secure,
}

impl Attribution {
    /// Returns the state in which an instruction there executes. An access of Secure code there has
    /// the same state.
    pub const fn state(self) -> Security {
        match self {
            Self::NonSecure => Security::NonSecure,
            Self::Callable | Self::Secure => Security::Secure,
        }
    }
}
