//! The parameters of a profile.

use alloc::string::String;

use crate::cache::{Geometry, Replacement};

/// Unit of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Unit {
    /// Core clock cycles.
    Cycles,
    /// Bytes.
    Bytes,
    /// Events per second.
    Hz,
    /// A plain number of things.
    Count,
    /// An address.
    Address,
    /// A named choice.
    Choice,
}

impl core::fmt::Display for Unit {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str(match self {
            Unit::Cycles => "cycles",
            Unit::Bytes => "bytes",
            Unit::Hz => "hz",
            Unit::Count => "count",
            Unit::Address => "address",
            Unit::Choice => "choice",
        })
    }
}

/// A value with its unit and where it comes from. The source starts with `manual:`, `paper:`, `measured:` (published by
/// others on silicon), `calibration:` or `assumption:`, and then says which, with the section.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Param<T> {
    /// The value.
    pub value: T,
    /// Its unit.
    pub unit: Unit,
    /// Its origin.
    pub source: String,
}

/// A level-1 cache.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct CacheParams {
    /// Size, bytes.
    pub size: Param<u32>,
    /// Ways.
    pub ways: Param<u32>,
    /// Line size, bytes.
    pub line: Param<u32>,
    /// Replacement policy.
    pub replacement: Param<Replacement>,
    /// Whether it is on when the first instruction executes.
    pub enabled: Param<bool>,
}

impl CacheParams {
    /// Its shape.
    pub fn geometry(&self) -> Geometry {
        Geometry { size_bytes: self.size.value, ways: self.ways.value, line_bytes: self.line.value }
    }
}

/// Bus and load/store unit.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct BusParams {
    /// Stores that can be under way before a further one waits, 1 to 16.
    pub store_buffer: Param<u32>,
    /// Extra cycles of a load whose address is no multiple of its size (of 4 for larger ones).
    pub unaligned_load: Param<u32>,
    /// Cycles of a cache maintenance operation on one line, without the write-back; of a core with caches.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub maintenance: Option<Param<u32>>,
    /// Bytes in which code is fetched and kept at hand, 8 to 128; of a core without caches, where no line says it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub line: Option<Param<u32>>,
}

/// The cost of an instruction class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ClassCost {
    /// Cycles for which nothing else issues after it, from 1; of a multiple transfer, per `transfer` registers.
    pub issue: u32,
    /// Cycles until its result can be used by the late ALU, from 0; behind all its issue cycles, where it has several.
    pub latency: u32,
    /// Cycles more until its result can be an address or a shifted operand.
    pub early: u32,
    /// Whether another instruction may issue in the same cycle. Needs `issue = 1`.
    pub dual: bool,
    /// Cycles after its other operands at which it reads what it adds a product to.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_none"))]
    pub sum: u32,
}

#[cfg(feature = "serde")]
fn is_none(cycles: &u32) -> bool {
    *cycles == 0
}

impl ClassCost {
    /// Cycles from its issue until its latency begins. The last registers of a multiple transfer come with its last issue
    /// cycle; what else issues for several cycles computes in all of them.
    pub(crate) const fn busy(self, transfers: bool) -> u32 {
        match self.issue {
            1 => 0,
            several if transfers => several - 1,
            several => several,
        }
    }
}

/// Issue and latency per instruction class.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct PipelineParams {
    /// Banks of the nearest memories, of which each can serve a load in a cycle: 2, or none where one load issues a cycle.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub load_banks: Option<Param<u32>>,
    /// Instructions that can wait at a time while others behind them begin; none where issue is in order.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub window: Option<Param<u32>>,
    /// Instructions per cycle at best: 1 or 2.
    pub width: Param<u32>,
    /// The pairs that may share a cycle, where they are few; absent where units and operands alone decide.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub pairing: Option<Param<Pairing>>,
    /// Registers that a multiple transfer moves in one of its issues: 1; absent where it moves 2.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub transfer: Option<Param<u32>>,
    /// Add, subtract, move, plain shift, IT, NOP.
    pub alu: Param<ClassCost>,
    /// The same in an ALU one stage before, where there is one: its operands are needed early, and all but a shift go there only as
    /// the older of two that issue together.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub alu_early: Option<Param<ClassCost>>,
    /// Cycles that a word loaded is late for factors, dividends and divisors, for what stands beside a shifted operand, and more than for a
    /// base, for an index; 0 where it is absent.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub load_late: Option<Param<u32>>,
    /// Cycles from a store until a load of the same word; absent where it is forwarded at once.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub store_load: Option<Param<u32>>,
    /// Cycles from the flags until a branch that is resolved early; absent where none is.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub flags_ahead: Option<Param<u32>>,
    /// Logic and compare.
    pub alu_late: Param<ClassCost>,
    /// With a shifted operand.
    pub alu_shifted: Param<ClassCost>,
    /// Bit fields, extensions, parallel arithmetic.
    pub dsp: Param<ClassCost>,
    /// Of these, parallel arithmetic, packing and the addition of an extended operand, where they differ from the others.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub parallel: Option<Param<ClassCost>>,
    /// Integer multiply.
    pub multiply: Param<ClassCost>,
    /// Integer divide.
    pub divide: Param<ClassCost>,
    /// Word load that hits.
    pub load: Param<ClassCost>,
    /// Byte or half-word load that hits.
    pub load_narrow: Param<ClassCost>,
    /// LDM, LDRD, POP.
    pub load_multiple: Param<ClassCost>,
    /// Store.
    pub store: Param<ClassCost>,
    /// STM, STRD, PUSH.
    pub store_multiple: Param<ClassCost>,
    /// Exclusive load or store.
    pub exclusive: Param<ClassCost>,
    /// Branch, without what a wrong prediction adds.
    pub branch: Param<ClassCost>,
    /// MRS, MSR, CPS and the like.
    pub system: Param<ClassCost>,
    /// DMB and DSB, without the wait for the store buffer.
    pub barrier: Param<ClassCost>,
    /// ISB.
    pub instruction_barrier: Param<ClassCost>,
    /// Floating-point move.
    pub fp_move: Param<ClassCost>,
    /// Single precision: add and its like.
    pub fp_alu32: Param<ClassCost>,
    /// Single-precision multiply.
    pub fp_multiply32: Param<ClassCost>,
    /// Single-precision multiply-accumulate.
    pub fp_accumulate32: Param<ClassCost>,
    /// Single-precision divide, square root.
    pub fp_divide32: Param<ClassCost>,
    /// Cycles from a single-precision multiply-accumulate until the next floating-point operation can issue; absent where it can in the next cycle.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fp_busy: Option<Param<u32>>,
    /// Double precision: add and its like. This and the following three are absent where the core has single precision only.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fp_alu64: Option<Param<ClassCost>>,
    /// Double-precision multiply.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fp_multiply64: Option<Param<ClassCost>>,
    /// Double-precision multiply-accumulate.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fp_accumulate64: Option<Param<ClassCost>>,
    /// Double-precision divide, square root.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fp_divide64: Option<Param<ClassCost>>,
    /// Single floating-point load.
    pub fp_load: Param<ClassCost>,
}

/// The pairs of instructions that a core issues in one cycle, where they are few.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Pairing {
    /// Of two 16-bit instructions, the younger is a branch or IT, or the older is NOP. The branch may use flags that the older one sets.
    FoldedBranches,
}

/// Branch prediction.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct BranchParams {
    /// Entries of the branch target address cache, a power of two; 0 for static prediction alone, and absent where nothing is predicted: then
    /// fetch goes on behind every branch.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub entries: Option<Param<u32>>,
    /// Ways of that cache, 1 to 8 and a power of two; they are filled in turn. Absent where `entries` is.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub ways: Option<Param<u32>>,
    /// Extra cycles of a taken branch whose direction was right but whose target had to be computed; without prediction, of an unconditional one
    /// that holds its target.
    pub redirect: Param<u32>,
    /// Extra cycles of a wrong prediction; without prediction, of every other branch that is taken.
    pub mispredict: Param<u32>,
    /// The same where the flags were known `pipeline.flags_ahead` before.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub mispredict_early: Option<Param<u32>>,
    /// Return addresses kept, at most 16; none without a return stack.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub return_stack: Option<Param<u32>>,
}

/// Exceptions.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ExceptionParams {
    /// Cycles from recognition to the first instruction of the handler, memory without wait states.
    pub entry: Param<u32>,
    /// Cycles of a return, memory without wait states.
    pub exit: Param<u32>,
    /// Cycles from one handler to the next. This and the following exist on cores of the M profile only.
    pub tail_chain: Option<Param<u32>>,
    /// Cycles to save the deferred floating-point registers, memory without wait states.
    pub lazy_fp: Option<Param<u32>>,
    /// Cycles more of an entry or exit that transfers them at once.
    pub fp_frame: Option<Param<u32>>,
}

impl PipelineParams {
    /// Every class cost that is there, with the name of its key, in the order of the text.
    pub fn classes(&self) -> impl Iterator<Item = (&'static str, &Param<ClassCost>)> {
        [
            ("alu", Some(&self.alu)),
            ("alu_late", Some(&self.alu_late)),
            ("alu_shifted", Some(&self.alu_shifted)),
            ("dsp", Some(&self.dsp)),
            ("parallel", self.parallel.as_ref()),
            ("multiply", Some(&self.multiply)),
            ("divide", Some(&self.divide)),
            ("load", Some(&self.load)),
            ("load_narrow", Some(&self.load_narrow)),
            ("load_multiple", Some(&self.load_multiple)),
            ("store", Some(&self.store)),
            ("store_multiple", Some(&self.store_multiple)),
            ("exclusive", Some(&self.exclusive)),
            ("branch", Some(&self.branch)),
            ("system", Some(&self.system)),
            ("barrier", Some(&self.barrier)),
            ("instruction_barrier", Some(&self.instruction_barrier)),
            ("fp_move", Some(&self.fp_move)),
            ("fp_alu32", Some(&self.fp_alu32)),
            ("fp_multiply32", Some(&self.fp_multiply32)),
            ("fp_accumulate32", Some(&self.fp_accumulate32)),
            ("fp_divide32", Some(&self.fp_divide32)),
            ("fp_alu64", self.fp_alu64.as_ref()),
            ("fp_multiply64", self.fp_multiply64.as_ref()),
            ("fp_accumulate64", self.fp_accumulate64.as_ref()),
            ("fp_divide64", self.fp_divide64.as_ref()),
            ("fp_load", Some(&self.fp_load)),
        ]
        .into_iter()
        .filter_map(|(name, cost)| Some((name, cost?)))
    }
}
