//! An application core with translation tables: the model of `cofferdam-timing` over a copy of the guest's memory, fed with
//! what QEMU shows ([`observe`]). QEMU performs no walk that could be seen and keeps nothing in its TLB across a switch of
//! the address space: the model walks the copy itself and keeps what silicon may keep.

mod areas;
mod decode;
mod disturb;
mod exceptions;
mod memory;
mod observe;

use std::ffi::{CStr, c_void};

use record::{ClusterWatch, Mode, TranslationCounts, Walks, Watch};
use timing::application::Core;
use timing::profile::MemoryKind;
use timing::thumb::{self, InsnInfo};
use timing::{Counters, Front, Profile, arm};

use crate::api::{Bytes, find_register};
use crate::block::RawInsn;
use crate::model::{BlockShape, Counts};

pub use areas::Areas;
pub use decode::{System, is_return};
pub use disturb::Disturbances;
use memory::Memory;

/// CPSR.T: the processor executes T32.
const THUMB: u32 = 1 << 5;
/// No vector table is known yet: no block begins there.
const NO_TABLE: u32 = 0xffff_ff00;

/// Handles of the registers that are read.
pub struct Registers {
    /// r0 to r12, sp, lr.
    core: [*mut c_void; 15],
    /// The status register.
    cpsr: *mut c_void,
}

impl Registers {
    /// Looks them up. Only inside the callback of a virtual processor's start.
    pub fn find() -> Self {
        const NAMES: [&CStr; 15] = [
            c"r0", c"r1", c"r2", c"r3", c"r4", c"r5", c"r6", c"r7", c"r8", c"r9", c"r10", c"r11", c"r12", c"sp", c"lr",
        ];
        Self { core: NAMES.map(find_register), cpsr: find_register(c"cpsr") }
    }
}

/// The modelled core and what it is fed from.
pub struct Application {
    /// Name of the profile.
    pub name: String,
    /// Clock of the core, Hz.
    pub cpu_hz: u64,
    /// Entries of the main TLB that can be locked.
    pub lock_entries: u32,
    core: Core,
    memory: Memory,
    /// First physical address of the devices, and bytes up to the end of the last: no memory lies in between.
    devices: (u32, u32),
    cluster: ClusterWatch,
    one_by_one: bool,
    registers: Option<Registers>,
    /// Address of the exception vectors.
    table: u32,
    /// Lock entries may have changed since they were last compared with the tables.
    review: bool,
    /// Generation of the tables then.
    reviewed: u64,
}

/// The range of all devices of a profile.
///
/// # Errors
/// A text: there is memory in it.
fn devices(profile: &Profile) -> Result<(u32, u32), String> {
    let windows = |device: bool| {
        let of_kind = profile.memory.iter().filter(move |memory| (memory.kind == MemoryKind::Device) == device);
        of_kind.map(|memory| (memory.board_base.value, memory.board_base.value + memory.board_capacity.value))
    };
    let start = windows(true).map(|(start, _)| start).min().unwrap_or(0);
    let end = windows(true).map(|(_, end)| end).max().unwrap_or(0);
    match windows(false).find(|window| window.0 < end && window.1 > start) {
        Some(window) => Err(format!("memory at {:#x} lies between devices", window.0)),
        None => Ok((start as u32, (end - start) as u32)),
    }
}

impl Application {
    /// A core after reset, and its memory as the image leaves it.
    ///
    /// # Errors
    /// A text that says what is wrong with the profile or the image.
    pub fn load(profile: Profile, watch: &Watch) -> Result<Self, String> {
        let core = Core::new(&profile).map_err(|errors| crate::model::listed(&errors))?;
        let cluster = watch.cluster.ok_or("an application core needs `cluster`")?;
        Ok(Self {
            cpu_hz: profile.core_clock.value,
            name: profile.name.clone(),
            lock_entries: profile.application.as_ref().map_or(0, |core| core.mmu.lock_entries.value),
            core,
            memory: Memory::load(&watch.image)?,
            devices: devices(&profile)?,
            cluster,
            one_by_one: watch.mode == Mode::Exact,
            registers: None,
            table: NO_TABLE,
            review: false,
            reviewed: 0,
        })
    }

    /// The processor has started: its registers are known.
    pub fn started(&mut self) {
        self.registers = Some(Registers::find());
    }

    /// Whether the processor executes T32 now.
    pub fn is_thumb(&self, bytes: &mut Bytes) -> bool {
        self.registers.as_ref().is_some_and(|registers| bytes.register(registers.cpsr) & THUMB != 0)
    }

    /// The stack pointer of the mode that the processor is in.
    pub fn stack_pointer(&self, bytes: &mut Bytes) -> u32 {
        const SP: usize = 13;
        self.registers.as_ref().map_or(0, |registers| bytes.register(registers.core[SP]))
    }

    /// The identifier of the address space in force.
    pub fn space(&self) -> u8 {
        self.core.system().mmu().registers().asid()
    }

    /// Whether this address is in the vector table.
    #[inline]
    pub fn is_vector(&self, pc: u32) -> bool {
        const TABLE_BYTES: u32 = 0x20;
        pc.wrapping_sub(self.table) < TABLE_BYTES
    }

    /// See [`timing::application::Core::spoil`].
    pub fn spoil(&mut self) {
        self.core.spoil();
    }

    /// The core slept.
    pub fn slept(&mut self, cycles: u64) {
        self.core.idle(cycles);
    }

    /// Fetch, prediction and issue.
    pub fn front(&self) -> &Front {
        &self.core.front
    }

    /// The same, to change it.
    pub fn front_mut(&mut self) -> &mut Front {
        &mut self.core.front
    }

    /// What the model keeps about the block.
    pub fn describe(&self, raw: &[RawInsn]) -> BlockShape {
        let classify = |insn: &RawInsn| match insn.thumb {
            true => thumb::classify(&insn.code.to_le_bytes()),
            false => arm::classify(insn.code),
        };
        let infos: Vec<InsnInfo> = raw.iter().map(classify).collect();
        BlockShape::new(self.core.costs(), raw[0].pc, &infos, self.one_by_one)
    }

    /// Counters of the core and its caches.
    pub fn counters(&self) -> Counters {
        self.core.counters()
    }

    /// What is counted.
    pub fn counts(&self) -> Counts {
        let caches = self.core.counters();
        Counts {
            icache_hits: caches.icache_hits,
            icache_misses: caches.icache_misses,
            dcache_hits: caches.dcache_hits,
            dcache_misses: caches.dcache_misses,
            translation: self.translation(),
        }
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
