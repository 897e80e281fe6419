//! The conformance suite of docs/conformance.md.

use system_tests::conformance::{Column, Mutants, image, on_host, on_target, table};
use system_tests::root;

/// The targets; of each scheme of protection the first with the name of the column of the simulated processor that its image is for.
const BOARDS: &[(&str, Option<&str>)] = &[
    ("mps2-an500", Some("host, regions")),
    ("mps2-an505", Some("host, regions v8")),
    ("xilinx-zynq-a9", Some("host, pages")),
    ("sabrelite", None),
];

/// Every place where the rows are performed.
fn columns() -> Vec<Column> {
    let columns = BOARDS.iter().flat_map(|(board, simulated)| {
        let target = on_target(board).unwrap_or_else(|how| panic!("{board}: {how}"));
        let host = simulated
            .map(|simulated| on_host(simulated, &image(board)).unwrap_or_else(|how| panic!("{simulated}: {how}")));
        host.into_iter().chain([target])
    });
    columns.collect()
}

/// The rows, the table, and that rows see: in this order, because all of it uses the same image.
#[test]
fn every_row_holds_everywhere_and_a_changed_kernel_breaks_it() {
    let columns = columns();
    let text = table(&columns);
    println!("{text}");
    let wrong: Vec<String> = columns.iter().flat_map(Column::wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    the_page_has(&text);
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
