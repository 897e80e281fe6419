//! Application cores with translation tables: the model of `cofferdam-timing` over a copy of the guest's memory, fed by a
//! simulator ([`observe`]). QEMU performs no walk that could be seen and keeps nothing in its TLB across a switch of
//! the address space: the model walks the copy itself and keeps what silicon may keep.

mod areas;
mod decode;
mod exceptions;
mod memory;
mod observe;

use record::{Architecture, AreaCounts, ClusterWatch, CoreId, Deed, ProtectionWatch, TranslationCounts, Walks, Watch};
use timing::application::{Application, Violation};
use timing::insn::InsnInfo;
use timing::profile::{MemoryKind, ProfileError};
use timing::{Charged, Core, Profile, arm, thumb};

use crate::block::{RawInsn, flag};
use crate::per_core::{BlockOf, CoreObserver, Family, InsnOf};
use crate::saved::{Saved, deed, words};
use crate::{Register, Seen, Target};
use areas::Areas;
use decode::{System, is_return};
pub use memory::Memory;

/// CPSR.T: the processor executes T32.
const THUMB: u32 = 1 << 5;
/// No vector table is known yet: no block begins there.
const NO_TABLE: u32 = 0xffff_ff00;

/// Registers that are read.
#[derive(Clone, Copy, Default)]
struct Registers {
    /// r0 to r12, sp, lr.
    core: [Register; 15],
    /// The status register.
    cpsr: Register,
}

/// The modelled core with the registers and devices that it is fed from.
pub struct Armv7a {
    core: Application,
    /// Entries of the main TLB that can be locked.
    lock_entries: u32,
    /// First physical address of the devices, and bytes up to the end of the last: no memory lies in between.
    devices: (u32, u32),
    cluster: ClusterWatch,
    registers: Registers,
    areas: Areas,
    /// Address of the exception vectors.
    table: u32,
    /// Lock entries may have changed since they were last compared with the tables.
    review: bool,
    /// Generation of the tables then.
    reviewed: u64,
}

fn wrong(path: &str, rule: String) -> Vec<ProfileError> {
    vec![ProfileError { path: path.to_owned(), rule }]
}

/// The range of all devices of a profile.
///
/// # Errors
/// There is memory in it.
fn devices(profile: &Profile) -> Result<(u32, u32), Vec<ProfileError>> {
    let windows = |device: bool| {
        let of_kind = profile.memory.iter().filter(move |memory| (memory.kind == MemoryKind::Device) == device);
        of_kind.map(|memory| (memory.board_base.value, memory.board_base.value + memory.board_capacity.value))
    };
    let start = windows(true).map(|(start, _)| start).min().unwrap_or(0);
    let end = windows(true).map(|(_, end)| end).max().unwrap_or(0);
    match windows(false).find(|window| window.0 < end && window.1 > start) {
        Some(window) => Err(wrong("memory", format!("there is memory at {:#x}, between devices", window.0))),
        None => Ok((start as u32, (end - start) as u32)),
    }
}

impl Armv7a {
    /// A core after reset.
    ///
    /// # Errors
    /// The broken rules of the profile or the request.
    pub fn load(profile: &Profile, watch: &Watch) -> Result<Self, Vec<ProfileError>> {
        let core = Application::new(profile)?;
        let cluster =
            watch.cluster.ok_or_else(|| wrong("cluster", "an application core needs it in the request".into()))?;
        Ok(Self {
            lock_entries: profile.application.as_ref().map_or(0, |core| core.mmu.lock_entries.value),
            core,
            devices: devices(profile)?,
            cluster,
            registers: Registers::default(),
            areas: Areas::new(watch),
            table: NO_TABLE,
            review: false,
            reviewed: 0,
        })
    }

    /// The identifier of the address space in force.
    fn space(&self) -> u8 {
        self.core.system().mmu().registers().asid()
    }

    /// Whether a micro-TLB has missed since that was last looked at.
    #[inline]
    fn has_missed(&self) -> bool {
        self.core.system().mmu().micro_misses() != self.areas.misses()
    }
}

impl Family for Armv7a {
    type Context = Memory;
    type Core = Application;
    type Memory = Memory;
    const ARCHITECTURE: Architecture = Architecture::Armv7A;
    const WATCHED_AFTER: u32 = flag::RETURNS;

    fn core(&self) -> &Application {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Application {
        &mut self.core
    }

    fn divided(&self) -> ProtectionWatch {
        ProtectionWatch::LockEntries(self.lock_entries)
    }

    fn started(&mut self, target: &mut dyn Target) {
        const NAMES: [&str; 15] =
            ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr"];
        self.registers = Registers { core: NAMES.map(|name| target.find(name)), cpsr: target.find("cpsr") };
    }

    fn running(&self, target: &mut dyn Target) -> (u32, Option<u32>) {
        const SP: usize = 13;
        (target.register(self.registers.core[SP]), Some(self.space().into()))
    }

    fn decode(insn: &RawInsn) -> InsnInfo {
        match insn.thumb {
            true => thumb::classify(&insn.code.to_le_bytes()),
            false => arm::classify(insn.code),
        }
    }

    fn deed(insn: &RawInsn) -> Deed {
        deed(&Self::decode(insn))
    }

    fn flags(raw: &[RawInsn]) -> u32 {
        if raw.last().is_some_and(is_return) { flag::RETURNS } else { 0 }
    }

    fn is_system(insn: &RawInsn) -> bool {
        System::decode(insn).is_some()
    }

    fn is_thumb(&self, target: &mut dyn Target) -> bool {
        target.register(self.registers.cpsr) & THUMB != 0
    }

    #[inline]
    fn is_vector(&self, pc: u32) -> bool {
        const TABLE_BYTES: u32 = 0x20;
        pc.wrapping_sub(self.table) < TABLE_BYTES
    }

    fn before_block(on: &mut CoreObserver<Self>, memory: &mut Memory, tb: &BlockOf<Self>, noticed: u32) {
        on.before_block_here(memory, tb, noticed);
    }

    #[inline]
    fn fetch(&mut self, memory: &Memory, tb: &BlockOf<Self>) -> Charged<Violation> {
        self.core.fetch(&tb.code, memory)
    }

    #[inline]
    fn fetched(on: &mut CoreObserver<Self>, tb: &BlockOf<Self>) {
        if on.family.has_missed() {
            on.count_miss(tb.pc);
        }
    }

    #[inline]
    fn data(on: &mut CoreObserver<Self>, memory: &mut Memory, insn: &InsnOf<Self>, seen: &impl Seen, at: (u32, bool)) {
        on.data_here(memory, insn, seen, at);
    }

    fn system(on: &mut CoreObserver<Self>, memory: &Memory, insn: &InsnOf<Self>) {
        on.system_here(memory, insn);
    }

    fn violated(on: &mut CoreObserver<Self>, pc: u32, address: u32, len: u32, found: Violation) {
        on.translation_violation(pc, address, len, found);
    }

    /// The kernel keeps r0 to r12, stack pointer, link register, program counter and CPSR in this order.
    fn saved(&self, target: &mut dyn Target, context: u32, _: bool) -> Option<Saved> {
        let kept = words::<17>(target, context)?;
        Some(Saved { registers: std::array::from_fn(|number| Some(kept[number])), status: Some(kept[16]) })
    }

    fn areas(&self, core: CoreId) -> Vec<AreaCounts> {
        self.areas.counts(core)
    }

    fn translation(&self) -> TranslationCounts {
        let mmu = self.core.system().mmu_counters();
        TranslationCounts {
            micro_misses: mmu.micro_misses,
            locked_hits: mmu.locked_hits,
            main_hits: mmu.main_hits,
            data_walks: walks(mmu.slowest),
            fetch_walks: walks(mmu.fetch_slowest),
            data_stall_cycles: mmu.data_stalls,
            fetch_stall_cycles: mmu.stalls - mmu.data_stalls,
        }
    }
}

fn walks([level1, locked_way, on_chip, level2, memory]: [u64; 5]) -> Walks {
    Walks { level1, locked_way, on_chip, level2, memory }
}
