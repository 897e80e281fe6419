//! Tests without QEMU.

use crate::{Version, check_name, find, find_fallback};

#[test]
fn versions_are_read_as_qemu_prints_them() {
    let debian = "QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)\nCopyright (c) 2003-2025";
    assert_eq!(Version::parse(debian), Some(Version { major: 10, minor: 0, patch: 2 }));
    assert_eq!(Version::parse("QEMU emulator version 9.2"), Some(Version { major: 9, minor: 2, patch: 0 }));
    assert_eq!(Version::parse("version x"), None);
    assert_eq!(Version::parse("bash: no such thing"), None);
}

#[test]
fn only_one_release_is_supported() {
    let version = |major, minor| Version { major, minor, patch: 9 };
    assert!(version(10, 0).is_supported());
    assert!(!version(10, 1).is_supported());
    assert!(!version(9, 0).is_supported());
}

#[test]
fn an_unknown_simulator_is_refused_by_its_name() {
    assert!(check_name("qemu").is_ok() && check_name("verilator").is_ok());
    let said = "there is no simulator `renode`; the board's file can state: qemu, verilator";
    assert_eq!(check_name("renode").unwrap_err().to_string(), said);
    assert_eq!(find("renode").unwrap_err().to_string(), said);
    assert_eq!(find_fallback("renode").unwrap_err().to_string(), said);
}
