//! The parameters of a profile one by one, with their units and sources.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Profile;
use super::application::ApplicationParams;
use super::memory::{LatencyParams, MemoryParams};
use super::params::{CacheParams, Param, Unit};

/// One parameter, without its value's type.
#[derive(Clone, PartialEq, Debug)]
pub struct Listed<'a> {
    /// Path in the profile.
    pub path: String,
    /// Declared unit.
    pub unit: Unit,
    /// Unit that the field has.
    pub expected: Unit,
    /// Declared source.
    pub source: &'a str,
}

struct Lister<'a> {
    list: Vec<Listed<'a>>,
    prefix: String,
}

impl<'a> Lister<'a> {
    fn add<T>(&mut self, name: &str, param: &'a Param<T>, expected: Unit) {
        let path = if self.prefix.is_empty() { name.into() } else { format!("{}.{name}", self.prefix) };
        self.list.push(Listed { path, unit: param.unit, expected, source: &param.source });
    }

    fn some<T>(&mut self, name: &str, param: &'a Option<Param<T>>, expected: Unit) {
        if let Some(param) = param {
            self.add(name, param, expected);
        }
    }

    fn latency(&mut self, latency: &'a LatencyParams) {
        self.add("latency.beat", &latency.beat, Unit::Bytes);
        self.add("latency.read_first", &latency.read_first, Unit::Cycles);
        self.add("latency.write_first", &latency.write_first, Unit::Cycles);
        self.add("latency.next", &latency.next, Unit::Cycles);
        self.some("latency.busy_first", &latency.busy_first, Unit::Cycles);
    }

    fn application(&mut self, core: &'a ApplicationParams) {
        self.prefix = "application.mmu".into();
        self.add("micro_instruction", &core.mmu.micro_instruction, Unit::Count);
        self.add("micro_data", &core.mmu.micro_data, Unit::Count);
        self.add("main_entries", &core.mmu.main_entries, Unit::Count);
        self.add("main_ways", &core.mmu.main_ways, Unit::Count);
        self.add("main_replacement", &core.mmu.main_replacement, Unit::Choice);
        self.add("lock_entries", &core.mmu.lock_entries, Unit::Count);
        self.add("main_hit", &core.mmu.main_hit, Unit::Cycles);
        self.add("walk_start", &core.mmu.walk_start, Unit::Cycles);
        self.add("walk_level", &core.mmu.walk_level, Unit::Cycles);
        self.cache("application.l2.cache", &core.l2.cache);
        self.prefix = "application.l2".into();
        self.latency(&core.l2.latency);
        self.prefix = "application.prefetch".into();
        self.add("streams", &core.prefetch.streams, Unit::Count);
        self.add("confirm", &core.prefetch.confirm, Unit::Count);
        self.add("stride", &core.prefetch.stride, Unit::Count);
        self.add("block", &core.prefetch.block, Unit::Bytes);
        self.add("enabled", &core.prefetch.enabled, Unit::Choice);
    }

    fn cache(&mut self, name: &str, cache: &'a CacheParams) {
        self.prefix = name.into();
        self.add("size", &cache.size, Unit::Bytes);
        self.add("ways", &cache.ways, Unit::Count);
        self.add("line", &cache.line, Unit::Bytes);
        self.add("replacement", &cache.replacement, Unit::Choice);
        self.add("enabled", &cache.enabled, Unit::Choice);
    }

    fn memory(&mut self, memory: &'a MemoryParams) {
        self.prefix = format!("memory.{}", memory.name);
        self.add("chip_base", &memory.chip_base, Unit::Address);
        self.add("board_base", &memory.board_base, Unit::Address);
        self.some("board_alias", &memory.board_alias, Unit::Address);
        self.add("capacity", &memory.capacity, Unit::Bytes);
        self.add("board_capacity", &memory.board_capacity, Unit::Bytes);
        self.add("cacheable", &memory.cacheable, Unit::Choice);
        if let Some(latency) = &memory.latency {
            self.latency(latency);
        }
        if let Some(art) = &memory.art {
            self.add("art.lines", &art.lines, Unit::Count);
            self.add("art.prefetch", &art.prefetch, Unit::Choice);
            self.some("art.keep_ahead", &art.keep_ahead, Unit::Choice);
        }
        if let Some(rows) = &memory.rows {
            self.add("rows.row", &rows.row, Unit::Bytes);
            self.add("rows.bank", &rows.bank, Unit::Bytes);
            self.add("rows.miss", &rows.miss, Unit::Cycles);
        }
    }
}

impl Profile {
    /// The level-1 caches that are there, with their names.
    pub(super) fn caches(&self) -> impl Iterator<Item = (&'static str, &CacheParams)> {
        [("icache", &self.icache), ("dcache", &self.dcache)]
            .into_iter()
            .filter_map(|(name, cache)| Some((name, cache.as_ref()?)))
    }

    /// Every parameter with its unit and source, in the order of the text.
    pub fn parameters(&self) -> Vec<Listed<'_>> {
        let mut l = Lister { list: Vec::new(), prefix: String::new() };
        l.add("core_clock", &self.core_clock, Unit::Hz);
        l.some("mpu_check", &self.mpu_check, Unit::Cycles);
        for (name, cache) in self.caches() {
            l.cache(name, cache);
        }
        l.prefix = "bus".into();
        l.add("store_buffer", &self.bus.store_buffer, Unit::Count);
        l.add("unaligned_load", &self.bus.unaligned_load, Unit::Cycles);
        l.some("maintenance", &self.bus.maintenance, Unit::Cycles);
        l.some("line", &self.bus.line, Unit::Bytes);
        l.prefix = "pipeline".into();
        l.add("width", &self.pipeline.width, Unit::Count);
        l.some("pairing", &self.pipeline.pairing, Unit::Choice);
        l.some("transfer", &self.pipeline.transfer, Unit::Count);
        l.some("fp_busy", &self.pipeline.fp_busy, Unit::Cycles);
        l.some("load_banks", &self.pipeline.load_banks, Unit::Count);
        l.some("window", &self.pipeline.window, Unit::Count);
        l.some("alu_early", &self.pipeline.alu_early, Unit::Cycles);
        l.some("load_late", &self.pipeline.load_late, Unit::Cycles);
        l.some("store_load", &self.pipeline.store_load, Unit::Cycles);
        l.some("flags_ahead", &self.pipeline.flags_ahead, Unit::Cycles);
        for (name, cost) in self.pipeline.classes() {
            l.add(name, cost, Unit::Cycles);
        }
        l.prefix = "branch".into();
        l.some("entries", &self.branch.entries, Unit::Count);
        l.some("ways", &self.branch.ways, Unit::Count);
        l.add("redirect", &self.branch.redirect, Unit::Cycles);
        l.add("mispredict", &self.branch.mispredict, Unit::Cycles);
        l.some("mispredict_early", &self.branch.mispredict_early, Unit::Cycles);
        l.some("return_stack", &self.branch.return_stack, Unit::Count);
        l.prefix = "exception".into();
        l.add("entry", &self.exception.entry, Unit::Cycles);
        l.add("exit", &self.exception.exit, Unit::Cycles);
        l.some("tail_chain", &self.exception.tail_chain, Unit::Cycles);
        l.some("lazy_fp", &self.exception.lazy_fp, Unit::Cycles);
        l.some("fp_frame", &self.exception.fp_frame, Unit::Cycles);
        if let Some(core) = &self.application {
            l.application(core);
        }
        for memory in &self.memory {
            l.memory(memory);
        }
        l.list
    }
}
