//! One instruction as far as its time is concerned, whatever its encoding ([`crate::thumb`], [`crate::arm`]).

pub use crate::regs::RegSet;

/// Kind of instruction, as far as issue and latency are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Class {
    /// Add, subtract, move, plain shift: either ALU stage can do it.
    Alu,
    /// Logic and compare: the late ALU does it.
    AluLate,
    /// A second operand that is shifted on the way.
    AluShifted,
    /// Bit field, extension, reversal, saturation, parallel arithmetic.
    Dsp,
    /// Multiply, also accumulating and 64-bit.
    Multiply,
    /// SDIV, UDIV.
    Divide,
    /// Word load.
    Load,
    /// Byte or half-word load.
    LoadNarrow,
    /// LDRD, LDM, POP.
    LoadMultiple,
    /// Load exclusive.
    LoadExclusive,
    /// Store of one register.
    Store,
    /// STRD, STM, PUSH.
    StoreMultiple,
    /// Store exclusive.
    StoreExclusive,
    /// PLD, PLI.
    Preload,
    /// Any change of flow, direct or not, with or without link.
    Branch,
    /// IT.
    IfThen,
    /// NOP and other hints that do nothing here.
    Nop,
    /// WFI, WFE.
    Wait,
    /// SVC, BKPT, UDF: an exception follows.
    Exception,
    /// MRS, MSR, CPS, CLREX, VMRS, VMSR, and coprocessor instructions other than floating point.
    System,
    /// DMB.
    DataMemoryBarrier,
    /// DSB.
    DataSyncBarrier,
    /// ISB.
    InstructionBarrier,
    /// Floating-point move, also immediate and between register files.
    FpMove,
    /// Single precision: add, subtract, absolute, negate, compare, convert, round, select.
    FpAlu32,
    /// Single-precision multiply.
    FpMultiply32,
    /// Single-precision multiply-accumulate.
    FpAccumulate32,
    /// Single-precision divide and square root.
    FpDivide32,
    /// Double precision: as [`Class::FpAlu32`].
    FpAlu64,
    /// Double-precision multiply.
    FpMultiply64,
    /// Double-precision multiply-accumulate.
    FpAccumulate64,
    /// Double-precision divide and square root.
    FpDivide64,
    /// VLDR of a single register.
    FpLoad,
    /// VLDR of a double register, VLDM, VPOP.
    FpLoadMultiple,
    /// VSTR of a single register.
    FpStore,
    /// VSTR of a double register, VSTM, VPUSH.
    FpStoreMultiple,
    /// No instruction of the architecture, or too few bytes to tell.
    Undefined,
}

impl Class {
    /// Number of classes; `class as usize` is below it.
    pub const COUNT: usize = Self::Undefined as usize + 1;
}

/// Yes-or-no properties of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Flags(u16);

impl Flags {
    /// May change the flow.
    pub const BRANCH: Self = Self(1);
    /// A branch that depends on flags or on a register (B<c>, CBZ, CBNZ).
    pub const CONDITIONAL: Self = Self(1 << 1);
    /// Writes the link register (BL, BLX).
    pub const LINK: Self = Self(1 << 2);
    /// Returns from a function or an exception (BX LR, POP with PC, LDM with PC).
    pub const RETURN: Self = Self(1 << 3);
    /// Its target is not in the instruction.
    pub const INDIRECT: Self = Self(1 << 4);
    /// Reads memory.
    pub const LOAD: Self = Self(1 << 5);
    /// Writes memory.
    pub const STORE: Self = Self(1 << 6);
    /// Uses the floating-point registers.
    pub const FP: Self = Self(1 << 7);
    /// Can only issue alone.
    pub const SINGLE: Self = Self(1 << 8);
    /// A plain shift or rotation.
    pub const SHIFT: Self = Self(1 << 9);
    /// Parallel arithmetic, packing, or the addition of an extended operand.
    pub const PARALLEL: Self = Self(1 << 10);

    /// Both.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The word that a load reads. Two of them with one base read an even and an odd word if their offsets differ in that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WordLoad {
    /// Number of the base register.
    pub base: u8,
    /// Whether the offset is an odd number of words.
    pub odd: bool,
}

impl WordLoad {
    /// A load at a byte offset; none if that is no multiple of a word.
    pub(crate) const fn at(base: u32, offset: u32) -> Option<Self> {
        if offset & 3 == 0 { Some(Self { base: base as u8, odd: offset & 4 != 0 }) } else { None }
    }

    /// Whether the two read different banks, whatever their base holds.
    pub const fn differs(self, other: Self) -> bool {
        self.base == other.base && self.odd != other.odd
    }
}

/// The word that a single load or store at a constant offset accesses. Two with one base access the same word if their offsets are
/// equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct BaseOffset {
    /// Number of the base register.
    pub base: u8,
    /// Words from it, rounded down.
    pub words: i16,
}

impl BaseOffset {
    /// An access at a byte offset from a core register; the PC is none.
    pub(crate) const fn at(base: u32, offset: i32) -> Option<Self> {
        if base == 15 { None } else { Some(Self { base: base as u8, words: (offset >> 2) as i16 }) }
    }
}

/// One classified instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InsnInfo {
    /// Kind.
    pub class: Class,
    /// Length in bytes: 2 or 4.
    pub size: u8,
    /// Registers transferred by a multiple load or store (a double floating-point register counts two), else 0.
    pub count: u8,
    /// Properties.
    pub flags: Flags,
    /// Registers needed by the late ALU or later.
    pub reads: RegSet,
    /// Registers that a product is added to, or that are stored: needed later than the others where the class says so.
    pub sums: RegSet,
    /// Registers needed one stage earlier: addresses and shifted operands.
    pub early: RegSet,
    /// Of those, the one that is added to a base.
    pub index: RegSet,
    /// Registers written with the class's latency.
    pub writes: RegSet,
    /// Address registers written back, ready without delay.
    pub base_update: RegSet,
    /// For a word load at a constant offset without write-back.
    pub word: Option<WordLoad>,
    /// For a single load or store at a constant offset without write-back.
    pub based: Option<BaseOffset>,
    /// Branch target relative to the instruction's own address, where the instruction holds it.
    pub target: Option<i32>,
}

impl InsnInfo {
    pub(crate) const fn new(class: Class, size: u8) -> Self {
        Self {
            class,
            size,
            count: 0,
            flags: Flags(0),
            reads: RegSet::NONE,
            sums: RegSet::NONE,
            early: RegSet::NONE,
            index: RegSet::NONE,
            writes: RegSet::NONE,
            base_update: RegSet::NONE,
            word: None,
            based: None,
            target: None,
        }
    }

    pub(crate) const fn reads(mut self, set: RegSet) -> Self {
        self.reads = self.reads.union(set);
        self
    }

    pub(crate) const fn sums(mut self, set: RegSet) -> Self {
        self.sums = self.sums.union(set);
        self
    }

    pub(crate) const fn early(mut self, set: RegSet) -> Self {
        self.early = self.early.union(set);
        self
    }

    pub(crate) const fn index(mut self, set: RegSet) -> Self {
        self.index = set;
        self.early(set)
    }

    /// Adds written registers; one of them being the PC makes the instruction an indirect branch.
    pub(crate) const fn writes(mut self, set: RegSet) -> Self {
        self.writes = self.writes.union(set);
        if set.has(RegSet::PC) { self.flag(Flags::BRANCH.with(Flags::INDIRECT)) } else { self }
    }

    pub(crate) const fn base_update(mut self, set: RegSet) -> Self {
        self.base_update = set;
        self
    }

    pub(crate) const fn flag(mut self, flags: Flags) -> Self {
        self.flags = self.flags.with(flags);
        self
    }

    pub(crate) const fn count(mut self, count: u32) -> Self {
        self.count = count as u8;
        self
    }

    pub(crate) const fn word(mut self, word: Option<WordLoad>) -> Self {
        self.word = word;
        self
    }

    pub(crate) const fn based(mut self, based: Option<BaseOffset>) -> Self {
        self.based = based;
        self
    }

    pub(crate) const fn jump(mut self, offset: i32) -> Self {
        self.flags = self.flags.with(Flags::BRANCH);
        self.target = Some(offset);
        self
    }

    /// Whether the flow may change after it.
    pub const fn is_branch(&self) -> bool {
        self.flags.has(Flags::BRANCH)
    }
}

/// Sign-extends the low `bits` of `value`.
pub(crate) const fn sign_extend(value: u32, bits: u32) -> i32 {
    ((value << (32 - bits)) as i32) >> (32 - bits)
}
