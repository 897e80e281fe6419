//! Finished programs: what is known of veneers, words that may be addresses, and moving what was moved before.

use super::{A9, M7, SOURCE, Scratch};
use crate::relocate::relocate;
use crate::{PlaceError, Program, suspects, veneers};

const CODE: u32 = 0x1000_0000;
const DATA: u32 = 0x3000_0000;

#[test]
fn words_and_instructions_that_may_be_addresses_are_named() {
    let scratch = Scratch::new("suspects");
    let source = "int first = 1, data[64]; const unsigned table[] = { 5, 0x10000004, 0x30000020, 7 };
        __asm__(\".text\\n.global by_hand\\n.type by_hand, %function\\n.thumb_func\\nby_hand: movw r3, #0x10\\nmovt r3, #0x3000\\nbx lr\\n\");
        void by_hand(void); int *const named = &data[3];
        void _start(void) { data[0] = first + table[data[1]] + *named; by_hand(); }";
    let found = suspects("a", &scratch.link(source, CODE, DATA, &[])).unwrap();
    let shown: Vec<_> = found.iter().map(|s| (s.within.clone().unwrap(), s.value)).collect();
    assert_eq!(
        shown,
        [(("by_hand".into(), 4), 0x3000_0010), (("table".into(), 4), 0x1000_0004), (("table".into(), 8), 0x3000_0020)]
    );
    assert_eq!(found[1].leads_to.as_ref().map(|(_, from)| *from), Some(4));
    assert_eq!(found[2].leads_to, Some(("data".into(), 0x1c)));
    for processor in [M7, A9] {
        assert_eq!(suspects("a", &scratch.link_for(processor, SOURCE, CODE, DATA, &[])), Ok(Vec::new()));
    }
}

/// `objcopy --remove-section .rel.data`, where a table of addresses is all that is there.
#[test]
fn a_section_whose_relocations_were_removed_is_refused() {
    let scratch = Scratch::new("removed");
    let source = "int value[4]; int *pointers[] = { &value[1], &value[2], value }; void _start(void) { *pointers[value[3]] = 1; }";
    let whole = scratch.link(source, CODE, DATA, &[]);
    assert_eq!(suspects("a", &whole), Ok(Vec::new()));
    for (section, reason) in [(".rel.data", "no relocation names"), (".rel.text", "are missing")] {
        let cut = scratch.without(section);
        let refused = suspects("a", &cut).unwrap_err();
        assert!(refused.to_string().contains(reason), "{section}: {refused}");
    }
}

#[test]
fn veneers_of_two_instructions_are_moved() {
    let scratch = Scratch::new("long");
    let sources = [
        (M7, ".thumb_func\n.global f\nf: movw ip, #5\nmovt ip, #0x1000\nbx ip\n.balign 4\n"),
        (A9, ".global f\nf: movw ip, #4\nmovt ip, #0x1000\nbx ip\n"),
    ];
    for (processor, assembly) in sources {
        let source = format!(
            "int data[9] = {{ 1 }}; void _start(void) {{ data[0]++; }} __asm__(\".text\\n{}\");",
            assembly.replace('\n', "\\n")
        );
        let file = scratch.link_for(processor, &source, CODE, DATA, &[]);
        let program = Program::parse("a", &file).unwrap();
        let [found] = &veneers::addresses(&program)[..] else { panic!("not one veneer") };
        assert_eq!(found.target & !1, 0x1000_0004);
        let moved = relocate(&program, 0x0234_f000, 0x1000).unwrap();
        let there = Program::parse("a", &moved).unwrap();
        assert_eq!(veneers::addresses(&there)[0].target & !1, 0x1234_f004);
        assert_eq!(suspects("a", &file), Ok(Vec::new()));
    }
}

#[test]
fn what_was_moved_can_be_moved_again() {
    let scratch = Scratch::new("again");
    for processor in [M7, A9] {
        let file = scratch.link_for(processor, SOURCE, CODE, DATA, &[]);
        let program = Program::parse("a", &file).unwrap();
        let there = relocate(&program, 0x0021_8000, -0x0fff_0000).unwrap();
        let back = relocate(&Program::parse("a", &there).unwrap(), -0x0021_8000, 0x0fff_0000).unwrap();
        assert!(back == file);
    }
}

#[test]
fn a_branch_to_a_fixed_address_is_refused() {
    let scratch = Scratch::new("rom");
    let source = "void in_rom(void); void _start(void) { in_rom(); }";
    let file = scratch.link(source, CODE, DATA, &["-Wl,--defsym=in_rom=0x10002001"]);
    let refused = relocate(&Program::parse("a", &file).unwrap(), 0x1000, 0x1000).unwrap_err();
    assert!(matches!(refused, PlaceError::Relocation { reason, .. } if reason.contains("move apart")), "{refused}");
}

#[test]
fn alignment_is_kept_or_refused() {
    let scratch = Scratch::new("align");
    let source = "__attribute__((aligned(64))) int data[16] = { 1 }; void _start(void) { data[0]++; }";
    let program = Program::parse("a", &scratch.link(source, CODE, DATA, &[])).unwrap();
    assert_eq!(program.data.align, 64);
    assert!(relocate(&program, 0x1000, 0x40).is_ok());
    assert!(matches!(relocate(&program, 0x1000, 0x20), Err(PlaceError::Alignment { align: 64, .. })));
}

#[test]
fn a_program_says_for_which_processors_it_is() {
    let scratch = Scratch::new("processors");
    let read = |processor| Program::parse("a", &scratch.link_for(processor, SOURCE, CODE, DATA, &[])).unwrap();
    assert_eq!(read(M7).processors(), Some("the microcontroller profile (Cortex-M)"));
    assert_eq!(read(A9).processors(), Some("the application profile (Cortex-A)"));
    let silent = Program::parse("a", &scratch.without(".ARM.attributes")).unwrap();
    assert_eq!(silent.processors(), None);
}
