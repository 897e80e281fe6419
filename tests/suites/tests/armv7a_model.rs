//! The self-test of the port to Armv7-A under the modelled core: two TLB levels, walks, lock entries, and the judgement of what the
//! TLBs hold. Mutants of its image, each without one operation, show that the judgement sees what QEMU hides.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use build_tool::{Install, Profile, Toolchain, build_example};
use record::{AreaWatch, Interference, Mode, ProfileSource, Range, Summary, ViolationKind, Watch};
use runner::{Go, ImageFacts, Qemu, Run};
use system_tests::{cofferdam, target_dir};
use tempfile::TempDir;

const BOARD: &str = "xilinx-zynq-a9";

/// Builds the self-test once.
fn image() -> &'static PathBuf {
    static IMAGE: OnceLock<PathBuf> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let install = Install::find().unwrap();
        let board = install.board(BOARD).unwrap();
        let tools = Toolchain::find(&install, &board.core).unwrap();
        build_example(&install, &tools, &board, "selftest").unwrap()
    })
}

/// QEMU and the plug-in, which the command builds.
fn tools() -> &'static Qemu {
    static TOOLS: OnceLock<Qemu> = OnceLock::new();
    TOOLS.get_or_init(|| {
        assert!(cofferdam(&["--version"]).status.success());
        let plugin = target_dir().join("release/libcofferdam_plugin.so");
        Qemu::at(Path::new("qemu-system-arm"), vec![plugin]).unwrap()
    })
}

/// A run under the chip's profile: the summary, and the events as they stand in their file.
fn run(image: &Path, mode: Mode) -> (Summary, Vec<u8>) {
    run_with(image, Watch { mode, ..Watch::default() })
}

/// The text of the chip's profile.
fn profile() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let install = Install::find().unwrap();
        Profile::find(&install, "xc7z020", &install.root).unwrap().text
    })
}

fn run_with(image: &Path, more: Watch) -> (Summary, Vec<u8>) {
    let facts = ImageFacts::read(image).unwrap();
    let at = |name: &str| facts.symbol(name).unwrap();
    let directory = TempDir::new().unwrap();
    let watch = Watch {
        profile: ProfileSource::Text(profile().to_owned()),
        cluster: build_tool::cluster(&Install::find().unwrap().board(BOARD).unwrap()),
        kernel_text: vec![Range { start: at("__kernel_code_start"), end: at("__kernel_code_end") }],
        exception_events: true,
        // By the record there the self-test ends its run.
        trace_port: facts.symbol("SELFTEST_PORT"),
        ..more
    };
    let run = Run::new(runner::Machine::named(BOARD), image, directory.path(), watch);
    let outcome = run.start(tools(), &mut |_| Go::On).unwrap();
    (outcome.summary, fs::read(outcome.events).unwrap())
}

#[test]
fn the_self_test_passes_without_a_stale_translation() {
    let (summary, _) = run(image(), Mode::Quantum);
    assert_eq!(summary.end.status, Some(0));
    assert_eq!(summary.violations, []);
    let [domain] = summary.domains[..] else { panic!("there is no trace port: {:?}", summary.domains) };
    let (own, kernel) = (domain.translation, domain.kernel_translation);
    assert!(own.data_walks.all() > 5 && own.fetch_walks.all() > 2, "{own:?}");
    // The tables of one domain are on the chip, those of the other off the chip, and so is nothing of the kernel's.
    assert!(own.data_walks.on_chip > 0 && own.data_walks.level2 + own.data_walks.memory > 0, "{own:?}");
    // But for the store that ends the run.
    assert!(kernel.beyond() <= 1, "{kernel:?}");
    let total = own.data_walks.all() + own.fetch_walks.all() + own.main_hits + own.locked_hits;
    assert_eq!(own.micro_misses, total);
    println!("{:.1} M instructions/s", summary.mips);
}

#[test]
fn every_cycle_is_the_same_in_every_run() {
    for mode in [Mode::Quantum, Mode::Exact] {
        let (first, events) = run(image(), mode);
        let (second, again) = run(image(), mode);
        let timeless = |summary: Summary| Summary { host_seconds: 0.0, mips: 0.0, ..summary };
        println!("{mode:?}: {} cycles, {:.1} M instructions/s", first.cycles, first.mips);
        assert_eq!(timeless(first), timeless(second));
        assert_eq!(events, again);
    }
}

/// Every 100 us everything that is not locked is gone from caches and TLBs, as another program would leave them. The programs' code, of
/// which each of the two domains has its own translation, is walked for again each time; the page that is used four times is not.
#[test]
fn interference_costs_walks_and_areas_are_counted_by_themselves() {
    const EVERY: u64 = 76_700;
    let area = |name: &str, start: u32| AreaWatch {
        name: name.to_owned(),
        domain: record::IDLE,
        range: Range { start, end: start + 0x1000 },
    };
    let areas = vec![area("code", 0x1_0000), area("constants", 0x3_0000)];
    let quiet = run_with(image(), Watch { areas: areas.clone(), ..Watch::default() }).0;
    let interference = Some(Interference { every_cycles: EVERY, ..Interference::default() });
    let noisy = run_with(image(), Watch { areas, interference, ..Watch::default() }).0;
    assert_eq!((quiet.disturbances, noisy.disturbances), (0, noisy.cycles / EVERY));
    assert_eq!((quiet.violations_total, noisy.violations_total, noisy.end.status), (0, 0, Some(0)));
    let [code, constants] = &noisy.areas[..] else { panic!("{:?}", noisy.areas) };
    let before = quiet.areas[0].translation.fetch_walks.all();
    let walks = code.translation.fetch_walks.all();
    assert!(before < 20 && walks > noisy.disturbances / 2 && walks < 2 * noisy.disturbances, "{before} {code:?}");
    assert!(code.translation.beyond() > noisy.disturbances / 8, "one domain's tables are off the chip: {code:?}");
    assert!((1..=8).contains(&constants.translation.data_walks.all()), "{constants:?}");
    let stalls = |summary: &Summary| summary.domains[0].translation.data_stall_cycles;
    assert!(stalls(&noisy) > 4 * stalls(&quiet), "{} {}", stalls(&noisy), stalls(&quiet));
}

const NOP: u32 = 0xe320_f000;
const DSB: u32 = 0xf57f_f04f;
const TLBIALL: u32 = 0xee08_0f17;
const TLBIMVA: u32 = 0xee08_0f37;
const TLBIASID: u32 = 0xee08_0f57;
const DCCMVAU: u32 = 0xee07_0f3b;
/// The register of an MCR.
const RT: u32 = 0xf << 12;

/// The image with every word changed that `change` has something else for.
///
/// # Panics
/// When there is none.
fn mutant(directory: &TempDir, change: impl Fn(u32) -> Option<u32>) -> PathBuf {
    let mut file = fs::read(image()).unwrap();
    let mut changed = 0;
    // Headers lie before the first page.
    for place in file[0x1000..].chunks_exact_mut(4) {
        if let Some(word) = change(u32::from_le_bytes(place.try_into().unwrap())) {
            place.copy_from_slice(&word.to_le_bytes());
            changed += 1;
        }
    }
    assert!(changed > 0, "the image has nothing of the kind");
    let path = directory.path().join("mutant.elf");
    fs::write(&path, file).unwrap();
    path
}

/// Whether a word is this instruction, with whatever register.
const fn is(word: u32, instruction: u32) -> bool {
    word & !RT == instruction & !RT
}

/// The kinds of violation that a mutant is blamed for.
fn blamed(change: impl Fn(u32) -> Option<u32>) -> Vec<ViolationKind> {
    let directory = TempDir::new().unwrap();
    let (summary, _) = run(&mutant(&directory, change), Mode::Quantum);
    let mut kinds: Vec<_> = summary.violations.iter().map(|violation| violation.kind).collect();
    assert!(summary.violations.iter().all(|violation| violation.kind.rule().is_some() && violation.pc != 0));
    kinds.dedup();
    kinds
}

#[test]
fn a_kernel_without_tlbimva_is_seen() {
    let kinds = blamed(|word| is(word, TLBIMVA).then_some(NOP));
    assert_eq!(kinds.first(), Some(&ViolationKind::StaleTranslation), "{kinds:?}");
}

/// TLBIALL takes every entry but the locked ones, so that only these are left behind.
#[test]
fn a_kernel_that_takes_tlbiall_for_tlbimva_leaves_a_locked_entry_behind() {
    let kinds = blamed(|word| is(word, TLBIMVA).then_some(TLBIALL | word & RT));
    assert_eq!(kinds, [ViolationKind::StaleLocked]);
}

#[test]
fn a_kernel_that_gives_an_identifier_away_without_tlbiasid_is_seen() {
    let kinds = blamed(|word| is(word, TLBIASID).then_some(NOP));
    assert_eq!(kinds, [ViolationKind::StaleSpace]);
}

#[test]
fn a_kernel_that_does_not_complete_its_invalidations_is_seen() {
    let kinds = blamed(|word| (word == DSB).then_some(NOP));
    assert_eq!(kinds, [ViolationKind::StaleBarrier]);
}

/// `orr rX, rX, #0x48` makes walks of TTBR0 look into both data caches; with 8 they pass the first level by.
const fn outer_walks(word: u32) -> Option<u32> {
    if word & 0xfff0_0fff == 0xe380_0048 { Some(word & !0xfff | 8) } else { None }
}

#[test]
fn a_kernel_that_does_not_clean_its_tables_is_seen_where_walks_pass_the_first_level_by() {
    assert_eq!(blamed(outer_walks), []);
    let unclean = |word| if is(word, DCCMVAU) { Some(NOP) } else { outer_walks(word) };
    assert_eq!(blamed(unclean), [ViolationKind::UncleanTable]);
}
