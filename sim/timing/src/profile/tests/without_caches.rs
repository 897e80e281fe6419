//! Chips without caches, prediction and double precision.

use std::string::ToString;

use super::{complaints, complaints_of, name, profile, xc7z020};
use crate::profile::{Interface, Model, Pairing, Param, Profile, Unit};

pub(crate) fn lpc55s69() -> Profile {
    toml::from_str(&profile("lpc55s69.toml")).unwrap()
}

fn an505() -> Profile {
    toml::from_str(&profile("an505-8m.toml")).unwrap()
}

fn of(change: impl FnOnce(&mut Profile)) -> std::vec::Vec<std::string::String> {
    complaints_of(lpc55s69(), change)
}

fn param<T>(value: T, unit: Unit) -> Param<T> {
    Param { value, unit, source: "assumption: for this test".into() }
}

#[test]
fn profiles_without_caches_are_valid() {
    for (profile, text) in [(lpc55s69(), profile("lpc55s69.toml")), (an505(), profile("an505-8m.toml"))] {
        assert_eq!(profile.validate(), []);
        assert_eq!((profile.model, profile.line_bytes()), (Model::Armv8M, 16));
        assert!(profile.icache.is_none() && profile.dcache.is_none() && profile.branch.entries.is_none());
        assert_eq!(profile.parameters().len(), text.matches("source = \"").count());
        assert_eq!(profile.core_clock.value, 150_000_000);
    }
}

#[test]
fn both_addresses_of_a_memory_belong_to_it() {
    let profile = lpc55s69();
    for (addr, expected) in [
        (0x0000_0000, Some("flash")),
        (0x0009_D7FF, Some("flash")),
        (0x0009_D800, None),
        (0x0020_0000, Some("sramx")),
        (0x0020_8000, None),
        (0x1000_0000, Some("flash")),
        (0x1009_D800, None),
        (0x1020_7FFF, Some("sramx")),
        (0x2000_0000, None),
        (0x2804_3FFF, Some("sram")),
        (0x3800_0000, Some("sram")),
        (0x3804_4000, None),
        (0x4000_0000, Some("peripherals")),
        (0x5FFF_FFFF, Some("peripherals")),
        (0xE002_E010, Some("private")),
    ] {
        assert_eq!(name(&profile, addr), expected, "{addr:#x}");
    }
    assert_eq!(name(&an505(), 0x383F_FFFF), Some("sram"));
    assert_eq!(name(&an505(), 0x101F_FFFF), Some("flash"));
}

/// The kernel and what the boards' files say of memory are the same for both, but for the memory that only one has.
#[test]
fn the_board_without_a_chip_has_the_chips_memories() {
    let places = |profile: &Profile| {
        let memories = profile.memory.iter().filter(|memory| memory.name != "psram");
        memories
            .map(|m| (m.name.to_string(), m.kind, m.board_base.value, m.chip_base.value))
            .collect::<std::vec::Vec<_>>()
    };
    assert_eq!(places(&lpc55s69()), places(&an505()));
}

#[test]
fn a_core_has_what_belongs_to_caches_if_it_has_caches() {
    assert_eq!(of(|p| p.bus.line = None), ["bus.line"]);
    for bytes in [4, 24, 256] {
        assert_eq!(of(|p| p.bus.line.as_mut().unwrap().value = bytes), ["bus.line"]);
    }
    assert_eq!(complaints(|p| p.bus.line = Some(param(32, Unit::Bytes))), ["bus.line"]);
    assert_eq!(of(|p| p.bus.maintenance = Some(param(3, Unit::Cycles))), ["bus.maintenance"]);
    assert_eq!(complaints(|p| p.bus.maintenance = None), ["bus.maintenance"]);
    assert_eq!(of(|p| p.memory[0].interface = Interface::Axi), ["memory.sramx.interface"]);
    assert_eq!(of(|p| p.memory[0].cacheable.value = true), ["memory.sramx.board_alias", "memory.sramx.cacheable"]);
    assert_eq!(complaints_of(xc7z020(), |p| p.icache = None), ["icache"]);
    assert_eq!(complaints_of(xc7z020(), |p| p.dcache = None), ["dcache"]);
    assert_eq!(complaints(|p| p.icache = None), [""; 0], "one cache alone has a line, too");
}

#[test]
fn a_core_predicts_or_does_not() {
    assert_eq!(of(|p| p.branch.ways = Some(param(1, Unit::Count))), ["branch.ways"]);
    assert_eq!(of(|p| p.branch.return_stack = Some(param(8, Unit::Count))), ["branch.return_stack"]);
    assert_eq!(complaints(|p| p.branch.ways = None), ["branch.ways"]);
    let unpredicted = |p: &mut Profile| (p.branch.entries, p.branch.ways, p.branch.return_stack) = (None, None, None);
    assert_eq!(complaints_of(xc7z020(), unpredicted), ["branch.entries"]);
}

#[test]
fn narrow_issue_has_its_rules() {
    assert_eq!(of(|p| p.pipeline.width.value = 1), ["pipeline.pairing"]);
    assert_eq!(of(|p| p.pipeline.transfer.as_mut().unwrap().value = 3), ["pipeline.transfer"]);
    assert_eq!(of(|p| p.pipeline.fp_busy.as_mut().unwrap().value = 1), ["pipeline.fp_busy"]);
    assert_eq!(of(|p| p.pipeline.parallel.as_mut().unwrap().value.issue = 2), ["parallel"]);
    let choice = || Some(param(Pairing::FoldedBranches, Unit::Choice));
    assert_eq!(complaints_of(xc7z020(), |p| p.pipeline.pairing = choice()), ["pipeline.pairing"]);
    assert_eq!(complaints_of(xc7z020(), |p| p.pipeline.fp_busy = Some(param(3, Unit::Cycles))), ["pipeline.fp_busy"]);
    assert_eq!(complaints(|p| p.pipeline.fp_divide64 = None), ["pipeline.fp_alu64"]);
    assert_eq!(of(|p| p.pipeline.fp_alu64 = Some(p.pipeline.fp_alu32.clone())), ["pipeline.fp_alu64"]);
}

#[test]
fn an_alias_has_addresses_of_its_own() {
    let alias = |base: u64| move |p: &mut Profile| p.memory[2].board_alias.as_mut().unwrap().value = base;
    assert_eq!(of(alias(0x3800_0000)), ["memory.sram.board_alias"], "its own");
    assert_eq!(of(alias(0x1000_0000)), ["memory.sram.board_alias"], "those of the flash");
    assert_eq!(of(alias(0x0020_0000)), ["memory.sram.board_alias"], "the alias of SRAM X");
    assert_eq!(of(alias(0xFFFF_F000)), ["memory.sram.board_alias"], "beyond 32 bits");
}

#[test]
fn keys_that_are_not_known_and_models_that_do_not_fit_are_refused() {
    let refused = |from: &str, to: &str| {
        let text = profile("lpc55s69.toml");
        assert!(text.contains(from), "{from}");
        toml::from_str::<Profile>(&text.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert!(refused("\"folded-branches\"", "\"any\"").contains("unknown variant `any`"));
    assert!(refused("interface = \"ahb\"", "interface = \"ahb-lite\"").contains("unknown variant `ahb-lite`"));
    assert!(refused("name = \"lpc55s69\"", "name = \"lpc55s69\"\n[cache]").contains("unknown field `cache`"));
    assert_eq!(of(|p| p.exception.tail_chain = None), ["exception.tail_chain"]);
    assert_eq!(crate::application::MemorySystem::new(&lpc55s69()).unwrap_err()[0].path, "model");
}
