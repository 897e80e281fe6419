use super::{Reason, Status};

/// Every code of table B3-23 with its reason, and whether an address comes with it.
const TABLE: &[(u32, Reason, bool)] = &[
    (0x001, Reason::Alignment, true),
    (0x002, Reason::Debug, false),
    (0x003, Reason::AccessFlag, true),
    (0x004, Reason::Maintenance, true),
    (0x005, Reason::Translation, true),
    (0x006, Reason::AccessFlag, true),
    (0x007, Reason::Translation, true),
    (0x008, Reason::External, true),
    (0x009, Reason::Domain, true),
    (0x00b, Reason::Domain, true),
    (0x00c, Reason::External, true),
    (0x00d, Reason::Permission, true),
    (0x00e, Reason::External, true),
    (0x00f, Reason::Permission, true),
    (0x400, Reason::Conflict, true),
    (0x404, Reason::Other, false),
    (0x406, Reason::Late, false),
    (0x408, Reason::Late, false),
    (0x409, Reason::External, true),
    (0x40c, Reason::External, true),
    (0x40e, Reason::External, true),
];

#[test]
fn every_code_of_the_table_has_its_reason() {
    for (word, reason, address) in TABLE {
        let status = Status::new(*word);
        assert_eq!((status.reason(), status.has_address()), (*reason, *address), "{word:#x}");
    }
}

#[test]
fn the_access_domain_and_the_other_bits_do_not_change_the_reason() {
    for (word, reason, _) in TABLE {
        assert_eq!(Status::new(word | 0x30f0 | 0x800).reason(), *reason, "{word:#x}");
    }
}

#[test]
fn codes_outside_of_the_table_are_other() {
    let known = |word: u32| TABLE.iter().any(|(known, ..)| *known == word);
    let outside = (0..32).map(|code: u32| (code & 0x10) << 6 | code & 0xf).filter(|word| !known(*word));
    for word in outside {
        assert_eq!(Status::new(word).reason(), Reason::Other, "{word:#x}");
    }
}

#[test]
fn writes_and_reads_differ_in_one_bit() {
    assert!(Status::new(0x80f).is_write() && !Status::new(0x00f).is_write());
}

#[test]
fn only_the_tables_protect() {
    assert!([0x5, 0x7, 0xd, 0xf, 0x9, 0x3].iter().all(|word| Status::new(*word).is_protection()));
    assert!([0x1, 0x2, 0x8, 0xc, 0x406, 0x400].iter().all(|word| !Status::new(*word).is_protection()));
}
