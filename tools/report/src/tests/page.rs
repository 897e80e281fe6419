//! The page's text; `tests/browser` opens it.

use abi::trace::Event;

use super::{at, build, job, system};

#[test]
fn the_page_needs_nothing_else() {
    let html = build(500, job(0, 100)).to_html();
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!html.contains(outside), "the page holds {outside}");
    }
}

#[test]
fn names_and_output_cannot_become_markup() {
    let mut system = system();
    system.system = "</title><script>bad()</script>".into();
    system.threads[0].name = "</script><script>bad()</script>".into();
    let mut report = super::report(&system, &super::summary(500), job(0, 100));
    report.set_console("<script>bad()</script>");
    let html = report.to_html();
    assert!(!html.contains("<script>bad()"), "markup got through");
    assert_eq!(html.matches("</script>").count(), 3);
}

#[test]
fn failures_are_named_on_the_page() {
    let html = build(1400, job(0, 700)).to_html();
    assert!(
        html.contains("Not everything held")
            && html.contains("loop missed 1 deadline: 1 late, 0 unfinished, 0 skipped; the longest response was ")
    );
    assert!(build(500, job(0, 100)).to_html().contains("Everything held"));
}

#[test]
fn a_fault_is_shown_with_symbol_address_and_memory() {
    let html = build(500, [at(5, Event::Fault, 1, 1, 0x10f8), at(6, Event::FaultPc, 1, 0, 0x102)]).to_html();
    for text in ["0x0000_10f8", "0xf8 into data", "start+0x2", "stopped"] {
        assert!(html.contains(text), "the page lacks {text}");
    }
}

#[test]
fn of_much_output_the_end_is_kept() {
    let mut report = build(500, []);
    let long = format!("begin: {} end", "ä".repeat(crate::MAX_CONSOLE_BYTES));
    report.set_console(&long);
    assert!(report.console.len() <= crate::MAX_CONSOLE_BYTES && report.console.ends_with("ä end"));
    assert_eq!(report.console_cut_bytes as usize + report.console.len(), long.len());
    report.set_console("short");
    assert_eq!((report.console.as_str(), report.console_cut_bytes), ("short", 0));
}
