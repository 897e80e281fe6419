use proptest::prelude::*;

use super::classify;
use crate::insn::{Class, Flags};
use crate::thumb::tests::describe;

/// Encoding, assembly and classification of one instruction of each kind; the encodings are an assembler's.
const TABLE: &str = include_str!("table.tsv");

#[test]
fn every_kind_of_instruction_is_classified() {
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (hex, assembly, expected) = (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
        let insn = classify(u32::from_str_radix(hex, 16).unwrap());
        assert_eq!(describe(&insn), expected, "{assembly}");
        assert_eq!(insn.size, 4, "{assembly}");
    }
}

/// The same coprocessor instruction in both instruction sets is the same.
#[test]
fn floating_point_is_as_in_thumb() {
    let word = 0xEE30_0A81u32;
    let thumb = [0x30, 0xEE, 0x81, 0x0A];
    assert_eq!(classify(word), crate::thumb::classify(&thumb));
}

proptest! {
    /// No word breaks it, loads and stores are told by their class, and a condition changes the class of nothing.
    #[test]
    fn any_word_is_something(word: u32) {
        let insn = classify(word);
        prop_assert_eq!(insn.size, 4);
        let memory = insn.flags.has(Flags::LOAD) || insn.flags.has(Flags::STORE);
        let by_class = matches!(
            insn.class,
            Class::Load | Class::LoadNarrow | Class::LoadMultiple | Class::LoadExclusive | Class::Store
                | Class::StoreMultiple | Class::StoreExclusive | Class::FpLoad | Class::FpLoadMultiple | Class::FpStore
                | Class::FpStoreMultiple
        );
        prop_assert_eq!(memory, by_class);
        if word >> 28 < 14 {
            prop_assert_eq!(insn.class, classify(0xE000_0000 | (word & 0x0FFF_FFFF)).class);
        }
    }
}
