use super::*;

fn row(program: &str, board: &str, cycles: Option<u64>) -> Row {
    let figures = cycles.map(|cycles| Figures { cycles, ..Figures::default() });
    let (program, board) = (program.into(), board.into());
    Row { program, board, ended: Ended::Passed, exit_code: Some(0), figures, why: String::new() }
}

#[test]
fn rows_are_compared_by_program_and_board() {
    let before = Suite::new(vec![row("a", "x", Some(1000)), row("a", "y", Some(100)), row("b", "x", None)]);
    let rows = vec![row("a", "y", Some(100)), row("a", "x", Some(1010)), row("b", "x", Some(1)), row("c", "x", None)];
    let changes = before.compare(&Suite::new(rows));
    let texts: Vec<String> = changes.iter().map(|change| change.text()).collect();
    assert_eq!(texts, ["same", "+1.00 %", "new", "new"]);
    let worse = |above: f64| changes.iter().map(|change| change.is_worse(above)).collect::<Vec<_>>();
    assert_eq!(worse(0.0), [false, true, false, false]);
    assert_eq!(worse(0.011), [false; 4]);
}

#[test]
fn fewer_cycles_are_never_worse() {
    let before = Suite::new(vec![row("a", "x", Some(1000))]);
    let changes = before.compare(&Suite::new(vec![row("a", "x", Some(900))]));
    assert_eq!((changes[0].text().as_str(), changes[0].is_worse(0.0)), ("-10.00 %", false));
}

#[test]
fn a_file_of_another_version_or_with_other_keys_is_refused() {
    let suite = Suite::new(vec![row("a", "x", Some(1))]);
    let text = serde_json::to_string(&suite).unwrap();
    assert_eq!(Suite::from_json(&text).unwrap(), suite);
    assert!(Suite::from_json(&text.replace("\"schema\":1", "\"schema\":2")).unwrap_err().contains("version 2"));
    assert!(Suite::from_json(&text.replace("\"why\"", "\"what\"")).is_err());
    assert!(Suite::from_json("").is_err());
}
