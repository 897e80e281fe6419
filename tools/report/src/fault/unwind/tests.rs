use std::collections::BTreeMap;

use gimli::{DebugFrame, EndianSlice, LittleEndian};
use proptest::prelude::*;
use record::{Architecture, FaultContext, Range};

use super::{Code, MAX_CALLS, Place, Walk, walk};

/// Code from here on: 0x100 bytes, all `nop` but for calls.
const TEXT: u32 = 0x1000;
const TEXT_BYTES: u32 = 0x100;
const STACK: u32 = 0x2000;

struct Program {
    section: Vec<u8>,
    text: Vec<u8>,
}

struct View<'a>(DebugFrame<EndianSlice<'a, LittleEndian>>, &'a [u8]);

impl Code for View<'_> {
    fn frames(&self) -> &DebugFrame<EndianSlice<'_, LittleEndian>> {
        &self.0
    }

    fn bytes(&self, address: u32, len: usize) -> Option<&[u8]> {
        self.1.get(address.checked_sub(TEXT)? as usize..)?.get(..len)
    }
}

/// A description of frames: one function from [`TEXT`] on, whose frame has 16 bytes from its fourth byte on, the link register uppermost.
fn program() -> Program {
    let mut section = Vec::new();
    let mut entry = |content: &[u8]| {
        let mut content = content.to_vec();
        content.resize(content.len().next_multiple_of(4), 0);
        section.extend((content.len() as u32).to_le_bytes());
        section.extend(content);
    };
    // Version 1, no augmentation, code by 1, data by -4, return address in r14; the frame's address is r13 + 0.
    entry(&[0xff, 0xff, 0xff, 0xff, 1, 0, 1, 0x7c, 14, 0x0c, 13, 0]);
    let mut function = vec![0, 0, 0, 0];
    function.extend(TEXT.to_le_bytes());
    function.extend(TEXT_BYTES.to_le_bytes());
    // Behind 4 bytes: the frame has 16, the link register is at -4.
    function.extend([0x44, 0x0e, 16, 0x8e, 1]);
    entry(&function);
    let mut text: Vec<u8> = (0..TEXT_BYTES / 2).flat_map(|_| 0xbf00_u16.to_le_bytes()).collect();
    // Calls (`blx r3`) in front of 0x1020 and 0x1040.
    for call in [0x1e_usize, 0x3e] {
        text[call..call + 2].copy_from_slice(&0x4798_u16.to_le_bytes());
    }
    Program { section, text }
}

fn walked(context: &FaultContext) -> Walk {
    let Program { section, text } = program();
    let mut frames = DebugFrame::new(&section, LittleEndian);
    frames.set_address_size(4);
    walk(&View(frames, &text), context, Architecture::Armv7M)
}

fn context(pc: Option<u32>, link: Option<u32>, stack: &[u32]) -> FaultContext {
    let mut registers = vec![Some(0); 16];
    (registers[13], registers[14], registers[15]) = (Some(STACK), link, pc);
    let stack = stack.iter().flat_map(|word| word.to_le_bytes()).collect();
    FaultContext { registers, stack, stack_at: STACK, ..FaultContext::default() }
}

fn addresses(walk: &Walk) -> Vec<u32> {
    walk.places.iter().map(|place| place.address).collect()
}

#[test]
fn calls_are_followed_to_the_entry() {
    let found = walked(&context(Some(0x1010), None, &[0, 0, 0, 0x1021, 0, 0, 0, 0x1041, 0, 0, 0, 0]));
    assert_eq!(addresses(&found), [0x1010, 0x1020, 0x1040]);
    assert_eq!((found.places[1].look_up, found.end), (0x101f, None));
}

#[test]
fn before_anything_was_pushed_the_link_register_says_who_called() {
    let found = walked(&context(Some(0x1002), Some(0x1021), &[0, 0, 0, 0]));
    assert_eq!(addresses(&found), [0x1002, 0x1020]);
}

#[test]
fn a_jump_to_nowhere_is_told_by_its_link_register() {
    let found = walked(&context(Some(0), Some(0x1041), &[0, 0, 0, 0]));
    assert_eq!(found, Walk { places: vec![Place { address: 0x1040, look_up: 0x103f, exact: true }], end: None });
    let lost = walked(&context(Some(0), Some(0x1043), &[0, 0, 0, 0]));
    assert_eq!((lost.places.len(), lost.end.is_some()), (0, true));
}

#[test]
fn a_truncated_stack_ends_the_walk_and_says_so() {
    let found = walked(&context(Some(0x1010), None, &[0, 0, 0, 0x1021, 0, 0]));
    assert_eq!(addresses(&found), [0x1010, 0x1020]);
    assert_eq!(found.end.as_deref(), Some("0x201c is beyond the 24 bytes of stack that were recorded"));
    assert_eq!(addresses(&walked(&context(Some(0x1010), None, &[]))), [0x1010]);
}

#[test]
fn a_stack_that_loops_ends_at_the_most_calls() {
    let found = walked(&context(Some(0x1010), None, &[0x1021; 256]));
    assert_eq!((found.places.len(), found.end.as_deref()), (MAX_CALLS, Some("32 calls were followed")));
}

#[test]
fn a_word_that_is_no_code_ends_the_walk_and_is_told() {
    let found = walked(&context(Some(0x1010), None, &[0, 0, 0, 0xdead_beef]));
    assert_eq!(found.end.as_deref(), Some("0xdeadbeef on the stack is no code of the domain"));
}

#[test]
fn where_the_processor_stored_nothing_the_block_that_ran_is_named_and_the_stack_asked() {
    let ran = Range { start: 0x1008, end: 0x1010 };
    let stack = [0, 0, 0, 0x1021, 0, 0, 0, 0];
    let found = walked(&FaultContext { ran, ..context(None, None, &stack) });
    assert_eq!(addresses(&found), [0x1008, 0x1020]);
    assert!(!found.places[0].exact && found.places[1].exact);
    let silent = walked(&FaultContext { ran, ..context(None, None, &[0; 8]) });
    assert_eq!((addresses(&silent), silent.end.is_some()), (vec![0x1008], true));
}

#[test]
fn a_place_without_registers_is_the_only_one() {
    let mut alone = context(Some(0x1010), None, &[]);
    alone.registers[13] = None;
    let found = walked(&alone);
    assert_eq!((addresses(&found), found.end.as_deref()), (vec![0x1010], Some("nothing but the place was recorded")));
}

proptest! {
    /// Whatever a domain leaves behind, and whatever its file says: it ends.
    #[test]
    fn nothing_hostile_stops_the_walk(
        registers in proptest::collection::vec(proptest::option::of(any::<u32>()), 16),
        near in proptest::collection::vec(0x0ff0_u32..0x1110, 0..300),
        damage in proptest::collection::btree_map(0_usize..64, any::<u8>(), 0..8),
        at in any::<u32>(),
        aligned in any::<bool>(),
    ) {
        let Program { mut section, text } = program();
        for (place, value) in &BTreeMap::from_iter(damage) {
            if let Some(byte) = section.get_mut(*place) {
                *byte = *value;
            }
        }
        let mut frames = DebugFrame::new(&section, LittleEndian);
        frames.set_address_size(4);
        let mut context = context(registers[15], registers[14], &near);
        context.registers.copy_from_slice(&registers);
        if aligned {
            (context.registers[13], context.registers[15]) = (Some(STACK), Some(0x1010));
        } else {
            context.stack_at = at;
        }
        prop_assert!(walk(&View(frames, &text), &context, Architecture::Armv7M).places.len() <= MAX_CALLS);
    }
}
