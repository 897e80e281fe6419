//! A core with translation tables that no emulator runs: an access that straddles two pages is looked at in both.

use std::fs;
use std::path::Path;

use crate::support::{Told, observe};
use record::{ClusterWatch, DomainWatch, ProfileSource, Range, Summary, ViolationKind, Watch, observed};

/// Code of the kernel and of a domain, where they are physically, too; the trace port; the tables.
const KERNEL: Range = Range { start: 0x0100_0000, end: 0x0100_1000 };
const DOMAIN: u32 = 0x0100_8000;
const PORT: u32 = 0x0110_0000;
const ROOT: u32 = 0x0120_0000;
const PAGES: u32 = 0x0130_0000;
/// Three pages of the domain's that follow one another virtually, and where they are physically; the last is read-only memory of
/// somebody else's, as a kernel would have it that is wrong.
const VIRT: u32 = 0x4000_0000;
const OWN: [u32; 2] = [0x0200_5000, 0x0200_1000];
const OTHER: u32 = 0x0200_8000;
/// A small page and a section of normal memory without caches.
const PAGE: u32 = 1 << 6 | 0b11 << 4 | 0b10;
const SECTION: u32 = 1 << 12 | 0b11 << 10 | 0b10;
const NOP: u32 = 0xe1a0_0000;

/// The profile of a chip with a Cortex-A9.
fn profile() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = timing::profile::read_text(&root.join("chips/xc7z020.toml"), &root.join("cores"));
    text.expect("a good profile").profile
}

fn watch(directory: &str) -> Watch {
    let image = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{directory}.elf"));
    let mut elf = vec![0; 0x40];
    elf[..6].copy_from_slice(b"\x7fELF\x01\x01");
    fs::write(&image, elf).expect("the target directory can be written");
    let page = |start: u32| Range { start, end: start + 0x1000 };
    let domain = |domain, hostile, ram| DomainWatch { domain, hostile, ram, may_store: Vec::new() };
    Watch {
        profile: ProfileSource::Text(profile()),
        cluster: Some(ClusterWatch { private: 0xf8f0_0000, controller: 0xf8f0_2000 }),
        image,
        trace_port: Some(PORT),
        kernel_text: vec![KERNEL],
        domains: vec![domain(3, true, OWN.map(page).to_vec()), domain(4, false, vec![page(OTHER)])],
        ..Watch::default()
    }
}

/// The kernel stores a word at an address that is not translated.
fn puts(address: u32, value: u32) -> Told {
    Told::Reaches { address, value, store: true, went: [Some(address), None] }
}

/// The kernel writes a register of the system control coprocessor.
fn writes(value: u32, code: u32) -> [Told; 2] {
    [Told::Has("r0", value), Told::Performs(KERNEL.start, code)]
}

/// Start-up: tables, translation on, and the domain runs.
fn start() -> Vec<Told> {
    let (first, port) = (ROOT + (VIRT >> 20) * 4, u32::from(abi::trace::Event::Switch as u8) | 3 << 8);
    let pages = [OWN[0], OWN[1], OTHER].into_iter().zip(0..).map(|(at, n)| puts(PAGES + n * 4, at | PAGE));
    let sections = [0x010u32, 0x011, 0x012, 0x013].map(|n| puts(ROOT + n * 4, n << 20 | SECTION));
    [Told::Has("cpsr", 0x13), Told::Performs(KERNEL.start, NOP), puts(first, PAGES | 1)]
        .into_iter()
        .chain(pages)
        .chain(sections)
        .chain(writes(ROOT, 0xee02_0f10))
        .chain(writes(1, 0xee03_0f10))
        .chain(writes(1, 0xee0d_0f30))
        .chain(writes(1, 0xee01_0f10))
        .chain([puts(PORT, 0), puts(PORT + 4, port), Told::Has("cpsr", 0x10), Told::Performs(DOMAIN, NOP)])
        .collect()
}

fn run(name: &str, access: Told) -> Summary {
    let told = start().into_iter().chain([access]).map(|told| (0, told)).collect();
    let (summary, events, _) = observe(name, watch(name), told);
    let told = events.iter().filter(|event| event.event == observed::VIOLATION).count();
    assert_eq!(told, summary.violations.len());
    summary
}

/// A word that straddles two pages of the three.
fn straddles(page: u32, store: bool, went: [Option<u32>; 2]) -> Told {
    Told::Reaches { address: VIRT + page * 0x1000 + 0xfff, value: 0x1122_3344, store, went }
}

fn violations(summary: &Summary) -> Vec<(ViolationKind, u32, u32)> {
    summary.violations.iter().map(|seen| (seen.kind, seen.address, seen.len)).collect()
}

#[test]
fn a_store_over_two_own_pages_is_legal_wherever_they_are() {
    let lands = [Some(OWN[0] + 0xfff), Some(OWN[1])];
    let summary = run("own-pages", straddles(0, true, lands));
    assert_eq!(violations(&summary), []);
    assert_eq!((summary.witness.stores, summary.witness.stores_outside), (2, 0));
    // The simulator does not know where the second part went: the tables say it.
    let summary = run("own-pages-unknown", straddles(0, true, [lands[0], None]));
    assert_eq!((violations(&summary), summary.witness.stores), (vec![], 2));
    assert_eq!(violations(&run("own-pages-load", straddles(0, false, lands))), []);
}

#[test]
fn the_second_part_of_a_store_is_judged_where_it_lands() {
    let outside = vec![(ViolationKind::HostileStore, OTHER, 3)];
    for (name, second) in [("other-page", Some(OTHER)), ("other-page-unknown", None)] {
        let summary = run(name, straddles(1, true, [Some(OWN[1] + 0xfff), second]));
        assert_eq!((violations(&summary), summary.witness.stores_outside), (outside.clone(), 1), "{name}");
    }
}

#[test]
fn a_second_part_that_goes_elsewhere_than_the_tables_say_is_found() {
    let elsewhere = (ViolationKind::Elsewhere, VIRT + 0x1000, 3);
    let went = [Some(OWN[0] + 0xfff), Some(OTHER)];
    assert_eq!(violations(&run("elsewhere-load", straddles(0, false, went))), [elsewhere]);
    let stored = violations(&run("elsewhere-store", straddles(0, true, went)));
    assert_eq!(stored, [elsewhere, (ViolationKind::HostileStore, OTHER, 3)]);
}
