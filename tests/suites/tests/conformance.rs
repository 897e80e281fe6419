//! The conformance suite of docs/conformance.md.

use system_tests::conformance::{Column, Mutants, image, on_host, on_target, table};
use system_tests::root;

/// The targets, each with the name of the column of the simulated processor that its image is for.
const BOARDS: &[(&str, &str)] =
    &[("mps2-an500", "host, regions"), ("mps2-an505", "host, regions v8"), ("xilinx-zynq-a9", "host, pages")];

/// Every place where the rows are performed.
fn columns() -> Vec<Column> {
    let columns = BOARDS.iter().flat_map(|(board, simulated)| {
        let target = on_target(board).unwrap_or_else(|how| panic!("{board}: {how}"));
        [on_host(simulated, &image(board)).unwrap_or_else(|how| panic!("{simulated}: {how}")), target]
    });
    columns.collect()
}

#[test]
fn every_row_holds_everywhere() {
    let columns = columns();
    let text = table(&columns);
    println!("{text}");
    let wrong: Vec<String> = columns.iter().flat_map(Column::wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    the_page_has(&text);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh conformance_long"]
fn every_row_holds_on_another_board_of_a_core() {
    let column = on_target("sabrelite").unwrap_or_else(|how| panic!("{how}"));
    assert_eq!(column.wrong(), [""; 0]);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh conformance_long"]
fn a_changed_kernel_breaks_a_row() {
    on_target(BOARDS[0].0).unwrap_or_else(|how| panic!("{how}"));
    let tried = Mutants::read().try_all(&image(BOARDS[0].0));
    tried.iter().flatten().for_each(|line| println!("with the mutant, {line}"));
    let unseen: Vec<String> = tried.into_iter().filter_map(Result::err).collect();
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

/// The table of the documents is this one.
fn the_page_has(text: &str) {
    let path = root().join("docs/conformance.md");
    let (begin, end) = ("<!-- table -->\n", "<!-- end of table -->");
    let page = std::fs::read_to_string(&path).expect("docs/conformance.md");
    let (before, rest) = page.split_once(begin).expect("a place for the table");
    let (_, after) = rest.split_once(end).expect("its end");
    let fresh = format!("{before}{begin}{text}{end}{after}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &fresh).expect("docs/conformance.md can be written");
    } else {
        assert!(page == fresh, "UPDATE_GOLDEN=1 rewrites the table of docs/conformance.md");
    }
}
