//! The memory of the kernel's objects: the largest system that `check` admits boots, and with one handle more neither would.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Output;

use build_tool::Install;
use serde_json::Value;
use system::{Domain, HEADER_WORDS, MAGIC, Record, Words, checksum};
use system_tests::{BOARDS, cofferdam, plain, results_beside};

/// Handles of every domain but the first, which has fewer.
const MOST: u32 = 250;
/// Exit status of a kernel that has no memory for its objects (`BootError::NoMemory`), as far as a process can tell.
const NO_MEMORY: i32 = 3;

/// Domains: nearly as many as the kernel has memory for.
fn domains(board: &str) -> usize {
    if board == "xilinx-zynq-a9" { 11 } else { 12 }
}

/// A system whose first domain has so many handles.
fn system(board: &str, handles: u32) -> String {
    let mut text =
        format!("[system]\nname = \"objects\"\nboard = \"{board}\"\n[run]\nawait = [\"app0\"]\nlimit = \"1 s\"\n");
    for index in 0..domains(board) {
        let handles = if index == 0 { handles } else { MOST };
        let _ = write!(
            text,
            "[budget.app{index}]\nperiod = \"10 ms\"\ncapacity = \"500 us\"\n[domain.app{index}]\nc = {{ sources = [\"main.c\"] }}\n\
             handles = {handles}\nstack = {{ size = \"1 KiB\" }}\n[[domain.app{index}.thread]]\npriority = 8\nbudget = \"app{index}\"\n"
        );
    }
    text
}

/// Does something with such a system.
fn with(directory: &Path, verb: &str, board: &str, handles: u32) -> Output {
    let manifest = directory.join("system.toml");
    fs::write(&manifest, system(board, handles)).unwrap();
    fs::write(directory.join("main.c"), "int main(void) { return 0; }\n").unwrap();
    cofferdam(&[verb, &manifest.to_string_lossy(), "--json"])
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The most handles that there is memory for, by what `check` says of one.
fn most_handles(directory: &Path, board: &str) -> u32 {
    let value = answer(&with(directory, "check", board, 1));
    assert!(value["ok"] == true, "{value:#}");
    let number = |name: &str| value["objects"][name].as_u64().unwrap_or_else(|| panic!("{value:#}"));
    let taken = value["objects"]["taken"].as_array().into_iter().flatten();
    let handles = taken.into_iter().find(|taken| taken["what"] == "handles").expect("handles");
    let each = handles["bytes"].as_u64().unwrap() / handles["count"].as_u64().unwrap();
    1 + u32::try_from((number("bytes") - number("used")) / each).unwrap()
}

/// The image with one handle more for the first domain, which no tool would have made.
fn one_more(image: &[u8]) -> Vec<u8> {
    let mut image = image.to_vec();
    let start = image.windows(4).position(|bytes| bytes == MAGIC.to_le_bytes()).expect("the tables");
    let word = |image: &[u8], index: usize| {
        u32::from_le_bytes(image[start + 4 * index..start + 4 * index + 4].try_into().unwrap())
    };
    let count = word(&image, 2) as usize;
    let mut words: Vec<u32> = (0..count).map(|index| word(&image, index)).collect();
    let first = words[6 + 2 * Domain::TABLE as usize] as usize;
    let mut domain = Domain::decode(&words[first..first + Domain::WORDS]);
    domain.cap_slots += 1;
    domain.encode(&mut words[first..first + Domain::WORDS]);
    words[3] = checksum(&words[HEADER_WORDS..]);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    image[start..start + bytes.len()].copy_from_slice(&bytes);
    image
}

/// Exit code of an image on a board, without an observer. The image has no symbols; its kernel has.
fn boots(board: &str, image: &Path, kernel: &Path) -> Option<i32> {
    let board = Install::find().unwrap().board(board).unwrap();
    plain::ended(build_tool::machine(&board), image, plain::port(kernel, abi::trace::SYMBOL)).1
}

#[test]
fn check_and_boot_agree_on_the_last_handle() {
    let directory = tempfile::TempDir::new().unwrap();
    for board in BOARDS {
        let most = most_handles(directory.path(), board);
        assert!((2..MOST).contains(&most), "{board}: {most}");
        let refused = answer(&with(directory.path(), "check", board, most + 1));
        assert_eq!(refused["diagnostics"][0]["code"], "CF0319", "{board}: {refused:#}");
        let built = with(directory.path(), "build", board, most);
        assert!(built.status.success(), "{board}: {}", String::from_utf8_lossy(&built.stdout));
        let results = results_beside(directory.path()).join("objects");
        let image = fs::read(results.join("image.elf")).unwrap();
        for (image, status) in [(image.clone(), 0), (one_more(&image), NO_MEMORY)] {
            let path = directory.path().join("image.elf");
            fs::write(&path, image).unwrap();
            assert_eq!(boots(board, &path, &results.join("kernel.elf")), Some(status), "{board}");
        }
    }
}
