//! Caches, accelerator and rows as bad as others can leave them.

use super::{B_SELF, CACHED, FLASH, SDRAM, SRAM, block, load, machine, store};

/// Bursts of SDRAM: 16 to the first beat and 8 for the row, 2 a beat. 8 bytes are waited for: 16 + 8 + 3 * 2 = 30.
/// The line takes the bus for 16 + 8 + 15 * 2 = 54, and the changed line that it throws out, in another row, for
/// 8 + 8 + 15 * 2 = 46 more: up to 100. The next line waits for that, and opens its row again.
#[test]
fn each_missed_line_writes_one_back_in_front_of_the_next() {
    let mut m = machine();
    for n in 0..1000 {
        store(&mut m, SDRAM + n * 32);
    }
    m.idle(1_000_000);
    m.spoil();
    let written = m.counters().write_backs;
    assert_eq!(load(&mut m, SDRAM), 30);
    assert_eq!(load(&mut m, SDRAM + 32), 70 + 30);
    assert_eq!(m.counters().write_backs - written, 2);
    assert_eq!(load(&mut m, SDRAM + 4), 0, "what was loaded since is there");
}

/// Without rows, the line that is thrown out goes to the memory of the one that comes: 6 + 1 for 8 bytes; the bus is taken for 6 + 7 and
/// for 4 + 7 more.
#[test]
fn a_foreign_line_goes_to_the_memory_that_is_needed_next() {
    let mut m = machine();
    m.spoil();
    assert_eq!(load(&mut m, SRAM), 7);
    assert_eq!(load(&mut m, SRAM + 32), 24 - 7 + 7);
}

/// Code comes from flash again, behind a read-ahead for somebody else, and runs as before.
#[test]
fn code_in_flash_is_fetched_anew() {
    let mut m = machine();
    let code = block(&m, FLASH, &[B_SELF]);
    m.block(&code, CACHED);
    m.idle(1000);
    let warm = m.block(&code, CACHED);
    m.idle(1000);
    m.spoil();
    // The read-ahead takes 8, of which 2 pass while the branch before is settled; then 7 wait states.
    assert_eq!(m.block(&code, CACHED), warm + 6 + 7);
}

/// It takes no time, and a machine that did nothing since is the same.
#[test]
fn spoiling_takes_no_time_and_twice_is_once() {
    let (mut one, mut two) = (machine(), machine());
    one.spoil();
    two.spoil();
    two.spoil();
    assert_eq!((one.now(), two.now()), (0, 0));
    for n in 0..100 {
        assert_eq!(load(&mut one, SRAM + n * 32), load(&mut two, SRAM + n * 32));
    }
}
