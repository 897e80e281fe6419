use crate::*;
use std::path::Path;

const BOARD: &str = include_str!("../../../boards/mps2-an500/board.toml");

fn refusals(text: &str) -> Vec<Refusal> {
    let document = Document::parse(Path::new("system.toml"), text).expect("the schema accepts it");
    check(&document.manifest, &Board::parse(BOARD).unwrap())
}

#[test]
fn quantities_are_read_with_their_units() {
    assert_eq!(Size::parse("4 KiB"), Some(Size(4096)));
    assert_eq!(Size::parse("4KB"), None);
    assert_eq!(Time::parse("20 us"), Some(Time(20_000)));
    assert_eq!(Time::parse("1_000 ms").unwrap().ticks(25_000_000), Some(25_000_000));
    assert_eq!(Time(41).ticks(25_000_000), None);
    assert_eq!(Address::parse("0x2003_0000"), Some(Address(0x2003_0000)));
    assert_eq!((Size(6144).to_string(), Time(1_500_000).to_string()), ("6 KiB".into(), "1500 us".into()));
}

#[test]
fn the_codes_are_in_order_and_unique() {
    assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
}

#[test]
fn a_small_system_is_admitted() {
    let found = refusals(
        r#"
        system = { name = "small", board = "mps2-an500" }
        budget.all = { period = "10 ms", capacity = "10 ms" }
        [domain.app]
        crate = "app"
        [[domain.app.thread]]
        priority = 3
        budget = "all"
        "#,
    );
    assert_eq!(found, []);
}

#[test]
fn grants_follow_the_order_of_the_file() {
    let text = r#"
        system = { name = "s", board = "b" }
        notification.n = {}
        [domain.a]
        [domain.a.gate.g]
        entry = "g"
        ceiling = 0
        bound = "1 us"
        [domain.b]
        [domain.b.gate.h]
        entry = "h"
        ceiling = 0
        bound = "1 us"
        [domain.c.uses]
        events = { notification = "n", rights = "r" }
        h = { gate = "b.h", badge = 9 }
    "#;
    let document = Document::parse(Path::new("x"), text).unwrap();
    let found = grants(&document.manifest, 2).unwrap();
    assert_eq!(found[0], Grant { name: "events".into(), object: Object::Notification(0), rights: 1, badge: 2 });
    assert_eq!(found[1], Grant { name: "h".into(), object: Object::Gate(1), rights: 2, badge: 9 });
}

#[test]
fn places_lead_to_lines() {
    let text = "[system]\nname = \"s\"\nboard = \"b\"\n[[domain.a.thread]]\npriority = 1\nbudget = \"x\"\n";
    let document = Document::parse(Path::new("x"), text).unwrap();
    let shown = render(&document.locate(Refusal::at("CF0202", "domain.a.thread[0].budget", "no budget")), false);
    assert!(shown.contains("x:6:10"), "{shown}");
    assert!(shown.contains("CF0202"), "{shown}");
}
