//! The conformance suite of docs/conformance.md.

use system_tests::conformance::{Column, Tree, table};
use system_tests::root;

/// Every place where the rows are performed.
fn columns(tree: &Tree) -> Vec<Column> {
    let board = tree.on_target("mps2-an500").unwrap_or_else(|how| panic!("mps2-an500: {how}"));
    let host = tree.on_host(&tree.image()).unwrap_or_else(|how| panic!("host: {how}"));
    vec![host, board]
}

#[test]
fn every_row_holds_everywhere_and_the_table_says_so() {
    let columns = columns(&Tree::original());
    let text = table(&columns);
    println!("{text}");
    let wrong: Vec<String> = columns.iter().flat_map(Column::wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
