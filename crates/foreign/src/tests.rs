use super::*;

#[test]
fn boards_are_found_by_their_names_and_others_are_not() {
    assert!(!BOARDS.is_empty());
    for (index, (word, _)) in BOARDS.iter().enumerate() {
        assert!(places(*word).is_some());
        assert!(BOARDS[..index].iter().all(|(other, _)| other != word), "{word:#x} is the word for two boards");
    }
    assert!(places(abi::info::name_hash("")).is_none());
}
