//! Modules that import each other, in the ways that Rust has to name an item.

use crate::files::Source;
use crate::modules;

fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<Source> =
        files.iter().map(|(path, text)| Source { path: format!("a/src/{path}"), text: (*text).to_owned() }).collect();
    let found = modules::check(&[super::normal("a", &[])], &sources);
    assert!(found.iter().all(|finding| finding.rule == "module-circle" && finding.place == "a/src"));
    let lines = found.iter().flat_map(|finding| finding.text.lines().skip(1));
    lines.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_pair_is_found_however_it_imports() {
    let b = "use crate::c::C; pub struct B;";
    for c in [
        "use crate::b::B; pub struct C;",
        "use super::b::{self, B as Other}; pub struct C;",
        "use crate::b; pub struct C; fn f(_: b::B) {}",
        "pub struct C; impl C { fn f() -> Option<crate::b::B> { None } }",
        "pub struct C; fn f() { assert!(g(&[crate::b::B])); }",
        "use crate::*; pub struct C; fn f(_: B) {}",
        "use crate::B; pub struct C;",
        "pub use crate::b::B; pub struct C; fn f(_: B) {}",
    ] {
        let files = [("lib.rs", "pub mod b; pub mod c; pub use b::B;"), ("b.rs", b), ("c/mod.rs", c)];
        assert_eq!(circles(&files), ["b imports C of c", "c imports B of b"], "{c}");
    }
}

#[test]
fn longer_circles_and_those_with_a_parent_are_found() {
    let files = [
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::c::C; pub struct B;"),
        ("c.rs", "use crate::a::A; pub struct C;"),
        ("d.rs", "use crate::a::A;"),
    ];
    assert_eq!(circles(&files), ["a imports B of b", "b imports C of c", "c imports A of a"]);
    let files = [("p.rs", "mod q; pub struct P; fn f() { q::g() }"), ("p/q.rs", "use super::P; pub fn g() {}")];
    assert_eq!(circles(&files), ["p imports g of p::q", "p::q imports P of p"]);
}

#[test]
fn what_only_goes_one_way_is_no_circle() {
    for (parent, child) in [
        ("mod q; pub use q::g; pub struct P;", "use super::P; pub fn g() {}"),
        ("mod q; pub struct P; fn f(p: P) { p.g() }", "impl super::P { pub fn g(self) {} }"),
        ("mod q; pub struct P; #[cfg(test)] fn f() { q::g() }", "use super::P; pub fn g() {}"),
        ("mod q; fn f() { q::g() }", "use std::fmt; pub fn g() {}"),
    ] {
        assert_eq!(circles(&[("p/mod.rs", parent), ("p/q.rs", child)]), [""; 0], "{parent}");
    }
    // The program beside a library is another crate; tests are no modules.
    let files = [
        ("lib.rs", "pub mod a; pub struct L;"),
        ("main.rs", "mod a; fn main() { a::f() }"),
        ("a.rs", "use crate::L; pub fn f() {}"),
        ("tests.rs", "use crate::L;"),
    ];
    assert_eq!(circles(&files), [""; 0]);
}

#[test]
fn a_file_that_is_not_rust_is_a_finding() {
    let source = Source { path: "a/src/lib.rs".into(), text: "fn".into() };
    assert_eq!(super::rules(&modules::check(&[super::normal("a", &[])], &[source])), ["module-syntax"]);
}
