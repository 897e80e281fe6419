//! Armv7-M: one unit of region registers, and no security states (ARM DDI 0403).

use protect::AccessKind;
use protect::pmsav7::Shadow;
use protect::regions::Attributes;
use record::{Architecture, Watch};

use crate::Target;
use crate::microcontroller::{Banked, ON_PROCESS_STACK, Protects, SCR, SystemControl, VTOR, write_unit};

/// UsageFault.
const USAGE_FAULT: u16 = 6;

/// The unit, and the registers that there are once.
pub struct Armv7m {
    shadow: Shadow,
    registers: Banked,
    table: u32,
    system: SystemControl,
}

impl Protects for Armv7m {
    const ARCHITECTURE: Architecture = Architecture::Armv7M;
    const LAST_FAULT: u16 = USAGE_FAULT;

    fn new(_: &Watch) -> Self {
        Self { shadow: Shadow::new(), registers: Banked::default(), table: 0, system: SystemControl::default() }
    }

    fn started(&mut self, target: &mut dyn Target) {
        self.registers = Banked::find(target, "");
    }

    #[inline]
    fn permits(&mut self, address: u32, len: u32, privileged: bool, kind: AccessKind) -> Option<Attributes> {
        self.shadow.permits(address, len, privileged, kind).ok().map(|attr| attr.memory)
    }

    fn fetch(&mut self, pc: u32, len: u32, privileged: bool) -> (Option<Attributes>, u8) {
        (self.permits(pc, len, privileged, AccessKind::Exec), 0)
    }

    fn control(&mut self, address: u32, len: u32, value: u64) -> bool {
        match address {
            VTOR => self.table = value as u32,
            SCR => self.system.write(value as u32),
            _ => {}
        }
        write_unit(&mut self.shadow, address, len, value)
    }

    fn banked(&self) -> &Banked {
        &self.registers
    }

    fn masks(&self, target: &mut dyn Target) -> bool {
        self.registers.masks(target)
    }

    fn sleeps_deep(&self) -> bool {
        self.system.sleeps_deep()
    }

    fn table(&self) -> u32 {
        self.table
    }

    fn frame(&self, target: &mut dyn Target, exc_return: u32) -> u32 {
        let Banked { msp, psp, .. } = self.registers;
        target.register(if exc_return & ON_PROCESS_STACK != 0 { psp } else { msp })
    }
}
