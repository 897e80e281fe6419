//! Armv8-M with the Security Extension: two security states, each with a unit of region registers, and the attribution of addresses
//! (ARM DDI 0553 B8 and B10). The state of an instruction is the attribution of its address, so that the processor need not be asked.
//!
//! Domains and the kernel are Secure. Non-secure code is known by its address, may access nothing else, and is privileged in handlers, and in Thread mode as they have set it.

use protect::AccessKind;
use protect::attribution::{Idau, Security, Unit};
use protect::pmsav8::Shadow;
use protect::regions::Attributes;
use record::{Architecture, Watch};

use crate::microcontroller::{
    Banked, EXTENDED_BYTES, ON_PROCESS_STACK, Protects, SCR, SECURE_STACK, SPSEL, SystemControl, TO_THREAD, VTOR,
    write_unit,
};
use crate::{Register, Target};

/// SecureFault.
const SECURE_FAULT: u16 = 7;
/// The note of a block that it is Non-secure.
const NON_SECURE: u8 = 1 << 7;

/// `SAU_CTRL`, and the offset of the last register behind it that says something of attribution, `SAU_RLAR`.
const SAU: u32 = 0xe000_edd0;
const SAU_LAST: u32 = 0x10;
/// `NVIC_ITNS`: a bit for each line that interrupts to Non-secure state; and `STIR`, which pends the line whose number is stored.
const TARGETS: std::ops::Range<u32> = 0xe000_e380..0xe000_e3c0;
const STIR: u32 = 0xe000_ef00;
const STIR_LINE: u32 = 0x1ff;
/// `FPCCR`, and its bit by which a Secure frame has room for all floating-point registers.
const FPCCR: u32 = 0xe000_ef34;
const TREAT_AS_SECURE: u32 = 1 << 26;
/// The system control space, and the distance of the alias at which Secure code finds that of the other state.
const CONTROL_SPACE: std::ops::Range<u32> = 0xe000_e000..0xe000_f000;
const ALIAS: u32 = 0x2_0000;

/// EXC_RETURN (DDI 0553 B3): the registers that a callee saves are where the default rule says, not on the Secure stack already.
const DEFAULT_RULE: u32 = 1 << 5;
/// Bytes below the frame's r0 if they are: a signature, a reserved word, r4 to r11.
const CALLEE_BYTES: u32 = 0x28;
/// Bytes of a frame with all floating-point registers.
const LARGEST_BYTES: u32 = 0xa8;

/// Values of both states.
struct Each<T> {
    secure: T,
    non_secure: T,
}

impl<T> Each<T> {
    #[inline]
    const fn of(&self, state: Security) -> &T {
        match state {
            Security::Secure => &self.secure,
            Security::NonSecure => &self.non_secure,
        }
    }

    const fn of_mut(&mut self, state: Security) -> &mut T {
        match state {
            Security::Secure => &mut self.secure,
            Security::NonSecure => &mut self.non_secure,
        }
    }
}

/// Both units, the attribution of addresses, and the state that runs.
pub struct Armv8m {
    units: Each<Shadow>,
    attribution: Unit,
    state: Security,
    registers: Each<Banked>,
    tables: Each<u32>,
    system: SystemControl,
    /// `FPCCR.TS`.
    keeps_all: bool,
    /// `NVIC_ITNS`.
    targets: [u32; 16],
}

impl Armv8m {
    #[cold]
    fn is_non_secure(&self, address: u32, len: u32, kind: AccessKind) -> bool {
        self.attribution.state_of_all(address, len, kind, Security::NonSecure) == Ok(Security::NonSecure)
    }

    /// The state whose register the running code finds at an address, and its own address of it.
    fn register(&self, address: u32) -> Option<(Security, u32)> {
        let other = address.wrapping_sub(ALIAS);
        match self.state {
            _ if CONTROL_SPACE.contains(&address) => Some((self.state, address)),
            Security::Secure if CONTROL_SPACE.contains(&other) => Some((Security::NonSecure, other)),
            _ => None,
        }
    }
}

impl Protects for Armv8m {
    const ARCHITECTURE: Architecture = Architecture::Armv8M;
    const LAST_FAULT: u16 = SECURE_FAULT;

    fn new(watch: &Watch) -> Self {
        let chip = watch.attribution.map_or(Idau::NONE, |chip| Idau {
            secure: chip.secure,
            callable: chip.callable,
            ..Idau::NONE
        });
        let banked = Banked::default();
        Self {
            units: Each { secure: Shadow::new(), non_secure: Shadow::new() },
            attribution: Unit::new(chip),
            state: Security::Secure,
            registers: Each { secure: banked, non_secure: banked },
            tables: Each { secure: 0, non_secure: 0 },
            system: SystemControl::default(),
            keeps_all: false,
            targets: [0; 16],
        }
    }

    fn started(&mut self, target: &mut dyn Target) {
        self.registers = Each { secure: Banked::find(target, "_s"), non_secure: Banked::find(target, "_ns") };
    }

    fn runs_at(&mut self, pc: u32) {
        self.state = self.attribution.of(pc, AccessKind::Exec, self.state).state();
    }

    #[inline]
    fn runs(&mut self, note: u8) {
        self.state = if note & NON_SECURE == 0 { Security::Secure } else { Security::NonSecure };
    }

    #[inline]
    fn permits(&mut self, address: u32, len: u32, privileged: bool, kind: AccessKind) -> Option<Attributes> {
        let is_open = self.state == Security::Secure || self.is_non_secure(address, len, kind);
        let unit = self.units.of_mut(self.state);
        unit.permits(address, len, privileged, kind).ok().filter(|_| is_open).map(|attr| attr.memory)
    }

    /// FAULTMASK makes the requested priority of its state negative, whatever AIRCR makes of the priority of its exceptions: without HFNMIENA the unit of that state
    /// does not apply meanwhile (DDI 0553 D1.2: `MPU_CTRL`; E2: `IsReqExcPriNeg`, `MPUCheck`). Attribution does. Of Secure state this is not said: a kernel that
    /// has left its own FAULTMASK set has opened everything to everybody.
    fn is_spared(&self, target: &mut dyn Target, address: u32, len: u32, privileged: bool, kind: AccessKind) -> bool {
        let Each { non_secure: unit, .. } = &self.units;
        self.state == Security::NonSecure
            && unit.spares_negative()
            && self.registers.non_secure.masks_faults(target)
            && self.is_non_secure(address, len, kind)
            && Shadow::permits_background(address, len, privileged, kind).is_ok()
    }

    /// All bytes have to be of the state of the first one, whose unit checks them.
    fn fetch(&mut self, pc: u32, len: u32, privileged: bool) -> (Option<Attributes>, u8) {
        self.runs_at(pc);
        let whole = self.attribution.state_of_all(pc, len, AccessKind::Exec, self.state).is_ok();
        let attributes = self.permits(pc, len, privileged, AccessKind::Exec).filter(|_| whole);
        (attributes, if self.state == Security::Secure { 0 } else { NON_SECURE })
    }

    fn control(&mut self, address: u32, len: u32, value: u64) -> bool {
        let Some((state, register)) = self.register(address) else { return false };
        match register {
            VTOR => *self.tables.of_mut(state) = value as u32,
            SCR if state == Security::Secure => self.system.write(value as u32),
            SCR => self.system.write_non_secure(value as u32),
            FPCCR if state == Security::Secure => self.keeps_all = value as u32 & TREAT_AS_SECURE != 0,
            _ if TARGETS.contains(&register) && state == Security::Secure => {
                for (word, target) in
                    self.targets.iter_mut().skip(((register - TARGETS.start) / 4) as usize).enumerate()
                {
                    if word < len as usize / 4 {
                        *target = (value >> (word * 32)) as u32;
                    }
                }
            }
            SAU.. if register - SAU <= SAU_LAST && state == Security::Secure => {
                // A value that the architecture leaves open is ignored, as in QEMU.
                for word in 0..(len / 4).max(1) {
                    let _ = self.attribution.write(register - SAU + word * 4, (value >> (word * 32)) as u32);
                }
                return true;
            }
            _ => {}
        }
        write_unit(self.units.of_mut(state), register, len, value)
    }

    /// Registers of lines ignore what Non-secure code writes to bits of a Secure one (DDI 0553 D1.2: ITNS), and STIR is taken to. QEMU's pends whatever line it is given.
    fn pends_foreign(&self, address: u32, len: u32, value: u64) -> Option<u32> {
        let line = match STIR.checked_sub(address)? {
            0 if len >= 4 => value as u32 & STIR_LINE,
            4 if len >= 8 => (value >> 32) as u32 & STIR_LINE,
            _ => return None,
        };
        let is_open = self.targets.get(line as usize / 32).is_some_and(|word| word >> (line % 32) & 1 != 0);
        (self.state == Security::NonSecure && !is_open).then_some(line)
    }

    #[inline]
    fn is_apart(&self) -> bool {
        self.state == Security::NonSecure
    }

    fn banked(&self) -> &Banked {
        self.registers.of(self.state)
    }

    fn handlers_stack(&self) -> Option<Register> {
        Some(self.registers.non_secure.msp)
    }

    /// Masks of Non-secure code hold Secure exceptions of lower priority off, too (`AIRCR.PRIS`).
    fn masks(&self, target: &mut dyn Target) -> bool {
        self.registers.secure.masks(target) || self.registers.non_secure.masks(target)
    }

    fn sleeps_deep(&self) -> bool {
        self.system.sleeps_deep()
    }

    fn table(&self) -> u32 {
        *self.tables.of(self.state)
    }

    /// EXC_RETURN.SPSEL is that of the handler's state; the other state's is still in its CONTROL.
    fn frame(&self, target: &mut dyn Target, exc_return: u32) -> u32 {
        let is_secure = exc_return & SECURE_STACK != 0;
        let pushed = if is_secure { Security::Secure } else { Security::NonSecure };
        let Banked { msp, psp, control, .. } = *self.registers.of(pushed);
        let is_selected = match pushed == self.state {
            true => exc_return & ON_PROCESS_STACK != 0,
            false => target.register(control) & SPSEL != 0,
        };
        let sp = target.register(if exc_return & TO_THREAD != 0 && is_selected { psp } else { msp });
        let has_callees = is_secure && (self.state == Security::NonSecure || exc_return & DEFAULT_RULE == 0);
        sp.wrapping_add(if has_callees { CALLEE_BYTES } else { 0 })
    }

    fn extended_bytes(&self) -> u32 {
        if self.keeps_all && self.state == Security::Secure { LARGEST_BYTES } else { EXTENDED_BYTES }
    }
}

#[cfg(test)]
mod tests;
