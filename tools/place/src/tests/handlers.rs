//! A second place for what handlers reach: an independent disassembler finds the same code there, leading to the same.

use std::fs;
use std::process::Command;

use super::Scratch;
use crate::handlers::Reached;
use crate::relocate::{read_word, relocate};
use crate::{PlaceError, Program};

const CODE: u32 = 0x1000_0000;
const DATA: u32 = 0x3000_0000;
const COPY: u32 = 0x0004_0000;
const FLAGS: &[&str] = &["-O2", "-ffunction-sections", "-fdata-sections", "-fno-inline", "-mslow-flash-data"];
const NO_HALVES: &[&str] = &["-O2", "-ffunction-sections", "-fdata-sections", "-fno-inline"];

const SOURCE: &str = r#"
    volatile unsigned count, last[8];
    static unsigned twice(unsigned x) { return 2 * x + count; }
    static unsigned odd(unsigned x) { return twice(x) ^ 0x12345678; }
    static unsigned far_away(unsigned x) { return x - 1; }
    static unsigned (*const calls[])(unsigned) = { twice, odd, twice };
    static const char text[] = "commutation";
    unsigned switched(unsigned x) {
        switch (x) { case 0: return 5; case 1: return count; case 2: return odd(x); case 3: return text[count % 8]; case 4: return last[2]; case 5: return 8; default: return far_away(x); }
    }
    void handler(void) { last[count % 8] = calls[count % 3](count) + switched(count); count++; }
    unsigned only_threads(unsigned x) { return far_away(x) + 3; }
    void _start(void) { for (;;) count += only_threads(count); }
"#;

/// Instructions by address: name, and the address to which it leads.
fn disassembled(arguments: &[&str], scratch: &Scratch) -> Vec<(u32, String, Option<u32>)> {
    let output = Command::new("arm-none-eabi-objdump").args(arguments).current_dir(&scratch.0).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let address = u32::from_str_radix(fields.next()?.trim().strip_suffix(':')?, 16).ok()?;
        let (_, name, operands) = (fields.next()?, fields.next()?, fields.next().unwrap_or_default());
        let leads =
            name.starts_with('b') && !name.starts_with("bfi") && !name.starts_with("bic") || name.starts_with("cb");
        let target = operands
            .split([',', ' '])
            .filter_map(|word| u32::from_str_radix(word.trim_start_matches("0x"), 16).ok())
            .next_back();
        Some((address, name.to_owned(), target.filter(|_| leads)))
    });
    lines.collect()
}

#[test]
fn the_copy_leads_where_the_original_leads() {
    for flags in [FLAGS, NO_HALVES] {
        let scratch = Scratch::new(&format!("copy{}", flags.len()));
        let file = scratch.link(SOURCE, CODE, DATA, flags);
        let program = Program::parse("a", &file).unwrap();
        let reached = Reached::from(&program, &["handler"], false).unwrap();
        let (code, data) = (0x0021_0000, -0x0800_0000);
        let moved = relocate(&program, code, data).unwrap();
        let copy = reached.copy(&moved, COPY).unwrap();
        fs::write(scratch.0.join("copy.bin"), &copy).unwrap();
        let own = disassembled(&["-d", "a.elf"], &scratch);
        let theirs = ["-D", "-b", "binary", "-marm", "-Mforce-thumb", &format!("--adjust-vma={COPY:#x}"), "copy.bin"];
        let theirs = disassembled(&theirs, &scratch);
        let mut branches = 0;
        for (address, name, target) in own.iter().filter(|(_, name, _)| !name.starts_with('.')) {
            let Some(there) = reached.copied(COPY, *address) else { continue };
            let (_, found, leads) =
                theirs.iter().find(|line| line.0 == there).unwrap_or_else(|| panic!("{address:#x}: {name}"));
            assert_eq!(found, name, "{address:#x}");
            assert_eq!(*leads, target.map(|target| reached.copied(COPY, target).unwrap()), "{address:#x}: {name}");
            branches += usize::from(target.is_some());
        }
        assert!(branches >= 5, "{branches}");
        let at = |symbol: &str| program.symbols.iter().find(|found| found.name == symbol).unwrap().value & !1;
        for (name, is_there) in [
            ("handler", true),
            ("twice", true),
            ("odd", true),
            ("switched", true),
            ("far_away", true),
            ("only_threads", false),
            ("_start", false),
            ("text", true),
        ] {
            assert_eq!(reached.copied(COPY, at(name)).is_some(), is_there, "{name}");
        }
        // The table leads to copies, and a thread's goes on leading to the originals.
        let table = reached.copied(COPY, at("calls")).unwrap() - COPY;
        let words: Vec<_> = (0..3).map(|word| read_word(&copy, table as usize + 4 * word).unwrap()).collect();
        let [twice, odd] = ["twice", "odd"].map(|name| reached.copied(COPY, at(name)).unwrap() | 1);
        assert_eq!(words, [twice, odd, twice]);
        assert!(reached.bytes() < program.code.bytes);
    }
}

fn way(source: &str, flags: &[&str]) -> (Vec<String>, &'static str) {
    let scratch = Scratch::new("refused");
    let program = scratch.link(source, CODE, DATA, flags);
    let program = Program::parse("a", &program).unwrap();
    match Reached::from(&program, &["handler"], false).err() {
        Some(PlaceError::Reaches { way, reason, .. }) => (way, reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_reaches_out_is_refused_with_its_way() {
    let start = "void _start(void) { for (;;); }";
    let stored = format!(
        "void f(void) {{}} void (*stored)(void) = f; void g(void) {{ stored(); }} void handler(void) {{ g(); }} {start}"
    );
    let (path, reason) = way(&stored, NO_HALVES);
    assert_eq!(path, ["`handler`", "`g`", "`stored`", "`f`"]);
    assert!(reason.contains("pointer in data"));
    let text = format!("const char *name = \"motor\"; volatile int x; void handler(void) {{ x = name[2]; }} {start}");
    assert!(way(&text, FLAGS).1.contains("pointer in data"));
    let call = format!("void sys(void) {{ __asm__ volatile(\"svc 0\"); }} void handler(void) {{ sys(); }} {start}");
    let (path, reason) = way(&call, NO_HALVES);
    assert_eq!(path[..2], ["`handler`", "`sys`"]);
    assert!(reason.contains("system call"));
    let nameless = format!(
        "__asm__(\".text\\n.thumb_func\\n.global bare\\nbare: bx lr\\n\"); void bare(void); void handler(void) {{ bare(); }} {start}"
    );
    assert!(way(&nameless, NO_HALVES).1.contains("how long"));
    let beside = format!(
        "__asm__(\".text\\n.thumb_func\\n.global near\\n.type near, %function\\nnear: ldr r0, 1f\\nbx lr\\n.size near, .-near\\n.balign 4\\n1: .word 7\\n\");
         int near(void); volatile int x; void handler(void) {{ x = near(); }} {start}"
    );
    assert!(way(&beside, NO_HALVES).1.contains("beside"));
}

/// The deepest calls of a handler, by the compiler's own code; GCC's figures are those of -fstack-usage.
#[test]
fn the_stack_of_a_handler_is_the_sum_of_its_deepest_calls() {
    let scratch = Scratch::new("stack");
    let source = "volatile int x;
        __attribute__((noinline)) int shallow(int n) { volatile int a[4] = { n }; return a[n & 3]; }
        __attribute__((noinline)) int deep(int n) { volatile int a[1200]; a[n & 7] = n; return shallow(a[n & 7]) + 1; }
        __attribute__((noinline)) int either(int n) { return n ? deep(n) * 2 : shallow(n) * 3; }
        void handler(void) { x += either(x) * 5; }
        void _start(void) { for (;;) handler(); }";
    let program = Program::parse("a", &scratch.link(source, CODE, DATA, NO_HALVES)).unwrap();
    let reached = Reached::from(&program, &["handler"], false).unwrap();
    let (bytes, way) = reached.deepest(program.function("handler").unwrap() & !1).unwrap();
    assert!((4800 + 16..4800 + 100).contains(&bytes), "{bytes} {way:?}");
    let names: Vec<_> = way.iter().map(|told| told.split('`').nth(1).unwrap()).collect();
    assert_eq!(names, ["handler", "either", "deep", "shallow"]);
}

#[test]
fn a_handler_that_calls_itself_has_no_deepest_calls() {
    let scratch = Scratch::new("circle");
    let source = "volatile int x;
        int odd(int n); __attribute__((noinline)) int even(int n) { return n ? odd(n - 1) + x : 1; }
        __attribute__((noinline)) int odd(int n) { return n ? even(n - 1) + x : 0; }
        void handler(void) { x = even(x) + 1; }
        void _start(void) { for (;;) handler(); }";
    let program = Program::parse("a", &scratch.link(source, CODE, DATA, NO_HALVES)).unwrap();
    let reached = Reached::from(&program, &["handler"], false).unwrap();
    let circle = reached.deepest(program.function("handler").unwrap() & !1).unwrap_err();
    let names: Vec<_> = circle.iter().map(|told| told.split('`').nth(1).unwrap()).collect();
    assert_eq!(names, ["handler", "even", "odd", "even"]);
}
