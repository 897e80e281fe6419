extern crate std;
use std::string::String;

use super::*;

#[test]
fn calls_are_numbered_without_gaps_and_decode_to_themselves() {
    for (index, doc) in CALLS.iter().enumerate() {
        assert_eq!(doc.call as usize, index);
        assert_eq!(Call::from_number(index as u32), Some(doc.call));
        assert!(doc.args.len() <= 4, "{} has too many arguments for r0-r3", doc.name);
        assert!(doc.returns.len() <= 2, "{} returns too many values for r1-r2", doc.name);
    }
    assert_eq!(Call::from_number(CALLS.len() as u32), None);
    assert_eq!(Call::from_number(u32::MAX), None);
}

#[test]
fn every_error_a_call_names_exists_and_round_trips() {
    for doc in ERRORS {
        assert_eq!(Error::from_status(doc.error.status()), Some(doc.error));
        assert!((doc.error as i32) < 0);
    }
    assert_eq!(Error::from_status(0), None);
    for call in CALLS {
        for name in call.errors {
            assert!(ERRORS.iter().any(|doc| doc.name == *name), "{} names unknown error {name}", call.name);
        }
    }
}

#[test]
fn what_calls_say_of_steps_is_what_one_step_does() {
    let bound = |wanted: Call| CALLS.iter().find(|doc| doc.call == wanted).unwrap().bound;
    assert!(bound(Call::FramesClean).starts_with(&std::format!("{CLEAN_BYTES} bytes,")));
    assert!(
        bound(Call::DomainRestart).contains(&std::format!("{RESTART_BYTES} bytes")),
        "{}",
        bound(Call::DomainRestart)
    );
}

#[test]
fn trace_headers_hold_their_fields() {
    let word = trace::header(trace::Event::Miss, 7, 0x1234);
    assert_eq!(word, 0x1234_0708);
    assert_eq!(trace::Event::from_number(word as u8), Some(trace::Event::Miss));
    assert_eq!(trace::Event::from_number(0), None);
}

#[test]
fn names_become_words_by_fnv_1a() {
    // The vectors of the algorithm's reference page (draft-eastlake-fnv, appendix C).
    assert_eq!(
        [info::name_hash(""), info::name_hash("a"), info::name_hash("foobar")],
        [0x811c_9dc5, 0xe40c_292c, 0xbf9c_f968]
    );
    assert_eq!(info::block_bytes(0, 1, 0), 4 * (info::HEADER_WORDS + info::area::WORDS) + info::NAME_BYTES);
}

#[test]
fn the_header_documents_every_call_and_error() {
    let mut text = String::new();
    header::write(&mut text).unwrap();
    for call in CALLS {
        assert!(text.contains(call.does), "{}", call.name);
    }
    assert!(text.contains("#define COF_E_BAD_HANDLE (-2)"));
    assert!(text.contains("#define COF_CALL_GATE_CALL 7u"));
}

/// The header is committed, so that a C program can be compiled without the tool. `UPDATE_GOLDEN=1` writes it again.
#[test]
fn the_committed_header_is_the_generated_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../user/c/include/cofferdam_abi.h");
    let mut text = String::new();
    header::write(&mut text).unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == text, "user/c/include/cofferdam_abi.h is out of date; run with UPDATE_GOLDEN=1");
}

/// The comment in front of a line; empty when there is none.
fn comment(header: &str, at: usize) -> &str {
    let before = header[..at].trim_end_matches(|c| c != '\n');
    match before.trim_end().strip_suffix("*/").and_then(|text| text.rfind("/*")) {
        Some(start) if before.ends_with("*/\n") => &before[start..],
        _ => "",
    }
}

#[test]
fn the_c_headers_say_of_each_function_what_it_does_and_of_each_call_errors_and_cost() {
    let (calls, memory) = (
        include_str!("../../../user/c/include/cofferdam.h"),
        include_str!("../../../user/c/include/cofferdam_memory.h"),
    );
    let words =
        |text: &str| text.split_whitespace().filter(|word| *word != "*").collect::<std::vec::Vec<_>>().join(" ");
    for header in [calls, memory] {
        for name in ["cof_", "rt_"] {
            let all = header.match_indices(name).map(|(at, _)| at);
            let line = |at: usize| header[..at].rfind('\n').map_or(0, |end| end + 1);
            let declares = |&at: &usize| {
                let start = &header[line(at)..at];
                let rest = header[at..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
                rest.starts_with('(') && !start.is_empty() && !start.starts_with([' ', '/', '#'])
            };
            for at in all.filter(declares) {
                let end = header[at..].find('(').unwrap_or(0);
                assert!(!comment(header, at).is_empty(), "{} has no comment", &header[at..at + end]);
            }
        }
    }
    for call in CALLS {
        let at = calls.find(&std::format!(" cof_{}(", call.name)).unwrap();
        let said = words(comment(calls, at));
        let errors: std::vec::Vec<_> = call.errors.iter().map(|error| std::format!("COF_E_{error}")).collect();
        let errors = if errors.is_empty() { "none".into() } else { errors.join(", ") };
        assert!(
            said.contains(&std::format!("Errors: {errors}. Cost: {}.", words(call.bound))),
            "{}: {said}",
            call.name
        );
        let blocks = ["lock", "not return", "caller waits"];
        assert!(blocks.iter().any(|word| said.contains(word)), "{}: does it block? {said}", call.name);
    }
}

#[test]
fn the_c_header_has_a_function_for_every_call() {
    let header = include_str!("../../../user/c/include/cofferdam.h");
    for call in CALLS {
        let upper: String = call.name.chars().map(|letter| letter.to_ascii_uppercase()).collect();
        assert!(header.contains(&std::format!(" cof_{}(", call.name)), "no function cof_{}", call.name);
        assert!(header.contains(&std::format!("(COF_CALL_{upper}, ")), "cof_{} calls something else", call.name);
    }
}
