//! Memory smaller than the smallest paged region.

use system_tests::Ran;

/// Three files and shared memory of some bytes, read through the areas that the domain is told.
const PROGRAM: &str = r#"
    #include <cofferdam.h>
    #include <string.h>
    #define FILES 3
    static int reads(const char *name, const char *contents) {
        struct cof_area area;
        if (cof_area(name, &area) != 0)
            return 0;
        return area.bytes >= 256 && memcmp((const void *)area.base, contents, strlen(contents)) == 0;
    }
    int main(void) {
        struct cof_area word;
        if (!reads("one", "1") || !reads("many", "0123456789012345678901234567890123456789") || !reads("other", "2"))
            return 1;
        if (cof_area("word", &word) != 0)
            return 2;
        *(volatile unsigned *)word.base = 7;
        return *(volatile unsigned *)word.base == 7 ? 0 : 3;
    }
"#;

const SYSTEM: &str = r#"
    [system]
    name = "small"
    board = "mps2-an500"
    [run]
    await = ["program"]
    limit = "1 s"
    [budget.program]
    period = "10 ms"
    capacity = "8 ms"
    [file.one]
    path = "one.txt"
    [file.many]
    path = "many.txt"
    [file.other]
    path = "other.txt"
    [shared.word]
    memory = "sram"
    size = "32 B"
    [domain.program]
    c = { sources = ["main.c"] }
    files = ["one", "many", { name = "other", spec = "l1" }]
    shared = [{ name = "word", access = "rw" }]
    [[domain.program.thread]]
    priority = 8
    budget = "program"
"#;

#[test]
fn files_and_shared_memory_of_a_few_bytes_can_be_paged() {
    let directory = tempfile::TempDir::new().unwrap();
    let many = "0123456789".repeat(4);
    for (name, text) in
        [("system.toml", SYSTEM), ("main.c", PROGRAM), ("one.txt", "1"), ("many.txt", &many), ("other.txt", "2")]
    {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let ran = Ran::new(&directory.path().join("system.toml").to_string_lossy(), &[]);
    assert_eq!(ran.code, 0, "{}\n{:#}", ran.stderr, ran.report["verdict"]);
    let program = ran.named("domains", "name", "program");
    assert!(program["region_misses"].as_u64() >= Some(4), "{program:#}");
}
