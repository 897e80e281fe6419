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
fn trace_headers_hold_their_fields() {
    let word = trace::header(trace::Event::Miss, 7, 0x1234);
    assert_eq!(word, 0x1234_0708);
    assert_eq!(trace::Event::from_number(word as u8), Some(trace::Event::Miss));
    assert_eq!(trace::Event::from_number(0), None);
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
