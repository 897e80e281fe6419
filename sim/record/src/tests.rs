//! Tests of the file formats.

use crate::{
    Architecture, CoreId, Entered, EventsFile, EventsReader, EventsWriter, FormatError, HEADER_BYTES, Handled, Mode,
    Progress, Range, RunEvent, Summary, TranslationCounts, Walks, Watch,
};

fn sample(n: u64) -> RunEvent {
    RunEvent {
        core: CoreId::FIRST,
        cycle: n << 33 | n,
        event: n as u8,
        domain: !(n as u8),
        detail: n as u16 * 3,
        payload: n as u32 * 7,
    }
}

fn file(count: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = EventsWriter::new(&mut bytes).expect("memory does not fail");
    for n in 0..count {
        writer.push(sample(n)).expect("memory does not fail");
    }
    assert_eq!(writer.count(), count);
    writer.flush().expect("memory does not fail");
    drop(writer);
    bytes
}

#[test]
fn a_record_has_the_documented_bytes() {
    let event = RunEvent {
        core: CoreId(8),
        cycle: 0x0007_0605_0403_0201,
        event: 9,
        domain: 10,
        detail: 0x0c0b,
        payload: 0x100f_0e0d,
    };
    assert_eq!(event.to_bytes(), std::array::from_fn(|index| index as u8 + 1));
}

#[test]
fn what_is_written_is_read_again() {
    let bytes = file(10_000);
    assert_eq!(bytes.len(), HEADER_BYTES + 10_000 * 16);
    let reader = EventsReader::new(bytes.as_slice()).expect("a good header");
    let read: Vec<_> = reader.map(|event| event.expect("a whole record")).collect();
    assert_eq!(read, (0..10_000).map(sample).collect::<Vec<_>>());
}

#[test]
fn a_cut_file_yields_its_whole_records_and_says_so_once() {
    let bytes = file(3);
    let mut reader = EventsReader::new(&bytes[..bytes.len() - 1]).expect("a good header");
    assert_eq!(reader.next().expect("first").expect("whole"), sample(0));
    assert_eq!(reader.next().expect("second").expect("whole"), sample(1));
    assert!(matches!(reader.next(), Some(Err(FormatError::Truncated))));
    assert!(reader.next().is_none());
}

#[test]
fn a_file_is_read_as_often_as_it_is_asked() {
    let path = std::env::temp_dir().join(format!("cofferdam-events-{}", std::process::id()));
    let mut bytes = file(5000);
    bytes.extend([1, 2, 3]);
    std::fs::write(&path, bytes).expect("a directory for temporary files");
    let events = EventsFile::open(&path).expect("a good header");
    std::fs::remove_file(&path).expect("it was there");
    let mut half = events.clone().into_iter();
    assert_eq!(half.nth(2500), Some(sample(2500)));
    for _ in 0..2 {
        assert!(events.clone().into_iter().eq((0..5000).map(sample)), "the records before the damaged one");
    }
    assert_eq!(half.next(), Some(sample(2501)), "readings do not disturb each other");
    assert!(matches!(EventsFile::open(&path), Err(FormatError::Io(_))));
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(EventsReader::new(&b"CFD"[..]), Err(FormatError::NotEvents)));
    assert!(matches!(EventsReader::new(&[b'x'; 64][..]), Err(FormatError::NotEvents)));
    let mut bytes = file(0);
    bytes[6] = 9;
    assert!(matches!(EventsReader::new(bytes.as_slice()), Err(FormatError::Version(9))));
}

#[test]
fn a_watch_refuses_unknown_keys_and_fills_what_is_left_out() {
    let text = r#"{"profile": {"text": "name = 1"}, "mode": "exact", "events": "e", "summary": "s"}"#;
    let watch: Watch = serde_json::from_str(text).expect("a short request");
    assert_eq!((watch.mode, watch.trace_port, watch.cycle_limit), (Mode::Exact, None, 0));
    let wrong = text.replace("\"mode\"", "\"mood\": 1, \"mode\"");
    assert!(serde_json::from_str::<Watch>(&wrong).is_err());
}

#[test]
fn a_summary_of_another_version_is_refused() {
    let text = r#"{"version": 2, "profile": "p", "modelled": true, "mode": "quantum", "quantum_cycles": 1000,
        "cpu_hz": 1, "cycles": 1, "sleep_cycles": 0, "instructions": 1, "domains": [], "exceptions": [],
        "masked": {"longest": null, "longest_to_thread": null, "vectors": [], "calls": []}, "violations": [], "violations_total": 0,
        "witness": {"slices": 0, "checked_slices": 0, "hashed_bytes": 0, "changed_slices": 0, "stores": 0,
        "stores_outside": 0}, "probes": [], "events": 0,
        "end": {"reason": "exit", "status": 0, "trace_status": null}, "host_seconds": 1.0, "mips": 1.0}"#;
    let error = Summary::from_json(text).expect_err("version 2");
    assert!(error.contains("version 2"), "{error}");
    let known = text.replace("\"version\": 2", &format!("\"version\": {}", crate::SUMMARY_VERSION));
    let good = Summary::from_json(&known).expect("this version");
    assert_eq!(Summary::from_json(&good.to_json()), Ok(good.clone()));
    assert!(good.is_clean());
    assert!(!Summary { violations_total: 1, ..good }.is_clean());
}

#[test]
fn ranges_hold_whole_accesses_only() {
    let range = Range { start: 0x100, end: 0x200 };
    assert!(range.holds(0x1fc, 4));
    assert!(!range.holds(0x1fd, 4));
    assert!(!range.holds(0xff, 1));
    assert!(!Range { start: 0xffff_fff0, end: 0xffff_ffff }.holds(0xffff_fffc, 8));
}

#[test]
fn progress_reads_what_the_file_holds() {
    let bytes: Vec<u8> = [5u64, 6, 7, 8, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
    let expected = Progress { cycles: 5, instructions: 6, events: 7, last: 8, over: true };
    assert_eq!(Progress::from_bytes(&bytes), Some(expected));
    assert_eq!(Progress::from_bytes(&bytes[1..]), None);
}

#[test]
fn exceptions_are_named_as_their_architecture_does() {
    let names = |architecture: Architecture| [2, 4, 11, 43].map(|number| architecture.exception_name(number));
    assert_eq!(names(Architecture::Armv7M), ["NMI", "MemManage", "SVCall", "interrupt 27"]);
    assert_eq!(names(Architecture::Armv8M), names(Architecture::Armv7M));
    assert_eq!(Architecture::Armv8M.exception_name(7), "SecureFault");
    assert_eq!(Architecture::Armv7M.exception_name(7), "exception 7");
    assert!(Architecture::Armv8M.is_synchronous(7) && !Architecture::Armv8M.is_synchronous(15));
    assert_eq!(names(Architecture::Armv7A), ["supervisor call", "data abort", "exception 11", "interrupt 27"]);
}

#[test]
fn walks_beyond_the_chip_and_locked_ways_are_those_that_others_can_slow_down() {
    let walks = Walks { level1: 1, locked_way: 2, on_chip: 4, level2: 8, memory: 16 };
    assert_eq!((walks.all(), walks.beyond()), (31, 24));
    let now = TranslationCounts { main_hits: 9, data_walks: walks, fetch_walks: walks, ..TranslationCounts::default() };
    let then = TranslationCounts { main_hits: 4, data_walks: walks, ..TranslationCounts::default() };
    let mut sum = TranslationCounts { main_hits: 1, ..TranslationCounts::default() };
    assert!(!sum.is_nothing() && TranslationCounts::default().is_nothing());
    sum.add(now, then);
    assert_eq!((sum.main_hits, sum.data_walks.all(), sum.fetch_walks, sum.beyond()), (6, 0, walks, 24));
}

#[test]
fn what_the_kernel_ran_for_survives_packing() {
    for (exception, call) in [(0, None), (11, Some(0)), (2, Some(26)), (511, Some(126)), (43, None)] {
        let handled = Handled { exception, call };
        assert_eq!(Handled::from_detail(handled.to_detail()), handled);
    }
    let held = Handled { exception: 600, call: Some(200) };
    assert_eq!(Handled::from_detail(held.to_detail()), Handled { exception: 511, call: Some(126) });
}

#[test]
fn the_begin_of_a_handler_survives_packing() {
    let packed = |entered: Entered| {
        let (detail, payload) = entered.pack();
        Entered::of(&RunEvent { detail, payload, ..RunEvent::default() })
    };
    let largest = Entered { exception: 511, kernel: true, cycles: (1 << 20) - 1, instructions: 4095 };
    for entered in [Entered { exception: 17, kernel: false, cycles: 23, instructions: 0 }, largest] {
        assert_eq!(packed(entered), entered);
    }
    assert_eq!(packed(Entered { exception: 600, cycles: 1 << 40, instructions: 1 << 40, ..largest }), largest);
}

/// The header is committed, so that the bench can be built without the tool. `UPDATE_GOLDEN=1` writes it again.
#[test]
fn the_benchs_header_has_the_same_kinds() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rtl/tb/kinds.hpp");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, crate::bench::header()).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == crate::bench::header(), "rtl/tb/kinds.hpp is out of date; run with UPDATE_GOLDEN=1");
}
