//! Sentences in comments of each language and in documents.

use crate::files::Source;
use crate::sentences;

fn lines(path: &str, text: &str) -> Vec<String> {
    let found = sentences::check(&Source { path: path.into(), text: text.into() });
    assert!(found.iter().all(|finding| finding.rule == "sentence"));
    found.into_iter().map(|finding| finding.place).collect()
}

#[test]
fn a_sentence_that_begins_with_a_question_word_asks() {
    for (path, text) in [
        ("a.rs", "/// What a call is about."),
        ("a.rs", "//! A call.\n//! Text of it. Where it goes\n//! is said."),
        ("a.rs", "let a = 1; /\x2f Who owns it."),
        ("a.rs", "// * Which one."),
        ("a.c", "/* What it is. */"),
        ("a.h", "/**\n * A call.\n *\n * Where it goes.\n */"),
        ("a.toml", "a = 1 # What it is."),
        ("a.sh", "# What it is."),
        ("a.md", "Text. *What it is.*"),
        ("a.md", "| a | What it is |"),
        ("a.md", "1. What it is"),
    ] {
        assert_eq!(lines(path, text).len(), 1, "{path}: {text}");
    }
    assert_eq!(lines("a.rs", "//! A call.\n//!\n//! Text of it. Where it goes\n//! is said."), ["a.rs:3"]);
}

#[test]
fn questions_code_and_other_words_may_stand() {
    for (path, text) in [
        ("a.rs", "/// What is it? Where a call ends is asked by whom?"),
        ("a.rs", "/// Whatever it is."),
        ("a.rs", "let a = \"What a text.\";"),
        ("a.md", "```\nWhat a program prints.\n```"),
        ("a.md", "It is said what it is; where it is, too."),
        ("a.toml", "text = \"Where it is\""),
    ] {
        assert_eq!(lines(path, text), [""; 0], "{path}: {text}");
    }
}
