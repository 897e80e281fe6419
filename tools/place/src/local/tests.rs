use super::of;
use crate::elf::{Program, Section, Symbol};
use crate::isa::Isa;
use crate::placed::ImageSizes;

const CODE: u32 = 0x8000_1000;
const DATA: u32 = 0x8040_0000;

fn section(name: &str, (address, bytes): (u32, u32), executable: bool, of_threads: bool) -> Section {
    Section {
        name: name.into(),
        kind: 1,
        address,
        bytes,
        offset: 0,
        allocated: true,
        writable: !executable,
        executable,
        in_file: true,
        compressed: false,
        of_threads,
        align: 4,
    }
}

fn symbol(name: &str, value: u32, section: Option<usize>) -> Symbol {
    Symbol { name: name.into(), value, bytes: 0, section, absolute: section.is_none(), named: true }
}

/// A program with 20 bytes of thread-local variables, 8 of which are in the file.
fn program(triple: &str) -> Program {
    Program {
        name: "own".into(),
        isa: Isa::of_target(triple).expect("there is a table"),
        file: Vec::new(),
        sections: vec![
            section(".text", (CODE, 0x100), true, false),
            section(".tdata", (DATA, 8), false, true),
            section(".tbss", (DATA + 8, 12), false, true),
        ],
        symbols: vec![
            symbol("__cofferdam_local_begin", CODE + 0x40, Some(0)),
            symbol("__cofferdam_local_bytes", 32, None),
        ],
        relocations: Vec::new(),
        code: Default::default(),
        data: Default::default(),
        entry: CODE,
        sizes: ImageSizes::default(),
        local: None,
    }
}

/// The registers t0 and t1 behind the first instructions, and where the last one leads (Unprivileged ISA, RV32I).
fn performed(words: [u32; 4]) -> [u32; 3] {
    let mut registers = [0u32; 32];
    let place = |shift: u32, word: u32| (word >> shift & 31) as usize;
    let signed = |word: u32| (word as i32 >> 20) as u32;
    for word in &words[..3] {
        let rd = place(7, *word);
        match word & 0x7f {
            0x37 => registers[rd] = word & 0xffff_f000,
            0x13 => registers[rd] = registers[place(15, *word)].wrapping_add(signed(*word)),
            other => panic!("{other:#x}"),
        }
    }
    let jump = words[3];
    assert_eq!((jump & 0x7f, place(7, jump)), (0x67, 0));
    [registers[5], registers[6], registers[place(15, jump)].wrapping_add(signed(jump))]
}

#[test]
fn a_thread_comes_to_the_function_with_its_entry_in_a_register() {
    let local = of(&program("riscv32imac-unknown-none-elf")).unwrap().unwrap();
    assert_eq!((local.bytes, local.thread, local.gate), (32, CODE + 0x40, CODE + 0x40));
    for entry in [CODE, CODE + 0x7fe, CODE + 0x800, CODE + 0xffe, 0x8fff_f800, 0xffff_fffe] {
        for function in [CODE + 0x40, CODE + 0x7fc, CODE + 0x800, CODE + 0x1804] {
            let [_, told, led] = performed((local.through)(entry, function));
            assert_eq!((told, led), (entry, function), "{entry:#x} {function:#x}");
        }
    }
}

#[test]
fn a_program_whose_threads_cannot_get_theirs_is_refused() {
    let spoilt = |spoil: &dyn Fn(&mut Program)| {
        let mut program = program("riscv32imac-unknown-none-elf");
        spoil(&mut program);
        of(&program).map(|local| local.is_some()).map_err(|error| error.to_string())
    };
    assert_eq!(spoilt(&|_| {}), Ok(true));
    for (spoil, words) in [
        ((&|program: &mut Program| program.sections[1].align = 32) as &dyn Fn(&mut Program), "a multiple of 32 bytes"),
        (&|program| program.sections[2].bytes = 25, "have 33 bytes"),
        (&|program| program.symbols[1].value = 24, "is 24"),
        (&|program| program.symbols[1].value = 1 << 21, "is 2097152"),
        (&|program| drop(program.symbols.pop()), "is 0"),
        (&|program| drop(program.symbols.remove(0)), "no symbol `__cofferdam_local_begin`"),
        (&|program| program.symbols[0].value = DATA, "is no function"),
    ] {
        let said = spoilt(spoil).expect_err(words);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_program_without_them_begins_at_its_entries() {
    let mut without = program("riscv32imac-unknown-none-elf");
    without.sections.truncate(1);
    assert!(of(&without).unwrap().is_none());
    // On another processor programs see to their variables themselves.
    assert!(of(&program("thumbv7em-none-eabihf")).unwrap().is_none());
}

/// A program with constructors, and with the functions of the run-time or without.
fn constructed(triple: &str, functions: bool) -> Program {
    let mut program = program(triple);
    program.symbols.push(symbol("__init_array_start", DATA + 0x40, Some(1)));
    program.symbols.push(symbol("__init_array_end", DATA + 0x44, Some(1)));
    if functions {
        program.symbols.push(symbol("__cofferdam_thread_begin", CODE + 0x51, Some(0)));
        program.symbols.push(symbol("__cofferdam_gate_begin", CODE + 0x61, Some(0)));
    }
    program
}

#[test]
fn threads_and_gates_of_a_program_with_constructors_begin_elsewhere() {
    for (triple, bytes) in [("thumbv7em-none-eabihf", 0), ("riscv32imac-unknown-none-elf", 32)] {
        let local = of(&constructed(triple, true)).unwrap().unwrap();
        assert_eq!((local.bytes, local.thread, local.gate), (bytes, CODE + 0x51, CODE + 0x61));
    }
    assert!(of(&constructed("thumbv7em-none-eabihf", false)).unwrap().is_none());
    let local = of(&constructed("riscv32imac-unknown-none-elf", false)).unwrap().unwrap();
    assert_eq!(local.thread, CODE + 0x40);
}

/// Instructions as GNU as 2.40 makes them.
#[test]
fn code_for_arm_leads_to_the_function_in_the_state_of_the_entry() {
    let through = Isa::of_target("thumbv7em-none-eabihf").unwrap().through;
    // movw ip, #0x5679; movt ip, #0x1234; ldr.w pc, [pc, #0]; .word 0x16d00051
    assert_eq!(through(0x1234_5679, 0x16d0_0051), [0x6c79_f245, 0x2c34_f2c1, 0xf000_f8df, 0x16d0_0051]);
    // movw ip, #0x5678; movt ip, #0x1234; ldr pc, [pc, #-4]; .word 0x16d00050
    assert_eq!(through(0x1234_5678, 0x16d0_0050), [0xe305_c678, 0xe341_c234, 0xe51f_f004, 0x16d0_0050]);
}
