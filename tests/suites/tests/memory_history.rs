//! One random history of requests, decided twice: by the memory manager on the chip, and here.

use std::path::{Path, PathBuf};

use manager::history::{COMPARED_SEED, COMPARED_SPECS, COMPARED_STEPS, History, NAMES, digest};
use manager::standard::Standard;
use manager::wire::{Answer, Operation};
use manager::{Books, HandOver};
use manager::{Calls, Mapping};
use system_tests::{cofferdam, root};

const SYSTEM: &str = "tests/manager/history.toml";
/// The rule of quotas (`spec::Rule::Quota`).
const QUOTA: u32 = 15;

/// A kernel that permits everything; clearing takes as many steps as on the chip.
#[derive(Default)]
struct Willing {
    cleared: std::collections::HashMap<u32, u32>,
}

impl Calls for Willing {
    fn retype(&mut self, _: u32, _: u32) -> Result<(), abi::Error> {
        Ok(())
    }

    fn map(&mut self, _: u8, _: &Mapping) -> Result<(), abi::Error> {
        Ok(())
    }

    fn unmap(&mut self, _: u8, _: &Mapping) -> Result<(), abi::Error> {
        Ok(())
    }

    fn nodes(&mut self, _: u8, _: u32, bytes: u32) -> Result<u32, abi::Error> {
        Ok(bytes)
    }

    fn clean(&mut self, base: u32, bytes: u32) -> Result<u32, abi::Error> {
        let cleared = self.cleared.entry(base).or_default();
        *cleared += abi::CLEAN_BYTES.min(bytes - *cleared);
        let left = bytes - *cleared;
        if left == 0 {
            self.cleared.remove(&base);
        }
        Ok(left)
    }
}

fn target() -> PathBuf {
    let given = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    if given.is_absolute() { given } else { root().join(given) }
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// The bytes at an address of an image (32-bit little-endian ELF: System V ABI, program header).
fn bytes_at(image: &[u8], address: usize, length: usize) -> Vec<u8> {
    let (headers, count) = (word(image, 28), word(image, 44) & 0xffff);
    let header = |index: usize| headers + index * 32;
    let holds = |at: &usize| (word(image, at + 8)..word(image, at + 8) + word(image, at + 16)).contains(&address);
    let at = (0..count).map(header).find(holds).expect("the image holds the ledger");
    let (offset, end) = (word(image, at + 4), word(image, at + 4) + word(image, at + 16));
    let start = offset + address - word(image, at + 8);
    image[start..end.min(start + length)].to_vec()
}

/// The host's hand-over to the manager of this system.
fn hand_over(system: &Path) -> Vec<u8> {
    let layout = std::fs::read_to_string(system.join("layout.json")).unwrap();
    let layout: serde_json::Value = serde_json::from_str(&layout).unwrap();
    let named = |list: &serde_json::Value, name: &str| {
        list.as_array().into_iter().flatten().find(|entry| entry["name"] == name).cloned().expect(name)
    };
    let area = named(&named(&layout["domains"], "memory")["areas"], "ledger");
    let number = |key: &str| area[key].as_u64().unwrap() as usize;
    bytes_at(&std::fs::read(system.join("image.elf")).unwrap(), number("base"), number("bytes"))
}

/// The decisions of the chip, as they were marked: number of the request modulo 2^16, and digest.
fn decided_on_the_chip(board: &[&str]) -> Vec<(u64, u64)> {
    let ran = cofferdam(&[&["run", SYSTEM, "--quiet"], board].concat());
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let directory = tempfile::TempDir::new().unwrap();
    let out = directory.path().to_string_lossy().into_owned();
    let traced = cofferdam(&[&["trace", SYSTEM, "--last", "--out", &out], board].concat());
    assert!(traced.status.success(), "{said}{}", String::from_utf8_lossy(&traced.stderr));
    let text = std::fs::read_to_string(directory.path().join("trace.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let marks = trace["traceEvents"].as_array().into_iter().flatten().filter(|event| event["name"] == "mark");
    marks.map(|event| (event["args"]["id"].as_u64().unwrap(), event["args"]["value"].as_u64().unwrap())).collect()
}

/// Runs the history on a board, replays it here, and compares.
fn compare(board: &[&str], directory: &str) {
    let chip = decided_on_the_chip(board);
    let mut manager = Box::new(Standard::new(Books::closed()));
    let handed_over = hand_over(&target().join("cofferdam").join(directory));
    manager.account.open(HandOver::new(&handed_over)).unwrap();
    for (number, name) in (2..).zip(NAMES) {
        assert!(manager.enrol(number, name));
    }
    for share in HandOver::new(&handed_over).shares().map(Result::unwrap) {
        assert!(manager.declare(share.owner.into(), share.name, share.who));
    }
    let mut kernel = Willing::default();
    let mut history = History::new(COMPARED_SEED, 3, COMPARED_SPECS);
    let (mut granted, mut refused, mut over, mut joined) = (0, 0, 0, 0);
    for index in 0..COMPARED_STEPS {
        let badge = history.who() as u32 + 2;
        let answer = manager.serve(badge, &history.message(), &mut kernel).ok();
        let answer = answer.and_then(|words| Answer::decode(&words));
        let seen = chip.get(index as usize).copied();
        let expected = (u64::from(index & 0xffff), u64::from(digest(answer.as_ref())));
        let asked = manager::wire::Request::decode(&history.message());
        assert_eq!(seen, Some(expected), "request {index} of client {badge}: {asked:?}: here {answer:?}");
        granted += u32::from(matches!(answer, Some(Answer::Granted(_))));
        refused += u32::from(matches!(answer, Some(Answer::Refused(_))));
        over += u32::from(matches!(answer, Some(Answer::Refused(refused)) if refused.rule == QUOTA));
        let joins = asked.is_some_and(|request| request.operation == Operation::Join);
        joined += u32::from(joins && matches!(answer, Some(Answer::Granted(_))));
        history.learn(answer.as_ref());
    }
    assert_eq!(chip.len(), COMPARED_STEPS as usize);
    assert!(granted > 300 && refused > 300, "{granted} granted, {refused} refused");
    assert!(over > 10 && joined > 0, "{over} beyond a quota, {joined} joined");
}

#[test]
fn the_chip_and_the_host_decide_alike() {
    compare(&[], "memory-history");
}

#[test]
fn the_chip_with_page_tables_and_the_host_decide_alike() {
    compare(&["--board", "xilinx-zynq-a9"], "memory-history.xilinx-zynq-a9");
}
