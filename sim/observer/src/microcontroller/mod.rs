//! Cores of the M profile with region registers: every access is held against a shadow of the protection unit, and exceptions
//! are seen where their handlers begin.

mod conduct;
mod decode;
mod exceptions;
mod frame;
mod observe;
mod regions;

use std::convert::Infallible;

use protect::AccessKind;
use protect::pmsav7::{Attr, REGIONS, Shadow};
use record::{Architecture, Deed, ProtectionWatch, Watch};
use timing::insn::InsnInfo;
use timing::machine::{Access, Exception};
use timing::profile::ProfileError;
use timing::{Charged, Core, FpFrame, Frame, Machine, Maintenance, MemAttr, Profile, thumb};

use crate::block::{RawInsn, flag};
use crate::per_core::{BlockOf, CoreObserver, Family, InsnOf};
use crate::saved::{Saved, deed};
use crate::{Register, Seen, Target};
use regions::Regions;

/// So many bytes below its stack are not the kernel's to access: more than any of its frames.
const BELOW_STACK_BYTES: u32 = 1024;

/// A model of such a core.
pub trait Modelled:
    Core<
        MemAttr,
        Insn = InsnInfo,
        Code: 'static,
        Access = Access,
        System = Maintenance,
        Exception = Exception,
        Violation = Infallible,
    > + 'static
{
}

impl<C> Modelled for C where
    C: Core<
            MemAttr,
            Insn = InsnInfo,
            Code: 'static,
            Access = Access,
            System = Maintenance,
            Exception = Exception,
            Violation = Infallible,
        > + 'static
{
}

/// Registers that are read.
#[derive(Clone, Copy, Default)]
struct Registers {
    /// Program status.
    xpsr: Register,
    lr: Register,
    msp: Register,
    psp: Register,
    control: Register,
    /// PRIMASK, BASEPRI, FAULTMASK.
    masks: [Register; 3],
}

/// One core.
pub struct Armv7m<C> {
    core: C,
    /// Caches that CCR has enabled so far; QEMU reads the bits as zero, so that they are never taken back here.
    caches_on: (bool, bool),
    shadow: Shadow,
    /// Number of what the shadow permits.
    generation: u32,
    registers: Registers,
    regions: Regions,
    /// First of the addresses below the kernel's stack.
    below_stack: u32,
    /// A domain was interrupted, and the kernel has not yet looked whether a store of it has failed late.
    late_unseen: bool,
    /// The frame that still waits for its floating-point registers.
    lazy_frame: Frame,
    /// Address of the vector table.
    table: u32,
}

fn memory_attr(attr: Attr) -> MemAttr {
    attributes(attr.tex_s_c_b)
}

/// The attributes of a region register as caches take them.
#[inline]
fn attributes(tex_s_c_b: u8) -> MemAttr {
    const TABLE: [MemAttr; 64] = {
        let mut table = [MemAttr::DEVICE; 64];
        let mut index = 0;
        while index < 64 {
            table[index] = MemAttr::from_rasr((index as u32) << 16);
            index += 1;
        }
        table
    };
    TABLE[usize::from(tex_s_c_b & 0x3f)]
}

fn default_attr(address: u32) -> Attr {
    let attr = Shadow::permits_background(address, 1, true, AccessKind::Read);
    attr.unwrap_or(Attr { tex_s_c_b: 0, region: None })
}

impl Armv7m<Machine> {
    /// The core of a profile, after reset.
    ///
    /// # Errors
    /// The broken rules of the profile.
    pub fn load(profile: &Profile, watch: &Watch) -> Result<Self, Vec<ProfileError>> {
        let machine = Machine::new(profile)?;
        let caches_on = (profile.icache.enabled.value, profile.dcache.enabled.value);
        Ok(Self { caches_on, ..Self::new(machine, watch) })
    }
}

impl<C: Modelled> Armv7m<C> {
    /// A core after reset, without caches.
    pub fn new(core: C, watch: &Watch) -> Self {
        Self {
            core,
            caches_on: (false, false),
            shadow: Shadow::new(),
            generation: 1,
            registers: Registers::default(),
            regions: Regions::default(),
            below_stack: watch.kernel_stack.map_or(0, |stack| stack.start.wrapping_sub(BELOW_STACK_BYTES)),
            late_unseen: false,
            lazy_frame: Frame { sp: 0, attr: attributes(0), fp: FpFrame::None },
            table: 0,
        }
    }

    /// Attributes of data at `address`, as the kernel sees them.
    fn attr(&mut self, address: u32) -> Attr {
        let attr = self.shadow.permits(address, 4, true, AccessKind::Read);
        attr.unwrap_or_else(|_| default_attr(address))
    }
}

impl<C: Modelled> Family for Armv7m<C> {
    type Context = MemAttr;
    type Core = C;
    type Memory = ();
    const ARCHITECTURE: Architecture = Architecture::Armv7M;
    const WATCHED_AFTER: u32 = flag::MASKS;

    fn core(&self) -> &C {
        &self.core
    }

    fn core_mut(&mut self) -> &mut C {
        &mut self.core
    }

    fn divided(&self) -> ProtectionWatch {
        ProtectionWatch::Regions(REGIONS as u32)
    }

    fn started(&mut self, target: &mut dyn Target) {
        let mut find = |name| target.find(name);
        self.registers = Registers {
            xpsr: find("xpsr"),
            lr: find("lr"),
            msp: find("msp"),
            psp: find("psp"),
            control: find("control"),
            masks: ["primask", "basepri", "faultmask"].map(find),
        };
    }

    fn running(&self, target: &mut dyn Target) -> (u32, Option<u8>) {
        (target.register(self.registers.psp), None)
    }

    fn decode(insn: &RawInsn) -> InsnInfo {
        thumb::classify(&insn.code.to_le_bytes())
    }

    fn deed(insn: &RawInsn) -> Deed {
        deed(&Self::decode(insn))
    }

    fn flags(raw: &[RawInsn]) -> u32 {
        let mut flags = 0;
        flags |= if raw.iter().any(|insn| decode::is_floating_point(insn.code)) { flag::FP } else { 0 };
        flags |= if raw.last().is_some_and(|last| decode::may_return(last.code)) { flag::RETURNS } else { 0 };
        flags |= if raw.iter().any(|insn| decode::changes_mask(insn.code)) { flag::MASKS } else { 0 };
        flags
    }

    fn before_block(on: &mut CoreObserver<Self>, (): &mut (), tb: &BlockOf<Self>, noticed: u32) {
        on.before_block_here(tb, noticed);
    }

    #[inline]
    fn before_fetch(on: &mut CoreObserver<Self>, tb: &BlockOf<Self>) {
        if tb.checked.get() != on.family.generation {
            on.check_fetch(tb);
        }
    }

    #[inline]
    fn fetch(&mut self, (): &(), tb: &BlockOf<Self>) -> Charged<Infallible> {
        self.core.fetch(&tb.code, &attributes(tb.attributes.get()))
    }

    #[inline]
    fn data(on: &mut CoreObserver<Self>, (): &mut (), insn: &InsnOf<Self>, seen: &impl Seen, at: (u32, bool)) {
        on.data_here(insn, seen, at);
    }

    fn violated(_: &mut CoreObserver<Self>, _: u32, _: u32, _: u32, found: Infallible) {
        match found {}
    }

    fn crossed(on: &mut CoreObserver<Self>) {
        on.look_for_late_faults();
    }

    fn switched(on: &mut CoreObserver<Self>, pc: u32) {
        on.without_having_looked(pc);
    }

    /// The kernel keeps r4 to r11, the process stack pointer and EXC_RETURN in this order; the hardware has put the rest on the stack.
    fn saved(&self, target: &mut dyn Target, context: u32, whole: bool) -> Option<Saved> {
        frame::saved(target, context, whole)
    }

    fn regions(&self) -> Option<u32> {
        self.regions.seen()
    }
}
