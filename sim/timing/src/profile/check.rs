//! Semantic checks of a profile after its text was read.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::application::ApplicationParams;
use super::memory::{Interface, MemoryKind, MemoryParams};
use super::params::{ClassCost, Param};
use super::{MOST_LINE, Model, Profile};
use crate::branch::MAX_RETURNS;
use crate::pipeline::MAX_STORE_LOAD;
use crate::tlb;
use units::PhysRange;

/// A broken rule with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileError {
    /// Path of the parameter, as in `dcache.ways` or `memory.sram.capacity`.
    pub path: String,
    /// The rule that it breaks.
    pub rule: String,
}

impl core::fmt::Display for ProfileError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.path, self.rule)
    }
}

impl core::error::Error for ProfileError {}

/// The beginnings that a source may have.
pub const SOURCE_KINDS: [&str; 5] = ["manual: ", "paper: ", "measured: ", "calibration: ", "assumption: "];

/// Cycles of a step of a table walk, at most: more is a slip of the pen, and sums of these stay far below 32 bits.
const MOST_WALK: u32 = 100_000;

impl Profile {
    /// Everything that is wrong with it; empty when it can be used.
    pub fn validate(&self) -> Vec<ProfileError> {
        let mut errors = Vec::new();
        for p in self.parameters() {
            if p.unit != p.expected {
                errors.push(error(&p.path, format!("its unit is `{}`, not `{}`", p.expected, p.unit)));
            }
            if !SOURCE_KINDS.iter().any(|kind| p.source.len() > kind.len() && p.source.starts_with(kind)) {
                let rule = format!("its source must begin with one of `{}` and say which", SOURCE_KINDS.join("`, `"));
                errors.push(error(&p.path, rule));
            }
        }
        self.check_core(&mut errors);
        self.check_kind(&mut errors);
        if let Some(core) = &self.application {
            check_application(core, self.line_bytes(), &mut errors);
        }
        for (index, memory) in self.memory.iter().enumerate() {
            check_memory(memory, &mut errors);
            self.check_against_earlier(index, &mut errors);
        }
        errors
    }

    fn check_core(&self, errors: &mut Vec<ProfileError>) {
        for (name, cache) in self.caches() {
            if let Err(why) = cache.geometry().sets(cache.replacement.value) {
                errors.push(error(name, format!("{why}")));
            }
        }
        let mut need = |ok: bool, path: &str, rule: &str| {
            if !ok {
                errors.push(error(path, rule.into()));
            }
        };
        need((1..=u64::from(u32::MAX)).contains(&self.core_clock.value), "core_clock", "1 to 4294967295 Hz");
        let lines = self.icache.as_ref().zip(self.dcache.as_ref());
        let same = lines.is_none_or(|(icache, dcache)| icache.line.value == dcache.line.value);
        need(same, "icache.line", "both caches need the same line size");
        need((1..=16).contains(&self.bus.store_buffer.value), "bus.store_buffer", "1 to 16");
        need((1..=2).contains(&self.pipeline.width.value), "pipeline.width", "1 or 2");
        let banks = self.pipeline.load_banks.as_ref();
        need(banks.is_none_or(|banks| banks.value == 2), "pipeline.load_banks", "2");
        let window = self.pipeline.window.as_ref();
        need(window.is_none_or(|window| (4..=48).contains(&window.value)), "pipeline.window", "4 to 48");
        self.check_branches(&mut need);
        self.check_bypasses(&mut need);
        self.check_limits_of_issue(&mut need);
        let alu_early = self.pipeline.alu_early.as_ref().map(|cost| ("alu_early", cost));
        for (name, cost) in self.pipeline.classes().chain(alu_early) {
            let ClassCost { issue, latency, early, dual, sum } = cost.value;
            need(issue >= 1 && (!dual || issue == 1), name, "issue from 1, and exactly 1 for dual issue");
            need([issue, latency, early, sum].iter().all(|&cycles| cycles <= 32), name, "at most 32 cycles each");
        }
    }

    fn check_branches(&self, need: &mut impl FnMut(bool, &str, &str)) {
        let branch = &self.branch;
        if let Some(entries) = branch.entries.as_ref().map(|entries| entries.value) {
            need(entries == 0 || entries.is_power_of_two(), "branch.entries", "0 or a power of two");
            let ways = branch.ways.as_ref().map_or(0, |ways| ways.value);
            let fits = ways.is_power_of_two() && ways <= 8 && (entries == 0 || ways <= entries);
            need(fits, "branch.ways", "a power of two up to 8, and no more than there are entries");
        } else {
            need(branch.ways.is_none(), "branch.ways", "a core without branch.entries has none");
            need(branch.return_stack.is_none(), "branch.return_stack", "a core without branch.entries has none");
            let in_order = self.pipeline.window.is_none();
            need(in_order, "branch.entries", "a core that issues out of order predicts its branches");
        }
        let stack = branch.return_stack.as_ref().map_or(1, |stack| stack.value);
        need((1..=MAX_RETURNS).contains(&(stack as usize)), "branch.return_stack", "1 to 16");
        need(branch.redirect.value.max(branch.mispredict.value) <= 32, "branch", "at most 32 cycles each");
    }

    /// Pairs, transfers and units of cores that are narrower than their width says.
    fn check_limits_of_issue(&self, need: &mut impl FnMut(bool, &str, &str)) {
        let pipeline = &self.pipeline;
        let pairs = pipeline.pairing.is_none() || pipeline.width.value == 2 && pipeline.window.is_none();
        need(pairs, "pipeline.pairing", "is of cores that issue two at a time and in order");
        need(pipeline.transfer.as_ref().is_none_or(|count| count.value == 1), "pipeline.transfer", "1");
        let busy = pipeline.fp_busy.as_ref();
        need(busy.is_none_or(|busy| (2..=16).contains(&busy.value)), "pipeline.fp_busy", "2 to 16");
        need(busy.is_none() || pipeline.window.is_none(), "pipeline.fp_busy", "is of cores that issue in order");
        let double = [&pipeline.fp_alu64, &pipeline.fp_multiply64, &pipeline.fp_accumulate64, &pipeline.fp_divide64];
        let there = double.iter().filter(|cost| cost.is_some()).count();
        need(matches!(there, 0 | 4), "pipeline.fp_alu64", "all four costs of double precision, or none");
    }

    /// Results that are forwarded late or early, which is known of cores that issue in order.
    fn check_bypasses(&self, need: &mut impl FnMut(bool, &str, &str)) {
        let (pipeline, branch) = (&self.pipeline, &self.branch);
        let cycles = |param: &Option<Param<u32>>, most| param.as_ref().is_none_or(|p| (1..=most).contains(&p.value));
        need(cycles(&pipeline.load_late, 2), "pipeline.load_late", "1 or 2");
        need(cycles(&pipeline.store_load, MAX_STORE_LOAD), "pipeline.store_load", "1 to 4");
        need(cycles(&pipeline.flags_ahead, 8), "pipeline.flags_ahead", "1 to 8");
        // Flags come from the late ALU; nothing else says that they are never there for the same cycle.
        let known = pipeline.alu_early.is_none() || pipeline.flags_ahead.is_some();
        need(known, "pipeline.alu_early", "needs pipeline.flags_ahead");
        let both = pipeline.flags_ahead.is_some() == branch.mispredict_early.is_some();
        let most = branch.mispredict_early.as_ref().map_or(0, |early| early.value);
        let rule = "needs pipeline.flags_ahead, and is no more than mispredict";
        need(both && most <= branch.mispredict.value, "branch.mispredict_early", rule);
        let given = [&pipeline.load_late, &pipeline.store_load, &pipeline.flags_ahead].iter().any(|p| p.is_some());
        let in_order = pipeline.window.is_none() || !(given || pipeline.alu_early.is_some());
        need(
            in_order,
            "pipeline.window",
            "alu_early, load_late, store_load and flags_ahead are of cores that issue in order",
        );
    }

    /// The parameters of one model must be there for it and for no other.
    fn check_kind(&self, errors: &mut Vec<ProfileError>) {
        let e = &self.exception;
        let only_m = [
            ("mpu_check", &self.mpu_check),
            ("exception.tail_chain", &e.tail_chain),
            ("exception.lazy_fp", &e.lazy_fp),
            ("exception.fp_frame", &e.fp_frame),
        ];
        let application = self.model == Model::Armv7A;
        if self.application.is_some() != application {
            errors.push(error("application", "cores of the model `armv7-a` need it, no other core has it".into()));
        }
        for (path, param) in only_m {
            if param.is_some() == application {
                let rule = "cores of the models `armv7-m` and `armv8-m` need it, no other core has it";
                errors.push(error(path, rule.into()));
            }
        }
        self.check_caches(application, errors);
        let beside = |m: &&MemoryParams| m.interface == Interface::BesideL2 && !application;
        for memory in self.memory.iter().filter(beside) {
            errors.push(error(&path(memory, "interface"), "only an application core has a level-2 cache".into()));
        }
    }

    /// With caches come their maintenance and their lines; without them, the line says in how many bytes code is fetched.
    fn check_caches(&self, application: bool, errors: &mut Vec<ProfileError>) {
        let cached = self.caches().next().is_some();
        if application {
            for (name, cache) in [("icache", &self.icache), ("dcache", &self.dcache)] {
                if cache.is_none() {
                    errors.push(error(name, "cores of the model `armv7-a` need it".into()));
                }
            }
        }
        if self.bus.maintenance.is_some() != cached {
            errors.push(error("bus.maintenance", "cores with a cache need it, no other core has it".into()));
        }
        match &self.bus.line {
            Some(_) if cached => errors.push(error("bus.line", "the caches' line says it".into())),
            Some(line) if !((8..=MOST_LINE).contains(&line.value) && line.value.is_power_of_two()) => {
                errors.push(error("bus.line", "a power of two, 8 to 128".into()));
            }
            None if !cached => errors.push(error("bus.line", "cores without caches need it".into())),
            _ => {}
        }
        let behind = |m: &&MemoryParams| m.interface == Interface::Axi && !cached;
        for memory in self.memory.iter().filter(behind) {
            let rule = "`axi` is behind the caches: memories of a core without them are on `ahb`";
            errors.push(error(&path(memory, "interface"), rule.into()));
        }
    }

    fn check_against_earlier(&self, index: usize, errors: &mut Vec<ProfileError>) {
        let memory = &self.memory[index];
        for other in &self.memory[..index] {
            if other.name == memory.name {
                errors.push(error(&path(memory, "name"), "names must be unique".into()));
            }
            if other.chip_window().overlaps(memory.chip_window()) {
                errors.push(error(&path(memory, "capacity"), format!("overlaps {} on the chip", other.name)));
            }
            if other.usable_window().overlaps(memory.board_window()) {
                errors.push(error(&path(memory, "board_capacity"), format!("overlaps {} on the board", other.name)));
            }
            let aliases = [(memory, other), (other, memory)].into_iter().any(|(one, two)| {
                let overlaps = |window: PhysRange| two.chip_window().overlaps(window);
                one.alias_window().is_some_and(overlaps)
            });
            let both = memory.alias_window().zip(other.alias_window()).is_some_and(|(one, two)| one.overlaps(two));
            if aliases || both {
                errors.push(error(&path(memory, "board_alias"), format!("overlaps {}", other.name)));
            }
        }
    }
}

fn error(path: &str, rule: String) -> ProfileError {
    ProfileError { path: path.into(), rule }
}

fn path(memory: &MemoryParams, field: &str) -> String {
    format!("memory.{}.{field}", memory.name)
}

fn check_application(core: &ApplicationParams, line: u32, errors: &mut Vec<ProfileError>) {
    let (mmu, l2, prefetch) = (&core.mmu, &core.l2, &core.prefetch);
    if let Err(why) = l2.cache.geometry().sets(l2.cache.replacement.value) {
        errors.push(error("application.l2.cache", format!("{why}")));
    }
    if let Err(why) = tlb::sets(mmu.main_entries.value, mmu.main_ways.value, mmu.main_replacement.value) {
        errors.push(error("application.mmu.main_entries", format!("{why}")));
    }
    let mut need = |ok: bool, path: &str, rule: &str| {
        if !ok {
            errors.push(error(path, rule.into()));
        }
    };
    need(l2.cache.line.value == line, "application.l2.cache.line", "all caches need the same line size");
    need(l2.latency.beat.value.is_power_of_two(), "application.l2.latency.beat", "a power of two");
    for (path, cycles) in [
        ("application.mmu.main_hit", &mmu.main_hit),
        ("application.mmu.walk_start", &mmu.walk_start),
        ("application.mmu.walk_level", &mmu.walk_level),
        ("application.l2.latency.read_first", &l2.latency.read_first),
    ] {
        need(cycles.value <= MOST_WALK, path, "at most 100000 cycles");
    }
    need((1..=64).contains(&mmu.micro_instruction.value), "application.mmu.micro_instruction", "1 to 64");
    need((1..=64).contains(&mmu.micro_data.value), "application.mmu.micro_data", "1 to 64");
    need(mmu.lock_entries.value <= 8, "application.mmu.lock_entries", "up to 8");
    need((1..=16).contains(&prefetch.streams.value), "application.prefetch.streams", "1 to 16");
    let block = prefetch.block.value;
    need(block.is_power_of_two() && block >= line, "application.prefetch.block", "a power of two, a line or more");
}

fn check_memory(memory: &MemoryParams, errors: &mut Vec<ProfileError>) {
    let mut need = |ok: bool, field: &str, rule: &str| {
        if !ok {
            errors.push(error(&path(memory, field), rule.into()));
        }
    };
    let end = memory.board_base.value.checked_add(memory.capacity.value.max(memory.board_capacity.value));
    need(end.is_some_and(|end| end <= 1 << 32), "board_base", "must end within 32 bits");
    need(memory.capacity.value > 0, "capacity", "must not be zero");
    let tcm = memory.kind == MemoryKind::Tcm;
    need(tcm != memory.latency.is_some(), "latency", "is needed, except for tightly coupled memory, which has none");
    need(memory.art.is_none() || memory.kind == MemoryKind::Flash, "art", "only flash has one");
    need(memory.rows.is_none() || memory.kind == MemoryKind::Sdram, "rows", "only dynamic memory has rows");
    let alias = memory.board_alias.as_ref().map(|base| base.value);
    let ends = |base: u64| base.checked_add(memory.capacity.value).is_some_and(|end| end <= 1 << 32);
    need(alias.is_none_or(ends), "board_alias", "must end within 32 bits");
    let apart = memory.alias_window().is_none_or(|window| !window.overlaps(memory.chip_window()));
    need(apart, "board_alias", "must be another address");
    need(alias.is_none() || !memory.cacheable.value, "board_alias", "is not of memory that caches may hold");
    let behind_cache = matches!(memory.interface, Interface::Axi | Interface::BesideL2);
    need(!memory.cacheable.value || behind_cache, "cacheable", "only what is behind the memory bus can be cached");
    if let Some(latency) = &memory.latency {
        need(latency.beat.value.is_power_of_two(), "latency.beat", "a power of two");
    }
    if let Some(art) = &memory.art {
        need((1..=255).contains(&art.lines.value), "art.lines", "1 to 255");
    }
    if let Some(rows) = &memory.rows {
        let fits = rows.row.value.is_power_of_two() && rows.bank.value.is_power_of_two();
        need(fits && rows.row.value <= rows.bank.value, "rows.row", "row and bank are powers of two, row not larger");
        let banks = memory.capacity.value.div_ceil(u64::from(rows.bank.value.max(1)));
        need((1..=16).contains(&banks), "rows.bank", "there must be 1 to 16 banks");
    }
}
