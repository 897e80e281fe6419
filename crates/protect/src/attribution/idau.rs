//! The chip's opinion, which it gives by bits of the address.

use super::security::Attribution;

/// An implementation-defined attribution unit (DDI 0553 B8). A chip whose opinion is no function of address bits needs another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idau {
    /// An address in which one of these bits is set is Secure.
    pub secure: u32,
    /// Sixteenths of the address space in which Secure addresses may be callable: bit `n` for those from `n << 28` on.
    pub callable: u16,
    /// Mask and value of addresses that are exempt from attribution.
    pub exempt: Option<(u32, u32)>,
}

impl Idau {
    /// A chip without one: the core's registers decide.
    pub const NONE: Self = Self { secure: 0, callable: 0, exempt: None };

    pub(super) const fn exempts(self, addr: u32) -> bool {
        matches!(self.exempt, Some((mask, value)) if addr & mask == value)
    }

    pub(super) const fn of(self, addr: u32) -> Attribution {
        if addr & self.secure == 0 {
            Attribution::NonSecure
        } else if self.callable >> (addr >> 28) & 1 != 0 {
            Attribution::Callable
        } else {
            Attribution::Secure
        }
    }
}
