//! Symbols and nearest memory.

use super::system;
use crate::place::{Relation, nearest, symbol_at, symbol_of};

#[test]
fn a_symbol_covers_its_size_or_reaches_to_the_next() {
    let symbols = system().symbols;
    assert_eq!(symbol_at(&symbols, 0xff), None);
    assert_eq!(symbol_at(&symbols, 0x101).as_deref(), Some("start"));
    assert_eq!(symbol_at(&symbols, 0x11f).as_deref(), Some("start+0x1e"));
    assert_eq!(symbol_at(&symbols, 0x120), None);
    assert_eq!(symbol_at(&symbols, 0x9140).as_deref(), Some("rest+0x9000"));
}

#[test]
fn the_nearest_area_is_measured_to_its_edge() {
    let system = system();
    let place = |address| nearest(&system, 0, address).map(|n| (n.area, n.relation, n.distance)).expect("areas exist");
    assert_eq!(place(0xff8), ("data".into(), Relation::Below, 8));
    assert_eq!(place(0x1000), ("data".into(), Relation::Inside, 0));
    assert_eq!(place(0x10ff), ("data".into(), Relation::Inside, 0xff));
    assert_eq!(place(0x1100), ("data".into(), Relation::Above, 1));
    // 0x1880 is 0x781 above data's last byte and 0x780 below heap.
    assert_eq!(place(0x1880), ("heap".into(), Relation::Below, 0x780));
    assert_eq!(place(0xffff_ffff), ("heap".into(), Relation::Above, 0xffff_ffff - 0x23ff));
}

#[test]
fn a_shared_area_has_all_its_owners_and_the_kernel_has_its_own() {
    let mut system = system();
    let shared = system.domains[0].areas[0].clone();
    system.domains[1].areas.push(shared);
    system.kernel_areas =
        vec![crate::describe::Area { base: 0x8000, bytes: 16, name: "stack".into(), ..Default::default() }];
    assert_eq!(nearest(&system, 0, 0x1001).expect("an area").owners, ["hard", "soft"]);
    assert_eq!(nearest(&system, 0, 0x8001).expect("an area").owners, ["kernel"]);
    assert_eq!(nearest(&crate::SystemDescription::default(), 0, 1), None);
}

#[test]
fn in_a_space_of_its_own_a_domain_has_its_own_names_alone() {
    let symbol = |domain: u8, name: &str| crate::describe::Symbol {
        address: 0x100,
        size: 0x20,
        name: name.into(),
        domain: Some(domain),
    };
    let symbols = vec![symbol(0, "hard_main"), symbol(1, "soft_main")];
    let own = crate::SystemDescription { own_spaces: true, symbols, ..system() };
    assert_eq!(symbol_of(&own, 0, 0x104).as_deref(), Some("hard_main+0x4"));
    assert_eq!(symbol_of(&own, 1, 0x104).as_deref(), Some("soft_main+0x4"));
    assert_eq!(symbol_of(&own, 2, 0x104), None);
    let shared = crate::SystemDescription { own_spaces: false, ..own };
    assert_eq!(symbol_of(&shared, 0, 0x104).as_deref(), Some("soft_main+0x4"), "the last one, as ever");
}
