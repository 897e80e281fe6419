//! The peripheral protection controllers of a subsystem, and the two control blocks that set them: each device is for Secure accesses or for Non-secure
//! ones, and for privileged code alone or for all. Registers and rules are those of `hw/misc/iotkit-secctl.c` and `hw/misc/tz-ppc.c` in QEMU 10.0; a board's
//! file says which device is at which port.

use super::security::Security;

/// A kind of controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Group {
    /// On the expansion AHB: four.
    AhbExpansion,
    /// On the subsystem's own APB: two.
    Apb,
    /// On the expansion APB: four.
    ApbExpansion,
}

const GROUPS: usize = 3;
const CONTROLLERS: usize = 4;
const OWN_CONTROLLERS: u32 = 2;

/// A device's place behind a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The kind of controller.
    pub group: Group,
    /// The number of the controller, below 4.
    pub controller: u8,
    /// The number of the port, below 16.
    pub port: u8,
}

/// The ports of a controller, one bit for each.
#[derive(Clone, Copy, Debug, Default)]
struct Ports {
    /// Something is connected.
    connected: u16,
    /// It is for Non-secure accesses.
    non_secure: u16,
    /// While it is for Secure ones, it is for unprivileged code, too.
    secure_unprivileged: u16,
    /// While it is for Non-secure ones, it is.
    non_secure_unprivileged: u16,
}

/// All controllers, and the registers of both control blocks.
#[derive(Clone, Debug)]
pub struct PortGates {
    ports: [[Ports; CONTROLLERS]; GROUPS],
    error: bool,
    callable: u32,
}

/// Rows of four registers in a control block, by bits 7..4 of their offset.
const NON_SECURE_ROW: u32 = 0x6;
const UNPRIVILEGED_ROW: u32 = 0xa;
/// `SECRESPCFG` and `NSCCFG`.
const RESPONSE: u32 = 0x10;
const CALLABLE: u32 = 0x14;

impl PortGates {
    /// After reset: every device is for Secure privileged code. `connected` has a bit for each port at which there is one, of the four controllers of each
    /// [`Group`] in its order.
    pub fn new(connected: [[u16; CONTROLLERS]; GROUPS]) -> Self {
        let ports = connected.map(|group| group.map(|connected| Ports { connected, ..Ports::default() }));
        Self { ports, error: false, callable: 0 }
    }

    /// A store of a word to the Secure control block, at `offset` from its begin; `false` for a register that has no part in what is let through. Narrower
    /// stores are ignored by hardware.
    pub fn write_secure(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            RESPONSE => self.error = value & 1 != 0,
            CALLABLE => self.callable = value & 3,
            _ if self.row(offset, NON_SECURE_ROW, value, |ports| &mut ports.non_secure) => {}
            _ => return self.row(offset, UNPRIVILEGED_ROW, value, |ports| &mut ports.secure_unprivileged),
        }
        true
    }

    /// The same for the Non-secure control block.
    pub fn write_non_secure(&mut self, offset: u32, value: u32) -> bool {
        self.row(offset, UNPRIVILEGED_ROW, value, |ports| &mut ports.non_secure_unprivileged)
    }

    /// Sixteenths of the address space that may be callable ([`super::Idau::callable`]): the Secure aliases of code and of SRAM.
    pub const fn callable(&self) -> u16 {
        ((self.callable & 1) << 1 | (self.callable >> 1 & 1) << 3) as u16
    }

    /// Returns true if an access from a state, by privileged code or not, reaches the device at a
    /// port.
    pub fn passes(&self, port: Port, from: Security, privileged: bool) -> bool {
        let ports = self.ports[port.group as usize][usize::from(port.controller) % CONTROLLERS];
        let is = |bits: u16| bits >> (port.port & 15) & 1 != 0;
        let (owner, unprivileged) = if is(ports.non_secure) {
            (Security::NonSecure, ports.non_secure_unprivileged)
        } else {
            (Security::Secure, ports.secure_unprivileged)
        };
        from == owner && (privileged || is(unprivileged))
    }

    /// Returns true if an access that is stopped ends in a bus error; otherwise a load reads zero,
    /// and a store is ignored.
    pub const fn answers_with_error(&self) -> bool {
        self.error
    }

    /// Stores to a register of one of three rows. There is a row for each group, and the first
    /// begins at `first << 4`.
    fn row(&mut self, offset: u32, first: u32, value: u32, of: impl FnOnce(&mut Ports) -> &mut u16) -> bool {
        let (group, controller) = ((offset >> 4).wrapping_sub(first), offset >> 2 & 3);
        let is_missing = group == Group::Apb as u32 && controller >= OWN_CONTROLLERS;
        if group >= GROUPS as u32 || is_missing || !offset.is_multiple_of(4) {
            return false;
        }
        let ports = &mut self.ports[group as usize][controller as usize];
        let connected = ports.connected;
        *of(ports) = value as u16 & connected;
        true
    }
}
