//! A moved program equals one that is linked at its destination, and no file can make the reader panic.

mod direct;
mod finished;
mod handlers;
mod hostile;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use manifest::resolved::{Item, Memory};
use protect::Span;
use protect::pmsav7::{Pmsav7, cover_count};

use crate::allocate::Space;
use crate::relocate::{moves, relocate};
use crate::{PlaceError, Program, veneers};

const M7: &[&str] = &["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"];
/// Arm state.
const A9: &[&str] = &["-mcpu=cortex-a9", "-marm", "-mfloat-abi=hard", "-mfpu=neon-vfpv3"];
const FLAGS: &[&str] = &["-O1", "-ffreestanding", "-nostdlib"];

/// Words of every kind: literal pools, halves (the slow-flash function), tables of pointers in code and data, relative words, calls
/// that need no change, addresses with an offset.
const SOURCE: &str = r#"
    #ifdef __thumb__
    #define FUNCTION ".thumb_func\n"
    #else
    #define FUNCTION ""
    #endif
    extern int end_of_data[];
    static const char *const names[] = { "one", "two", "three" };
    int words[400] = { 1, 2, 3 };
    int *inside[] = { &words[1], &words[399], end_of_data };
    int zeroes[70];
    static int helper(int x) { return x ? names[x % 3][0] : 7; }
    int (*calls[])(int) = { helper };
    __attribute__((noinline)) int plain(int x) { zeroes[x] = words[x + 2]; return helper(x) + calls[0](x); }
    __asm__(".text\n.balign 4\n.global relative\nrelative: .word words - .\n");
    __asm__(".text\n" FUNCTION ".global halves\nhalves:\n"
            "movw r1, #:lower16:words+1596\nmovw r0, #:lower16:words\nmovt r1, #:upper16:words+1596\nmovt r0, #:upper16:words\n"
            "movw r2, #:lower16:plain\nmovt r2, #:upper16:plain\nbl plain\nbx lr\n");
    /* Halves in two registers, and branches that need a veneer because the state changes. */
    __asm__(".text\n" FUNCTION ".global apart\napart:\nmovw r3, #:lower16:zeroes+4\nmovt r2, #:upper16:zeroes+4\nbx lr\n");
    #ifndef __thumb__
    __asm__(".text\n.thumb\n.thumb_func\n.global other\nother: b plain\n.balign 4\n.arm\n"
            ".global to_other\n.type to_other, %function\nto_other: b other\n");
    #endif
    void _start(void) { for (;;) plain(inside[0][0] + *end_of_data); }
"#;

/// The version of the interface, as the run-time says it.
const NOTE: &str = r#"
    __attribute__((used, section(".note.cofferdam"))) static const struct { unsigned name, description, type; char text[12]; unsigned version; }
        note = { 12, 4, 1, "Cofferdam", @VERSION@ };
"#;

fn script(code: u32, data: u32) -> String {
    format!(
        "ENTRY(_start)\nSECTIONS {{\n . = {code:#x};\n .text : {{ *(.text .text.*) }}\n .rodata : {{ *(.rodata .rodata.*) }}\n \
         . = {data:#x};\n .data : {{ *(.data .data.*) }}\n .bss : {{ *(.bss .bss.*) end_of_data = .; }}\n \
         .note.cofferdam 0 (INFO) : {{ KEEP(*(.note.cofferdam)) }}\n \
         /DISCARD/ : {{ *(.ARM.exidx* .comment .note.GNU-stack) }} }}\n"
    )
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("cofferdam-place-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn link(&self, source: &str, code: u32, data: u32, more: &[&str]) -> Vec<u8> {
        self.link_for(M7, source, code, data, more)
    }

    fn link_for(&self, processor: &[&str], source: &str, code: u32, data: u32, more: &[&str]) -> Vec<u8> {
        let note = format!("{NOTE}\n{source}").replace("@VERSION@", &abi::info::VERSION.to_string());
        fs::write(self.0.join("a.c"), note).unwrap();
        fs::write(self.0.join("a.ld"), script(code, data)).unwrap();
        let run = Command::new("arm-none-eabi-gcc")
            .args(processor)
            .args(FLAGS)
            .args(more)
            .args(["-Wl,-Ta.ld", "-Wl,--emit-relocs", "-Wl,--build-id=none", "a.c", "-o", "a.elf"])
            .current_dir(&self.0)
            .output()
            .expect("arm-none-eabi-gcc is needed for this test");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        fs::read(Path::new(&self.0).join("a.elf")).unwrap()
    }
}

impl Scratch {
    /// The program that was linked last, without one of its sections.
    fn without(&self, section: &str) -> Vec<u8> {
        let arguments = [&format!("--remove-section={section}"), "a.elf", "cut.elf"];
        let status = Command::new("arm-none-eabi-objcopy").args(arguments).current_dir(&self.0).status().unwrap();
        assert!(status.success());
        fs::read(self.0.join("cut.elf")).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_is_moved_equals_what_is_linked_there() {
    let scratch = Scratch::new("move");
    let (code, data) = (0x1000_0000, 0x3000_0000);
    for (processor, more) in
        [(M7, &["-mno-unaligned-access"][..]), (M7, &["-mslow-flash-data"]), (A9, &[]), (A9, &["-O0"])]
    {
        let nominal = scratch.link_for(processor, SOURCE, code, data, more);
        let program = Program::parse("a", &nominal).unwrap();
        // Low halves that carry into the upper ones, and borrow from them.
        for (to_code, to_data) in [(0x0021_8040, 0x2002_fa08), (0x0020_0000, 0x6000_0000), (0x0fff_f000, 0x3000_fff8)] {
            let moved =
                relocate(&program, i64::from(to_code) - i64::from(code), i64::from(to_data) - i64::from(data)).unwrap();
            let linked = scratch.link_for(processor, SOURCE, to_code, to_data, more);
            let there = Program::parse("a", &linked).unwrap();
            assert_eq!(program.bytes_of(&moved, true), there.bytes_of(&linked, true), "code at {to_code:#x}");
            assert_eq!(program.bytes_of(&moved, false), there.bytes_of(&linked, false), "data at {to_data:#x}");
            let again = Program::parse("a", &moved).unwrap();
            assert_eq!((again.code, again.data, again.entry), (there.code, there.data, there.entry));
            for symbol in there.symbols.iter().filter(|s| !s.name.is_empty() && !s.name.starts_with('$')) {
                assert!(
                    again.symbols.iter().any(|s| s.name == symbol.name && s.value == symbol.value),
                    "{}",
                    symbol.name
                );
            }
        }
    }
}

#[test]
fn a_word_that_nothing_names_is_noticed() {
    let scratch = Scratch::new("unnamed");
    let source = "int first = 1, where = WHERE; int data[1]; void _start(void) { data[0] = first + where; }";
    let link = |code: u32, data: u32, more: &str| scratch.link(source, code, data, &[more]);
    let nominal = link(0x1000_0000, 0x3000_0000, "-DWHERE=0x3000");
    assert_eq!(moves("a", &nominal, &link(0x1234_5000, 0x3fed_c000, "-DWHERE=0x3000")), Ok(()));
    let refused = moves("a", &nominal, &link(0x1234_5000, 0x3fed_c000, "-DWHERE=0x3fed"));
    let Err(PlaceError::Unnamed { address, .. }) = refused else { panic!("{refused:?}") };
    assert!((0x3000_0000..0x3000_0008).contains(&address), "{address:#x}");
}

#[test]
fn veneers_are_found_and_nothing_else() {
    let scratch = Scratch::new("veneer");
    let found = |processor: &[&str], more: &[&str]| {
        let file = scratch.link_for(processor, SOURCE, 0x1000_0000, 0x3000_0000, more);
        veneers::addresses(&Program::parse("a", &file).unwrap()).len()
    };
    assert_eq!([found(M7, &[]), found(A9, &[]), found(A9, &["-Wl,--pic-veneer"])], [0, 1, 0]);
}

#[test]
fn halves_that_could_belong_to_several_addresses_are_refused() {
    let scratch = Scratch::new("halves");
    let source = "int words[40000] = { 1 };
        __asm__(\".text\\n.thumb_func\\n.global halves\\nhalves:\\nmovw r1, #:lower16:words+40\\nmovw r2, #:lower16:words+32000\\n\"
                \"movt r3, #:upper16:words+40\\nbx lr\\n\");
        void halves(void); void _start(void) { halves(); }";
    let program = Program::parse("a", &scratch.link(source, 0x1000_0000, 0x3000_0000, &[])).unwrap();
    // Both lower halves lead to the same upper one...
    assert!(relocate(&program, 0x100, 0x200).is_ok());
    // ...and here only one of them carries.
    let refused = relocate(&program, 0x100, 0x8400).unwrap_err();
    assert!(matches!(refused, PlaceError::Relocation { reason, .. } if reason.contains("lower half")), "{refused}");
}

/// However far apart they are, halves belong together by symbol and distance from it.
#[test]
fn halves_far_apart_are_paired() {
    let scratch = Scratch::new("far");
    let fillers: String = (0..200).map(|_| "movw r4, #:lower16:other\\nmovt r4, #:upper16:other\\n").collect();
    let source = format!(
        "int words[40000] = {{ 1 }}, other = 2; __asm__(\".text\\n.global halves\\nhalves:\\n\"
         \"movw r1, #:lower16:words\\nmovw r2, #:lower16:words+32000\\nmovw r5, #:lower16:words-32000\\n{fillers}\"
         \"movt r3, #:upper16:words\\nmovt r2, #:upper16:words+32000\\nmovt r6, #:upper16:words-32000\\nbx lr\\n\");
         void halves(void); void _start(void) {{ halves(); }}"
    );
    // Of the three upper halves that of words-32000 is another one; the lower halves of the other two are in other registers.
    let (code, data) = (0x1000_0000, 0x3000_0000);
    let nominal = scratch.link_for(A9, &source, code, data, &[]);
    let program = Program::parse("a", &nominal).unwrap();
    for (to_code, to_data) in [(0x1001_0000, 0x3000_0200), (0x2000_0000, 0x3fed_8000)] {
        let linked = scratch.link_for(A9, &source, to_code, to_data, &[]);
        let there = Program::parse("a", &linked).unwrap();
        let moved = relocate(&program, i64::from(to_code - code), i64::from(to_data - data)).unwrap();
        assert_eq!(program.bytes_of(&moved, true), there.bytes_of(&linked, true), "{to_data:#x}");
    }
    // `words` and `words+32000` get different upper halves, and the register of the one's does not tell.
    let refused = relocate(&program, 0x100, 0x9000).unwrap_err();
    assert!(matches!(refused, PlaceError::Relocation { reason, .. } if reason.contains("lower half")), "{refused}");
}

#[test]
fn position_independent_code_is_refused_with_the_reason() {
    let scratch = Scratch::new("pic");
    let source = "int shared; int *get(void) { return &shared; } void _start(void) { get(); }";
    let file = scratch.link(source, 0x1000_0000, 0x3000_0000, &["-fPIC"]);
    let program = Program::parse("a", &file).unwrap();
    let refused = relocate(&program, 0x100, 0x200).unwrap_err();
    assert!(matches!(refused, PlaceError::Relocation { kind: 26 | 25 | 96, .. }), "{refused}");
}

#[test]
fn a_call_from_code_into_data_is_refused() {
    let scratch = Scratch::new("call");
    let source = "__asm__(\".data\\n.thumb_func\\n.global in_data\\nin_data: bx lr\\n.text\");
        void in_data(void); void _start(void) { in_data(); }";
    let file = scratch.link(source, 0x1000_0000, 0x1000_1000, &[]);
    let program = Program::parse("a", &file).unwrap();
    let refused = relocate(&program, 0x100, 0x200).unwrap_err();
    assert!(matches!(refused, PlaceError::Relocation { reason, .. } if reason.contains("move apart")), "{refused}");
    assert!(relocate(&program, 0x100, 0x100).is_ok());
}

/// Every truncation, and thousands of files with changed bytes, are read or refused, and moved or refused.
#[test]
fn no_damage_makes_the_reader_panic() {
    let scratch = Scratch::new("damage");
    let file = scratch.link(SOURCE, 0x1000_0000, 0x3000_0000, &[]);
    let attempt = |bytes: &[u8]| {
        if let Ok(program) = Program::parse("a", bytes)
            && let Ok(moved) = relocate(&program, 0x1234, -0x5678)
        {
            let _ = (program.bytes_of(&moved, true), program.bytes_of(&moved, false));
        }
    };
    for length in (0..file.len()).step_by(37) {
        attempt(&file[..length]);
    }
    let mut seed = 0x2545_f491u32;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed as usize % below
    };
    let headers = u32::from_le_bytes([file[32], file[33], file[34], file[35]]) as usize;
    for round in 0..6000 {
        let mut bytes = file.clone();
        for _ in 0..=random(3) {
            // Mostly where the structure is.
            let at = if round % 2 == 0 { headers + random(file.len() - headers) } else { random(file.len()) };
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff, random(256) as u8][random(6)];
        }
        attempt(&bytes);
    }
}

#[test]
fn areas_are_one_region_each_and_apart() {
    let memory = Memory {
        name: "sram".into(),
        base: 0x2002_0000,
        bytes: 0x6_0000,
        reserved: 0x120,
        code_page: 1,
        rom: false,
        class: None,
        offset: 0,
        block: None,
        gates: Vec::new(),
    };
    let mut space = Space::new(&memory);
    let mut taken: Vec<(u32, u32)> = vec![(memory.base, memory.reserved)];
    for bytes in [100, 4096, 33, 70_000, 5000, 12_345, 256, 1] {
        let (base, size) = space.area::<Pmsav7>(&Item::Own("x"), bytes, None).unwrap();
        assert!(u64::from(size) >= bytes && base >= memory.base && base + size <= memory.base + memory.bytes);
        assert_eq!(cover_count(Span::new(base, u64::from(size))).unwrap(), 1, "{base:#x} {size}");
        assert!(taken.iter().all(|(other, length)| base + size <= *other || other + length <= base));
        taken.push((base, size));
    }
    assert_eq!(space.used(), taken.iter().map(|(_, size)| u64::from(*size)).sum::<u64>());
    assert!(matches!(space.area::<Pmsav7>(&Item::Own("x"), 0x6_0000, None), Err(PlaceError::Full { .. })));
    assert!(matches!(space.area::<Pmsav7>(&Item::Own("x"), 64, Some(memory.base)), Err(PlaceError::At { .. })));
}
