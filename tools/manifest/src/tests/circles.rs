//! Circles of gates that capabilities permit.

use crate::*;
use std::path::Path;

/// Domains with a gate `g` each; each uses those that are named.
fn circles_of(domains: &[(&str, &[&str])]) -> Vec<String> {
    let mut text = "system = { name = \"s\", board = \"b\" }\n".to_owned();
    for (name, uses) in domains {
        text += &format!("[domain.{name}.gate.g]\nentry = \"g\"\nceiling = 1\nbound = \"10 us\"\n");
        for (number, used) in uses.iter().enumerate() {
            text += &format!("[domain.{name}.uses.u{number}]\ngate = \"{used}.g\"\n");
        }
    }
    let document = Document::parse(Path::new("x"), &text).unwrap();
    circles(&document.manifest).into_iter().map(|found| format!("{} at {}", found.value, found.place)).collect()
}

#[test]
fn a_circle_is_named_as_a_whole_and_once() {
    assert_eq!(circles_of(&[("a", &["a"])]), ["a.g -> a.g at domain.a.uses.u0"]);
    assert_eq!(circles_of(&[("a", &["b"]), ("b", &["a"])]), ["a.g -> b.g -> a.g at domain.b.uses.u0"]);
    let three = circles_of(&[("a", &["d", "b"]), ("b", &["c"]), ("c", &["a"]), ("d", &[])]);
    assert_eq!(three, ["a.g -> b.g -> c.g -> a.g at domain.c.uses.u0"]);
}

#[test]
fn a_way_that_does_not_come_back_is_no_circle() {
    assert!(circles_of(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]).is_empty());
}
