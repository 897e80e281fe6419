pub(crate) mod without_caches;

use super::{MemoryKind, Model, Profile, ProfileError};
use std::path::Path;
use std::string::{String, ToString};
use units::PhysAddr;

/// The text of a profile that comes with the project.
fn profile(chip: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    super::read_text(&root.join("chips").join(chip), &root.join("cores")).unwrap().profile
}

pub(crate) fn text() -> String {
    profile("stm32f767.toml")
}

/// The text of the application core's profile.
pub(crate) fn application_text() -> String {
    profile("xc7z020.toml")
}

pub(crate) fn xc7z020() -> Profile {
    toml::from_str(&application_text()).unwrap()
}

pub(crate) fn stm32f767() -> Profile {
    toml::from_str(&text()).unwrap()
}

fn name(profile: &Profile, addr: u64) -> Option<&str> {
    profile.locate(PhysAddr(addr)).and_then(|id| profile.memory(id)).map(|m| m.name.as_str())
}

#[test]
fn the_profiles_that_come_along_are_valid() {
    assert_eq!(stm32f767().validate(), []);
    assert_eq!(xc7z020().validate(), []);
}

#[test]
fn the_capacities_are_those_of_the_part() {
    let profile = stm32f767();
    let capacity = |name| profile.memory(profile.by_name(name).unwrap()).unwrap().capacity.value;
    assert_eq!(
        ["itcm", "flash", "dtcm", "sram", "sdram"].map(capacity),
        [16 << 10, 2 << 20, 128 << 10, 384 << 10, 32 << 20]
    );
    assert_eq!(profile.part, "STM32F767IIT6");
    assert_eq!(profile.core_clock.value, 216_000_000);
}

#[test]
fn addresses_belong_to_the_chips_memories() {
    let profile = stm32f767();
    for (addr, expected) in [
        (0x0000_0000, Some("itcm")),
        (0x0000_3FFF, Some("itcm")),
        (0x0000_4000, None),
        (0x0020_0000, Some("flash")),
        (0x003F_FFFF, Some("flash")),
        (0x0040_0000, None),
        (0x2001_FFFF, Some("dtcm")),
        (0x2002_0000, Some("sram")),
        (0x2007_FFFF, Some("sram")),
        (0x2008_0000, None),
        (0x4000_0000, Some("peripherals")),
        (0x61FF_FFFF, Some("sdram")),
        (0xE000_ED00, Some("private")),
        (0xE010_0000, None),
        (0x1_0000_0000, None),
    ] {
        assert_eq!(name(&profile, addr), expected, "{addr:#x}");
    }
}

/// Applies an edit to the text and reads it.
fn edited(from: &str, to: &str) -> Result<Profile, toml::de::Error> {
    let text = text();
    assert!(text.contains(from), "{from}");
    toml::from_str(&text.replacen(from, to, 1))
}

#[test]
fn unknown_and_missing_keys_are_refused() {
    for (from, to, complaint) in [
        ("name = \"stm32f767\"", "name = \"stm32f767\"\nvoltage = 3", "unknown field `voltage`"),
        ("value = 216000000\n", "value = 216000000\nnote = \"x\"\n", "unknown field `note`"),
        ("unit = \"hz\"\n", "", "missing field `unit`"),
        ("unit = \"hz\"", "unit = \"furlongs\"", "unknown variant `furlongs`"),
        ("kind = \"tcm\"", "kind = \"tape\"", "unknown variant `tape`"),
        ("name = \"stm32f767\"", "name = \"stm32f767\"\n[branches]", "unknown field `branches`"),
    ] {
        let error = edited(from, to).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
    let without_source = text().replacen("\nsource = \"manual: DS11532, features; paper mxu, table 4\"", "", 1);
    assert!(toml::from_str::<Profile>(&without_source).unwrap_err().to_string().contains("missing field `source`"));
}

/// The paths that a broken profile complains about.
fn complaints(change: impl FnOnce(&mut Profile)) -> std::vec::Vec<String> {
    complaints_of(stm32f767(), change)
}

fn complaints_of(mut profile: Profile, change: impl FnOnce(&mut Profile)) -> std::vec::Vec<String> {
    change(&mut profile);
    profile.validate().into_iter().map(|ProfileError { path, .. }| path).collect()
}

#[test]
fn every_rule_of_pipeline_and_branches_refuses() {
    assert_eq!(complaints(|p| p.pipeline.width.value = 3), ["pipeline.width"]);
    assert_eq!(complaints(|p| p.pipeline.alu.value.issue = 0), ["alu"]);
    assert_eq!(complaints(|p| p.pipeline.alu.value.issue = 2), ["alu"]);
    assert_eq!(complaints(|p| p.branch.entries.as_mut().unwrap().value = 48), ["branch.entries"]);
    for ways in [0, 3, 16] {
        assert_eq!(complaints(|p| p.branch.ways.as_mut().unwrap().value = ways), ["branch.ways"]);
    }
    let banks = |value| move |p: &mut Profile| p.pipeline.load_banks.as_mut().unwrap().value = value;
    assert_eq!(complaints(banks(1)), ["pipeline.load_banks"]);
    let late = |value| move |p: &mut Profile| p.pipeline.load_late.as_mut().unwrap().value = value;
    assert_eq!(complaints(late(0)), ["pipeline.load_late"]);
    let store = |value| move |p: &mut Profile| p.pipeline.store_load.as_mut().unwrap().value = value;
    assert_eq!(complaints(store(5)), ["pipeline.store_load"]);
    let flags = |value| move |p: &mut Profile| p.pipeline.flags_ahead.as_mut().unwrap().value = value;
    assert_eq!(complaints(flags(9)), ["pipeline.flags_ahead"]);
    assert_eq!(complaints(|p| p.pipeline.flags_ahead = None), ["pipeline.alu_early", "branch.mispredict_early"]);
    let early = |value| move |p: &mut Profile| p.branch.mispredict_early.as_mut().unwrap().value = value;
    assert_eq!(complaints(early(9)), ["branch.mispredict_early"]);
    assert_eq!(complaints(|p| p.pipeline.alu_early.as_mut().unwrap().value.issue = 2), ["alu_early"]);
    assert_eq!(
        complaints(|p| p.pipeline.window = Some(super::Param { value: 8, ..p.branch.ways.clone().unwrap() })),
        ["pipeline.window"]
    );
    let stack = |value| {
        move |p: &mut Profile| p.branch.return_stack = Some(super::Param { value, ..p.branch.entries.clone().unwrap() })
    };
    assert_eq!(complaints(stack(0)), ["branch.return_stack"]);
    assert_eq!(complaints(stack(17)), ["branch.return_stack"]);
}

#[test]
fn every_rule_refuses() {
    let find = |p: &mut Profile, kind| p.memory.iter().position(|m| m.kind == kind).unwrap();
    assert_eq!(complaints(|p| p.core_clock.source = "I think".into()), ["core_clock"]);
    assert_eq!(complaints(|p| p.core_clock.source = "manual: ".into()), ["core_clock"]);
    assert_eq!(complaints(|p| p.core_clock.unit = super::Unit::Count), ["core_clock"]);
    assert_eq!(complaints(|p| p.core_clock.value = 0), ["core_clock"]);
    assert_eq!(complaints(|p| p.core_clock.value = 1 << 32), ["core_clock"]);
    assert_eq!(complaints(|p| p.dcache.as_mut().unwrap().ways.value = 3), ["dcache"]);
    assert_eq!(complaints(|p| p.icache.as_mut().unwrap().line.value = 64), ["icache.line"]);
    assert_eq!(complaints(|p| p.bus.store_buffer.value = 0), ["bus.store_buffer"]);
    assert_eq!(complaints(|p| p.memory[0].capacity.value = 0), ["memory.itcm.capacity"]);
    assert_eq!(complaints(|p| p.memory[0].cacheable.value = true), ["memory.itcm.cacheable"]);
    assert_eq!(complaints(|p| p.memory[0].name = "dtcm".into()), ["memory.dtcm.name"]);
    assert_eq!(
        complaints(|p| p.memory[0].capacity.value = 3 << 20),
        ["memory.flash.capacity", "memory.flash.board_capacity"][..1]
    );
    assert_eq!(complaints(|p| p.memory[2].latency = p.memory[1].latency.clone()), ["memory.dtcm.latency"]);
    let sram = |p: &mut Profile| find(p, MemoryKind::Sram);
    let sdram = |p: &mut Profile| find(p, MemoryKind::Sdram);
    assert_eq!(
        complaints(|p| {
            let i = sram(p);
            p.memory[i].latency = None;
        }),
        ["memory.sram.latency"]
    );
    assert_eq!(
        complaints(|p| {
            let (i, j) = (sram(p), sdram(p));
            p.memory[i].rows = p.memory[j].rows.clone();
        }),
        ["memory.sram.rows"]
    );
    assert_eq!(
        complaints(|p| {
            let i = sram(p);
            p.memory[i].art = p.memory[1].art.clone();
        }),
        ["memory.sram.art"]
    );
    assert_eq!(
        complaints(|p| {
            let i = sdram(p);
            p.memory[i].rows.as_mut().unwrap().row.value = 1000;
        }),
        ["memory.sdram.rows.row"]
    );
    assert_eq!(
        complaints(|p| {
            let i = sdram(p);
            p.memory[i].rows.as_mut().unwrap().bank.value = 1 << 20;
        }),
        ["memory.sdram.rows.bank"]
    );
    assert_eq!(
        complaints(|p| {
            let i = sdram(p);
            p.memory[i].latency.as_mut().unwrap().beat.value = 3;
        }),
        ["memory.sdram.latency.beat"]
    );
    assert_eq!(
        complaints(|p| {
            let i = sdram(p);
            p.memory[i].board_base.value = 0xFFFF_0000;
        }),
        ["memory.sdram.board_base"]
    );
    assert_eq!(complaints(|p| p.memory[1].art.as_mut().unwrap().lines.value = 256), ["memory.flash.art.lines"]);
}

#[test]
fn every_parameter_is_listed_with_its_source() {
    let profile = stm32f767();
    let listed = profile.parameters();
    assert_eq!(listed.len(), text().matches("source = \"").count());
    assert!(listed.iter().any(|p| p.path == "memory.sdram.rows.miss" && p.source.contains("W9825G6KH")));
}

/// Parameters of one model are refused for another; the shapes of the application core are checked.
#[test]
fn the_rules_for_application_cores_refuse() {
    let of = |change: fn(&mut Profile)| complaints_of(xc7z020(), change);
    let only_m = ["exception.tail_chain", "exception.lazy_fp", "exception.fp_frame"];
    let mut expected = std::vec!["application", "mpu_check"];
    expected.extend(only_m);
    expected.push("memory.ocm.interface");
    assert_eq!(of(|p| p.model = Model::Armv7M), expected);
    assert_eq!(of(|p| p.application = None), ["application"]);
    assert_eq!(complaints(|p| p.mpu_check = None), ["mpu_check"]);
    assert_eq!(of(|p| p.mpu_check = stm32f767().mpu_check), ["mpu_check"]);
    let mmu = "application.mmu";
    assert_eq!(
        of(|p| p.application.as_mut().unwrap().mmu.main_entries.value = 96),
        [mmu.to_string() + ".main_entries"]
    );
    assert_eq!(of(|p| p.application.as_mut().unwrap().mmu.micro_data.value = 0), [mmu.to_string() + ".micro_data"]);
    assert_eq!(
        of(|p| p.application.as_mut().unwrap().mmu.micro_instruction.value = 65),
        [mmu.to_string() + ".micro_instruction"]
    );
    assert_eq!(of(|p| p.application.as_mut().unwrap().mmu.lock_entries.value = 9), [mmu.to_string() + ".lock_entries"]);
    assert_eq!(
        of(|p| p.application.as_mut().unwrap().mmu.walk_level.value = 100_001),
        [mmu.to_string() + ".walk_level"]
    );
    assert_eq!(of(|p| p.application.as_mut().unwrap().l2.cache.ways.value = 7), ["application.l2.cache"]);
    assert_eq!(of(|p| p.application.as_mut().unwrap().l2.cache.line.value = 64), ["application.l2.cache.line"]);
    assert_eq!(of(|p| p.application.as_mut().unwrap().l2.latency.beat.value = 3), ["application.l2.latency.beat"]);
    assert_eq!(of(|p| p.application.as_mut().unwrap().prefetch.streams.value = 0), ["application.prefetch.streams"]);
    assert_eq!(of(|p| p.application.as_mut().unwrap().prefetch.block.value = 48), ["application.prefetch.block"]);
}

#[test]
fn a_core_of_an_unknown_model_is_refused() {
    let text = text().replace("model = \"armv7-m\"", "model = \"rv32\"");
    let refused = toml::from_str::<Profile>(&text).unwrap_err().to_string();
    assert!(refused.contains("unknown variant `rv32`, expected one of `armv7-m`, `armv8-m`, `armv7-a`"), "{refused}");
}

#[test]
fn a_model_is_built_only_for_its_kind_of_core() {
    let refused = crate::Machine::new(&xc7z020()).unwrap_err();
    assert_eq!(refused[0].path, "model");
    let refused = crate::application::MemorySystem::new(&stm32f767()).unwrap_err();
    assert_eq!(refused[0].path, "model");
}

#[test]
fn the_application_core_is_the_one_of_the_paper() {
    let profile = xc7z020();
    assert_eq!(profile.parameters().len(), application_text().matches("source = \"").count());
    let core = profile.application.as_ref().unwrap();
    let (mmu, dcache) = (&core.mmu, profile.dcache.as_ref().unwrap());
    assert_eq!((mmu.micro_instruction.value, mmu.micro_data.value, mmu.lock_entries.value), (32, 32, 4));
    assert_eq!((mmu.main_entries.value, mmu.main_ways.value), (128, 2));
    assert_eq!((core.l2.cache.size.value, core.l2.cache.ways.value), (512 << 10, 8));
    assert_eq!((dcache.size.value, dcache.ways.value), (32 << 10, 4));
    assert_eq!((name(&profile, 0xFFFC_0000), name(&profile, 0xFFFF_FFFF)), (Some("ocm"), Some("ocm")));
    assert_eq!(
        (name(&profile, 0x0), name(&profile, 0x3FFF_FFFF), name(&profile, 0x4000_0000)),
        (Some("ddr"), Some("ddr"), None)
    );
    assert_eq!(name(&profile, 0xF8F0_2100), Some("private"));
}
