use super::{Memory, StoreBuffer};
use crate::profile::tests::stm32f767;

fn memory(name: &str) -> Memory {
    let profile = stm32f767();
    Memory::new(profile.memory.iter().find(|m| m.name == name).unwrap())
}

/// SRAM: 6 to the first word, 1 for each further. A line of 8 words occupies the bus for 13; of it, 8 bytes take 7.
#[test]
fn a_burst_is_waited_for_up_to_what_is_needed() {
    let mut sram = memory("sram");
    assert_eq!(sram.read(0x2002_0000, 8, 32, 0), 7);
    // At 7 the bus is busy until 13: 6 to wait, then 7.
    assert_eq!(sram.read(0x2002_0020, 8, 32, 7), 13);
    assert_eq!(sram.read(0x2002_0040, 4, 4, 1000), 6);
    assert_eq!(sram.read(0x2002_0040, 32, 32, 2000), 13);
}

/// SDRAM, 16 bits wide, 2 cycles a beat. First access: row closed 8, first beat 16, 3 further beats for 8 bytes 6: 30.
/// The line takes 8 + 16 + 15 x 2 = 54. The same row again: 22. Rows are 1 KiB, so 0x400 further is another row of the
/// same bank: 30. 8 MiB further is another bank: its first row costs 8 as well, and leaves the first bank's row open.
#[test]
fn rows_stay_open() {
    let mut sdram = memory("sdram");
    let mut at = |addr, now| sdram.read(addr, 8, 32, now);
    assert_eq!(at(0x6000_0000, 0), 30);
    assert_eq!(at(0x6000_0020, 54), 22);
    assert_eq!(at(0x6000_0400, 1000), 30);
    assert_eq!(at(0x6080_0000, 2000), 30);
    assert_eq!(at(0x6000_0420, 3000), 22);
    assert_eq!(at(0x6000_0000, 4000), 30);
}

/// Writes: 4 to the first word in SRAM, one after the other.
#[test]
fn writes_occupy_the_bus() {
    let mut sram = memory("sram");
    assert_eq!(sram.write(0x2002_0000, 4, 10), 14);
    assert_eq!(sram.write(0x2002_0004, 4, 10), 18);
    assert_eq!(sram.read(0x2002_0008, 4, 4, 11), 7 + 6);
}

#[test]
fn tightly_coupled_memory_never_waits() {
    let mut dtcm = memory("dtcm");
    assert_eq!(dtcm.read(0x2000_0000, 4, 4, 5), 0);
    assert_eq!(dtcm.write(0x2000_0000, 4, 5), 5);
    assert_eq!(dtcm.read(0x2000_0000, 4, 4, 5), 0);
}

/// Two places: the third store waits until the first is done.
#[test]
fn the_store_buffer_holds_so_many() {
    let mut buffer = StoreBuffer::new(2);
    assert_eq!(buffer.wait(0), 0);
    buffer.push(10);
    assert_eq!(buffer.wait(0), 0);
    buffer.push(25);
    assert_eq!(buffer.wait(3), 7);
    assert_eq!(buffer.drain(3), 22);
    buffer.push(30);
    assert_eq!(buffer.wait(10), 15);
    assert_eq!(buffer.drain(31), 0);
}
