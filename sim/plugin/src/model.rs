//! The model that cycles come from: a chip's, by `cofferdam-timing`, or constants.

use protect::pmsav7::Attr;
use record::{Architecture, Mode, ProfileSource, TranslationCounts, Waits, Watch};
use timing::pipeline::CostTable;
use timing::profile::ProfileError;
use timing::thumb::{self, InsnInfo};
use timing::{BlockCost, Counters, EntryKind, FpFrame, Frame, Front, InsnCost, Machine, Maintenance, MemAttr, Profile};

use crate::application::Application;
use crate::block::{RawInsn, TbInfo};

/// What the model keeps about a block.
pub enum BlockShape {
    /// Nothing.
    Constant,
    /// A block that runs as a whole.
    Block(BlockCost),
    /// One instruction, in the exact mode.
    Instruction(InsnCost),
}

impl BlockShape {
    /// Of instructions from `pc` on; `one_by_one`: one that stands alone is executed as an instruction.
    pub fn new(costs: &CostTable, pc: u32, infos: &[InsnInfo], one_by_one: bool) -> Self {
        match infos {
            [info] if one_by_one => Self::Instruction(InsnCost::new(pc, *info)),
            _ => Self::Block(BlockCost::new(costs, pc, infos)),
        }
    }
}

/// Counters of the model at one moment.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    /// Instruction cache hits.
    pub icache_hits: u64,
    /// Instruction cache misses.
    pub icache_misses: u64,
    /// Data cache hits.
    pub dcache_hits: u64,
    /// Data cache misses.
    pub dcache_misses: u64,
    /// Translation, where there is any.
    pub translation: TranslationCounts,
}

/// What becomes of the floating-point registers on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fp {
    /// No floating-point context.
    None,
    /// Room is left or was left; nothing moved.
    Lazy,
    /// They were stored and have to be loaded.
    Saved,
}

/// An exception frame: its lowest address, the attributes of the stack, the floating-point part.
#[derive(Clone, Copy, Debug)]
pub struct Stacked {
    /// Lowest address.
    pub sp: u32,
    /// Attributes of the stack.
    pub attr: Attr,
    /// Floating-point part.
    pub fp: Fp,
}

/// The same cost for every instruction and every access.
pub struct Constant {
    cpu_hz: u64,
    instruction: u32,
    access: u32,
}

/// A chip.
pub struct Chip {
    name: String,
    cpu_hz: u64,
    machine: Machine,
    one_by_one: bool,
    /// What CCR has enabled so far; QEMU reads the bits as zero, so that they are never taken back here.
    caches_on: (bool, bool),
}

/// The model.
pub enum Model {
    /// No chip's.
    Constant(Constant),
    /// A microcontroller's.
    Chip(Box<Chip>),
    /// A chip's with translation tables.
    Application(Box<Application>),
}

/// Costs of the sequences under [`Constant`], cycles.
const ENTRY: u64 = 12;
const EXIT: u64 = 12;
const TAIL_CHAIN: u64 = 6;
const FP_WORDS: u64 = 17;

fn memory_attr(attr: Attr) -> MemAttr {
    const TABLE: [MemAttr; 64] = {
        let mut table = [MemAttr::DEVICE; 64];
        let mut index = 0;
        while index < 64 {
            table[index] = MemAttr::from_rasr((index as u32) << 16);
            index += 1;
        }
        table
    };
    TABLE[usize::from(attr.tex_s_c_b & 0x3f)]
}

fn frame(stacked: Stacked) -> Frame {
    let fp = match stacked.fp {
        Fp::None => FpFrame::None,
        Fp::Lazy => FpFrame::Lazy,
        Fp::Saved => FpFrame::Saved,
    };
    Frame { sp: stacked.sp, attr: memory_attr(stacked.attr), fp }
}

impl Model {
    /// Loads what `source` names.
    ///
    /// # Errors
    /// A text that says what is wrong with the profile.
    pub fn load(watch: &Watch) -> Result<Self, String> {
        match &watch.profile {
            ProfileSource::Constant { cpu_hz, cycles_per_instruction, cycles_per_access } => {
                if *cpu_hz == 0 || *cycles_per_instruction == 0 {
                    return Err("a constant profile needs a clock and at least one cycle per instruction".into());
                }
                let (instruction, access) = (*cycles_per_instruction, *cycles_per_access);
                Ok(Self::Constant(Constant { cpu_hz: *cpu_hz, instruction, access }))
            }
            ProfileSource::Text(text) => chip(text, watch).map_err(|error| format!("profile: {error}")),
        }
    }

    /// Clock of the core, Hz.
    pub fn cpu_hz(&self) -> u64 {
        match self {
            Self::Constant(constant) => constant.cpu_hz,
            Self::Chip(chip) => chip.cpu_hz,
            Self::Application(application) => application.cpu_hz,
        }
    }

    /// Name in the summary.
    pub fn name(&self) -> &str {
        match self {
            Self::Constant(_) => "constant",
            Self::Chip(chip) => &chip.name,
            Self::Application(application) => &application.name,
        }
    }

    /// Whose exceptions there are.
    pub const fn architecture(&self) -> Architecture {
        match self {
            Self::Application(_) => Architecture::Armv7A,
            _ => Architecture::Armv7M,
        }
    }

    /// Whether an exception that is taken begins at this address, on an application core.
    pub fn is_vector(&self, pc: u32) -> bool {
        matches!(self, Self::Application(application) if application.is_vector(pc))
    }

    /// What an instruction costs, where all cost the same, and what the model keeps about the block.
    pub fn describe(&self, raw: &[RawInsn]) -> (u32, BlockShape) {
        match self {
            Self::Constant(constant) => (constant.instruction, BlockShape::Constant),
            Self::Chip(chip) => (0, chip.describe(raw)),
            Self::Application(application) => (0, application.describe(raw)),
        }
    }

    /// Cycles that running the block takes without its data accesses.
    #[inline]
    pub fn run(&mut self, tb: &TbInfo) -> u64 {
        match (self, &tb.shape) {
            (Self::Chip(chip), BlockShape::Block(block)) => {
                u64::from(chip.machine.block(block, memory_attr(tb.attr.get())))
            }
            (Self::Chip(chip), BlockShape::Instruction(insn)) => {
                u64::from(chip.machine.instruction(insn, memory_attr(tb.attr.get())))
            }
            _ => u64::from(tb.each * tb.count),
        }
    }

    /// Issue cycles that the block executed last was charged for its last `count` instructions.
    pub fn behind(&self, tb: &TbInfo, count: u32) -> u32 {
        match (self.front(), &tb.shape) {
            _ if count == 0 => 0,
            (Some(front), BlockShape::Block(block)) => front.behind(block, count as usize),
            (Some(front), BlockShape::Instruction(_)) => front.issued(),
            _ => tb.each * count,
        }
    }

    /// The block executed last was left before its end.
    pub fn cut(&mut self) {
        match self {
            Self::Chip(chip) => chip.machine.front.cut(),
            Self::Application(application) => application.front_mut().cut(),
            Self::Constant(_) => {}
        }
    }

    fn front(&self) -> Option<&Front> {
        match self {
            Self::Chip(chip) => Some(&chip.machine.front),
            Self::Application(application) => Some(application.front()),
            Self::Constant(_) => None,
        }
    }

    /// Cycles of a data access of a microcontroller.
    #[inline]
    pub fn data(&mut self, address: u32, len: u32, store: bool, attr: Attr) -> u64 {
        match self {
            Self::Chip(chip) => u64::from(chip.machine.data(address, len, store, memory_attr(attr))),
            Self::Constant(constant) => u64::from(constant.access),
            Self::Application(_) => 0,
        }
    }

    /// Cycles of an exception's entry; `vector` is the address of its entry in the vector table.
    pub fn enter(&mut self, tail_chained: bool, stacked: Stacked, vector: u32, vector_attr: Attr) -> u64 {
        match self {
            Self::Constant(_) if tail_chained => TAIL_CHAIN,
            Self::Constant(_) => ENTRY,
            Self::Chip(chip) => {
                let kind = if tail_chained { EntryKind::TailChained } else { EntryKind::Normal };
                let attr = memory_attr(vector_attr);
                u64::from(chip.machine.exception_entry(kind, frame(stacked), vector, attr))
            }
            Self::Application(_) => 0,
        }
    }

    /// Cycles of a return to what was interrupted.
    pub fn leave(&mut self, stacked: Stacked) -> u64 {
        match self {
            Self::Constant(_) => EXIT + if stacked.fp == Fp::Saved { FP_WORDS } else { 0 },
            Self::Chip(chip) => u64::from(chip.machine.exception_exit(frame(stacked))),
            Self::Application(_) => 0,
        }
    }

    /// Cycles of storing the floating-point registers late, in the frame at `stacked`.
    pub fn save_lazily(&mut self, stacked: Stacked) -> u64 {
        const FP_OFFSET: u32 = 0x20;
        match self {
            Self::Constant(_) => FP_WORDS,
            Self::Chip(chip) => {
                let address = stacked.sp.wrapping_add(FP_OFFSET);
                u64::from(chip.machine.lazy_fp_save(address, memory_attr(stacked.attr)))
            }
            Self::Application(_) => 0,
        }
    }

    /// Cycles of a store to the system control space that maintains the caches, 0 for any other.
    pub fn control(&mut self, address: u32, value: u32) -> u64 {
        match self {
            Self::Constant(_) | Self::Application(_) => 0,
            Self::Chip(chip) => chip.control(address, value),
        }
    }

    /// Caches, TLBs, predictor and flash buffers become as bad as others can leave them.
    pub fn spoil(&mut self) {
        match self {
            Self::Chip(chip) => chip.machine.spoil(),
            Self::Application(application) => application.spoil(),
            Self::Constant(_) => {}
        }
    }

    /// The core slept.
    pub fn slept(&mut self, cycles: u64) {
        match self {
            Self::Chip(chip) => chip.machine.idle(cycles),
            Self::Application(application) => application.slept(cycles),
            Self::Constant(_) => {}
        }
    }

    /// How long the processor has waited for what.
    pub fn waits(&self) -> Waits {
        let of = |counters: Counters| Waits {
            fetch: counters.fetch_stalls,
            data: counters.data_stalls,
            barriers: counters.drain_stalls,
        };
        match self {
            Self::Constant(_) => Waits::default(),
            Self::Chip(chip) => of(chip.machine.counters()),
            Self::Application(application) => of(application.counters()),
        }
    }

    /// The caches' counters.
    pub fn counts(&self) -> Counts {
        match self {
            Self::Constant(_) => Counts::default(),
            Self::Chip(chip) => {
                let counters = chip.machine.counters();
                Counts {
                    icache_hits: counters.icache_hits,
                    icache_misses: counters.icache_misses,
                    dcache_hits: counters.dcache_hits,
                    dcache_misses: counters.dcache_misses,
                    translation: TranslationCounts::default(),
                }
            }
            Self::Application(application) => application.counts(),
        }
    }
}

/// What is wrong with a profile, in one line.
pub fn listed(errors: &[ProfileError]) -> String {
    let errors = errors.iter().map(|error| format!("{}: {}", error.path, error.rule));
    errors.collect::<Vec<_>>().join("; ")
}

fn chip(text: &str, watch: &Watch) -> Result<Model, String> {
    let profile: Profile = toml::from_str(text).map_err(|error| error.to_string())?;
    if profile.application.is_some() {
        return Ok(Model::Application(Box::new(Application::load(profile, watch)?)));
    }
    Ok(Model::Chip(Box::new(Chip::load(profile, watch.mode)?)))
}

impl Chip {
    fn load(profile: Profile, mode: Mode) -> Result<Self, String> {
        let machine = Machine::new(&profile).map_err(|errors| listed(&errors))?;
        Ok(Self {
            cpu_hz: profile.core_clock.value,
            name: profile.name,
            machine,
            one_by_one: mode == Mode::Exact,
            caches_on: (profile.icache.enabled.value, profile.dcache.enabled.value),
        })
    }

    fn describe(&self, raw: &[RawInsn]) -> BlockShape {
        let infos: Vec<InsnInfo> = raw.iter().map(|insn| thumb::classify(&insn.code.to_le_bytes())).collect();
        BlockShape::new(self.machine.costs(), raw[0].pc, &infos, self.one_by_one)
    }

    fn control(&mut self, address: u32, value: u32) -> u64 {
        let Some(operation) = Maintenance::decode(address, value) else { return 0 };
        let operation = match operation {
            Maintenance::Enable { instruction, data } => {
                self.caches_on.0 |= instruction;
                self.caches_on.1 |= data;
                Maintenance::Enable { instruction: self.caches_on.0, data: self.caches_on.1 }
            }
            other => other,
        };
        u64::from(self.machine.maintain(operation))
    }
}
