//! The library for a chip: no state of its own, and nothing that the program must provide but `cfm_panic`.

use std::process::Command;

use crate::support::{library, run};

const PROGRAM: &str = "
#include \"cofferdam_mem.h\"
void cfm_panic(void) { for (;;) ; }
static cfm_node nodes[2]; static cfm_regs leaves[4]; static cfm_trie trie; static cfm_slots slots;
void start(uint32_t address, cfm_regs *out) {
    if (cfm_trie_init(&trie, nodes, 2, leaves, 4) == CFM_OK && cfm_slots_init(&slots, 0, 0, 8, 2, CFM_BIT_PLRU) == CFM_OK)
        (void)cfm_slots_fill(&slots, &trie, address, out);
}
";

#[test]
#[ignore = "for `make test-long`: scripts/test.sh unit_long"]
fn a_bare_program_links_with_nothing_else_and_gains_no_data() {
    let directory = library("thumbv7em-none-eabihf", "chip");
    let (source, program) = (directory.join("program.c"), directory.join("program.elf"));
    std::fs::write(&source, PROGRAM).expect("a writable directory");
    let mut compile = Command::new("arm-none-eabi-gcc");
    compile.args(["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16", "-O2", "-Wall", "-Werror"]);
    compile.args(["-nostdlib", "-Wl,--gc-sections", "-Wl,--entry=start", "-I"]).arg(&directory).arg(&source);
    run(compile.arg(directory.join("libcofferdam_mem.a")).arg("-lgcc").arg("-o").arg(&program));
    let symbols = run(Command::new("arm-none-eabi-nm").arg("--defined-only").arg(&program));
    let kind = |line: &str| line.split(' ').nth(1).map(str::to_owned);
    let data = symbols.lines().filter(|line| kind(line).is_some_and(|kind| "bBdD".contains(&kind)));
    let mut data: Vec<&str> =
        data.filter_map(|line| line.split(' ').nth(2)).filter(|name| !name.starts_with('_')).collect();
    data.sort_unstable();
    assert_eq!(data, ["leaves", "nodes", "slots", "trie"], "{symbols}");
    assert!(symbols.contains(" cfm_slots_fill"), "{symbols}");
}
