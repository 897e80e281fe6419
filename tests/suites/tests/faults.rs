//! What is said of faults: one system, every kind of fault, word by word.

use system_tests::{BOARDS, Ran, cofferdam};

const SYSTEM: &str = "tests/faults/system.toml";
