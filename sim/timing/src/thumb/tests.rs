use std::format;
use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;

use super::classify;
use crate::insn::{Class, Flags, InsnInfo, RegSet};

/// Encoding, assembly and classification of one instruction of each kind; the encodings are an assembler's.
const TABLE: &str = include_str!("table.tsv");

fn bytes(hex: &str) -> Vec<u8> {
    hex.split(' ').flat_map(|half| u16::from_str_radix(half, 16).unwrap().to_le_bytes()).collect()
}

fn set(registers: RegSet) -> String {
    let name = |n: usize| match n {
        13 => "sp".into(),
        14 => "lr".into(),
        15 => "pc".into(),
        16 => "f".into(),
        32.. => format!("s{}", n - 32),
        _ => format!("r{n}"),
    };
    registers.indices().map(name).collect::<Vec<String>>().join(",")
}

/// A classification as the table writes it: empty parts are left out.
pub(crate) fn describe(insn: &InsnInfo) -> String {
    let mut text = format!("{:?}", insn.class);
    let InsnInfo { reads, sums, early, index, writes, base_update, .. } = *insn;
    let needed = [("reads", reads), ("sums", sums), ("early", early), ("index", index)];
    let parts = needed.into_iter().chain([("writes", writes), ("base", base_update)]);
    for (name, registers) in parts {
        if !registers.is_empty() {
            text += &format!(" {name}={}", set(registers));
        }
    }
    if insn.count > 0 {
        text += &format!(" count={}", insn.count);
    }
    if let Some(place) = insn.based {
        text += &format!(" word={}{:+}", place.base, place.words);
    }
    if let Some(target) = insn.target {
        text += &format!(" target={target}");
    }
    for (flag, name) in [
        (Flags::BRANCH, "branch"),
        (Flags::CONDITIONAL, "conditional"),
        (Flags::LINK, "link"),
        (Flags::RETURN, "return"),
        (Flags::INDIRECT, "indirect"),
        (Flags::LOAD, "load"),
        (Flags::STORE, "store"),
        (Flags::FP, "fp"),
        (Flags::SINGLE, "single"),
        (Flags::SHIFT, "shift"),
    ] {
        if insn.flags.has(flag) {
            text += &format!(" {name}");
        }
    }
    text
}

#[test]
fn every_kind_of_instruction_is_classified() {
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (hex, assembly, expected) = (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
        let code = bytes(hex);
        let insn = classify(&code);
        assert_eq!(describe(&insn), expected, "{assembly}");
        assert_eq!(usize::from(insn.size), code.len(), "{assembly}");
    }
}

#[test]
fn too_few_bytes_are_no_instruction() {
    for short in [&[][..], &[0x00], &bytes("e938")] {
        assert_eq!(classify(short).class, Class::Undefined);
    }
    assert_eq!(classify(&bytes("e938")).size, 4);
    assert_eq!(classify(&bytes("bf00 ffff")).class, Class::Nop, "what follows does not matter");
}

#[test]
fn undefined_encodings_are_undefined() {
    for hex in ["b6a0", "ba80", "e800 0000", "f000 c000", "f860 1000", "fb90 f0e0", "ec00 0a00"] {
        assert_eq!(classify(&bytes(hex)).class, Class::Undefined, "{hex}");
    }
}

/// The classification of two half-words that look like SG or TT, and are not: a load of two registers, and an exclusive store.
#[test]
fn what_only_resembles_the_security_extension_is_not_of_it() {
    for (hex, class) in [
        ("e97f e97e", Class::LoadMultiple),
        ("e842 f101", Class::StoreExclusive),
        ("e842 1100", Class::StoreExclusive),
        ("e8d2 1fbf", Class::Undefined),
        ("e8c2 1f7f", Class::Undefined),
    ] {
        assert_eq!(classify(&bytes(hex)).class, class, "{hex}");
    }
}

/// The later of the two execute stages of a Cortex-M33 computes these, and not the other instructions of their class.
#[test]
fn parallel_arithmetic_is_told_from_bit_fields() {
    for hex in ["fa82 f143", "eac2 0103", "fa52 f183", "fa82 f183"] {
        assert!(classify(&bytes(hex)).flags.has(Flags::PARALLEL), "uadd8, pkhbt, uxtab, qadd: {hex}");
    }
    for hex in ["fa1f f889", "f3c2 01c3", "f362 01c6", "b2d1", "fab2 f182", "fa92 f182"] {
        assert!(!classify(&bytes(hex)).flags.has(Flags::PARALLEL), "uxth, ubfx, bfi, uxtb, clz, rev: {hex}");
    }
}

proptest! {
    /// Whatever the bytes: no panic, the length the architecture gives, consistent properties.
    #[test]
    fn any_encoding_is_consistent(first in any::<u16>(), second in any::<u16>()) {
        let code = [first.to_le_bytes(), second.to_le_bytes()].concat();
        let insn = classify(&code);
        prop_assert_eq!(insn.size, if first >> 11 >= 0b11101 { 4 } else { 2 });
        prop_assert!(!insn.flags.has(Flags::CONDITIONAL) || insn.is_branch());
        prop_assert!(!insn.flags.has(Flags::RETURN) || insn.is_branch());
        prop_assert!(insn.target.is_none() || !insn.flags.has(Flags::INDIRECT));
        if insn.writes.has(RegSet::PC) {
            prop_assert!(insn.is_branch());
        }
        if matches!(insn.class, Class::Load | Class::LoadNarrow | Class::LoadMultiple | Class::FpLoad) {
            prop_assert!(insn.flags.has(Flags::LOAD) && !insn.flags.has(Flags::STORE));
        }
    }
}
